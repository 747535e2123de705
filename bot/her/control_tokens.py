"""Read the control tokens of models in spelt-out form: turn ends, channels, comments.

A model that is served without its own chat template writes these tokens as text. They are never
part of a reply.

- `<|im_end|>`, `</s>`, `<end_of_turn>` and the like end the turn.
- `<|im_start|>assistant`, `<start_of_turn>model` and the like begin the assistant's message. They
  end the turn if a part of the reply precedes them.
- `<|channel|>analysis<|message|>` opens a private block, as does every channel but `final`.
  `<|end|>`, `<|return|>`, `<|call|>` or another channel ends it.
- `<|START_THINKING|>` and `<|begin_of_thought|>` are tags. So is `<|role_thinking|>`.
- `<|inner_prefix|>` (Apertus), `<|open|>think<|sep|>` (Kimi K3) and `<|im_start|>think` open
  private blocks too. A control token before the answer (`<|content|>`) ends a block that a control
  token opened.
- A comment (`<!-- … -->`) is left out as a whole.
"""

from __future__ import annotations

import re
from dataclasses import replace

from bot.her.tags import (
    PRIVATE,
    Family,
    NeedsMore,
    Noise,
    Span,
    Tag,
    TurnEnd,
    read_name,
)

NEEDS_MORE = NeedsMore()

_LT = r"(?:\\{0,2}[<＜]|&(?:amp;){0,2}lt;|\\u003c)"
_GT = r"(?:\\{0,2}[>＞]|&(?:amp;){0,2}gt;|\\u003e)"
_CONTROL = re.compile(rf"{_LT}[|｜]([^|｜<>＜＞&\r\n]{{0,60}})([|｜]?{_GT})?", re.IGNORECASE)
_UNENDED = re.compile(r"[|｜]?(?:\\{0,2}|\\u[0-9a-f]{0,3}|&[\w#;]{0,12})", re.IGNORECASE)
_TURN_ENDS = ("im_end", "endoftext", "end_of_text", "eot_id", "eom_id")
_TURN_STARTS = ("im_start", "start", "start_header_id", "start_of_turn", "turn", "begin")
_ASSISTANT = ("assistant", "im_assistant", "assistant_start", "model", "start_of_role")
_ROLES = ("assistant", "model")
_THINKING_ROLES = ("thinking", "think", "thought", "analysis")  # longer names first
_ANSWERING_ROLES = ("answer", "final", "response")
_HEADER_END = re.compile(r"\s{0,2}<\|(?:end_header_id|im_middle|im_sep|end_of_role)\|>|\s{0,2}\n")
_CHANNEL_ENDS = ("end", "return", "call")
_CHANNEL = re.compile(rf"([^\n]{{0,200}}?)(?:{_LT}\|message\|{_GT}|\n)", re.IGNORECASE)
_LONGEST_CHANNEL = 240
_SILENT = ("message", "constrain", "begin_of_text", "startoftext", "begin_of_sentence")
_ANSWERS = ("response", "solution", "text", "answer", "final", "output", "content", "box")
_CALLS = ("action", "plugin")  # blocks of tool calls, if named with start and end
_CALL_PART = re.compile(r"tool_?calls?_(?:argument|name|id|sep)\w*")
_INNER = {"inner_prefix": False, "inner_suffix": True}  # Apertus: whether it closes
_XML = {"open": False, "close": True}  # Kimi K3: `<|open|>think<|sep|>`
_XML_NAME = re.compile(r"([a-z_ ]{1,24})<\|sep\|>", re.IGNORECASE)
_XML_BEGUN = re.compile(r"[a-z_ ]{0,24}(?:<(?:\|(?:s(?:e(?:p(?:\|)?)?)?)?)?)?\Z", re.IGNORECASE)
_BEGIN = re.compile(r"(?:start|begin)_(?:of_)?|_(?:start|begin)\Z")
_END = re.compile(r"end_(?:of_)?|_end\Z")
_SEPARATORS = re.compile(r"[\s_▁-]+")

_LITERALS: dict[str, TurnEnd | Noise | Tag] = {
    "</s>": TurnEnd("</s>"),
    "<eos>": TurnEnd("<eos>"),
    "<end_of_turn>": TurnEnd("<end_of_turn>"),
    "<end_of_utterance>": TurnEnd("<end_of_utterance>"),
    "<turn|>": TurnEnd("<turn|>"),
    "[inst]": TurnEnd("[INST]"),
    "[/inst]": TurnEnd("[/INST]"),
    "<<sys>>": TurnEnd("<<SYS>>"),
    "<channel|>": TurnEnd("<channel|>", closes_channel=True),
    "<s>": Noise("<s>"),
    "<bos>": Noise("<bos>"),
    "<pad>": Noise("<pad>"),
    "[tool_calls]": Tag(frozenset({Family.HIDDEN}), closing=False, raw="[TOOL_CALLS]"),
}
_START_OF_TURN = "<start_of_turn>"
_RESERVED = re.compile(r"<(?:unused|ctrl)\d{1,3}>", re.IGNORECASE)
_RESERVED_BEGUN = re.compile(r"<(?:unused|ctrl)\d{0,3}", re.IGNORECASE)
_RESERVED_THOUGHT = "thought"
_COMMENT = "<!--"
BARE_CHANNEL = re.compile(
    r"(?:assistant(?:final|analysis|commentary)|(?<!\w)(?:analysis|commentary)(?=[A-Z]))"
)
"""`analysisThe user …assistantfinal…`: the channels of gpt-oss without their control tokens."""
_BEGINNINGS = (*_LITERALS, _START_OF_TURN, "<unused", "<ctrl", _COMMENT)
_LONGEST_LITERAL = max(map(len, _BEGINNINGS))


def read_control_token(text: str, start: int, *, final: bool) -> Span | NeedsMore | None:
    """Read the control token or comment that begins at `start`. Return None for any other text."""
    if control := _CONTROL.match(text, start):
        return _read_barred(control, final=final)
    beginning = text[start : start + _LONGEST_LITERAL].casefold()
    if not final and any(known.startswith(beginning) for known in _BEGINNINGS):
        return NEEDS_MORE
    if beginning.startswith(_COMMENT):
        return _read_comment(text, start, final=final)
    if beginning.startswith(_START_OF_TURN):
        return _read_header(text, start, start + len(_START_OF_TURN), final=final)
    if beginning.startswith(("<unused", "<ctrl")):
        return _read_reserved(text, start, final=final)
    for literal, token in _LITERALS.items():
        if beginning.startswith(literal):
            end = start + len(literal)
            return Span(replace(token, raw=text[start:end]), start, end)
    return None


def read_bare_channel(text: str, start: int) -> Span | None:
    """Read a channel of a server that leaves out the control tokens, such as `assistantfinal`."""
    bare = BARE_CHANNEL.match(text, start)
    if bare is None:
        return None
    return _make_channel(text, start, bare.end(), is_final=bare.group().endswith("final"))


def _read_comment(text: str, start: int, *, final: bool) -> Span | NeedsMore:
    """Read a comment. One that is never closed opens a private block."""
    end = text.find("-->", start)
    if end >= 0:
        return Span(Noise(text[start : end + 3]), start, end + 3)
    if not final:
        return NEEDS_MORE
    opener = Tag(frozenset({Family.HIDDEN}), closing=False, raw=_COMMENT)
    return Span(opener, start, start + len(_COMMENT))


def _read_reserved(text: str, start: int, *, final: bool) -> Span | NeedsMore | None:
    """Read `<unused94>thought`, which opens a channel, or `<unused95>`, which closes it."""
    reserved = _RESERVED.match(text, start)
    if reserved is None:
        begun = _RESERVED_BEGUN.match(text, start)
        return NEEDS_MORE if begun and begun.end() == len(text) and not final else None
    rest = text[reserved.end() : reserved.end() + len(_RESERVED_THOUGHT)].casefold()
    if rest == _RESERVED_THOUGHT:
        end = reserved.end() + len(rest)
        return _make_channel(text, start, end, is_final=False)
    if not final and _RESERVED_THOUGHT.startswith(rest):
        return NEEDS_MORE
    return Span(TurnEnd(reserved.group(), closes_channel=True), start, reserved.end())


def _read_barred(control: re.Match[str], *, final: bool) -> Span | NeedsMore | None:
    """Read `<|…|>`: a control token, perhaps without its end, or a tag in unusual brackets."""
    text = control.string
    inside = control.group(1)
    ended = control.group(2)
    at_end = not ended and bool(_UNENDED.fullmatch(text, control.end()))
    if at_end and not final:
        return NEEDS_MORE
    name = _SEPARATORS.sub("_", inside.strip().casefold())
    if ended and name == "channel":
        return _read_channel(control, final=final)
    if ended and name in _XML:
        return _read_xml(control, closing=_XML[name], final=final)
    if ended and name in (*_TURN_STARTS, *_ASSISTANT):
        needs_role = name in _TURN_STARTS
        return _read_header(
            text, control.start(), control.end(), needs_role=needs_role, final=final
        )
    if ended and name in _CHANNEL_ENDS:
        return _span(control, TurnEnd(control.group(), closes_channel=True))
    is_known = name.startswith((*_TURN_ENDS, _TURN_STARTS[0])) or (
        at_end and any(known.startswith(name) for known in (*_TURN_ENDS, _TURN_STARTS[0]))
    )
    if is_known:
        return _span(control, TurnEnd(control.group()))
    return _read_named(control, name, is_ended=bool(ended))


def _read_named(control: re.Match[str], name: str, *, is_ended: bool) -> Span | None:
    """Read a control token that names a block, or any other one."""
    inside = control.group(1).lstrip(" /")
    closing = control.group(1).lstrip().startswith("/")
    core = name
    if is_ended and _END.search(name):
        core = _END.sub("", name)
        closing = True
    elif is_ended and _BEGIN.search(name):
        core = _BEGIN.sub("", name)
    if is_ended and (core in _SILENT or _CALL_PART.fullmatch(name)):
        return _span(control, Noise(control.group()))
    if is_ended and core in _ANSWERS:
        return _span(control, Noise(control.group(), begins_answer=not closing))
    if is_ended and (name in _INNER or (core != name and core in _CALLS)):
        family = Family.THOUGHT if name in _INNER else Family.HIDDEN
        closing = _INNER.get(name, closing)
        return _span(control, Tag(frozenset({family}), closing, control.group()))
    found = read_name(inside) or read_name(core)
    if found and (is_ended or found.family in PRIVATE):
        tag = Tag(frozenset({found.family}), closing, control.group(), found.system)
        return _span(control, tag)
    if is_ended and re.search(r"[a-z]", name):
        return _span(control, TurnEnd(control.group()))
    return None


def _read_xml(control: re.Match[str], *, closing: bool, final: bool) -> Span | NeedsMore:
    """Read `<|open|>think<|sep|>`, an element of Kimi K3's format."""
    text = control.string
    element = _XML_NAME.match(text, control.end())
    if element is None:
        if not final and _XML_BEGUN.match(text, control.end()):
            return NEEDS_MORE
        return _span(control, TurnEnd(control.group()))
    raw = text[control.start() : element.end()]
    name = read_name(element.group(1))
    token: Tag | Noise = Noise(raw, begins_answer=not closing)
    if name is not None and name.family in (*PRIVATE, Family.HIDDEN):
        token = Tag(frozenset({name.family}), closing, raw)
    return Span(token, control.start(), element.end())


def _read_channel(control: re.Match[str], *, final: bool) -> Span | NeedsMore:
    text = control.string
    header = _CHANNEL.match(text, control.end())
    if header is None and not final and len(text) - control.start() < _LONGEST_CHANNEL:
        return NEEDS_MORE
    name = header.group(1) if header else text[control.end() : control.end() + len("final")]
    end = header.end() if header else control.end()
    is_final = name.strip().casefold().startswith("final")
    return _make_channel(text, control.start(), end, is_final=is_final)


def _make_channel(text: str, start: int, end: int, *, is_final: bool) -> Span:
    raw = text[start:end]
    if is_final:
        return Span(Noise(raw, is_channel=True), start, end)
    tag = Tag(frozenset({Family.HIDDEN}), closing=False, raw=raw, is_channel=True)
    return Span(tag, start, end)


def _read_header(
    text: str, start: int, end: int, *, final: bool, needs_role: bool = True
) -> Span | NeedsMore:
    """Read the header of a message, whose control token ends at `end`."""
    rest = text[end : end + 16].lstrip(" \n").casefold()
    known_roles = (*_ROLES, *_THINKING_ROLES, *_ANSWERING_ROLES)
    role = next((role for role in known_roles if needs_role and rest.startswith(role)), "")
    if needs_role and not role:
        if not final and any(known.startswith(rest) for known in known_roles):
            return NEEDS_MORE
        return Span(TurnEnd(text[start:end]), start, end)
    if role and role not in _ROLES:
        end = text.casefold().index(role, end) + len(role)
        return _make_channel(text, start, end, is_final=role in _ANSWERING_ROLES)
    if role:
        end = text.casefold().index(role, end) + len(role)
    if closing := _HEADER_END.match(text, end):
        end = closing.end()
    elif not final and "<|end_header_id|>".startswith(text[end : end + 20].strip()):
        return NEEDS_MORE
    return Span(TurnEnd(text[start:end], is_header=True), start, end)


def _span(control: re.Match[str], token: Tag | TurnEnd | Noise) -> Span:
    return Span(token, control.start(), control.end())
