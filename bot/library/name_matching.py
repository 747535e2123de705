"""Match the names that people write with the characters of a cast.

A name matches in any case, with or without accents, dots and underscores: `@mr. bennet` means Mr
Bennet.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, TypeVar

from rapidfuzz import fuzz, process

from bot.library.normalise import SEPARATOR, fold, normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from bot.library.scenario import Character

T = TypeVar("T")

_TITLES = frozenset(
    "the mr mrs ms miss mx dr doctor prof professor sir dame lord lady master madam madame "  # noqa: SIM905 - one a line would fill a page
    "mme mlle monsieur mademoiselle captain capt colonel col major general lieutenant lt "
    "sergeant sgt king queen prince princess duke duchess count countess baron baroness earl "
    "father mother brother sister uncle aunt saint st rev reverend inspector herr frau "
    "fraulein don dona senor senora signor signora".split()
)
_TITLES_BEHIND = ("先生", "小姐", "夫人", "太太", "さん", "ちゃん", "様", "くん", "씨")
_PARTICLES = frozenset(
    {"of", "the", "and", "von", "van", "de", "der", "den", "du", "da", "di", "la", "le", "jr", "sr"}
)

# Scripts that are written without spaces or attach endings to a name. Names next to these need no
# word boundary.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
_WORD = re.compile(rf"(?<!\w)\w|{_UNSPACED.pattern}")
_CODE = re.compile(r"(?<![\\`])(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_NOT_SPOKEN = re.compile(r"<(?:@[!&]?|#|a?:\w+:)\d+>|https?://\S+")
_QUOTE = re.compile(r"^ *>>> .*\Z|^ *> [^\n]*", re.DOTALL | re.MULTILINE)
_NOWHERE = " \ufffc "


def map_spoken_names(cast: Sequence[Character]) -> dict[str, str]:
    """Map every spelling that addresses a character, in normal form, to the character's name.

    Full names win over aliases. Both win over short forms, which leave out the title or keep only
    the first or last word. A short form counts only if it fits a single character of the cast.
    """
    full = [(character.name, character.name) for character in cast]
    aliases = [(alias, character.name) for character in cast for alias in character.aliases]
    spoken: dict[str, str] = {}
    for spelling, name in (*full, *aliases):
        spoken.setdefault(normalise(spelling), name)
    for short, claimants in _claim_short_forms(cast).items():
        if len(claimants) == 1:
            spoken.setdefault(short, *claimants)
    spoken.pop("", None)
    return spoken


def addressable_names(cast: Sequence[Character]) -> dict[str, tuple[str, ...]]:
    """Return every name that addresses characters, in normal form, with the characters it fits.

    They are the names of `map_spoken_names`, the aliases that several characters have, and the
    short forms that fit several characters.
    """
    names: dict[str, tuple[str, ...]] = {
        spoken: (character,) for spoken, character in map_spoken_names(cast).items()
    }
    full = {normalise(character.name) for character in cast}
    aliases: dict[str, list[str]] = {}
    for character in cast:
        for alias in {normalise(alias) for alias in character.aliases} - full - {""}:
            aliases.setdefault(alias, []).append(character.name)
    names |= {alias: tuple(owners) for alias, owners in aliases.items()}
    for short, claimants in _claim_short_forms(cast).items():
        if short:
            names.setdefault(short, tuple(claimants))
    return names


def remove_quotes(text: str) -> str:
    """Return the text without code and quoted lines, which repeat the words of others.

    `> ` quotes a line, `>>> ` the rest of the text.
    """
    return _QUOTE.sub("", _CODE.sub(_NOWHERE, text))


def find_addressed(text: str, names: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the characters that `text` addresses with `@name`, each once, in order.

    `names` comes from `addressable_names`. The longest matching name wins, and only whole words
    match. Code, quotes, e-mail addresses, links and Discord's own mentions are skipped.
    """
    spoken = fold(_NOT_SPOKEN.sub(_NOWHERE, remove_quotes(text)))
    found = _mentions(spoken, _patterns(names))
    return tuple(dict.fromkeys(character for characters in found for character in characters))


def find_mentioned(text: str, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return the characters that `text` names with or without `@`, each once.

    `names` comes from `map_spoken_names`.
    """
    spoken = fold(text)
    patterns = _patterns(names)
    found: list[str] = []
    end = 0
    for at in _WORD.finditer(spoken):
        if at.start() >= end and (longest := _longest(spoken, at.start(), patterns)):
            end = longest[0]
            found.append(longest[1])
    return tuple(dict.fromkeys(found))


def find_nearest(name: str, names: Iterable[str], limit: int = 3) -> list[str]:
    """Return the `names` most similar to `name`, best first, at most `limit`."""
    found = process.extract(
        name, list(names), scorer=fuzz.WRatio, processor=normalise, score_cutoff=60, limit=limit
    )
    return [candidate for candidate, _, _ in found]


def _short_forms(name: str) -> Iterator[str]:
    words = name.split()
    while len(words) > 1 and words[0] in _TITLES:
        words = words[1:]
    yield " ".join(words)
    for word in (words[0], words[-1]) if words else ():
        if len(word) > 1 and word not in _PARTICLES and word not in _TITLES:
            yield word
    for title in _TITLES_BEHIND:
        if name.endswith(title) and name != title:
            yield name.removesuffix(title).strip()


def strip_titles(name: str) -> str:
    """Return a name without the titles before it, such as “Mr” and “the”, unless it is a title."""
    words = name.split()
    while len(words) > 1 and normalise(words[0]) in _TITLES:
        del words[0]
    return " ".join(words)


def _claim_short_forms(cast: Sequence[Character]) -> dict[str, list[str]]:
    claims: dict[str, list[str]] = {}
    for character in cast:
        for short in set(_short_forms(normalise(character.name))):
            claims.setdefault(short, []).append(character.name)
    return claims


def _patterns(names: Mapping[str, T]) -> list[tuple[re.Pattern[str], T]]:
    return [(_pattern(name), character) for name, character in names.items()]


def _pattern(name: str) -> re.Pattern[str]:
    words = (re.escape(word) for word in name.split())
    return re.compile(rf"{SEPARATOR}{{1,3}}".join(words))


def _mentions(text: str, patterns: Sequence[tuple[re.Pattern[str], T]]) -> Iterator[T]:
    end = 0
    for at in re.finditer("@", text):
        if at.start() != end and _is_inside_word(text, at.start()):
            continue
        if longest := _longest(text, at.end(), patterns):
            end, character = longest
            yield character


def _longest(
    text: str, at: int, patterns: Sequence[tuple[re.Pattern[str], T]]
) -> tuple[int, T] | None:
    """Return the end of the longest name that starts at this position, and its characters."""
    matches = ((pattern.match(text, at), character) for pattern, character in patterns)
    whole = [
        (match.end(), character)
        for match, character in matches
        if match and _ends_word(text, match.end())
    ]
    return max(whole, key=lambda found: found[0]) if whole else None


def _is_inside_word(text: str, at: int) -> bool:
    """Return whether this `@` belongs to an e-mail address such as bob@example.org."""
    before = text[:at].rstrip("_+%-")
    return bool(before) and before[-1].isalnum() and not _UNSPACED.match(before[-1])


def _ends_word(text: str, end: int) -> bool:
    after = text[end : end + 1]
    goes_on = after.isalnum() or unicodedata.category(after or " ").startswith("M")
    return not goes_on or bool(_UNSPACED.match(after) or _UNSPACED.match(text[end - 1]))
