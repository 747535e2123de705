"""The buttons under replies, and hidden replies."""

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
    from tests.posting.conftest import PostingSetup

LONG = "I have not the pleasure of understanding you. " * 100
LATEST = ["Retry", "Write more", "More…"]


async def test_only_the_last_post_of_the_latest_reply_has_buttons(
    setup: PostingSetup,
) -> None:
    scene = setup.scene()
    await setup.delivery.deliver(scene, setup.turn(), setup.take("One."))
    await setup.delivery.deliver(scene, setup.turn(by="Elizabeth"), setup.take(LONG))
    assert [message.labels for message in setup.channel.messages] == [[], [], [], LATEST]
    await setup.delivery.deliver(scene, setup.turn(), setup.take("Three."))
    assert [message.labels for message in setup.channel.messages] == [[], [], [], [], LATEST]


async def test_buttons_are_sent_with_the_post_and_cost_one_extra_request(
    setup: PostingSetup,
) -> None:
    scene = setup.scene()
    await setup.delivery.deliver(scene, setup.turn(), setup.take("One."))
    before = len(setup.discord.requests)
    await setup.delivery.deliver(scene, setup.turn(), setup.take("Two."))
    assert [each.route for each in setup.discord.requests[before:]] == [
        "execute_webhook",
        "edit_webhook_message",
    ]


async def test_an_earlier_reply_gets_no_buttons_when_it_changes(setup: PostingSetup) -> None:
    scene = setup.scene()
    earlier = setup.turn()
    await setup.delivery.deliver(scene, earlier, setup.take("One."))
    await setup.delivery.deliver(scene, setup.turn(), setup.take("Two."))
    await setup.delivery.deliver(scene, earlier, setup.take("Uno."))
    assert [(message.content, message.labels) for message in setup.channel.messages] == [
        ("Uno.", []),
        ("Two.", LATEST),
    ]


async def test_buttons_move_to_the_last_post_when_a_take_grows_or_shrinks(
    setup: PostingSetup,
) -> None:
    scene = setup.scene()
    turn = setup.turn()
    for text, labels in (("Short.", [LATEST]), (LONG, [[], [], LATEST]), ("Short.", [LATEST])):
        await setup.delivery.deliver(scene, turn, setup.take(text))
        assert [message.labels for message in setup.channel.messages] == labels


async def test_buttons_left_by_a_crash_are_removed_with_the_next_reply(setup: PostingSetup) -> None:
    scene = setup.scene()
    await setup.delivery.deliver(scene, setup.turn(), setup.take("One."))
    setup.discord.faults.refuse("edit_webhook_message", 50013)
    await setup.delivery.deliver(scene, setup.turn(), setup.take("Two."))
    assert [message.labels for message in setup.channel.messages] == [LATEST, LATEST]
    await setup.restart().deliver(scene, setup.turn(), setup.take("Three."))
    assert [message.labels for message in setup.channel.messages] == [[], [], LATEST]


async def test_arrows_show_the_takes_number_and_are_disabled_at_the_ends(
    setup: PostingSetup,
) -> None:
    scene = setup.scene()
    first = setup.take("One.")
    second = setup.take("Uno.")
    turn = replace(setup.turn(), takes=(first.id, second.id))
    for take, place, disabled in ((first, "1/2 ▶", ["◀"]), (second, "2/2 ▶", ["2/2 ▶"])):
        await setup.delivery.deliver(scene, turn, take)
        (post,) = setup.channel.messages
        assert post.labels == ["◀", place, *LATEST]
        parts = post.now.components[0]["components"]
        assert [part["label"] for part in parts if part.get("disabled")] == disabled


async def test_custom_ids_name_the_action_and_the_turn(setup: PostingSetup) -> None:
    take = setup.take("One.")
    turn = replace(setup.turn(), take=take, takes=(take.id, 7), id=987654321987654321)
    views = (
        buttons.reply_view(turn, take),
        buttons.menu_view(turn),
        buttons.confirm_rewind_view(turn.id),
    )
    found = {
        TurnAction(match["action"])
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


async def test_the_menu_of_a_players_line_has_no_actions_on_takes(
    setup: PostingSetup,
) -> None:
    line = replace(setup.turn(), kind=TurnKind.LINE, take=setup.take("Papa?"))
    labels = [getattr(item, "label", None) for item in buttons.menu_view(line).children]
    assert labels == ["Rewind to here", "Branch", "Hide"]


async def test_a_hidden_reply_stays_in_the_channel_under_a_spoiler(
    setup: PostingSetup,
) -> None:
    scene = setup.scene()
    turn = setup.turn()
    take = setup.take(thought("SECRET"), action("nods"), "Yes || *no*.")
    await setup.delivery.deliver(scene, turn, take)
    await setup.delivery.cover(scene, setup.with_take(turn, take, TurnState.HIDDEN))
    (post,) = setup.channel.messages
    assert "Yes" not in shown(post.content)
    assert "Yes" in everything(post.content)
    assert "SECRET" not in everything(post.content)
    assert not post.labels
    await setup.delivery.deliver(scene, turn, take)
    assert (post.content, post.labels) == ("*nods* Yes || *no*.".replace("||", "|\u200b|"), LATEST)


async def test_every_post_of_a_hidden_reply_is_covered(setup: PostingSetup) -> None:
    scene = setup.scene()
    turn = setup.turn()
    take = setup.take(LONG)
    await setup.delivery.deliver(scene, turn, take)
    await setup.delivery.cover(scene, setup.with_take(turn, take, TurnState.HIDDEN))
    posts = setup.channel.messages
    assert len(posts) == 3
    assert not any("pleasure" in shown(post.content) for post in posts)


async def test_a_deleted_post_does_not_keep_the_others_from_being_covered(
    setup: PostingSetup,
) -> None:
    scene = setup.scene()
    turn = setup.turn()
    take = setup.take(LONG)
    await setup.delivery.deliver(scene, turn, take)
    setup.channel.messages[0].deleted = True
    await setup.delivery.cover(scene, setup.with_take(turn, take, TurnState.HIDDEN))
    assert not any("pleasure" in shown(post.content) for post in setup.channel.messages)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_cover_has_one_message_for_each_post(count: int) -> None:
    messages = render_covered_messages(
        (speech("```\n" + "x || y\n" * 400 + "```"), action("nods ||")), count=count
    )
    assert len(messages) == count
    for message in messages:
        assert len(message.text) <= MESSAGE_LIMIT
        assert "nods" not in shown(message.text)


async def test_an_error_while_covering_is_raised(setup: PostingSetup) -> None:
    scene = setup.scene()
    turn = setup.turn()
    take = setup.take("One.")
    await setup.delivery.deliver(scene, turn, take)
    setup.discord.faults.refuse("edit_webhook_message", 50013)
    with pytest.raises(PostingError):
        await setup.delivery.cover(scene, setup.with_take(turn, take, TurnState.HIDDEN))
