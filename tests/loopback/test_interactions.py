"""A person uses commands, buttons and forms, and a real bot answers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import discord
import pytest

from .outcome import Choice
from .picker import NotOffered
from .stage_bot import AgainView, StageBot, persona, text_channel

if TYPE_CHECKING:
    from .conftest import Play


async def test_a_deferred_command_answers_in_private(play: Play) -> None:
    outcome = await play.lizzy.slash(play.stage, "scene start", scenario="emma", rounds=2)
    await play.discord.until(lambda: len(outcome.messages) == 2)
    assert [message.content for message in outcome.messages] == ["emma for 2", "and more"]
    assert outcome.ephemeral
    assert play.stage.messages == []
    assert play.lizzy.sees(play.stage) == outcome.messages


async def test_a_private_answer_has_one_reader(play: Play) -> None:
    outcome = await play.lizzy.slash(play.stage, "scene start", scenario="emma")
    jane = play.discord.person("Jane", play.guild)
    assert jane.sees(play.stage) == []
    assert "emma for 3" in play.lizzy.ever_saw()
    assert "emma" not in jane.ever_saw()
    assert not jane.can_see(outcome.message)


async def test_choices_follow_the_typed_text(play: Play) -> None:
    assert len(await play.lizzy.autocomplete(play.stage, "scene start", scenario="")) == 25
    found = await play.lizzy.autocomplete(play.stage, "scene start", scenario="07")
    assert found == [Choice("Scenario 07", "scenario 07")]


async def test_options_name_people_and_roles(play: Play) -> None:
    role = play.discord.world.role(play.guild, "Bennets")
    jane = play.discord.person("Jane", play.guild, nick="Miss Bennet")
    outcome = await play.lizzy.slash(play.stage, "wave", at=jane, role=role)
    assert outcome.text == f"waves at {jane.mention} Bennets"
    assert outcome.message.pings == set()
    assert outcome.message in play.stage.messages


async def test_an_interaction_contains_the_permissions(play: Play) -> None:
    gm = play.discord.person("GM", play.guild, permissions="manage_guild")
    outcome = await gm.slash(play.stage, "about")
    await play.discord.until(lambda: outcome.text == "True True edited")
    assert [state.content for state in outcome.message.states] == ["True True", "True True edited"]


async def test_a_command_is_offered_only_to_people_with_its_permissions(play: Play) -> None:
    with pytest.raises(NotOffered, match="not offered 'about'"):
        await play.lizzy.slash(play.stage, "about")
    with pytest.raises(NotOffered, match="not offered 'about'"):
        await play.lizzy.slash(play.lizzy.dm, "about")
    with pytest.raises(NotOffered, match="needs one of start"):
        await play.lizzy.slash(play.stage, "scene")
    with pytest.raises(NotOffered, match=r"missing options \['scenario'\]"):
        await play.lizzy.slash(play.stage, "scene start")
    with pytest.raises(NotOffered, match="can't be 'two'"):
        await play.lizzy.slash(play.stage, "scene start", scenario="emma", rounds="two")


async def test_an_application_does_not_respond_in_time(play: Play) -> None:
    play.discord.faults.slow("answer_interaction", 0.1)
    using = asyncio.create_task(play.lizzy.slash(play.stage, "wave", at=play.lizzy))
    await play.discord.until(lambda: play.discord.requests_to("answer_interaction"))
    play.discord.clock.advance(3)
    assert (await using).failed
    await play.discord.until(lambda: play.discord.violations)
    assert [each.code for each in play.discord.forgive()] == [10062]
    await play.discord.until(lambda: play.bot.errors)


async def test_buttons_under_a_persona_post_work(play: Play) -> None:
    webhook = await persona(text_channel(play.bot, play.stage.id))
    await webhook.send("Papa?", username="Elizabeth", view=AgainView(), wait=True)
    [post] = play.stage.messages
    assert post.labels == ["Try again", "Done"]
    again = await play.lizzy.press(post, "Try again")
    assert again.text == "Elizabeth wants more"
    assert again.ephemeral
    mood = await play.lizzy.choose(post, "Mood", "Grave")
    assert mood.text == "mood: Grave"
    done = await play.lizzy.press(post, "done")
    assert done.updated is post
    assert (post.content, post.labels) == ("done", [])
    with pytest.raises(NotOffered, match="has no 'Done'"):
        await play.lizzy.press(post, "Done")


async def test_a_form_is_submitted(play: Play) -> None:
    opened = await play.lizzy.slash(play.stage, "form")
    assert opened.modal
    sent = await play.lizzy.submit_modal(opened, {"Line": "You sent for me?"})
    assert sent.text == "line: You sent for me?"
    with pytest.raises(NotOffered, match="'Line' can't be ''"):
        await play.lizzy.submit_modal(opened, {})


async def test_messages_and_people_have_menus(play: Play) -> None:
    said = play.lizzy.say(play.stage, "Papa!")
    shown = await play.lizzy.context_menu(said, "Show thoughts")
    assert shown.text == "'Papa!' by Elizabeth"
    waved = await play.lizzy.context_menu(play.lizzy, "Wave at", channel=play.stage)
    assert waved.text == "waves at Elizabeth"


async def test_answering_twice_is_a_violation(play: Play) -> None:
    heard: list[discord.Interaction] = []

    @play.bot.listen("on_interaction")
    async def listen(interaction: discord.Interaction) -> None:
        heard.append(interaction)

    await play.lizzy.slash(play.stage, "wave", at=play.lizzy)
    with pytest.raises(discord.HTTPException) as refused:
        await play.bot.http.request(
            discord.http.Route("POST", f"/interactions/{heard[0].id}/{heard[0].token}/callback"),
            json={"type": 4, "data": {"content": "again"}},
        )
    assert refused.value.code == 40060
    assert [each.code for each in play.discord.forgive(40060)] == [40060]


async def test_a_token_expires_after_fifteen_minutes(play: Play) -> None:
    heard: list[discord.Interaction] = []

    @play.bot.listen("on_interaction")
    async def listen(interaction: discord.Interaction) -> None:
        heard.append(interaction)

    await play.lizzy.slash(play.stage, "wave", at=play.lizzy)
    play.discord.clock.advance(14 * 60)
    await heard[0].followup.send("still here")
    play.discord.clock.advance(61)
    with pytest.raises(discord.HTTPException) as refused:
        await heard[0].followup.send("too late")
    assert refused.value.code == 50027


async def test_commands_and_buttons_survive_a_restart(play: Play) -> None:
    webhook = await persona(text_channel(play.bot, play.stage.id))
    await webhook.send("Papa?", view=AgainView(), wait=True)
    await play.bot.close()
    async with play.discord.running(StageBot(play.discord.connector(), sync=False)):
        again = await play.lizzy.press(play.stage.messages[0], "again")
        assert again.ephemeral
    assert len(play.discord.requests_to("sync_commands")) == 1


async def test_a_file_is_an_option(play: Play) -> None:
    @play.bot.tree.command(description="Take a card")
    async def card(interaction: discord.Interaction, file: discord.Attachment) -> None:
        await interaction.response.send_message((await file.read()).decode())

    await play.bot.tree.sync()
    outcome = await play.lizzy.slash(play.stage, "card", file=("card.txt", b"Mr Collins"))
    assert outcome.text == "Mr Collins"


async def test_a_command_works_in_a_dm(play: Play) -> None:
    outcome = await play.lizzy.slash(play.lizzy.dm, "scene start", scenario="emma")
    assert outcome.message.channel is play.lizzy.dm
    assert outcome.message.content == "emma for 3"


async def test_a_form_has_labels_and_groups_have_groups(play: Play) -> None:
    class Labelled(discord.ui.Modal, title="Labelled"):
        name = discord.ui.Label(text="Name", component=discord.ui.TextInput(custom_id="name"))  # type: ignore[var-annotated]

        async def on_submit(self, interaction: discord.Interaction, /) -> None:
            assert isinstance(self.name.component, discord.ui.TextInput)
            await interaction.response.send_message(self.name.component.value)

    outer = discord.app_commands.Group(name="cast", description="Cast")
    inner = discord.app_commands.Group(name="part", description="Parts", parent=outer)

    @inner.command(description="Take a part")
    async def take(interaction: discord.Interaction, who: discord.Role | discord.Member) -> None:
        await interaction.response.send_modal(Labelled())
        assert who

    play.bot.tree.add_command(outer)
    await play.bot.tree.sync()
    opened = await play.lizzy.slash(play.stage, "cast part take", who=play.lizzy)
    sent = await play.lizzy.submit_modal(opened, {"Name": "Kitty"})
    assert sent.text == "Kitty"
