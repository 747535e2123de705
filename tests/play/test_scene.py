"""A scene from start to end, as game masters and players see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.scenes.scene import SceneState
from bot.store.store import Store
from tests.engine.scripted_engine import Scripted, ScriptedEngine
from tests.play.harness import Evening, personas
from tests.scenes.scene_harness import reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.loopback import Channel

BENNET = reply(
    "Mr Bennet",
    plan="PLAN he stays dry.",
    thinks="SECRET dear Lizzy.",
    does="smiles",
    says="Well, well.",
)


async def ready(*script: object) -> ScriptedEngine:
    engine = ScriptedEngine(list(script) or [BENNET])  # type: ignore[arg-type]
    await engine.start()
    return engine


async def test_a_scene_starts_with_a_public_opening_and_a_message_to_the_gm(
    evening: Evening,
) -> None:
    async with evening.online(await ready()):
        outcome = await evening.begin()
        assert outcome.ephemeral
        assert "you direct it" in outcome.text
        opening = "\n".join(
            text for message in evening.stage.messages for text in message.now.texts()
        )
        assert "Mr Bennet" in opening
        assert "Pride and Prejudice" in opening
        assert len(evening.gm.dms) == 1


async def test_a_character_answers_under_its_name_and_only_the_gm_gets_its_thoughts(
    evening: Evening,
) -> None:
    async with evening.online(await ready()):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet You sent for me, Papa?")
        post = await evening.answer()
        assert post.name == "Mr Bennet"
        assert post.content == "*smiles* Well, well."
        dms = await evening.discord.until(lambda: evening.gm.dms[1:])
        told = "\n".join(text for message in dms for text in message.now.texts())
        assert "SECRET dear Lizzy." in told
        assert "PLAN he stays dry." in told
        for person in (evening.lizzy, evening.kitty):
            assert not any("SECRET" in text or "PLAN" in text for text in person.ever_saw())


async def test_a_first_name_a_role_a_reply_and_the_bot_address_a_character(
    evening: Evening,
) -> None:
    async with evening.online(await ready()):
        await evening.begin()
        role = next(role for role in evening.guild.roles.values() if role.name == "Mr Bennet")
        evening.lizzy.say(evening.stage, "@bennet Papa?")
        post = await evening.answer(count=1)
        evening.lizzy.say(evening.stage, f"<@&{role.id}> Papa!")
        await evening.answer(count=2)
        evening.lizzy.say(evening.stage, "And?", reply_to=post)
        await evening.answer(count=3)
        evening.lizzy.say(evening.stage, f"{evening.discord.bot.mention} go on")
        await evening.answer(count=4)
        assert {message.name for message in personas(evening.stage)} == {"Mr Bennet"}


async def test_a_persona_speaks_in_the_scenes_thread(evening: Evening) -> None:
    async with evening.online(await ready()):
        thread = evening.gm.start_thread(evening.stage, "by the fire")
        await evening.begin(thread)
        evening.lizzy.say(thread, "@Mr Bennet Papa?")
        post = await evening.answer(thread)
        assert post.content == "*smiles* Well, well."
        assert personas(evening.stage) == []


async def test_reveal_makes_thoughts_public_and_private_again(evening: Evening) -> None:
    async with evening.online(await ready()):
        await evening.begin()
        await evening.gm.slash(evening.stage, "reveal thoughts")
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        post = await evening.answer()
        assert "||SECRET dear Lizzy.||" in post.content
        assert "PLAN" not in post.content
        await evening.gm.slash(evening.stage, "reveal thoughts")
        await evening.gm.slash(evening.stage, "reveal planning", where="off")
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        post = await evening.answer(count=2)
        assert "SECRET" not in post.content
        status = await evening.lizzy.slash(evening.stage, "reveal status")
        assert status.ephemeral
        assert "in private" in status.text


async def test_a_player_who_tries_to_direct_is_refused_in_private(evening: Evening) -> None:
    async with evening.online(await ready()):
        await evening.begin()
        for command in ("reveal thoughts", "scene pause", "scene clear", "scene end"):
            outcome = await evening.lizzy.slash(evening.stage, command)
            assert "Only the game master" in outcome.text
        prompt = await evening.lizzy.slash(evening.stage, "scene prompt", character="Mr Bennet")
        assert "Only the game master" in prompt.text
        assert not prompt.message.now.attachments


async def test_a_gm_with_closed_dms_gets_a_private_notice_and_can_see_thoughts(
    evening: Evening,
) -> None:
    evening.gm.user.dms_open = False
    async with evening.online(await ready()):
        outcome = await evening.begin()
        assert outcome.ephemeral
        await evening.discord.until(lambda: "direct messages are closed" in outcome.text)
        assert outcome.ephemeral
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        post = await evening.answer()
        shown = await evening.gm.context_menu(post, "Show thoughts")
        assert shown.ephemeral
        assert "SECRET dear Lizzy." in shown.text
        refused = await evening.lizzy.context_menu(post, "Show thoughts")
        assert refused.ephemeral
        assert "SECRET" not in refused.text
        evening.discord.forgive(50007)


async def test_a_player_speaks_as_the_character_they_joined_as(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        choices = await evening.lizzy.autocomplete(evening.stage, "cast join", character="eli")
        assert [choice.value for choice in choices] == ["Elizabeth Bennet"]
        await evening.lizzy.slash(evening.stage, "cast join", character="Elizabeth Bennet")
        evening.lizzy.say(evening.stage, "*curtsies* You sent for me, @Mr Bennet?")
        await evening.answer()
        assert (
            "Elizabeth Bennet: <role_action>curtsies</role_action>"
            in engine.requests[0].prompt.text
        )
        listed = await evening.kitty.slash(evening.stage, "cast list")
        assert evening.lizzy.mention in listed.text
        await evening.lizzy.slash(evening.stage, "cast leave")


async def test_scenarios_autocomplete_and_an_unknown_one_gets_a_suggestion(
    evening: Evening,
) -> None:
    async with evening.online(await ready()):
        choices = await evening.gm.autocomplete(evening.stage, "scene start", scenario="gats")
        assert choices[0].value == "the-great-gatsby"
        outcome = await evening.gm.slash(
            evening.stage, "scene start", scenario="pride and predjudice"
        )
        assert "pride-and-prejudice" in outcome.text
        assert evening.stage.messages == []


async def test_a_missing_permission_is_reported_with_its_channel(evening: Evening) -> None:
    stage = evening.discord.text_channel(evening.guild, "locked")
    evening.discord.world.overwrite(stage, evening.guild.everyone, deny="send_messages")
    async with evening.online(await ready()):
        outcome = await evening.begin(stage)
        assert "Send Messages" in outcome.text
        assert "#locked" in outcome.text


async def test_a_failed_reply_gets_a_notice_and_a_retry_button(evening: Evening) -> None:
    async with evening.online(await ready("only planning", "only planning", BENNET)):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        notice = (
            await evening.discord.until(
                lambda: [m for m in evening.stage.messages if "Try again" in m.labels]
            )
        )[0]
        refused = await evening.kitty.press(notice, "Try again")
        assert refused.ephemeral
        await evening.lizzy.press(notice, "Try again")
        assert (await evening.answer()).content == "*smiles* Well, well."
        await evening.discord.until(lambda: notice.deleted)


async def test_a_scene_continues_after_a_restart(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        await evening.lizzy.slash(evening.stage, "cast join", character="Elizabeth Bennet")
        await evening.gm.slash(evening.stage, "reveal thoughts")
        evening.lizzy.say(evening.stage, "@Mr Bennet MARMALADE?")
        await evening.answer()
        engine.gate.clear()
        evening.lizzy.say(evening.stage, "@Mr Bennet And now?")
        await evening.discord.until(lambda: len(engine.requests) == 2)
    evening.kitty.say(evening.stage, "@Mrs Bennet Mama?")
    after = await ready(BENNET, reply("Mrs Bennet", says="My nerves!"))
    async with evening.online(after):
        await evening.answer(count=3)
        assert [message.name for message in personas(evening.stage)] == [
            "Mr Bennet",
            "Mr Bennet",
            "Mrs Bennet",
        ]
        assert "MARMALADE" in after.requests[0].prompt.text
        assert "||SECRET" in personas(evening.stage)[1].content
        assert len(evening.discord.requests_to("sync_commands")) == 1


async def test_edits_and_deletions_change_the_story_without_a_reply(evening: Evening) -> None:
    engine = await ready()
    async with evening.online(engine):
        await evening.begin()
        kept = evening.lizzy.say(evening.stage, "I like MARMALADE.")
        gone = evening.lizzy.say(evening.stage, "I like PICKLES.")
        evening.lizzy.edit(kept, "I like HONEY.")
        evening.lizzy.delete(gone)
        await evening.discord.quiet()
        assert engine.requests == []
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()
        prompt = engine.requests[0].prompt.text
        assert "HONEY" in prompt
        assert "MARMALADE" not in prompt
        assert "PICKLES" not in prompt


async def test_history_is_public_and_only_the_gm_sees_the_prompt(evening: Evening) -> None:
    async with evening.online(await ready()):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()
        history = await evening.kitty.slash(evening.stage, "scene history")
        assert history.ephemeral
        assert "Papa?" in history.text
        assert "SECRET" not in history.text
        prompt = await evening.gm.slash(evening.stage, "scene prompt", character="Mr Bennet")
        assert prompt.ephemeral
        assert prompt.message.now.attachments


async def test_a_reply_never_pings(evening: Evening) -> None:
    loud = reply("Mr Bennet", says=f"@everyone <@{evening.lizzy.id}> <@&{evening.guild.id}> @here")
    async with evening.online(await ready(loud)):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        post = await evening.answer()
        assert post.pings == set()


async def test_a_long_reply_is_complete_and_in_order(evening: Evening) -> None:
    words = " ".join(f"word{number}" for number in range(900))
    async with evening.online(await ready(Scripted(reply("Mr Bennet", says=words), chunk=200))):
        await evening.begin()
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer(count=4)
        said = " ".join(message.content for message in personas(evening.stage))
        assert said.split()[1:] == words.split()


async def test_ending_a_scene_removes_its_roles(evening: Evening) -> None:
    async with evening.online(await ready()):
        before = set(evening.guild.roles)
        await evening.begin()
        assert len(evening.guild.roles) > len(before)
        await evening.gm.slash(evening.stage, "scene end")
        assert set(evening.guild.roles) == before
        evening.lizzy.say(evening.stage, "@Mr Bennet Papa?")
        await evening.discord.quiet()
        assert personas(evening.stage) == []


def _sends_aside_away(evening: Evening, _stage: Channel) -> None:
    evening.discord.world.leave(evening.guild, evening.discord.world.bot)


def _deletes_the_stage(evening: Evening, stage: Channel) -> None:
    evening.discord.world.delete_channel(stage)


def _deletes_what_the_thread_is_in(evening: Evening, stage: Channel) -> None:
    assert stage.parent
    evening.discord.world.delete_channel(stage.parent)


@pytest.mark.parametrize("seen", [True, False], ids=["online", "while Aside is away"])
@pytest.mark.parametrize(
    ("in_thread", "goes"),
    [
        (False, _sends_aside_away),
        (False, _deletes_the_stage),
        (True, _deletes_the_stage),
        (True, _deletes_what_the_thread_is_in),
    ],
)
async def test_a_scene_in_a_deleted_place_ends_and_stays_stored(
    evening: Evening, in_thread: bool, goes: Callable[[Evening, Channel], None], seen: bool
) -> None:
    stage = evening.gm.start_thread(evening.stage, "by the fire") if in_thread else evening.stage
    async with evening.online(await ready()):
        await evening.begin(stage)
        if seen:
            requests = len(evening.discord.requests)
            goes(evening, stage)
            await evening.discord.quiet()
            later = [
                each for each in evening.discord.requests[requests:] if "/roles/" not in each.path
            ]
            assert later == [], "the bot sent a request to a deleted place"
    if not seen:
        goes(evening, stage)
        async with evening.online(await ready()):
            await evening.discord.quiet()
        evening.discord.forgive(10003)
    async with await Store.open(evening.settings.store.path) as store:
        assert await store.open_scenes() == []
        scene = await store.scene(1)
        assert scene
        assert scene.state is SceneState.ENDED
