"""What a message says, who said it, and the characters that it addresses."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Final

import discord

from bot.library.name_matching import addressable_names, find_addressed, remove_quotes
from bot.library.scenario import NARRATOR
from bot.posting.split import MESSAGE_LIMIT
from bot.scenes.director import Addressee
from bot.scenes.player_lines import IncomingLine
from cogs.message_text import find_mentioned_users, replace_markup, replace_mentions
from cogs.shown_items import describe_shown

if TYPE_CHECKING:
    from bot.scenes.scene import Scene

_SPOKEN: Final = (discord.MessageType.default, discord.MessageType.reply)
_ANSWERS: Final = (
    discord.MessageType.chat_input_command,
    discord.MessageType.context_menu_command,
)
_MAX_BOT_WORDS: Final = 2_000
_NUDGE: Final = "…"
"""The text of a line that only mentions a character."""

_MAX_LOOKUPS: Final = 5
"""The most mentioned users to look up for one command."""


def read_words(message: discord.Message) -> str:
    """Return the text as people see it, without mentions of the bot."""
    spoken = message.clean_content.replace("\u200b", "")
    for name in (_bot_name(message), _bot_role(message)):
        if name:
            spoken = re.sub(rf"@{re.escape(name)}[,:]?[ \t]*", "", spoken)
    spoken = replace_markup(spoken, message.created_at)
    mentioned = bool(message.content.strip()) and not spoken.strip()
    return _NUDGE if mentioned else spoken.strip()


async def read_option(interaction: discord.Interaction, text: str) -> str:
    """Return the text of a command's option as people would see it in the channel."""
    guild = interaction.guild
    if guild is not None:
        names = {}
        for user_id in find_mentioned_users(text)[:_MAX_LOOKUPS]:
            with contextlib.suppress(discord.HTTPException):
                member = guild.get_member(user_id) or await guild.fetch_member(user_id)
                names[user_id] = member.display_name
        text = replace_mentions(text, guild, names)
    return replace_markup(text, interaction.created_at)


def read_address(scene: Scene, message: discord.Message) -> Addressee:
    """Return the addressees: characters by name or role, the bot, the replied-to message.

    Names in quotes and code don't count.
    """
    own_words = remove_quotes(message.content)
    roles = {part.role_id: part.character for part in scene.parts if part.role_id}
    text = re.sub(r"<@&(\d+)>", lambda role: f"@{roles.get(int(role[1]), '')}", own_words)
    is_reply = message.reference is not None and message.type is discord.MessageType.reply
    return Addressee(
        characters=find_addressed(text, addressable_names(scene.scenario.characters)),
        bot=_mentions_bot(message, own_words),
        reply_to=message.reference.message_id if message.reference and is_reply else None,
    )


def is_plain(message: discord.Message) -> bool:
    """Return whether a message has nothing but text that a webhook can post."""
    extras = message.attachments or message.stickers or message.poll or message.flags.forwarded
    return not extras and 0 < len(message.content) <= MESSAGE_LIMIT


def is_personal(message: discord.Message) -> bool:
    """Return whether a person wrote the message: no bot, webhook or system message."""
    return not (message.author.bot or message.webhook_id) and message.type in _SPOKEN


def read_line(message: discord.Message) -> IncomingLine:
    """Return a person's message as a line."""
    author = message.author
    files = tuple(file.filename for file in message.attachments)
    return IncomingLine(
        author.id,
        author.display_name,
        message.id,
        read_words(message),
        files=files,
        shown=describe_shown(message),
    )


def find_listened_bot(scene: Scene, message: discord.Message) -> int | None:
    """Return the id of the bot that wrote the message, if the scene hears that bot."""
    if message.type not in (*_SPOKEN, *_ANSWERS) or message.flags.ephemeral:
        return None
    bot_id = message.application_id if message.webhook_id else message.author.id
    return bot_id if bot_id in scene.bots else None


def read_bot_line(message: discord.Message, bot_id: int) -> IncomingLine:
    """Return a bot's message as a line: its words and those of its embeds."""
    texts = [read_words(message)]
    for embed in message.embeds:
        if embed.type == "rich":
            fields = (f"{field.name}: {field.value}" for field in embed.fields)
            texts += [text for text in (embed.title, embed.description, *fields) if text]
    words = replace_markup("\n".join(filter(None, texts)), message.created_at)
    return IncomingLine(bot_id, NARRATOR, message.id, words[:_MAX_BOT_WORDS])


def _mentions_bot(message: discord.Message, text: str) -> bool:
    guild = message.guild
    if guild is None:
        return False
    role = guild.self_role  # people pick the bot's role instead of the bot by mistake
    return bool(re.search(rf"<@!?{guild.me.id}>", text)) or (
        role is not None and f"<@&{role.id}>" in text
    )


def _bot_name(message: discord.Message) -> str | None:
    me = message.guild.me if message.guild else None
    mentioned = me is not None and re.search(rf"<@!?{me.id}>", message.content)
    return me.display_name if me and mentioned else None


def _bot_role(message: discord.Message) -> str | None:
    role = message.guild.self_role if message.guild else None
    return role.name if role is not None and role in message.role_mentions else None
