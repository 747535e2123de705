"""Names as people write them: addressed characters, and the nearest names to a typo."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bot.library.name_matching import (
    addressable_names,
    find_addressed,
    find_nearest,
    map_spoken_names,
)
from bot.library.normalise import normalise
from bot.library.scenario import Character

BENNETS = (
    Character(name="Mr Bennet", aliases=("Bennet", "Papa")),
    Character(name="Mrs Bennet"),
    Character(name="Elizabeth Bennet", aliases=("Lizzy",)),
    Character(name="Mr. Collins"),
    Character(name="Lady Catherine de Bourgh"),
)
ABROAD = (
    Character(name="林黛玉"),
    Character(name="林黛"),
    Character(name="柯林斯先生"),
    Character(name="伊丽莎白·班内特"),
    Character(name="Zoë Müller"),
    Character(name="D’Artagnan"),
    Character(name="Jean-Luc"),
    Character(name="J. R. R. Tolkien"),
    Character(name="Łukasz Østergård"),
    Character(name="Анна Каренина"),
    Character(name="김철수"),
)


def heard(text: str, cast: tuple[Character, ...] = BENNETS) -> list[str]:
    return list(find_addressed(text, addressable_names(cast)))


@pytest.mark.parametrize(
    "text",
    [
        "@Mr Bennet You sent for me?",
        "@Bennet",
        "@mr. bennet, a word",
        "@MR  BENNET!",
        "@Mr_Bennet hello",
        "@Mr.Bennet hello",
        "＠Bennet hello",
        "hello,@Bennet",
        "(@Bennet)",
        "**@Bennet**",
        "_@Bennet_",
        "||@Bennet|| hush",
        "@Bennet's book",
        "@Papa",
        "\N{LEFT DOUBLE QUOTATION MARK}@Bennet\N{RIGHT DOUBLE QUOTATION MARK}",
        "he said\n@Bennet",
        "@Ben\u200bnet",
        "Good evening. @Bennet?",
        "one backtick ` and @Bennet",
        "@Bénnet",
    ],
)
def test_mr_bennet_can_be_addressed_in_many_ways(text: str) -> None:
    assert heard(text) == ["Mr Bennet"]


@pytest.mark.parametrize(
    "text",
    [
        "Mr Bennet, you sent for me?",
        "write to bob@bennet.org",
        "write to bob_@bennet.org or bob+x@bennet.org",
        "`@Bennet`",
        "```\n@Bennet\n```",
        "``a ` @Bennet``",
        "@Bennets and @bennetton",
        "@ Bennet",
        "https://example.org/@bennet",
        "<@1234> and <@&1234> and <@!1234>",
        "@Mr",
        "@everyone",
        "@",
        "",
    ],
)
def test_a_line_without_a_matching_name_addresses_no_character(text: str) -> None:
    assert heard(text) == []


def test_several_characters_are_addressed_once_each_in_order() -> None:
    assert heard("@Lizzy and @Mr Collins, and you @elizabeth, and @Papa") == [
        "Elizabeth Bennet",
        "Mr. Collins",
        "Mr Bennet",
    ]


def test_adjacent_mentions_are_both_found() -> None:
    assert heard("@Lizzy@Papa") == ["Elizabeth Bennet", "Mr Bennet"]


def test_the_longest_matching_name_wins() -> None:
    assert heard("@Mrs Bennet") == ["Mrs Bennet"]
    assert heard("@林黛玉", ABROAD) == ["林黛玉"]
    assert heard("@林黛", ABROAD) == ["林黛"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("@林黛玉你好", "林黛玉"),
        ("你好@林黛玉，吃了吗", "林黛玉"),
        ("@柯林斯先生您好", "柯林斯先生"),
        ("@柯林斯您好", "柯林斯先生"),
        ("@伊丽莎白·班内特", "伊丽莎白·班内特"),
        ("@伊丽莎白 你好", "伊丽莎白·班内特"),
        ("@zoe muller", "Zoë Müller"),
        ("@ZOE\u0308!", "Zoë Müller"),
        ("@d'artagnan en garde", "D’Artagnan"),
        ("@D´Artagnan", "D’Artagnan"),
        ("@jean‑luc", "Jean-Luc"),
        ("@J.R.R. Tolkien", "J. R. R. Tolkien"),
        ("@tolkien", "J. R. R. Tolkien"),
        ("@lukasz ostergard", "Łukasz Østergård"),
        ("@КАРЕНИНА", "Анна Каренина"),
        ("@김철수야", "김철수"),
        ("@ｚｏｅ", "Zoë Müller"),
    ],
)
def test_names_of_every_script_are_found(text: str, name: str) -> None:
    assert heard(text, ABROAD) == [name]


def test_a_name_without_its_title_matches_if_it_is_unambiguous() -> None:
    spoken = map_spoken_names(BENNETS)
    assert spoken["collins"] == "Mr. Collins"
    assert spoken["catherine"] == "Lady Catherine de Bourgh"
    assert spoken["bourgh"] == "Lady Catherine de Bourgh"
    assert "de" not in spoken
    assert "mr" not in spoken
    without_alias = map_spoken_names([Character(name="Mr Bennet"), Character(name="Mrs Bennet")])
    assert "bennet" not in without_alias


def test_a_full_name_wins_over_another_characters_short_form() -> None:
    cast = (
        Character(name="John Watson"),
        Character(name="Watson"),
        Character(name="Mary", aliases=("John",)),
    )
    spoken = map_spoken_names(cast)
    assert spoken["watson"] == "Watson"
    assert spoken["john"] == "Mary"


def test_a_name_that_several_characters_share_addresses_all_of_them() -> None:
    cast = (
        Character(name="Mr Bennet"),
        Character(name="Mrs Bennet", aliases=("My dear",)),
        Character(name="Jane Bennet", aliases=("my dear", "Miss Bennet")),
        Character(name="Mr. Collins"),
    )
    assert heard("@Bennet, dinner!", cast) == ["Mr Bennet", "Mrs Bennet", "Jane Bennet"]
    assert heard("@my dear", cast) == ["Mrs Bennet", "Jane Bennet"]
    assert heard("@Miss Bennet", cast) == ["Jane Bennet"]
    assert heard("@Mr Bennet and @Bennet", cast) == ["Mr Bennet", "Mrs Bennet", "Jane Bennet"]


@pytest.mark.parametrize(
    "text",
    [
        "> @Papa said no",
        "  > @Papa",
        "> one\n> @Papa\nI disagree.",
        ">>> @Papa\n@Mrs Bennet",
        "Look:\n>>> one\n@Papa",
        "> Hm.\n`@Papa`",
    ],
)
def test_a_quote_addresses_no_character(text: str) -> None:
    assert heard(text) == []


@pytest.mark.parametrize("text", ["> No.\n@Papa?", "@Papa > you", ">@Papa", "a\n@Papa\n> @Lizzy"])
def test_words_outside_a_quote_address_a_character(text: str) -> None:
    assert heard(text) == ["Mr Bennet"]


def test_the_nearest_names_are_sorted_best_first() -> None:
    names = [character.name for character in BENNETS]
    assert find_nearest("mister benet", names)[0] == "Mr Bennet"
    assert find_nearest("Colins", names) == ["Mr. Collins"]
    assert find_nearest("xyzzy", names) == []
    assert find_nearest("", names) == []


words = st.text(
    st.characters(categories=["Lu", "Ll", "Lo", "Nd"], include_characters="'’-é·"),
    min_size=1,
    max_size=12,
).filter(lambda word: normalise(word) and word[0].isalnum() and word[-1].isalnum())
titles = st.sampled_from(["", "Mr ", "Dr. ", "Lady ", "The "])
names = st.builds(
    lambda title, parts: title + " ".join(parts), titles, st.lists(words, min_size=1, max_size=3)
)
prose = st.text(max_size=60).filter(lambda text: "@" not in unicodedata.normalize("NFKC", text))


@given(st.lists(names, min_size=1, max_size=6, unique_by=normalise), st.data())
def test_every_spoken_name_of_a_cast_matches_after_an_at_sign(
    cast: list[str], data: st.DataObject
) -> None:
    characters = [Character.model_construct(name=name, aliases=()) for name in cast]
    spoken = map_spoken_names(characters)
    addressable = addressable_names(characters)
    for name in cast:
        assert spoken[normalise(name)] == name
        written = data.draw(
            st.sampled_from(
                [name, name.upper(), unicodedata.normalize("NFD", name), normalise(name)]
            )
        )
        assume(
            normalise(written) == normalise(name)
        )  # ß and its kind change when they are put in capitals
        assert find_addressed(f"So, @{written} — what now?", addressable) == (name,)
    for short, name in spoken.items():
        assert find_addressed(f"@{short}", addressable) == (name,)


@given(st.lists(names, min_size=1, max_size=6, unique_by=normalise), prose)
def test_a_line_without_an_at_sign_addresses_no_character(cast: list[str], text: str) -> None:
    spoken = addressable_names([Character.model_construct(name=name, aliases=()) for name in cast])
    assert find_addressed(f"{text} {' '.join(cast)}", spoken) == ()


@given(st.text(max_size=60))
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(max_size=200), st.lists(names, max_size=4))
def test_any_text_can_be_searched_for_names(text: str, cast: list[str]) -> None:
    spoken = addressable_names([Character.model_construct(name=name, aliases=()) for name in cast])
    assert set(find_addressed(text, spoken)) <= set(cast)
