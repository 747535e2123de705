"""Replies and steps for the tests of takes and undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.engine.scripted_engine import ScriptedEngine
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    from tests.engine.scripted_engine import Script
    from tests.loopback import DiscordMessage, Outcome
    from tests.play.harness import Evening

FIRST = reply("Mr Bennet", plan="PLAN", thinks="SECRET one.", does="smiles", says="You refuse him?")
SECOND = reply("Mr Bennet", plan="PLAN", thinks="SECRET two.", does="frowns", says="You take him?")
MADAM = reply("Mrs Bennet", thinks="SECRET three.", does="sobs", says="My nerves!")
GMS_ONLY = "Only the game master"


async def ready(*script: Script) -> ScriptedEngine:
    engine = ScriptedEngine(list(script))
    await engine.start()
    return engine


async def asked(
    evening: Evening, text: str = "@Mr Bennet Papa?", *, count: int = 1
) -> DiscordMessage:
    evening.lizzy.say(evening.stage, text)
    return await evening.answer(count=count)


async def reads(evening: Evening, post: DiscordMessage, text: str) -> None:
    await evening.discord.until(lambda: post.content == text, what=f"a post that reads {text!r}")
    await evening.discord.quiet()


async def refused(evening: Evening, outcome: Outcome, sentence: str = GMS_ONLY) -> None:
    """Wait for a private answer with this sentence and no other message."""
    await evening.discord.until(lambda: outcome.messages, what=f"an answer with {sentence!r}")
    assert outcome.ephemeral
    assert outcome.modal is None
    assert sentence in outcome.text
    assert len(outcome.messages) == 1
