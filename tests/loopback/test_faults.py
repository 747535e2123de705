"""Faults: rate limits, broken answers, work done twice."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import aiohttp
import discord
import pytest

from .stage_bot import persona, text_channel

if TYPE_CHECKING:
    from .conftest import Play


async def test_a_client_waits_for_the_end_of_a_rate_limit(play: Play) -> None:
    play.discord.faults.rate_limit("create_message", 0.2)
    began = time.monotonic()
    await text_channel(play.bot, play.stage.id).send("patient")
    assert time.monotonic() - began >= 0.2
    assert [each.status for each in play.discord.requests_to("create_message")] == [429, 200]
    assert play.discord.refused == 1


async def test_cloudflare_bans_without_a_via_header(play: Play) -> None:
    play.discord.faults.rate_limit("create_message", 30, via=False)
    with pytest.raises(discord.HTTPException) as banned:
        await text_channel(play.bot, play.stage.id).send("banned")
    assert banned.value.status == 429


async def test_an_error_after_the_work_doubles_the_message(play: Play) -> None:
    webhook = await persona(text_channel(play.bot, play.stage.id))
    play.discord.faults.fail("execute_webhook", 502, after_work=True)
    await webhook.send("Papa?", wait=True)
    assert [message.content for message in play.stage.messages] == ["Papa?", "Papa?"]


async def test_an_error_before_the_work_does_not_double_it(play: Play) -> None:
    webhook = await persona(text_channel(play.bot, play.stage.id))
    play.discord.faults.fail("execute_webhook", 500)
    await webhook.send("Papa?", wait=True)
    assert [message.content for message in play.stage.messages] == ["Papa?"]
    assert play.discord.faults.open == []


@pytest.mark.parametrize("after_work", [False, True])
async def test_a_connection_breaks_without_an_answer(play: Play, after_work: bool) -> None:
    webhook = await persona(text_channel(play.bot, play.stage.id))
    play.discord.faults.drop("execute_webhook", after_work=after_work)
    with pytest.raises((aiohttp.ClientError, OSError)):
        await webhook.send("Papa?", wait=True)
    assert len(play.stage.messages) == after_work


async def test_an_answer_is_slow(play: Play) -> None:
    play.discord.faults.slow("create_message", 0.2)
    began = time.monotonic()
    await text_channel(play.bot, play.stage.id).send("slow")
    assert time.monotonic() - began >= 0.2


async def test_an_ordered_refusal_is_not_a_violation(play: Play) -> None:
    play.discord.faults.refuse("create_webhook", 30007)
    with pytest.raises(discord.HTTPException) as refused:
        await text_channel(play.bot, play.stage.id).create_webhook(name="Aside")
    assert refused.value.code == 30007


async def test_faults_name_existing_routes(play: Play) -> None:
    with pytest.raises(ValueError, match="no route is called 'send_message'"):
        play.discord.faults.slow("send_message", 1)


async def test_real_limits_slow_down_clients_that_read_headers_and_refuse_others(
    play: Play,
) -> None:
    play.discord.rates.enforced = True
    webhook = await persona(text_channel(play.bot, play.stage.id))
    began = time.monotonic()
    for number in range(6):
        await webhook.send(str(number), wait=True)
    assert time.monotonic() - began >= 1.5
    assert {each.status for each in play.discord.requests_to("execute_webhook")} == {200}
    async with aiohttp.ClientSession(connector=play.discord.connector()) as careless:
        answers = [await careless.post(webhook.url, json={"content": "!"}) for _ in range(7)]
    assert [answer.status for answer in answers][-1] == 429
    assert answers[-1].headers["X-RateLimit-Remaining"] == "0"


async def test_a_webhook_is_deleted_while_a_request_arrives(play: Play) -> None:
    webhook = await persona(text_channel(play.bot, play.stage.id))
    world = play.discord.world
    play.discord.faults.meanwhile(
        "execute_webhook", lambda: world.delete_webhook(world.webhooks[webhook.id])
    )
    with pytest.raises(discord.NotFound) as unknown:
        await webhook.send("Papa?", wait=True)
    assert unknown.value.code == 10015


async def test_all_webhooks_of_a_channel_share_a_limit(play: Play) -> None:
    play.discord.rates.enforced = True
    stage = text_channel(play.bot, play.stage.id)
    hooks = [await stage.create_webhook(name=f"Aside {number}") for number in range(7)]
    async with aiohttp.ClientSession(connector=play.discord.connector()) as careless:
        answers = [
            await careless.post(hook.url, json={"content": "!"}) for hook in hooks for _ in range(5)
        ]
    assert [answer.status for answer in answers].count(429) == 5
