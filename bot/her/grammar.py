"""Grammars (GBNF) that keep a reply in HER's structure while it is generated.

Whatever a person may type as speech, a model held to a grammar can write. Two rules follow from
that:

- Text excludes no character, only the spelling of HER's own tags. Each grammar is an automaton that
  follows `<` letter by letter and stops only before the last letter of a tag that must not come
  here. Tags in other spellings are left to the parser, which makes them harmless.
- Classes of characters are lists of ranges and never negated. A token may hold a part of a
  character. llama.cpp allows such a token in a range if the character may fall in it, but refuses
  it in a negated class if the character could be any of those excluded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.her.sanitise import sanitise_name
from bot.her.stand_in_phrases import Phrases, find_phrases

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_LAST_CODE_POINT = 0x10FFFF
_SPACES = " \t\n"

_PLANNING = ("<system_thinking", "</system_thinking")
_THOUGHT = ("<role_thinking", "</role_thinking")
_ACTION = ("<role_action", "</role_action")
_FORGED = ("<think>", "</think>", "<|im_start|>", "<|im_end|>")
_ALL_TAGS = (*_PLANNING, *_THOUGHT, *_ACTION, *_FORGED)


@dataclass(frozen=True, slots=True)
class _Automaton:
    """Text up to one of several tags, as rules that follow every `<` letter by letter.

    `exits` maps the spelling of a tag, without its last bracket, to the text of GBNF that comes
    after it. The tags in `excluded` never occur. `after` names the rule after any other character,
    and `may_end` says if the text may end anywhere.
    """

    name: str
    exits: Mapping[str, str]
    excluded: Iterable[str]
    after: str = ""
    may_end: bool = False
    spaces_stay: bool = False  # white space does not count as text, so it does not lead to `after`
    rules: list[str] = field(default_factory=list)

    def build(self) -> list[str]:
        """Return the rules. The first one is called `name`."""
        tags = [*self.exits, *self.excluded]
        prefixes = {tag[:length] for tag in tags for length in range(1, len(tag))}
        for prefix in sorted({"", *prefixes}):
            self._add_state(prefix, tags)
        return self.rules

    def _add_state(self, prefix: str, tags: list[str]) -> None:
        children = sorted({tag[len(prefix)] for tag in tags if tag.startswith(prefix)} - {""})
        children = [child for child in children if len(prefix) < len(prefix + child)]
        after = self.after or self.name
        spaces = _SPACES if self.spaces_stay and not prefix else ""
        options = [f"{_write_class('<', *children, *spaces)} {after}"]
        if spaces:
            options.append(f"[ \\t\\n] {self.name}")
        for child in children:
            text = prefix + child
            if text in self.exits:
                options.append(f'{_write_literal(child)} ">" {self.exits[text]}'.rstrip())
            elif text not in self.excluded:
                options.append(f"{_write_literal(child)} {self._name_state(text)}")
        if prefix:
            options.append(f'"<" {self._name_state("<")}')
        if self.may_end:
            options.append('""')
        self.rules.append(f"{self._name_state(prefix)} ::= {' | '.join(options)}")

    def _name_state(self, prefix: str) -> str:
        if not prefix:
            return self.name
        return f"{self.name}-" + "".join(
            char if char.isalpha() else f"x{ord(char):x}" for char in prefix
        )


def build_her_grammar(character: str, *, prefilled: bool = True) -> str:
    """Return the grammar of a HER reply by `character`.

    Planning comes first and is closed once. Tags match and never nest. The character's name may
    occur once, directly after the planning. The reply can only end after some speech or action. If
    `prefilled`, the prompt already ends with `<system_thinking>`.
    """
    opener = "" if prefilled else '"<system_thinking>" '
    name = _write_literal(sanitise_name(character))
    plan = _Automaton("plan", {"</system_thinking": "part"}, (_PLANNING[0], *_FORGED))
    return _join(
        [
            f"root ::= {opener}{_write_class('<')} plan",
            *plan.build(),
            f'part ::= [ \\t\\n]{{0,2}} ({name} ":" [ \\t\\n]?)? lead',
            *_build_body(),
        ]
    )


def build_her_continuation_grammar() -> str:
    """Return the grammar that continues a HER reply: no planning, and some speech or action."""
    return _join(["root ::= lead", *_build_body()])


def _build_body() -> list[str]:
    """Return rules for the character's part. `lead` is the part before any speech or action."""
    thought, action = _THOUGHT[0], _ACTION[0]
    others = [tag for tag in _ALL_TAGS if tag not in (thought, action)]
    lead = _Automaton(
        "lead",
        {thought: "thought lead", action: "action body"},
        others,
        after="body",
        spaces_stay=True,
    )
    body = _Automaton(
        "body", {thought: "thought body", action: "action body"}, others, may_end=True
    )
    return [
        *lead.build(),
        *body.build(),
        f"thought ::= {_write_class('<')} inthought",
        *_Automaton("inthought", {_THOUGHT[1]: ""}, _without(_THOUGHT[1])).build(),
        f"action ::= {_write_class('<')} inaction",
        *_Automaton("inaction", {_ACTION[1]: ""}, _without(_ACTION[1])).build(),
    ]


def _without(tag: str) -> list[str]:
    return [other for other in _ALL_TAGS if other != tag]


def build_stand_in_grammar(character: str, language: str = "en") -> str:
    """Return the strict grammar that makes a very small model's replies readable.

    A reply is one sentence of planning, one thought, one action and one to three sentences of
    speech. It follows a prefilled planning tag. The beginnings of the planning and the thought, and
    the actions, are phrases in the scenario's `language`, if Aside has any for it.
    """
    name = _write_literal(sanitise_name(character))
    phrases = find_phrases(language)
    return _join(
        [
            (
                f'root ::= plan "</system_thinking>" {name} ": <role_thinking>" thought'
                ' "</role_thinking><role_action>" deed "</role_action>" speech'
            ),
            *_build_phrases(name, phrases),
            *_build_sentences(phrases),
        ]
    )


def build_stand_in_continuation_grammar(language: str = "en") -> str:
    """Return the grammar of a very small model's continuation: one or two sentences."""
    return _join(["root ::= (space sentence){1,2}", *_build_sentences(find_phrases(language))])


def _build_phrases(name: str, phrases: Phrases | None) -> list[str]:
    if phrases is None:
        return ["plan ::= sentence", "thought ::= sentence", "deed ::= first inner{2,60}"]
    space = '" " ' if phrases.has_spaces else ""
    return [
        f"plan ::= {name} {space}{_write_literal(phrases.intends)} {space}words end",
        f"thought ::= ({_write_choice(phrases.thoughts)}) {space}words end",
        f"deed ::= ({_write_choice(phrases.actions)}) ({_write_choice(phrases.manners)})?",
    ]


_ENDS = ".!?。！？…؟।"
"""The characters that end a sentence."""


def _join(rules: Iterable[str]) -> str:
    return "\n".join(rules) + "\n"


def _write_choice(texts: Iterable[str]) -> str:
    return " | ".join(map(_write_literal, texts))


def _write_literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _write_class(*excluded: str) -> str:
    """Return a class of all characters but `excluded`, as ranges."""
    ranges, start = [], 1
    for code in sorted({ord(char) for char in excluded}):
        if start < code:
            ranges.append((start, code - 1))
        start = code + 1
    ranges.append((start, _LAST_CODE_POINT))
    return "[" + "".join(f"\\U{low:08X}-\\U{high:08X}" for low, high in ranges) + "]"


def _build_sentences(phrases: Phrases | None) -> list[str]:
    """Return the rules of sentences, which hold no line break, label or tag."""
    kept = ("<", ":", "：", *_ENDS)
    return [
        "speech ::= sentence (space sentence){0,2}",
        "sentence ::= first words end",
        "words ::= inner{9,110}",
        f"first ::= {_write_class(*kept, *_SPACES)} | guarded",
        f"inner ::= {_write_class(*kept, *_SPACES[1:])} | guarded",
        (
            'guarded ::= "<" [0-9=] | [:：] [0-9/()\\]DPdp-]'
            f" | [{_ENDS}] {_write_class(*kept, *_SPACES)}"
        ),
        f'end ::= [{_ENDS}]{{1,3}} ["”’»」』)]?',
        f'space ::= " "{"" if phrases and phrases.has_spaces else "?"}',
    ]
