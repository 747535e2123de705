"""People who left the server or lost the channel lose their rights and parts in its scenes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.play.take_harness import FIRST, MADAM, asked, ready

if TYPE_CHECKING:
    from tests.play.harness import Evening


def notices(evening: Evening) -> str:
    return "\n".join(m.content for m in evening.stage.messages if m.content.startswith("-#"))


async def test_a_game_master_who_was_removed_gets_no_thoughts(
    evening: Evening,
) -> None:
    async with evening.online(await ready(FIRST, MADAM, FIRST)):
        await evening.begin()
        await asked(evening)
        await evening.discord.until(lambda: "SECRET one." in evening.gm.ever_saw())
        evening.gm.leave(evening.guild)
        await asked(evening, "@Mrs Bennet Mama?", count=2)
        await evening.discord.until(lambda: "has no game master now" in notices(evening))
        assert "`/gm add`" in notices(evening)
        await asked(evening, "@Mr Bennet Well?", count=3)
        await evening.discord.quiet()
        assert "SECRET three." not in evening.gm.ever_saw()
        assert notices(evening).count("no game master now") == 1
        status = await evening.lizzy.slash(evening.stage, "scene status")
        assert "Directed by no one" in status.text


async def test_a_moderator_can_take_over_a_scene_whose_game_master_left(evening: Evening) -> None:
    world = evening.discord.world
    world.overwrite(evening.stage, evening.kitty.user, allow="manage_channels")
    async with evening.online(await ready(FIRST, MADAM)):
        await evening.begin()
        evening.gm.leave(evening.guild)
        await asked(evening)
        await evening.discord.until(lambda: "no game master now" in notices(evening))
        await evening.kitty.slash(evening.stage, "gm add", person=evening.kitty)
        await asked(evening, "@Mrs Bennet Mama?", count=2)
        await evening.discord.until(lambda: "SECRET three." in evening.kitty.ever_saw())


async def test_one_of_two_game_masters_leaves_and_the_other_goes_on(evening: Evening) -> None:
    async with evening.online(await ready(FIRST, MADAM)):
        await evening.begin()
        await evening.gm.slash(evening.stage, "gm add", person=evening.kitty)
        evening.discord.world.overwrite(evening.stage, evening.gm.user, deny="view_channel")
        await evening.discord.quiet()
        await asked(evening)
        await evening.discord.until(lambda: "SECRET one." in evening.kitty.ever_saw())
        await evening.discord.until(lambda: "no longer directs the scene" in notices(evening))
        assert "SECRET" not in evening.gm.ever_saw()


async def test_the_character_of_a_player_who_left_goes_back_to_the_model(
    evening: Evening,
) -> None:
    async with evening.online(await ready(MADAM, MADAM)):
        await evening.begin()
        await evening.kitty.slash(evening.stage, "cast join", character="Mrs Bennet")
        evening.kitty.leave(evening.guild)
        evening.lizzy.say(evening.stage, "Where is Kitty?")
        await evening.discord.until(lambda: "The model plays Mrs Bennet now" in notices(evening))
        await asked(evening, "@Mrs Bennet Mama?")


async def test_the_part_of_a_player_who_left_can_be_taken(evening: Evening) -> None:
    async with evening.online(await ready(FIRST)):
        await evening.begin()
        await evening.kitty.slash(evening.stage, "cast join", character="Mrs Bennet")
        evening.kitty.leave(evening.guild)
        outcome = await evening.lizzy.slash(evening.stage, "cast join", character="Mrs Bennet")
        await evening.discord.until(lambda: outcome.messages)
        assert "plays **Mrs Bennet** now" in outcome.text


async def test_a_whisper_is_not_answered_to_a_player_who_left(evening: Evening) -> None:
    engine = await ready(FIRST)
    async with evening.online(engine):
        await evening.begin()
        evening.discord.faults.meanwhile("get_member", lambda: evening.lizzy.leave(evening.guild))
        await evening.lizzy.slash(
            evening.stage, "whisper", character="Mr Bennet", text="Are you there?"
        )
        await evening.discord.until(lambda: engine.requests)
        await evening.discord.quiet()
        assert "You refuse him?" not in evening.lizzy.ever_saw()


async def test_a_command_that_needs_the_part_of_a_player_who_left_frees_it(
    evening: Evening,
) -> None:
    stage = evening.stage
    async with evening.online(await ready(MADAM)):
        await evening.begin()
        for command, options in (
            ("whisper", {"text": "Are you there?"}),
            ("cue", {}),
            ("gm say", {"text": "My nerves!"}),
            ("cast rest", {}),
        ):
            hill = evening.discord.person("Hill", evening.guild)
            await evening.gm.slash(stage, "gm hand", character="Mrs Bennet", player=hill)
            hill.say(stage, "Dinner is served.")  # the player is checked, and is there
            await evening.discord.quiet()
            hill.leave(evening.guild)
            outcome = await evening.gm.slash(stage, command, character="Mrs Bennet", **options)
            await evening.discord.quiet()
            assert "a player" not in outcome.text.lower()
        assert notices(evening).count("The model plays Mrs Bennet now") == 4
