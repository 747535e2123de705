"""Make text from people and scenarios harmless before it enters a prompt.

Every word survives. Only brackets, line breaks and signs change.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from bot.her.speaker_names import COLONS, LINE_BREAKS, LabelOwner, Speakers
from bot.her.tag_scanner import find_tags
from bot.her.tags import PRIVATE, PUBLIC, Tag

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.her.tags import Noise, TurnEnd

_LONGEST_NAME = 80
_NAMELESS = "Someone"
_BLANK = frozenset("\u2800\u3164\u115f\u1160\uffa0")  # letters and signs that look empty
_MIN_TRUNCATED_LETTERS = 4  # letters of a truncated tag that could still act as a tag

_OPENING = re.compile(r"&lt;|[<＜﹤⟨〈\[【［]", re.IGNORECASE)
_CLOSING = re.compile(r"(?:&gt;|[>＞﹥⟩〉\]】］])\Z", re.IGNORECASE)
_BREAK = re.compile(rf"\r\n|[{LINE_BREAKS}]")
_ANY_LABEL = re.compile(rf"[\W_]{{0,12}}\w[^{COLONS}]{{0,60}}[{COLONS}](?!//)")
_HEADING = re.compile(r"(?<!=)={3,}([^=\n]+)={3,}")
_HEADING_LINE = re.compile(r"^([^\S\n]*)={3,}(?=[^=\n])", re.MULTILINE)
# The switches of Qwen3 (/think, /no_think), SmolLM3 and GLM (/nothink).
_MODE_SWITCH = re.compile(r"(?<![\w/])/(?=(?:no[_-]?)?think(?:ing)?\b)", re.IGNORECASE)
_CONTROL = re.compile(
    r"<([|｜][^<>|｜\s]{1,64}[|｜]|/?(?:s|bos|eos|unk|pad|tool_call|tool_response|start_of_turn|end_of_turn))>"
)


def sanitise_text(text: str) -> str:
    """Return `text` with HER's tags in brackets that the model does not read as tags.

    `<role_thinking>` becomes `‹role_thinking›`, in every spelling that `tag_scanner` knows. Words
    such as `/no_think`, with which some models' training switches thinking, get another slash.
    Everything else stays unchanged.
    """
    text = _MODE_SWITCH.sub("⁄", text)
    while (quoted := _quote_tags(text)) != text:
        text = quoted
    return text


def _quote_tags(text: str) -> str:
    pieces: list[str] = []
    end = 0
    for span in find_tags(text)[0]:
        raw = text[span.start : span.end]
        pieces += [
            text[end : span.start],
            _quote_tag(raw) if _is_forgery(span.token) else raw,
        ]
        end = span.end
    return "".join(pieces) + text[end:]


def _is_forgery(token: Tag | TurnEnd | Noise) -> bool:
    """Whether HER models could take the token for one of their own tags."""
    if not isinstance(token, Tag) or token.raw.startswith(("(", "{", "（", "｛")):
        return False
    return token.may_be(*PRIVATE, *PUBLIC)


def _quote_tag(raw: str) -> str:
    closed = _CLOSING.sub("›", raw)
    opening = _OPENING.match(raw)
    if opening is None or (closed == raw and sum(map(str.isalpha, raw)) < _MIN_TRUNCATED_LETTERS):
        return closed
    return "‹" + closed[opening.end() :]


def escape_control_tokens(text: str) -> str:
    """Return `text` with control tokens such as `<|im_start|>` in harmless brackets.

    Only engines that take a prompt as one string need it. The local engine keeps text and control
    tokens apart.
    """
    return _CONTROL.sub(r"‹\1›", text)


def remove_speaker_labels(text: str, names: Iterable[str] = ()) -> str:
    """Return `text` so that it can't pass for several speakers' lines.

    Blank lines are removed. A line that begins with a heading or a label (`Name:`, one of `names`
    or any other) is joined to the line before it. `===Conversation Start===` loses an equals sign
    on each side.
    """
    speakers = Speakers("", tuple(names))
    kept = ""
    for line in filter(_is_visible, _BREAK.split(text)):
        forged = speakers.read_label(
            line, final=True
        ).owner is not LabelOwner.UNLABELLED or _ANY_LABEL.match(line)
        kept += (" " if forged else "\n") * bool(kept) + line.strip()
    return _HEADING.sub(r"==\1==", kept)


def remove_headings(text: str) -> str:
    """Return a scenario's text without lines that look like the headings of the prompt."""
    return _HEADING_LINE.sub(r"\1==", _BREAK.sub("\n", text)).strip()


def sanitise_name(text: str) -> str:
    """Return a display name that is safe in front of a colon: one line of 1 to 80 characters.

    Line breaks, colons, control and direction characters, HER tags and control tokens are removed.
    If no visible character is left, the name is "Someone".
    """
    while (name := _clean_name(text)) != text:
        text = name
    return name if _is_visible(name) else _NAMELESS


def _clean_name(text: str) -> str:
    for span in reversed(find_tags(text)[0]):
        text = f"{text[: span.start]} {text[span.end :]}" if span.token.raw else text
    visible = "".join(
        char if _fits_name(char) else " " * (not _is_invisible(char)) for char in text
    )
    return " ".join(visible.replace("===", " ").split())[:_LONGEST_NAME].strip()


def _fits_name(char: str) -> bool:
    return char not in COLONS and unicodedata.category(char)[0] != "C" and not char.isspace()


def _is_invisible(char: str) -> bool:
    return unicodedata.category(char) in ("Cf", "Cs", "Cn")


def _is_visible(text: str) -> bool:
    return any(unicodedata.category(char)[0] not in "CZ" and char not in _BLANK for char in text)
