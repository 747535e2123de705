"""Players see no addresses, paths or settings, and refusals are private."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from bot.errors import EngineDied, EngineError, EngineStartError, PromptTooLong
from tests.play.test_scene import BENNET, ready

if TYPE_CHECKING:
    from tests.play.harness import Evening

INTERNALS = re.compile(r"127\.0\.0\.1|10\.0\.0\.5|:8080|base_url|engine\.|/srv|\.ya?ml|\.db|Errno")
ADDRESS = "http://10.0.0.5:8080"
FAILURES = (
    EngineError(f"No completions server answers at {ADDRESS}. Start it, or correct base_url."),
    EngineError(f"The completions server {ADDRESS} rejected the API key."),
    EngineDied(f"The connection to the completions server {ADDRESS} was lost. Try again."),
    EngineStartError("/srv/models/her.gguf is missing. Correct engine.model."),
    PromptTooLong(f"The prompt is too long for the model on {ADDRESS}."),
)


def read_all(evening: Evening) -> str:
    """Return everything that the people of the evening have ever read."""
    return "\n".join(person.ever_saw() for person in (evening.gm, evening.lizzy, evening.kitty))


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
async def test_a_failed_reply_shows_no_internals_and_the_log_does(
    evening: Evening, failure: EngineError, caplog: pytest.LogCaptureFixture
) -> None:
    engine = await ready(failure, failure, failure, BENNET)
    async with evening.online(engine):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        notice = await evening.discord.until(
            lambda: next((one for one in evening.stage.messages if "Try again" in one.labels), None)
        )
        await evening.discord.quiet()
        assert notice is not None
        assert not INTERNALS.search(read_all(evening))
    assert str(failure) in caplog.text


async def test_commands_that_need_the_model_show_no_internals(evening: Evening) -> None:
    engine = await ready(FAILURES[0])
    async with evening.online(engine):
        await evening.begin()
        outcome = await evening.gm.slash(evening.stage, "gm think", character="Mr Bennet")
        assert outcome.ephemeral
        assert "does not answer. Whoever runs Aside has been told." in outcome.text
        assert not INTERNALS.search(read_all(evening))


async def test_a_scenario_with_a_mistake_names_no_file(evening: Evening) -> None:
    library = evening.settings.store.path.parent / "library"
    (library / "broken").mkdir(parents=True)
    (library / "broken" / "scenario.yaml").write_text("title: Broken\ncast: [")
    shelf = evening.settings.library.model_copy(update={"folders": (library,)})
    evening.settings = evening.settings.model_copy(update={"library": shelf})
    async with evening.online(await ready()):
        outcome = await evening.gm.slash(evening.stage, "scene start", scenario="broken")
        assert outcome.ephemeral
        assert not INTERNALS.search(outcome.text)
        assert str(library) not in outcome.text


async def test_every_refusal_is_private(evening: Evening) -> None:
    async with evening.online(await ready()):
        await evening.begin()
        for line, options in (
            ("scene start", {"scenario": "pride-and-prejudice"}),
            ("scene start", {"scenario": "nowhere"}),
            ("scene end", {}),
            ("scene pause", {}),
            ("scene unpause", {}),
            ("scene unhide", {}),
            ("scene reopen", {"scene": "7"}),
            ("scene clear", {}),
            ("scene mode", {"mode": "auto"}),
            ("scene prompt", {"character": "Mr Bennet"}),
            ("reveal thoughts", {}),
            ("cast leave", {}),
            ("cast exit", {}),
            ("cast rest", {"character": "Mr Bennet"}),
            ("cue", {"character": "Nobody"}),
            ("roll", {"dice": "1000000d6"}),
            ("whisper", {"character": "Nobody", "text": "Psst"}),
            ("gm narrate", {"text": "Fire!"}),
            ("gm add", {"person": evening.kitty}),
        ):
            before = len(evening.stage.messages)
            outcome = await evening.lizzy.slash(evening.stage, line, **options)
            assert outcome.ephemeral, line
            assert outcome.text, line
            assert len(evening.stage.messages) == before, line
