"""Split streamed text into tags and words.

The rules for tags, which hold for any chunks of the stream:

- Brackets are `<…>`, their full-width and typographic variants, or `&lt;…&gt;`. Backslashes before
  them don't matter. Square brackets (`[role_thinking]`, `【内心】`, `[THINK]`) count only around
  unambiguous or private names, round and curly ones (`(thought)`) only around names that say
  thinking. `role_thinking>` and `role_thinking:` are tags too, although they lack the opening
  bracket.
- A tag consists of spaces, an optional slash, the name, optional attributes and another optional
  slash. `<role_thinking/>` opens.
- If the closing bracket is missing, the tag ends with its name: `</role_thinking Elizabeth smiles`
  closes. The bracket is missing if another bracket, a line break, 96 characters or the end of the
  output come first.
- `<act natural>` and `<say` are words: everyday names of public tags need their bracket directly
  behind the name, or an attribute.
- At the end of the output, a truncated tag (`</role_thin`) counts as that tag. If it could become
  several tags (`</`, `</role_`), it has all their families. A single `<` at the end is dropped.
- A namespace may precede the name: `<seed:think>`, `<｜DSML｜invoke>`. A sign may stand before the
  name or the closing bracket: `<?think … ?>`, `{% think %}`. Names may say that they open or close:
  `<think_start>`, `{endthink}`.
- `<answer>` and other wrappers are left out. Control tokens are read by `control_tokens`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from bot.her.control_tokens import (
    BARE_CHANNEL,
    NEEDS_MORE,
    read_bare_channel,
    read_control_token,
)
from bot.her.tags import (
    PRIVATE,
    Family,
    NeedsMore,
    Noise,
    Span,
    Tag,
    TagName,
    Token,
    TurnEnd,
    Words,
    is_unambiguous,
    match_truncated_name,
    may_become_name,
    may_become_unambiguous,
    read_name,
    says_thinking,
)

_OPEN = "<＜﹤‹⟨〈◁"
_CLOSE = ">＞﹥›⟩〉▷"
_SQUARE_OPEN = "[【［"
_SQUARE_CLOSE = "]】］"
_ROUND_OPEN = "({（｛«"
_ROUND_CLOSE = ")}）｝»"
_LT = r"(?:&(?:amp;){0,2}(?:lt|\#60|\#x3c);|\\u003c|\\x3c)"
_GT = r"(?:&(?:amp;){0,2}(?:gt|\#62|\#x3e);|\\u003e|\\x3e)"
_ESCAPE = r"\\{0,2}"
_SIGIL = "[?!#@%$+~^]"
_ANY_OPEN = rf"{_ESCAPE}(?:[{_OPEN}{re.escape(_SQUARE_OPEN)}]|{_LT})"
_HEAD_OPEN = rf"{_ESCAPE}(?:[{_OPEN}{re.escape(_SQUARE_OPEN + _ROUND_OPEN)}]|{_LT})"
_ANY_CLOSE = rf"{_ESCAPE}(?:[{_CLOSE}{re.escape(_SQUARE_CLOSE)}]|{_GT})"
_HEAD_CLOSE = rf"{_ESCAPE}(?:[{_CLOSE}{re.escape(_SQUARE_CLOSE + _ROUND_CLOSE)}]|{_GT})"
_ENTITY_BEGUN = (
    r"(?:&(?:a|am|amp|(?:amp;){0,2}(?:[lg]t?|\#(?:x3?|6)?|\#x3[ce]|\#6[02])?)"
    r"|\\(?:u0{0,2}|u003[ce]?|x3?|x3[ce]))"
)
_INVISIBLE = "\u200b-\u200f\u2060\ufeff"
_LONGEST_TAG = 96

_BARE = r"(?:role|system)_(?:think|thought|action|speech)\w{0,16}"
_START = re.compile(
    rf"{_HEAD_OPEN}|(?:(/)|(?<!\w))({_BARE})\s{{0,4}}(?:[{_CLOSE}:：]|{_GT})"
    rf"|(?-i:{BARE_CHANNEL.pattern})",
    re.IGNORECASE,
)
_CHANNEL_BEGUN = "|".join(
    name[:length]
    for name in ("assistantfinal", "assistantanalysis", "assistantcommentary")
    for length in range(1, len(name))
)
_BARE_BEGUN = "|".join(
    name[:length] for name in ("role", "system") for length in range(1, len(name) + 1)
)
_LONE_CHANNEL_BEGUN = "|".join(
    name[:length] for name in ("analysis", "commentary") for length in range(1, len(name) + 1)
)
_BEGUN = re.compile(
    rf"(?:{_ENTITY_BEGUN}|/|\\{{1,2}}(?:{_ENTITY_BEGUN})?"
    rf"|(?:/|(?<!\w))(?:{_BARE_BEGUN}|(?:role|system)_\w{{0,24}}\s{{0,4}}(?:{_ENTITY_BEGUN})?)"
    rf"|(?:{_CHANNEL_BEGUN})|(?<!\w)(?:{_LONE_CHANNEL_BEGUN}))\Z",
    re.IGNORECASE,
)
_HEAD = re.compile(
    rf"({_HEAD_OPEN})([\s{_INVISIBLE}]{{0,8}})(?:{_SIGIL}\s?)?([/／\\]?){_SIGIL}?[\s{_INVISIBLE}]{{0,8}}",
    re.IGNORECASE,
)
_STOPPER = re.compile(rf"({_ANY_CLOSE})|{_ANY_OPEN}|[\r\n]", re.IGNORECASE)
_STRICT_STOPPER = re.compile(rf"{_HEAD_CLOSE}|{_HEAD_OPEN}|[\r\n]", re.IGNORECASE)
_CLOSER = re.compile(rf"\s{{0,8}}[/／]?\s{{0,8}}(?:{_SIGIL}|([|｜]))?{_HEAD_CLOSE}", re.IGNORECASE)
_CLOSER_BEGUN = re.compile(
    rf"\s{{0,8}}[/／]?\s{{0,8}}(?:{_SIGIL}|[|｜])?\\{{0,2}}(?:{_ENTITY_BEGUN})?\Z", re.IGNORECASE
)
_INSTRUCTION = re.compile(rf"(?:[{_OPEN}]|{_LT})\?", re.IGNORECASE)
_INSTRUCTION_END = re.compile(rf"\?(?:[{_CLOSE}]|{_GT})", re.IGNORECASE)


class TagScanner:
    """Turns a stream of text into tokens.

    It holds back text that may still become a tag, about a hundred characters at most.
    """

    def __init__(self) -> None:
        self._text = ""  # one character of context that was already returned, then the pending text
        self._emitted = 0

    def feed(self, text: str) -> list[Token]:
        """Take a piece of the stream and return the tokens that are certain now."""
        self._text += text
        return self._scan(final=False)

    def close(self) -> list[Token]:
        """End the stream and return the remaining tokens."""
        return self._scan(final=True)

    def _scan(self, *, final: bool) -> list[Token]:
        tokens: list[Token] = []
        spans, hold = find_tags(self._text, self._emitted, final=final)
        for span in spans:
            self._emit_words(tokens, span.start)
            if span.token.raw:
                tokens.append(span.token)
            self._emitted = span.end
        self._emit_words(tokens, hold)
        kept = max(self._emitted - 1, 0)
        self._text, self._emitted = self._text[kept:], self._emitted - kept
        return tokens

    def _emit_words(self, tokens: list[Token], end: int) -> None:
        if end > self._emitted:
            tokens.append(Words(self._text[self._emitted : end]))
            self._emitted = end


def find_tags(text: str, start: int = 0, *, final: bool = True) -> tuple[list[Span], int]:
    """Return the tags and control tokens in `text` from `start` on, and the end of the text read.

    Unless `final`, more text may follow, and the part that may still become a tag stays unread.
    """
    spans: list[Span] = []
    while candidate := _START.search(text, start):
        read: Span | NeedsMore | None
        if candidate.group(2):
            read = _read_bare_tag(candidate)
        elif (read := read_bare_channel(text, candidate.start())) is None:
            read = _read_tag(text, candidate.start(), final=final)
        if isinstance(read, NeedsMore):
            return spans, candidate.start()
        if isinstance(read, Span):
            spans.append(read)
        if isinstance(read, Span) and _is_open_instruction(text, read):
            end = _INSTRUCTION_END.search(text, read.end)
            if end is None and not final:
                return spans[:-1], candidate.start()
            if end is not None and isinstance(read.token, Tag):
                read = Span(replace(read.token, closing=True, raw=end.group()), *end.span())
                spans.append(read)
        start = read.end if isinstance(read, Span) else _skip_escape(text, candidate.start()) + 1
    begun = None if final else _BEGUN.search(text, max(start, len(text) - 48))
    return spans, begun.start() if begun else len(text)


def _is_open_instruction(text: str, span: Span) -> bool:
    """Whether the span is `<?think` with its text before the next `?>`."""
    return (
        isinstance(span.token, Tag)
        and bool(_INSTRUCTION.match(text, span.start))
        and not _INSTRUCTION_END.search(text, span.start, span.end)
    )


def _skip_escape(text: str, start: int) -> int:
    while text.startswith("\\", start):
        start += 1
    return start


def _read_bare_tag(candidate: re.Match[str]) -> Span | None:
    """Return the tag without opening bracket that `candidate` is, or None."""
    name = read_name(candidate.group(2) or "")
    if name is None:
        return None
    tag = Tag(frozenset({name.family}), bool(candidate.group(1)), candidate.group(), name.system)
    return Span(tag, candidate.start(), candidate.end())


def _read_tag(text: str, start: int, *, final: bool) -> Span | NeedsMore | None:
    """Read the tag or control token whose bracket opens at `start`. Return None for words."""
    if (control := read_control_token(text, start, final=final)) is not None:
        return control
    head = _HEAD.match(text, start)
    if head is None:  # never happens: candidates begin with an opening bracket
        return None
    if head.group(1)[-1] in _SQUARE_OPEN + _ROUND_OPEN:
        return _read_strict_tag(head, final=final)
    limit = start + _LONGEST_TAG
    stopper = _STOPPER.search(text, head.end(), limit)
    inside = text[head.end() : stopper.start() if stopper else limit]
    if stopper is None and len(text) < limit:
        if final:
            return _read_truncated_tag(head, inside)
        return NEEDS_MORE if may_become_name(inside) else None
    name = read_name(inside)
    return _finish_tag(head, name, stopper, final=final) if name else None


def _read_strict_tag(head: re.Match[str], *, final: bool) -> Span | NeedsMore | None:
    """Read a tag in square, round or curly brackets, which are common in ordinary text."""
    text = head.string
    limit = head.start() + _LONGEST_TAG
    stopper = _STRICT_STOPPER.search(text, head.end(), limit)
    inside = text[head.end() : stopper.start() if stopper else limit]
    square = head.group(1)[-1] in _SQUARE_OPEN
    unambiguous = square and is_unambiguous(inside)
    if stopper is None and len(text) < limit and not final:
        open_end = may_become_name(inside) or (square and may_become_unambiguous(inside))
        return NEEDS_MORE if open_end else None
    if stopper is None and final and len(text) < limit:
        return _read_truncated_tag(head, inside) if unambiguous else None
    name = read_name(inside)
    if name is None:
        return None
    if unambiguous:
        return _finish_tag(head, name, _STOPPER.search(text, head.end(), limit), final=final)
    spelling = inside[: name.end]
    counts = name.family in PRIVATE and not name.everyday
    if not square:
        counts = counts and says_thinking(spelling) and spelling.casefold() != "thinks"
    closer = _CLOSER.match(text, head.end() + name.end)
    if closer is None or not counts:
        return None
    if not square:
        after = text[closer.end() : closer.end() + 8].lstrip()
        if not after and not final:
            return NEEDS_MORE
        if after.startswith((":", "：")):  # a label such as `Jane (thinking):`
            return None
    return _make_span(head, name, closer.end())


def _finish_tag(
    head: re.Match[str], name: TagName, stopper: re.Match[str] | None, *, final: bool
) -> Span | NeedsMore | None:
    """Find the end of a tag whose name is known: its closing bracket, or else the name's end."""
    text = head.string
    end = head.end() + name.end
    if closer := _CLOSER.match(text, end):
        return _make_span(head, name, closer.end(), barred=bool(closer.group(1)))
    if not final and _CLOSER_BEGUN.match(text, end):
        return NEEDS_MORE
    bracketed = stopper is not None and stopper.group(1) is not None
    rest = text[end : stopper.start()] if stopper else ""
    if _INSTRUCTION.match(text, head.start()) and "=" not in rest:
        bracketed = False
    everyday = name.everyday and not is_unambiguous(text[head.end() : end])
    if everyday and not (bracketed and "=" in rest):
        return None
    return _make_span(head, name, stopper.end() if stopper and bracketed else end)


def _make_span(head: re.Match[str], name: TagName, end: int, *, barred: bool = False) -> Span:
    """Return the span of a tag. If it is `barred`, such as Gemma's `<tool_call|>`, it closes."""
    raw = head.string[head.start() : end]
    if name.family is Family.WRAPPER:
        return Span(Noise(raw), head.start(), end)
    closing = bool(head.group(3)) or name.ends or barred
    tag = Tag(frozenset({name.family}), closing, raw, name.system)
    return Span(tag, head.start(), end)


def _read_truncated_tag(head: re.Match[str], inside: str) -> Span | None:
    """Read the tag within which the output ended."""
    text = head.string
    start = head.start()
    closing = bool(head.group(3))
    name = read_name(inside)
    if name and name.end < len(inside.rstrip()):
        read = _finish_tag(head, name, None, final=True)
        return read if isinstance(read, Span) else None
    if text[start:].lstrip("\\") in _OPEN:
        return Span(TurnEnd(""), len(text) - 1, len(text))
    if not (inside or closing) or (head.group(2) and name is None):
        return None
    families = match_truncated_name(inside)
    if not families:
        return None
    tag = Tag(families, closing, text[start:], inside.casefold().startswith("sys"))
    return Span(tag, start, len(text))
