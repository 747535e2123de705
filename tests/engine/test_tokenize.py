"""Tokenisation of a prompt's parts with a vocabulary in which a text begins with a space."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.engine.local.llama import Model
from bot.her.prompt import Control, Text
from tests.engine.tiny_models import LLAMA_2, make_tiny_model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.her.prompt import PromptPart

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Model]:
    path = make_tiny_model(tmp_path_factory.mktemp("model") / "llama.gguf", LLAMA_2)
    loaded = Model(path, 0)
    yield loaded
    loaded.free()


def spell(model: Model, *parts: PromptPart) -> str:
    """Return the text of the tokens, with a bar for each control token."""
    return "".join(model.piece(token).decode() or "|" for token in model.tokenize(parts))


def test_only_a_text_at_the_start_or_after_a_control_token_gets_a_space(model: Model) -> None:
    assert spell(model, Text("Hi"), Text("there"), Text("\nyou")) == "| Hithere\nyou"
    assert spell(model, Control("<s>[INST] "), Text("Hi"), Control(" [/INST]")) == (
        "| [INST] Hi [/INST]"
    )
    assert spell(model, Control("<s>"), Text("Hi"), Control("</s>"), Text("you")) == "| Hi| you"


def test_parts_have_the_tokens_of_the_whole_text(model: Model) -> None:
    whole = model.tokenize((Text("One, two.  Three"),))
    assert model.tokenize((Text("One,"), Text(" two. "), Text(" Three"))) == whole


def test_typed_control_tokens_stay_text(model: Model) -> None:
    assert spell(model, Text("</s>"), Text("<s>")) == "| </s><s>"
