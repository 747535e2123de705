"""Grammars (GBNF) that keep a reply in HER's structure while it is generated."""

from __future__ import annotations

from bot.her.sanitise import sanitise_name

# Text in which no tag can begin: no opening bracket except `<` before a digit or `=`.
_TEXT = r"""
char ::= [^<＜﹤‹⟨〈] | lesser
visible ::= [^<＜﹤‹⟨〈 \t\n] | lesser
lesser ::= "<" [0-9=]
space ::= [ \t\n]
"""

_HER = r"""
root ::= {opener}plan "</system_thinking>" space{{0,2}} ({name} ":" space?)? body
plan ::= (char | "<role_" | "</role_")+
body ::= (space | thought)* (visible | action) (char | action | thought)*
thought ::= "<role_thinking>" char+ "</role_thinking>"
action ::= "<role_action>" char+ "</role_action>"
"""

_HER_MORE = r"""
root ::= (space | thought)* (visible | action) (char | action | thought)*
thought ::= "<role_thinking>" char+ "</role_thinking>"
action ::= "<role_action>" char+ "</role_action>"
"""

_STAND_IN_MORE = r"""
root ::= (" " sentence){1,2}
sentence ::= [A-Z] words [.!?]
words ::= [a-zA-Z ,']{10,110}
"""

_STAND_IN = r"""
root ::= plan "</system_thinking>" {name} ": <role_thinking>" thought "</role_thinking><role_action>" deed speech
plan ::= {name} " wants to " [a-z] words "."
thought ::= ("I want" | "I hope" | "I wonder" | "I must" | "I know" | "I feel") " " [a-z] words "."
deed ::= begun ended? "</role_action>"
begun ::= "smiles" | "nods" | "looks up" | "laughs softly" | "leans closer" | "raises an eyebrow" | "sighs" | "pauses"
ended ::= " for a moment" | " and turns away" | " and glances at the door" | " and thinks it over" | " without a word"
speech ::= sentence (" " sentence){{0,2}}
sentence ::= [A-Z] words [.!?]
words ::= [a-zA-Z ,']{{10,110}}
"""


def build_her_grammar(character: str, *, prefilled: bool = True) -> str:
    """Return the grammar of a HER reply by `character`.

    Planning comes first and is closed once. Tags match and never nest. The character's name may
    occur once, directly after the planning. The reply can only end after some speech or action. If
    `prefilled`, the prompt already ends with `<system_thinking>`.
    """
    opener = "" if prefilled else '"<system_thinking>" '
    return (
        _HER.format(opener=opener, name=_literal(sanitise_name(character))) + _TEXT
    ).strip() + "\n"


def build_her_continuation_grammar() -> str:
    """Return the grammar that continues a HER reply: no planning, and some speech or action."""
    return (_HER_MORE + _TEXT).strip() + "\n"


def build_stand_in_continuation_grammar() -> str:
    """Return the grammar of a very small model's continuation: one or two sentences."""
    return _STAND_IN_MORE.strip() + "\n"


def build_stand_in_grammar(character: str) -> str:
    """Return the strict grammar that makes a very small model's replies readable.

    A reply is one sentence of planning, one thought, one action from short lists and one to three
    sentences of speech without colons or brackets. It follows a prefilled planning tag.
    """
    return _STAND_IN.format(name=_literal(sanitise_name(character))).strip() + "\n"


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
