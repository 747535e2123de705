"""Files that people write: every mistake is told in one sentence, with its file and line and what to write instead."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Literal

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from bot.documents import Fault, parse, read_document
from bot.errors import DocumentError, ScenarioError

LOADERS = [yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)]


class Guest(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=10, description="what the guest is called")
    age: int | None = Field(default=None, ge=0, le=150)
    drink: Literal["tea", "gin"] = "tea"
    titles: tuple[str, ...] = Field(default=(), max_length=2)
    seat: int | Literal["any"] = "any"
    weight: float = 1.0
    late: bool = False


class Party(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str
    guests: tuple[Guest, ...] = ()


def complaint(folder: Path, text: str | bytes) -> str:
    path = folder / "party.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(DocumentError) as caught:
        read_document(path, Party, DocumentError)
    return str(caught.value).replace(str(path), "party.yaml")


def read(folder: Path, text: str | bytes) -> Party:
    path = folder / "party.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_document(path, Party, DocumentError)


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("host:\n\tname: Ada\n", 2, "indented with a tab: use spaces"),
        ("\thost: Ada\n", 1, "indented with a tab: use spaces"),
        ("host: Ada: the first\n", 1, "a second `: ` stands in this line"),
        ("host: @Ada\n", 1, "text that begins with `@` must stand in quotes"),
        ("host: 'Ada\nguests: []\n", 3, "the quote opened in line 1 is never closed"),
        ("guests: [Ada,\nhost: Bob\nx: y", 3, "the `[` of line 1 is not closed"),
        ("host: {name: Ada\n", 2, "the `{` of line 1 is not closed"),
        ("host: |\n  Ada\n and Bob\n", 3, "this doesn't fit what began in line 1"),
        ("host: *Ada*\n", 1, "text that begins with `*` or `&` must stand in quotes"),
        ("host: *Ada\n", 1, "text that begins with `*` must stand in quotes"),
        (
            "host: Ada\nhost: Bob\n",
            2,
            "the key `host` stands here twice, first in line 1: keep one",
        ),
        ("host: Ada\n---\nhost: Bob\n", 2, "a second document begins: keep one"),
        (
            "host: !!python/name:os.system x\n",
            1,
            "the tag `!!python/name:os.system` has no meaning here",
        ),
        ("host: &a [*a]\n", 1, "`*a` stands inside what it names"),
        ("[1, 2]: Ada\n", 1, "must be text: put it in quotes"),
        ("host: A\x07da\n", 1, "the control character U+0007 is not allowed: delete it"),
        ("[" * 5000, 1, "too deep inside each other"),
        ("a: " + "[" * 60 + "]" * 60, 1, "too deep inside each other"),
    ],
)
def test_yaml_that_is_broken_is_told_by_line_and_remedy(
    text: str, line: int, words: str, loader: object
) -> None:
    with pytest.raises(Fault, match=re.escape(words)) as caught:
        parse(text, "party.yaml", loader)  # type: ignore[arg-type] # either of PyYAML's loaders
    assert str(caught.value).startswith(f"party.yaml, line {line}")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("guests: []\n", "line 1: `host` is missing: add `host: …`"),
        (
            "host: Ada\nguests:\n  - age: 3\n",
            "line 3: `name` is missing: add `name: …` (what the guest is called)",
        ),
        (
            "host: 12\n",
            'line 1, column 7: `host` must be text, and YAML reads this as a number: put it in quotes, "12"',
        ),
        ("host: no\n", 'reads this as true or false: put it in quotes, "no"'),
        ("host: 1813-01-28\n", 'reads this as a date: put it in quotes, "1813-01-28"'),
        ("host:\n", "`host` is empty: write text, or take the line out"),
        ("host: [Ada]\n", "`host` must be text, not a list"),
        ("hots: Ada\nhost: Bob\n", "line 1, column 1: `hots` is no key here: write `host`"),
        (
            "host: Ada\nwhim: Bob\n",
            "line 2, column 1: `whim` is no key here: take it out, or use one of host, guests",
        ),
        ("host: Ada\nguests:\n", "`guests` is empty: write a list, or take the line out"),
        ("host: Ada\nguests: Bob\n", "`guests` must be a list, not `Bob`"),
        ("host: Ada\nguests: [Bob]\n", "entry 1 of `guests` must be a group of keys, not `Bob`"),
        (
            "host: Ada\nguests: [{name: Bob, titles: [1]}]\n",
            "entry 1 of `titles` must be text, and YAML reads this",
        ),
        ("host: Ada\nguests: [{name: Bob, titles: }]\n", "`titles` is empty: write a list"),
        (
            "host: Ada\nguests: [{name: Bob, titles: [a, b, c]}]\n",
            "`titles` has 3 entries: leave at most 2",
        ),
        (
            "host: Ada\nguests: [{name: Bartholomew}]\n",
            "`name` has 11 characters: shorten it to 10",
        ),
        ("host: Ada\nguests: [{name: ''}]\n", "`name` is empty: write something"),
        ("host: Ada\nguests: [{name: Bob, age: old}]\n", "`age` must be a whole number, not `old`"),
        ("host: Ada\nguests: [{name: Bob, age: 1.5}]\n", "`age` must be a whole number, not `1.5`"),
        ("host: Ada\nguests: [{name: Bob, age: -1}]\n", "`age` must be at least 0, not `-1`"),
        ("host: Ada\nguests: [{name: Bob, age: 900}]\n", "`age` must be at most 150, not `900`"),
        (
            "host: Ada\nguests: [{name: Bob, drink: milk}]\n",
            "`drink` must be `tea` or `gin`, not `milk`",
        ),
        (
            "host: Ada\nguests: [{name: Bob, seat: front}]\n",
            "`seat` must be a whole number or `any`, not `front`",
        ),
        (
            "host: Ada\nguests: [{name: Bob, weight: heavy}]\n",
            "`weight` must be a number, not `heavy`",
        ),
        (
            "host: Ada\nguests: [{name: Bob, late: maybe}]\n",
            "`late` must be true or false, not `maybe`",
        ),
        ("", "line 1: the file is empty: write `key: value` lines"),
        ("# nothing yet\n", "the file is empty"),
        ("- Ada\n", "the file is a list and no group of keys"),
        ("Ada\n", "the file is text and no group of keys"),
    ],
)
def test_a_wrong_value_is_told_by_line_key_and_remedy(text: str, told: str, tmp_path: Path) -> None:
    sentence = complaint(tmp_path, text)
    assert sentence.startswith("party.yaml, line ")
    assert told in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_of_several_faults_the_first_is_told_and_where_the_others_stand(tmp_path: Path) -> None:
    sentence = complaint(tmp_path, "host: 1\nguests:\n  - name: Bob\n    age: old\n  - nome: Eve\n")
    assert sentence == (
        'party.yaml, line 1, column 7: `host` must be text, and YAML reads this as a number: put it in quotes, "1" '
        "(3 more faults: line 4, line 5)."
    )


def test_every_fault_can_be_listed_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "party.yaml"
    path.write_text("host: 1\nguests: [{name: 2}]\n")
    with pytest.raises(DocumentError) as caught:
        read_document(path, Party, DocumentError)
    assert [fault.split(": ")[1].split(" ")[0] for fault in caught.value.faults] == [
        "`host`",
        "`name`",
    ]


def test_the_caller_chooses_the_error(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError):
        read_document(tmp_path / "none.yaml", Party, ScenarioError)


def test_a_long_wrong_value_is_not_quoted_since_it_may_be_a_secret(tmp_path: Path) -> None:
    secret = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs"
    assert secret not in complaint(tmp_path, f"host: Ada\nguests: [{{name: Bob, age: {secret}}}]\n")


def test_a_file_in_another_encoding_is_told_to_be_saved_as_utf8(tmp_path: Path) -> None:
    assert "line 2: holds bytes that are no UTF-8" in complaint(
        tmp_path, b"guests: []\nhost: Zo\xeb\n"
    )
    assert "is UTF-16: save it as UTF-8" in complaint(tmp_path, "host: Zoë\n".encode("utf-16"))


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    assert read(tmp_path, "host: Zoë\n".encode("utf-8-sig")).host == "Zoë"


def test_windows_line_ends_do_no_harm(tmp_path: Path) -> None:
    assert read(tmp_path, "host: Ada\r\nguests: []\r\n").host == "Ada"


def test_files_that_are_no_files_are_told(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="does not exist: check the path"):
        read_document(tmp_path / "none.yaml", Party, DocumentError)
    with pytest.raises(DocumentError, match="is a folder: name a file"):
        read_document(tmp_path, Party, DocumentError)
    with pytest.raises(DocumentError, match="can't be read"):
        read_document(Path(f"{tmp_path}/{'x' * 300}"), Party, DocumentError)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything"
)
def test_a_file_without_the_right_to_read_it_is_told(tmp_path: Path) -> None:
    path = tmp_path / "party.yaml"
    path.write_text("host: Ada")
    path.chmod(0)
    with pytest.raises(DocumentError, match="may not be read"):
        read_document(path, Party, DocumentError)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    assert "is larger than 1024 KiB" in complaint(tmp_path, "host: " + "a" * 1024 * 1024)


def test_aliases_work_and_may_not_explode(tmp_path: Path) -> None:
    assert read(tmp_path, "host: &me Ada\nguests: [{name: *me}]\n").guests[0].name == "Ada"
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
    )
    assert "the aliases (`*name`) make this text explode" in complaint(tmp_path, bomb)
    heavy = f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 2000)}]\n"
    assert "the aliases (`*name`) make this text explode" in complaint(tmp_path, heavy)


def test_aliases_of_aliases_may_not_lie_too_deep(tmp_path: Path) -> None:
    chain = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 3000))
    assert "too deep inside each other" in complaint(tmp_path, chain)


def test_keys_are_text_however_they_look() -> None:
    assert parse("on: 1\n2: x\nnull: y\n", "x").data == {"on": 1, "2": "x", "null": "y"}


def test_what_looks_like_a_date_or_a_number_and_is_none_is_text() -> None:
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
def test_what_yaml_writes_is_read_back_whole(
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
def test_any_text_is_read_or_told_in_one_sentence(text: str, loader: type[yaml.SafeLoader]) -> None:
    sentence = fault_of(text, loader)
    assert sentence is None or re.fullmatch(r"x\.yaml.*: .+\.", sentence)
