"""YAML is parsed strictly, and mistakes are reported with line and fix."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.documents import Fault, parse
from tests.documents.conftest import complaint, read

if TYPE_CHECKING:
    from pathlib import Path

LOADERS = [yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)]


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("host:\n\tname: Ada\n", 2, "indented with a tab. Use spaces"),
        ("\thost: Ada\n", 1, "indented with a tab. Use spaces"),
        ("host: Ada: the first\n", 1, "this line has a second `: `"),
        ("host: @Ada\n", 1, "text can't begin with `@`. Put it in quotes"),
        ("host: 'Ada\nguests: []\n", 3, "the quote opened in line 1 is never closed"),
        ("guests: [Ada,\nhost: Bob\nx: y", 3, "the `[` of line 1 is not closed"),
        ("host: {name: Ada\n", 2, "the `{` of line 1 is not closed"),
        ("host: |\n  Ada\n and Bob\n", 3, "this doesn't match the block that starts in line 1"),
        ("host: *Ada*\n", 1, "text can't begin with `*` or `&`. Put it in quotes"),
        ("host: *Ada\n", 1, "Put text that begins with `*` in quotes"),
        (
            "host: Ada\nhost: Bob\n",
            2,
            "the key `host` is already in line 1. Keep one of them",
        ),
        ("host: Ada\n---\nhost: Bob\n", 2, "a second document starts here. Keep one"),
        (
            "host: !!python/name:os.system x\n",
            1,
            "the tag `!!python/name:os.system` is not supported",
        ),
        ("host: &a [*a]\n", 1, "`*a` is inside the value that it names"),
        ("[1, 2]: Ada\n", 1, "a key must be text"),
        ("host: A\x07da\n", 1, "the control character U+0007 is not allowed. Delete it"),
        ("host: !x\n", 1, "YAML reads `!x` as a tag. If it is text, put it in quotes"),
        ("host: !important do it\n", 1, "YAML reads `!important` as a tag"),
        ("host: ! Halt\n", 1, "YAML reads `!` as a tag"),
        ("host: &Co wins\n", 1, "YAML reads `&Co` as an anchor, but it has no alias"),
        ("host: [enters] Good day\n", 1, "text can't begin with `[`. Put the whole text in quotes"),
        ("host: {nods} Yes\n", 1, "text can't begin with `{`. Put the whole text in quotes"),
        ('host: "Hello" she said\n', 1, "there is text after the closing quote"),
        ("host: 'it's late'\n", 1, "the apostrophe ends the text. Write it twice (`''`)"),
        ("host: - Ada\n", 1, "text can't begin with `- `. Put it in quotes"),
        ("host: ? Ada\n", 1, "text can't begin with `? `. Put it in quotes"),
        ("host: >Ada\n", 1, "text can't begin with `>` or `|`. Put it in quotes"),
        ('host: "C:\\Users"\n', 1, "Write `\\\\` for each `\\`, or use single quotes"),
        ('host: "C:\\xyz"\n', 1, "Write `\\\\` for each `\\`, or use single quotes"),
        ('host: "100\\%"\n', 1, "Write `\\\\` for each `\\`, or use single quotes"),
        ('host: "\\ud83d"\n', 1, "`\\ud83d` is half of a character"),
        ('host: "\\ud83d\\ude00"\n', 1, "`\\ud83d` is half of a character"),
        ("host:Ada\nguests: []\n", 1, "the space after `host:` is missing. Write `host: …`"),
        ("guests: []\nhost:Ada\n", 2, "the space after `host:` is missing"),
        ("host:Ada\n", 1, "the space after `host:` is missing"),
        ("- name: Ada\n  age:3\n", 2, "the space after `age:` is missing"),
        ("host： Ada\nguests: []\n", 1, "`：` is not YAML's colon"),
        ("- name: A\n  name: B\n", 2, "or start each entry of a list with `- `"),
        ("host: Agent #7\n", 1, "the text ends before the `#`, because ` #` starts a comment"),
        ("host: Room # 7\n", 1, "the text ends before the `#`"),
        ("host: #7\n", 1, "there is no text before the `#`"),
        ("host: a long\n  text #5\n", 1, "the text ends before the `#`"),
        ("\u00a0host: Ada\n", 1, "the key `host` has an invisible character beside it"),
        ("host: [Ada, {name: Bob}\n", 2, "is not closed"),
        ("[" * 5000, 1, "nested too deeply"),
        ("a: " + "[" * 60 + "]" * 60, 1, "nested too deeply"),
    ],
)
def test_invalid_yaml_is_reported_with_line_and_fix(
    text: str, line: int, words: str, loader: object
) -> None:
    with pytest.raises(Fault, match=re.escape(words)) as caught:
        parse(text, "party.yaml", loader)  # type: ignore[arg-type] # either of PyYAML's loaders
    assert str(caught.value).startswith(f"party.yaml, line {line}")


def test_aliases_work_but_their_expansion_is_limited(tmp_path: Path) -> None:
    assert read(tmp_path, "host: &me Ada\nguests: [{name: *me}]\n").guests[0].name == "Ada"
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
    )
    assert "the aliases (`*name`) expand to too much text" in complaint(tmp_path, bomb)
    heavy = f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 2000)}]\n"
    assert "the aliases (`*name`) expand to too much text" in complaint(tmp_path, heavy)


def test_the_nesting_of_aliases_is_limited(tmp_path: Path) -> None:
    chain = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 3000))
    assert "nested too deeply" in complaint(tmp_path, chain)


def test_keys_are_always_text() -> None:
    assert parse("on: 1\n2: x\nnull: y\n", "x").data == {"on": 1, "2": "x", "null": "y"}


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0123", "0123"),
        ("-007", "-007"),
        ("00", "00"),
        ("12:30", "12:30"),
        ("1:02:03.5", "1:02:03.5"),
        ("0", 0),
        ("10", 10),
        ("0.5", 0.5),
        ("Ada # the first", "Ada"),
        ("Ada  #the first", "Ada"),
        ("'Agent #7'", "Agent #7"),
        ("Agent#7", "Agent#7"),
        ("12 #years", 12),
        ("http://example.org/a:b", "http://example.org/a:b"),
    ],
)
def test_a_value_is_read_as_it_was_written(
    text: str, value: object, loader: type[yaml.SafeLoader]
) -> None:
    assert parse(f"a: {text}\n", "x", loader).data == {"a": value}


def test_an_id_with_a_leading_zero_is_decimal(tmp_path: Path) -> None:
    party = read(tmp_path, "host: 0042\nguests: [{name: Bob, age: 010}]\n")
    assert (party.host, party.guests[0].age) == ("0042", 10)


def test_a_control_character_in_a_file_name_is_visible() -> None:
    with pytest.raises(Fault, match=r"C:\\new\.yaml, line 2"):
        parse("a: [", "C:\new.yaml")


def test_an_invalid_date_or_number_is_text() -> None:
    assert parse("a: 2024-13-45\nb: " + "9" * 5000, "x").data == {
        "a": "2024-13-45",
        "b": "9" * 5000,
    }


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**6), 10**6)
    | st.text(max_size=20).filter(str.isprintable),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("abcxyz", min_size=1), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.text("abcxyz", min_size=1), plain, max_size=5), st.sampled_from(LOADERS))
def test_dumped_yaml_is_parsed_back_unchanged(
    data: dict[str, object], loader: type[yaml.SafeLoader]
) -> None:
    assert parse(yaml.safe_dump(data, allow_unicode=True), "x", loader).data == (data or {})


def fault_of(text: str, loader: type[yaml.SafeLoader]) -> str | None:
    try:
        parse(text, "x.yaml", loader)
    except Fault as fault:
        return str(fault)
    return None


@given(st.text(max_size=200), st.sampled_from(LOADERS))
def test_any_text_is_parsed_or_rejected_in_one_sentence(
    text: str, loader: type[yaml.SafeLoader]
) -> None:
    sentence = fault_of(text, loader)
    assert sentence is None or re.fullmatch(r"x\.yaml.*: .+[.?]", sentence)
