"""The sentences that players read about errors."""

from __future__ import annotations

import inspect
import re

import pytest

from bot import errors
from bot.errors import AsideError, PostingError, Refused
from bot.scenes.player_sentences import describe_to_players

INTERNALS = "http://10.0.0.5:8080 /srv/aside/aside.db engine.context base_url schema-3"
KEPT = (
    PostingError,
    Refused,
    errors.NameNotFound,
    errors.EmptyReply,
    errors.CharacterError,  # about a person's own form or file
)


def error_classes() -> list[type[AsideError]]:
    """Return the errors that can reach a channel, except those whose sentence players read."""
    found = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]
    roots = (errors.EngineError, errors.StoreError, errors.WeightsError, errors.DocumentError)
    return [kind for kind in found if issubclass(kind, roots) and kind not in KEPT]


@pytest.mark.parametrize("kind", error_classes(), ids=lambda kind: kind.__name__)
def test_players_read_no_address_path_or_setting(kind: type[AsideError]) -> None:
    sentence = describe_to_players(kind(INTERNALS))
    assert not re.search(r"://|\d|/|_|\.\w", sentence)
    assert sentence.endswith(".")


@pytest.mark.parametrize("kind", KEPT, ids=lambda kind: kind.__name__)
def test_players_read_the_sentences_that_are_for_them(kind: type[AsideError]) -> None:
    assert describe_to_players(kind("I could not post in #study.")) == "I could not post in #study."
