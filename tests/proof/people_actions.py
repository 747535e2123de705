"""Actions on a reply by its player, the game master and a stranger."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tests.her.sample_replies import CHARACTER, SECRET
from tests.proof.hostile_scenes import PATIENCE, ask, latest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.loopback import DiscordMessage, Outcome, Person
    from tests.play.harness import Evening
    from tests.proof.hostile_scenes import Act

    Action: TypeAlias = Callable[[Evening, Act, DiscordMessage], Awaitable[bool]]
    """Acts on a persona post. Returns False if the action is impossible."""


async def retry(evening: Evening, act: Act, post: DiscordMessage) -> bool:
    if "Retry" in post.labels:
        await act.player.press(post, "Retry")
    else:
        await evening.gm.context_menu(post, "Retry")
    return True


async def try_again(act: Act) -> bool:
    """Press the button under the notice of a failed reply."""
    notice = latest(act.stage.history)
    if notice is None or "Try again" not in notice.labels:
        return False
    await act.player.press(notice, "Try again")
    return True


async def write_more(_evening: Evening, act: Act, post: DiscordMessage) -> bool:
    if "Write more" not in post.labels:
        return False
    await act.player.press(post, "Write more")
    return True


async def another_take(evening: Evening, act: Act, post: DiscordMessage) -> bool:
    """Retry the reply, go back to the previous take, and forward again."""
    if not act.replies or is_notice(act):
        return False
    await retry(evening, act, post)
    if not await shows_take(evening, act, post, "2/2"):
        return False
    await evening.gm.press(post, "◀")
    if not await shows_take(evening, act, post, "1/2"):
        return False
    await evening.gm.press(post, "1/2 ▶")
    return True


async def shows_take(evening: Evening, act: Act, post: DiscordMessage, take: str) -> bool:
    """Wait until that take shows.

    Return False if the reply is no longer the latest, or another one failed.
    """

    def shows() -> bool:
        return f"{take} ▶" in post.labels

    def is_over() -> bool:
        return is_notice(act) or latest(act.stage.history, persona=True) is not post

    await evening.discord.until(lambda: shows() or is_over(), PATIENCE, f"take {take}")
    return shows()


def is_notice(act: Act) -> bool:
    """Return whether the last message is the program's own, such as a notice of a failed reply."""
    last = latest(act.stage.history)
    return last is not None and not last.webhook and last.author is not act.player.user


async def edit(evening: Evening, _act: Act, post: DiscordMessage) -> bool:
    form = await evening.gm.context_menu(post, "Edit")
    if form.modal:
        await evening.gm.submit_modal(form, {"text": "*curtsies* Hm."})
    return form.modal is not None


async def reword(_evening: Evening, act: Act, _post: DiscordMessage) -> bool:
    said = next(
        each
        for each in reversed(act.stage.history)
        if each.author is act.player.user and not each.webhook
    )
    act.player.edit(said, act.line("or rather"))
    return True


async def hide(evening: Evening, act: Act, post: DiscordMessage) -> bool:
    menu = await evening.gm.context_menu(post, "More…")
    if menu.messages:
        await evening.gm.press(menu.message, "Hide")
        await evening.gm.slash(act.stage, "scene unhide")
    return bool(menu.messages)


async def rewind(evening: Evening, _act: Act, post: DiscordMessage) -> bool:
    asked = await evening.gm.context_menu(post, "Rewind to here")
    if not asked.messages or "Rewind" not in asked.message.labels:
        return False
    await evening.gm.press(asked.message, "Rewind")
    return True


async def branch(evening: Evening, act: Act, post: DiscordMessage) -> bool:
    """Continue in a thread from there, and end the scene in it."""
    menu = await evening.gm.context_menu(post, "More…")
    if not menu.messages or not act.replies:
        return False
    places = evening.discord.world.places
    before = len(places)
    await evening.gm.press(menu.message, "Branch")
    thread = next((place for place in places[before:] if place.parent is act.stage), None)
    if thread is None:
        return False
    await ask(evening, act, "in a branch", thread)
    await evening.gm.slash(thread, "scene end")
    return True


async def whisper(evening: Evening, act: Act, _post: DiscordMessage) -> bool:
    """Whisper to the character, and wait for its answer."""
    text = act.line(f"whispered {SECRET}V")
    outcome = await act.player.slash(act.stage, "whisper", character=CHARACTER, text=text)
    await evening.discord.until(
        lambda: len(outcome.messages) > 1, PATIENCE, "an answer to a whisper"
    )
    return True


async def narrate(evening: Evening, act: Act, _post: DiscordMessage) -> bool:
    """Let the model narrate."""
    before = len(act.stage.history)
    await evening.gm.slash(act.stage, "gm narrate")
    narration = "Rain falls. A door creaks."
    await evening.discord.until(
        lambda: any(narration in each.content for each in act.stage.history[before:]),
        PATIENCE,
        "a narration",
    )
    return True


async def speak_unasked(evening: Evening, act: Act, _post: DiscordMessage) -> bool:
    """Speak without addressing anyone in a scene in which characters answer speak_unasked."""
    before = act.directed
    await evening.gm.slash(act.stage, "scene mode", mode="auto", budget=1)
    act.player.say(act.stage, act.line("and nobody"))
    await evening.discord.until(lambda: act.directed > before, PATIENCE, "a guess who speaks next")
    await evening.gm.slash(act.stage, "scene mode", mode="addressed")
    return True


async def pry(evening: Evening, act: Act, post: DiscordMessage) -> bool:
    """Try to see the game master's views, as a player and as a stranger."""
    for person in (act.player, evening.kitty):
        if not person.can_see(post):
            continue
        await person.context_menu(post, "Show thoughts")
        await person.context_menu(post, "Edit")
        await person.slash(act.stage, "scene prompt", character=CHARACTER)
        await person.slash(act.stage, "gm notes")
        await person.slash(act.stage, "gm think", character=CHARACTER)
        await person.autocomplete(act.stage, "gm notes", remove="")
        await read_as(person, act)
    return True


async def read(_evening: Evening, act: Act, _post: DiscordMessage) -> bool:
    await read_as(act.player, act)
    return True


async def read_as(person: Person, act: Act) -> list[Outcome]:
    lines = ("scene history", "scene status", "cast list", "mydata export", "reveal status")
    return [await person.slash(act.stage, line) for line in lines]


async def look(evening: Evening, act: Act, post: DiscordMessage) -> bool:
    """Look at a reply's thoughts and into the mind, as the game master."""
    await evening.gm.context_menu(post, "Show thoughts")
    await evening.gm.slash(act.stage, "gm think", character=CHARACTER)
    await evening.gm.slash(act.stage, "scene prompt", character=CHARACTER)
    return True


async def reveal(evening: Evening, act: Act, _post: DiscordMessage) -> bool:
    """Send the thoughts elsewhere for a while, to a place that is not more public."""
    kept = "off" if act.where[0] != "off" else "gm"
    for where in (kept, act.where[0]):
        await evening.gm.slash(act.stage, "reveal thoughts", where=where)
    return True


async def reload(evening: Evening, _act: Act, _post: DiscordMessage) -> bool:
    await evening.discord.gateway.close()
    return True


ACTIONS: dict[str, Action] = {
    action.__name__: action
    for action in (
        *(
            retry,
            another_take,
            write_more,
            edit,
            reword,
            hide,
            rewind,
            branch,
            whisper,
            narrate,
            speak_unasked,
        ),
        *(pry, read, look, reveal, reload),
    )
}
