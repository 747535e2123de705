"""Recognise lines that announce thinking, or its end, without a colon.

Examples are `--- Thinking ---`, `::: thinking`, `> **Thinking**`, `Thinking…`, `...done thinking.`
and `[BEGIN FINAL RESPONSE]`.
"""

from __future__ import annotations

import re

_RULE = r"(?:[-–—]{2,}|:{3,}|={2,}|~{2,})"
_RULED = re.compile(
    rf"(?:{_RULE}|>)\s*[*_]{{0,3}}\s*([^\W_][\w\s'’]{{0,60}}?)\s*[*_]{{0,3}}\s*{_RULE}?\s*"
)
_END = re.compile(r"\A(?:end|end of|done)\s+", re.IGNORECASE)
_THINKS = re.compile(
    r"thinking\s*(?:\.{3}|…)\s*"
    r"|thought for (?:an? |\d+ ?)(?:few )?(?:s|seconds?|minutes?|moments?)\W*",
    re.IGNORECASE,
)
_ANSWERS = re.compile(
    r"(?:\.{3}|…)?\s*done thinking\W*|:{3,}\s*|\[(?:begin )?(?:final )?(?:response|answer)\]\s*",
    re.IGNORECASE,
)
_BEGUN = re.compile(
    rf"(?:{_RULE}|>)\s*[*_]{{0,3}}\s*(?:[^\W_][\w\s'’]{{0,40}})?\s*[*_]{{0,3}}\s*[-–—:=~]*\Z"
    r"|(?:\.{3}|…)\s*(?:d(?:o(?:n(?:e(?:\s.{0,12})?)?)?)?)?\Z|thought for.{0,16}\Z"
    r"|\[(?:b(?:e(?:g(?:i(?:n)?)?)?)?|begin [a-z ]{0,14}|f(?:i(?:n(?:a(?:l)?)?)?)?|final [a-z]{0,8}"
    r"|r[a-z]{0,7}|a[a-z]{0,5})?\]?\Z",
    re.IGNORECASE,
)


def read_announcement(line: str) -> str:
    """Return the label that fills a whole line, such as `thinking` or `response`, or "".

    A name between rules (`--- Jane ---`) is returned as it is.
    """
    if _ANSWERS.fullmatch(line):
        return "response"
    if _THINKS.fullmatch(line):
        return "thinking"
    ruled = _RULED.fullmatch(line)
    if ruled is None:
        return ""
    name: str = ruled.group(1)
    return "response" if _END.match(name) else name


def may_become_announcement(line: str) -> bool:
    """Return True if `line` may become an announcement once it continues."""
    return bool(_BEGUN.match(line))
