"""The words for remedies on Discord: slash commands, buttons and menus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot.errors import Refused, Remedy
from bot.scenes.player_sentences import describe_to_players

if TYPE_CHECKING:
    from bot.errors import AsideError
    from bot.scenes.notices import Notice

TEXTS: Final = {
    Remedy.START_SCENE: "Start one with `/scene start`.",
    Remedy.END_SCENE: "End it with `/scene end` first.",
    Remedy.UNPAUSE_SCENE: "A game master can continue it with `/scene unpause`.",
    Remedy.ENTER_STAGE: "`/cast enter` brings a character back on stage.",
    Remedy.WAKE_CHARACTER: "Use `/cast wake` to let the model play them again.",
    Remedy.LIST_CAST: "`/cast list` shows who plays whom.",
    Remedy.JOIN_CAST: "Take a part with `/cast join`.",
    Remedy.ASK_PLAYER_TO_LEAVE: "Ask them to use `/cast leave`, or take another part.",
    Remedy.TAKE_OUT_OWN_CHARACTER: "A game master can take it out with `/cast remove`.",
    Remedy.LIST_OWN_CHARACTERS: "`/character list` shows yours.",
    Remedy.DELETE_OWN_CHARACTER: "Delete one with `/character delete`.",
    Remedy.GIVE_PART_TO_MODEL: "Use `/gm hand` without a player to give the part to the model.",
    Remedy.UNMUTE: "Use `/gm unmute` to let them speak again.",
    Remedy.HAND_OVER: "Use `/gm handover` to make somebody else the game master.",
    Remedy.REMOVE_GM: "Use `/gm remove` first.",
    Remedy.ADD_GM: "A moderator of the channel can add one with `/gm add`.",
    Remedy.LIST_NOTES: "`/gm notes` lists and removes notes.",
    Remedy.SET_INSIGHT: "A game master can set one with `/gm insight`.",
    Remedy.READ_HISTORY: "`/scene history` still shows them.",
    Remedy.MAKE_TAKE: "Press *Retry* to make another one.",
    Remedy.TRY_AGAIN: "Press *Try again* under it first.",
    Remedy.HIDE_REPLY: "Use *Hide* to take it out of the story.",
    Remedy.USE_CURRENT_BUTTONS: (
        "Use the buttons under the latest reply, or the *Apps* menu of a message."
    ),
    Remedy.RUN_BOT: "Start the bot once with `aside run`.",
}


def describe_error(error: AsideError) -> str:
    """Return an error's sentence for players, followed by its remedy if it has one."""
    sentence = describe_to_players(error)
    return _join(sentence, error.remedy if isinstance(error, Refused) else None)


def describe_notice(notice: Notice) -> str:
    """Return a notice's sentence, followed by its remedy if it has one."""
    return _join(notice.text, notice.remedy)


def _join(text: str, remedy: Remedy | None) -> str:
    return f"{text} {TEXTS[remedy]}" if remedy else text
