"""Count translated-sounding English: `python -m tests.language [PATH ...] [--lines]`.

The counts cover docstrings, comments, string literals, the names of tests and Markdown. Each is a
rate per 10,000 words, so that a long file and a short one compare. `--lines` also prints every line
with an idiom in it.
For comparison, "if" occurs 134 times per 10,000 words of docstrings and comments in starlette, 66
times in httpx and 114 times in discord.py; "where" 4, 7 and 4 times.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT: Final = Path(__file__).parents[1]
SOURCES: Final = ("bot", "cogs", "tests", "dev.py", "README.md", "CONTRIBUTING.md", "docs")

IDIOMS: Final = {
    "if": r"if",
    "where": r"where",
    "what": r"what",
    "nobody": r"nobody|none|nothing|is no|are no",
    "idiom": (
        r"anew|afresh|told|stands?(?! for\b|-in|alone)|taken up|takes up|(?:is|are|was) at it"
        r"|so it is"
        r"|there (?:is|are) none|where there (?:is|are)|comes? to be|in the making|makes? ready"
        r"|in good order|brought back|at (?:their|his|her|its) word|of its own accord|has it that"
    ),
}
PATTERNS: Final = {
    name: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for name, words in IDIOMS.items()
}
_CODE: Final = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)", re.MULTILINE | re.DOTALL)
_SQL: Final = re.compile(r"\s*(?:[A-Z]{2,}\b|\(SELECT\b)|.*\b(?:SELECT|WHERE|FROM)\b", re.DOTALL)
_QUOTED: Final = re.compile(r"`[^`\n]*`")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z'’-]*")


@dataclass(frozen=True, slots=True)
class Passage:
    """One stretch of prose: its corpus, the file and line it begins in, and its text."""

    corpus: str  # "docstrings and comments", "strings", "test names" or "Markdown"
    path: Path
    line: int
    text: str


@dataclass(slots=True)
class Tally:
    """The words of one corpus and how often each idiom occurs in them."""

    words: int = 0
    found: Counter[str] = field(default_factory=Counter)

    def add(self, text: str) -> None:
        """Count one passage."""
        self.words += len(_WORD.findall(text))
        for name, pattern in PATTERNS.items():
            self.found[name] += len(pattern.findall(text))

    def rate(self, idiom: str) -> float:
        """Return the occurrences of an idiom per 10,000 words."""
        return self.found[idiom] * 10_000 / max(self.words, 1)


def tally(passages: Iterable[Passage]) -> dict[str, Tally]:
    """Return the tally of each corpus."""
    found: dict[str, Tally] = {}
    for passage in passages:
        found.setdefault(passage.corpus, Tally()).add(passage.text)
    return found


def passages_in(paths: Iterable[Path]) -> Iterator[Passage]:
    """Yield the prose of every Python and Markdown file under these paths."""
    for root in paths:
        for path in sorted(root.rglob("*") if root.is_dir() else [root]):
            if path == Path(__file__):  # it has to spell out the idioms
                continue
            if path.suffix == ".py":
                yield from _passages_of_python(path)
            elif path.suffix == ".md":
                text = _CODE.sub(
                    lambda code: "\n" * code.group().count("\n"), path.read_text("utf-8")
                )
                yield Passage("Markdown", path, 1, text)


def _passages_of_python(path: Path) -> Iterator[Passage]:
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    docstrings = {
        (node.body[0].value.lineno, node.body[0].value.col_offset)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node) is not None
        and isinstance(node.body[0], ast.Expr)
    }
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Passage("docstrings and comments", path, token.start[0], token.string)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if (node.lineno, node.col_offset) in docstrings:
                yield Passage("docstrings and comments", path, node.lineno, node.value)
            elif node.value.count(" ") > 2 and not _SQL.match(node.value):  # a sentence, not a key
                yield Passage("strings", path, node.lineno, node.value)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith(
            "test_"
        ):
            yield Passage("test names", path, node.lineno, node.name.replace("_", " "))


def main(arguments: list[str]) -> None:
    """Print the tally of the named paths, by default of the whole project."""
    named = [Path(argument) for argument in arguments if argument != "--lines"]
    passages = list(passages_in(named or [ROOT / source for source in SOURCES]))
    if "--lines" in arguments:
        for passage in passages:
            for offset, line in enumerate(_QUOTED.sub("``", passage.text).splitlines()):
                hits = [name for name, rx in PATTERNS.items() if name != "if" and rx.search(line)]
                if hits:
                    place = f"{passage.path}:{passage.line + offset}"
                    print(f"{place}: {','.join(hits)}: {line.strip()}")  # noqa: T201
    for corpus, counted in sorted(tally(passages).items()):
        rates = "  ".join(f"{name} {counted.rate(name):.0f}" for name in IDIOMS)
        print(f"{corpus:24} {counted.words:7} words, per 10,000: {rates}")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
