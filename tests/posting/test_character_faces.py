"""The pictures that characters post under."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from bot.library.scenario import Character
from bot.posting.character_faces import CharacterFaces
from bot.posting.hosted_pictures import HostedPictures
from bot.scenes import cast
from bot.scenes.scene import OwnCopy

if TYPE_CHECKING:
    from bot.scenes.scene import Scene
    from tests.posting.conftest import PostingSetup

ADDRESS = "https://example.com/mary.png"


def png(colour: str, side: int = 512) -> bytes:
    file = BytesIO()
    Image.new("RGB", (side, side), colour).save(file, "PNG")
    return file.getvalue()


@pytest.fixture
def hosted(setup: PostingSetup) -> HostedPictures:
    return HostedPictures(setup.client)


@pytest.fixture
def faces(setup: PostingSetup, hosted: HostedPictures) -> CharacterFaces:
    return CharacterFaces(setup.portraits, setup.portraits, hosted)


def with_mary(scene: Scene, face: str | None = None) -> Scene:
    return cast.add_own(scene, 5, OwnCopy(7, 5, Character(name="Mary King", face=face)))


def addresses(setup: PostingSetup) -> list[str]:
    return [
        f"https://cdn.discordapp.com/emojis/{number}.png" for number in setup.discord.world.emojis
    ]


async def test_a_character_without_a_picture_posts_under_its_monogram(setup: PostingSetup) -> None:
    turn = setup.turn()
    await setup.delivery.deliver(setup.scene(), turn, setup.take("Well?"))
    (post,) = setup.channel.messages
    assert [post.avatar_url] == addresses(setup)
    assert setup.webhook_names() == ["Aside"]


async def test_a_picture_is_uploaded_once_also_after_a_restart(
    setup: PostingSetup, faces: CharacterFaces
) -> None:
    first = await faces.find(setup.scene(), "Mr Bennet")
    again = CharacterFaces(setup.portraits, setup.portraits, HostedPictures(setup.client))
    assert await again.find(setup.scene(), "Mr Bennet") == first
    assert [first] == addresses(setup)
    assert await faces.find(setup.scene(), "Mrs Bennet") != first


async def test_an_own_character_shows_its_uploaded_picture_before_its_address(
    setup: PostingSetup, faces: CharacterFaces
) -> None:
    scene = with_mary(setup.scene(), ADDRESS)
    assert await faces.find(scene, "Mary King") == ADDRESS
    setup.portraits.own[7] = png("navy")
    assert [await faces.find(scene, "Mary King")] == addresses(setup)
    (emoji,) = setup.discord.world.emojis.values()
    with Image.open(BytesIO(emoji.image)) as picture:
        assert picture.size == (128, 128)


async def test_an_own_character_never_has_the_picture_of_a_namesake_in_the_library(
    setup: PostingSetup, faces: CharacterFaces
) -> None:
    setup.portraits.faces["Mary King"] = "https://example.com/other.png"
    found = await faces.find(with_mary(setup.scene()), "Mary King")
    assert [found] == addresses(setup)


async def test_a_file_in_a_channel_full_of_webhooks_is_shown_by_its_address(
    setup: PostingSetup,
) -> None:
    setup.portraits.faces["Mr Bennet"] = png("navy")
    for number in range(14):
        setup.discord.world.webhook(setup.channel, f"Other {number}", setup.gm.user, None)
    await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take("Well?"))
    (post,) = setup.channel.messages
    assert [post.avatar_url] == addresses(setup)


async def test_a_full_application_replaces_a_monogram(
    setup: PostingSetup, hosted: HostedPictures
) -> None:
    setup.discord.world.most_emojis = 2
    monogram = await hosted.get_address(png("red"), drawn=True)
    first = await hosted.get_address(png("green"))
    second = await hosted.get_address(png("blue"))
    assert addresses(setup) == [first, second]
    assert monogram not in addresses(setup)
    assert await hosted.get_address(png("pink")) is None
    setup.discord.forgive()


async def test_a_removed_picture_is_gone_from_discord(
    setup: PostingSetup, hosted: HostedPictures
) -> None:
    await hosted.get_address(png("green"))
    again = HostedPictures(setup.client)
    await again.remove(png("green"))
    await again.remove(png("green"))
    assert addresses(setup) == []


async def test_a_refused_picture_does_not_stop_the_reply(setup: PostingSetup) -> None:
    setup.discord.faults.refuse("create_emoji", 50013)
    await setup.delivery.deliver(setup.scene(), setup.turn(), setup.take("Well?"))
    (post,) = setup.channel.messages
    assert (post.content, post.avatar_url) == ("Well?", None)


async def test_the_speaker_of_an_earlier_cast_has_a_monogram_too(
    setup: PostingSetup, faces: CharacterFaces
) -> None:
    scene = replace(setup.scene(), parts=())
    assert [await faces.find(scene, "Mary King")] == addresses(setup)
