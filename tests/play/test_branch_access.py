"""A branch is never open to more people than its scene."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.loopback.entities import ChannelKind
from tests.play.take_harness import FIRST, ready, refused

if TYPE_CHECKING:
    from tests.loopback import Channel, Outcome, Person
    from tests.play.harness import Evening

TAGS = [
    {"id": "901", "name": "News", "moderated": True, "emoji_id": None, "emoji_name": None},
    {"id": "902", "name": "Plays", "moderated": False, "emoji_id": None, "emoji_name": None},
]


def private_thread(evening: Evening, *members: Person) -> Channel:
    """Return a private thread of the game master's with the bot and these people in it."""
    own = next(role for role in evening.guild.roles.values() if role.managed_by)
    evening.discord.world.overwrite(evening.stage, own, allow="create_private_threads")
    thread = evening.gm.start_thread(evening.stage, "Behind closed doors", private=True)
    assert thread.thread
    thread.thread.members.update(member.id for member in members)
    thread.thread.members.add(evening.discord.bot.id)
    evening.discord.world.thread_members_changed(thread, added=evening.discord.bot)
    return thread


async def play_and_branch(evening: Evening, place: Channel) -> Outcome:
    """Have a line answered in a place, then have the game master branch from the answer."""
    await evening.begin(place)
    evening.gm.say(place, "@Mr Bennet Papa?")
    post = await evening.answer(place)
    menu = await evening.gm.context_menu(post, "More…")
    return await evening.gm.press(menu.message, "Branch")


def branch_of(evening: Evening, outcome: Outcome) -> Channel:
    return evening.discord.world.channels[int(re.findall(r"<#(\d+)>", outcome.text)[0])]


async def test_a_branch_of_a_private_thread_is_private(evening: Evening) -> None:
    thread = private_thread(evening, evening.lizzy)
    async with evening.online(await ready(FIRST)):
        await evening.begin(thread)
        await evening.lizzy.slash(thread, "cast join", character="Elizabeth Bennet")
        evening.gm.say(thread, "@Mr Bennet Papa?")
        post = await evening.answer(thread)
        menu = await evening.gm.context_menu(post, "More…")
        branch = branch_of(evening, await evening.gm.press(menu.message, "Branch"))
        assert branch.kind is ChannelKind.PRIVATE_THREAD
        assert branch.thread
        people = {evening.discord.bot.id, evening.gm.id, evening.lizzy.id}
        assert branch.thread.members == people
        await evening.discord.until(lambda: branch.messages)
        assert "You refuse him?" not in evening.kitty.ever_saw()
        assert not evening.kitty.sees(branch)


async def test_a_player_who_left_a_private_thread_is_not_added_to_its_branch(
    evening: Evening,
) -> None:
    thread = private_thread(evening, evening.lizzy)
    async with evening.online(await ready(FIRST)):
        await evening.begin(thread)
        await evening.lizzy.slash(thread, "cast join", character="Elizabeth Bennet")
        assert thread.thread
        thread.thread.members.discard(evening.lizzy.id)
        evening.gm.say(thread, "@Mr Bennet Papa?")
        post = await evening.answer(thread)
        menu = await evening.gm.context_menu(post, "More…")
        branch = branch_of(evening, await evening.gm.press(menu.message, "Branch"))
        assert branch.thread
        assert evening.lizzy.id not in branch.thread.members


async def test_without_create_private_threads_a_private_thread_has_no_branch(
    evening: Evening,
) -> None:
    thread = private_thread(evening)
    own = next(role for role in evening.guild.roles.values() if role.managed_by)
    evening.discord.world.overwrite(evening.stage, own, deny="create_private_threads")
    async with evening.online(await ready(FIRST)):
        before = len(evening.discord.world.channels)
        outcome = await play_and_branch(evening, thread)
        await refused(evening, outcome, "Create Private Threads")
        assert len(evening.discord.world.channels) - before <= 1  # the game master's own DM
        evening.discord.forgive(50013)


async def test_a_branch_of_a_public_thread_is_public(evening: Evening) -> None:
    thread = evening.gm.start_thread(evening.stage, "Act one")
    async with evening.online(await ready(FIRST)):
        branch = branch_of(evening, await play_and_branch(evening, thread))
        assert (branch.kind, branch.parent) == (ChannelKind.PUBLIC_THREAD, evening.stage)


async def test_a_branch_in_a_channel_is_closed_to_everyone_whom_the_channel_excludes(
    evening: Evening,
) -> None:
    world = evening.discord.world
    world.overwrite(evening.stage, evening.kitty.user, deny="view_channel")
    async with evening.online(await ready(FIRST)):
        branch = branch_of(evening, await play_and_branch(evening, evening.stage))
        assert not world.may(evening.kitty.user, "view_channel", branch)
        assert world.may(evening.lizzy.user, "view_channel", branch)


async def test_a_branch_of_a_forum_post_gets_a_tag_if_the_forum_requires_one(
    evening: Evening,
) -> None:
    forum = evening.discord.world.channel(evening.guild, "plays", ChannelKind.FORUM)
    forum.requires_tag = True
    forum.tags = TAGS
    post = evening.gm.start_thread(forum, "Act one")
    async with evening.online(await ready(FIRST)):
        branch = branch_of(evening, await play_and_branch(evening, post))
        assert branch.parent is forum
        assert branch.thread
        assert branch.thread.applied_tags == [902]


@pytest.mark.parametrize("tags", [[], TAGS[:1]])
async def test_a_branch_is_refused_if_the_forum_has_no_tag_that_everyone_may_use(
    evening: Evening, tags: list[dict[str, object]]
) -> None:
    forum = evening.discord.world.channel(evening.guild, "plays", ChannelKind.FORUM)
    forum.requires_tag = True
    forum.tags = tags
    post = evening.gm.start_thread(forum, "Act one")
    async with evening.online(await ready(FIRST)):
        outcome = await play_and_branch(evening, post)
        await refused(evening, outcome, "requires a tag for each post")


async def test_the_history_is_closed_to_people_who_may_not_read_the_channels_history(
    evening: Evening,
) -> None:
    world = evening.discord.world
    world.overwrite(evening.stage, evening.kitty.user, deny="read_message_history")
    async with evening.online(await ready(FIRST)):
        await evening.begin()
        evening.gm.say(evening.stage, "@Mr Bennet Papa?")
        await evening.answer()
        outcome = await evening.kitty.slash(evening.stage, "scene history")
        await refused(evening, outcome, "You may not read the message history")
