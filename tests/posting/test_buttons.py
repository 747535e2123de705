"""The buttons under replies, and replies that were taken out of the story."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.errors import PostingError
from bot.her.beats import action, speech, thought
from bot.posting import buttons
from bot.posting.buttons import TurnAction
from bot.posting.render import render_covered_messages
from bot.posting.split import MESSAGE_LIMIT
from bot.scenes.turn import TurnKind, TurnState
from tests.posting.markdown_reader import everything, shown

if TYPE_CHECKING:
    from tests.posting.conftest import House

LONG = "I have not the pleasure of understanding you. " * 100
LATEST = ["Retry", "Continue", "More…"]


async def test_the_latest_reply_has_buttons_under_its_last_post_and_no_other(house: House) -> None:
    scene = house.scene()
    await house.stage.deliver(scene, house.turn(), house.take("One."))
    await house.stage.deliver(scene, house.turn(by="Elizabeth"), house.take(LONG))
    assert [message.labels for message in house.room.messages] == [[], [], [], LATEST]
    await house.stage.deliver(scene, house.turn(), house.take("Three."))
    assert [message.labels for message in house.room.messages] == [[], [], [], [], LATEST]


async def test_they_come_with_the_post_itself_and_cost_one_request_more_in_all(
    house: House,
) -> None:
    scene = house.scene()
    await house.stage.deliver(scene, house.turn(), house.take("One."))
    before = len(house.discord.requests)
    await house.stage.deliver(scene, house.turn(), house.take("Two."))
    assert [each.route for each in house.discord.requests[before:]] == [
        "execute_webhook",
        "edit_webhook_message",
    ]


async def test_an_earlier_reply_that_changes_gets_none(house: House) -> None:
    scene, earlier = house.scene(), house.turn()
    await house.stage.deliver(scene, earlier, house.take("One."))
    await house.stage.deliver(scene, house.turn(), house.take("Two."))
    await house.stage.deliver(scene, earlier, house.take("Uno."))
    assert [(message.content, message.labels) for message in house.room.messages] == [
        ("Uno.", []),
        ("Two.", LATEST),
    ]


async def test_a_take_that_grows_or_shrinks_takes_its_buttons_along(house: House) -> None:
    scene, turn = house.scene(), house.turn()
    for text, labels in (("Short.", [LATEST]), (LONG, [[], [], LATEST]), ("Short.", [LATEST])):
        await house.stage.deliver(scene, turn, house.take(text))
        assert [message.labels for message in house.room.messages] == labels


async def test_after_a_crash_in_between_no_two_replies_have_them(house: House) -> None:
    scene = house.scene()
    await house.stage.deliver(scene, house.turn(), house.take("One."))
    house.discord.faults.refuse("edit_webhook_message", 50013)
    await house.stage.deliver(scene, house.turn(), house.take("Two."))
    assert [message.labels for message in house.room.messages] == [LATEST, LATEST]
    await house.restarted().deliver(scene, house.turn(), house.take("Three."))
    assert [message.labels for message in house.room.messages] == [[], [], LATEST]


async def test_arrows_tell_which_take_it_is_and_end_where_the_takes_do(house: House) -> None:
    scene = house.scene()
    first, second = house.take("One."), house.take("Uno.")
    turn = replace(house.turn(), takes=(first.id, second.id))
    for take, place, disabled in ((first, "1/2 ▶", ["◀"]), (second, "2/2 ▶", ["2/2 ▶"])):
        await house.stage.deliver(scene, turn, take)
        (post,) = house.room.messages
        assert post.labels == ["◀", place, *LATEST]
        parts = post.now.components[0]["components"]
        assert [part["label"] for part in parts if part.get("disabled")] == disabled


async def test_the_custom_ids_say_what_to_do_with_which_turn(house: House) -> None:
    take = house.take("One.")
    turn = replace(house.turn(), take=take, takes=(take.id, 7), id=987654321987654321)
    views = (
        buttons.reply_view(turn, take),
        buttons.menu_view(turn),
        buttons.confirm_rewind_view(turn.id),
    )
    found = {
        TurnAction(match["deed"])
        for view in views
        for item in view.children
        if (match := re.fullmatch(buttons.TURN_ACTION_ID, getattr(item, "custom_id", "")))
        and match["turn"] == str(turn.id)
    }
    assert found == set(TurnAction)
    assert all(view.is_finished() for view in views)
    (restore,) = buttons.unhide_view(5, 1_700_000_000_000_000).children
    assert re.fullmatch(buttons.UNHIDE_ID, getattr(restore, "custom_id", ""))
    form = buttons.edit_form(turn.id, take.id, "text")
    assert re.fullmatch(buttons.EDIT_FORM_ID, form.custom_id)


async def test_what_is_no_reply_has_only_its_place_in_the_story_to_change(house: House) -> None:
    line = replace(house.turn(), kind=TurnKind.LINE, take=house.take("Papa?"))
    labels = [getattr(item, "label", None) for item in buttons.menu_view(line).children]
    assert labels == ["Rewind to here", "Branch", "Hide"]


async def test_a_reply_taken_out_of_the_story_stays_where_it_is_covered(house: House) -> None:
    scene, turn, take = (
        house.scene(),
        house.turn(),
        house.take(thought("SECRET"), action("nods"), "Yes || *no*."),
    )
    await house.stage.deliver(scene, turn, take)
    await house.stage.cover(scene, house.turn_with(turn, take, TurnState.HIDDEN))
    (post,) = house.room.messages
    assert "Yes" not in shown(post.content)
    assert "Yes" in everything(post.content)
    assert "SECRET" not in everything(post.content)
    assert not post.labels
    await house.stage.deliver(scene, turn, take)
    assert (post.content, post.labels) == ("*nods* Yes || *no*.".replace("||", "|\u200b|"), LATEST)


async def test_every_post_of_a_long_reply_is_covered(house: House) -> None:
    scene, turn, take = house.scene(), house.turn(), house.take(LONG)
    await house.stage.deliver(scene, turn, take)
    await house.stage.cover(scene, house.turn_with(turn, take, TurnState.HIDDEN))
    posts = house.room.messages
    assert len(posts) == 3
    assert not any("pleasure" in shown(post.content) for post in posts)


async def test_what_was_deleted_in_between_stops_no_covering(house: House) -> None:
    scene, turn, take = house.scene(), house.turn(), house.take(LONG)
    await house.stage.deliver(scene, turn, take)
    house.room.messages[0].deleted = True
    await house.stage.cover(scene, house.turn_with(turn, take, TurnState.HIDDEN))
    assert not any("pleasure" in shown(post.content) for post in house.room.messages)


@pytest.mark.parametrize("most", [1, 2, 5])
def test_a_cover_fills_as_many_messages_as_there_are_posts(most: int) -> None:
    messages = render_covered_messages(
        (speech("```\n" + "x || y\n" * 400 + "```"), action("nods ||")), most=most
    )
    assert len(messages) == most
    for message in messages:
        assert len(message.text) <= MESSAGE_LIMIT
        assert "nods" not in shown(message.text)


async def test_covering_that_discord_refuses_is_told(house: House) -> None:
    scene, turn, take = house.scene(), house.turn(), house.take("One.")
    await house.stage.deliver(scene, turn, take)
    house.discord.faults.refuse("edit_webhook_message", 50013)
    with pytest.raises(PostingError):
        await house.stage.cover(scene, house.turn_with(turn, take, TurnState.HIDDEN))
