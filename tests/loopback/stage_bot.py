"""A small bot for the loopback's own tests."""

from __future__ import annotations

from typing import Any

import discord
from discord import app_commands
from discord.ext import commands

SCENARIOS = [f"scenario {number:02}" for number in range(40)]


class StageBot(commands.Bot):
    """Answers commands in every possible way, and records the messages that it gets."""

    def __init__(
        self,
        connector: Any = None,
        *,
        sync: bool = True,
        intents: discord.Intents | None = None,
        **options: Any,
    ):
        chosen = intents or discord.Intents.all()
        super().__init__(
            "!", intents=chosen, connector=connector, guild_ready_timeout=0.02, **options
        )
        self.heard: list[discord.Message] = []
        self.edits: list[discord.Message] = []
        self.resumed = 0
        self.errors: list[BaseException] = []
        self._sync = sync

    async def setup_hook(self) -> None:
        self.add_view(AgainView())
        self.tree.add_command(SceneGroup())
        self.tree.add_command(wave)
        self.tree.add_command(slow)
        self.tree.add_command(form)
        self.tree.add_command(about)
        for menu in (thoughts, wave_at):
            self.tree.add_command(menu)
        self.tree.error(self._record_error)
        if self._sync:
            await self.tree.sync()

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Start a new session at once. discord.py would wait five seconds."""

    async def on_message(self, message: discord.Message, /) -> None:
        self.heard.append(message)

    async def on_message_edit(self, _before: discord.Message, after: discord.Message) -> None:
        self.edits.append(after)

    async def on_resumed(self) -> None:
        self.resumed += 1

    async def _record_error(
        self, _interaction: discord.Interaction, error: app_commands.AppCommandError
    ) -> None:
        self.errors.append(error)


class AgainView(discord.ui.View):
    """A button that survives a restart."""

    def __init__(self) -> None:
        super().__init__(timeout=None)

    @discord.ui.button(label="Try again", custom_id="again")
    async def again(
        self, interaction: discord.Interaction, _button: discord.ui.Button[AgainView]
    ) -> None:
        await interaction.response.send_message(
            f"{interaction.user.display_name} wants more", ephemeral=True
        )

    @discord.ui.button(label="Done", custom_id="done")
    async def done(
        self, interaction: discord.Interaction, _button: discord.ui.Button[AgainView]
    ) -> None:
        await interaction.response.edit_message(content="done", view=None)

    @discord.ui.select(
        placeholder="Mood",
        custom_id="mood",
        options=[discord.SelectOption(label="Gay"), discord.SelectOption(label="Grave")],
    )
    async def mood(
        self, interaction: discord.Interaction, select: discord.ui.Select[AgainView]
    ) -> None:
        await interaction.response.send_message(f"mood: {select.values[0]}")


class LineForm(discord.ui.Modal, title="Your line"):
    line: discord.ui.TextInput[LineForm] = discord.ui.TextInput(label="Line")

    async def on_submit(self, interaction: discord.Interaction, /) -> None:
        await interaction.response.send_message(f"line: {self.line.value}")


class SceneGroup(app_commands.Group, name="scene", description="Scenes"):
    """A command with subcommands and autocompletion."""

    @app_commands.command(name="start", description="Start a scene")
    async def start(self, interaction: discord.Interaction, scenario: str, rounds: int = 3) -> None:
        await interaction.response.defer(ephemeral=True)
        await interaction.followup.send(f"{scenario} for {rounds}")
        await interaction.followup.send("and more", ephemeral=True)

    @start.autocomplete("scenario")
    async def scenarios(
        self, _interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        found = [each for each in SCENARIOS if typed in each][:25]
        return [app_commands.Choice(name=each.title(), value=each) for each in found]


@app_commands.command(description="Wave")
async def wave(
    interaction: discord.Interaction, at: discord.Member, role: discord.Role | None = None
) -> None:
    await interaction.response.send_message(
        f"waves at {at.mention} {role}", allowed_mentions=discord.AllowedMentions.none()
    )


@app_commands.command(description="Never answers")
async def slow(_interaction: discord.Interaction) -> None:
    pass


@app_commands.command(description="Opens a form")
async def form(interaction: discord.Interaction) -> None:
    await interaction.response.send_modal(LineForm())


@app_commands.command(description="For those who run the place")
@app_commands.default_permissions(manage_guild=True)
@app_commands.guild_only()
async def about(interaction: discord.Interaction) -> None:
    await interaction.response.send_message(
        f"{interaction.permissions.manage_guild} {interaction.app_permissions.manage_webhooks}"
    )
    original = await interaction.original_response()
    await original.edit(content=original.content + " edited")


@app_commands.context_menu(name="Show thoughts")
async def thoughts(interaction: discord.Interaction, message: discord.Message) -> None:
    await interaction.response.send_message(
        f"{message.content!r} by {message.author.display_name}", ephemeral=True
    )


@app_commands.context_menu(name="Wave at")
async def wave_at(interaction: discord.Interaction, member: discord.Member) -> None:
    await interaction.response.send_message(f"waves at {member.display_name}")


async def persona(
    channel: discord.TextChannel | discord.ForumChannel, **options: Any
) -> discord.Webhook:
    """Return the bot's webhook in `channel`. Create it if it is missing."""
    for webhook in await channel.webhooks():
        return webhook
    return await channel.create_webhook(name="Aside", **options)


def text_channel(bot: discord.Client, channel_id: int) -> discord.TextChannel:
    """Return the bot's view of a text channel."""
    channel = bot.get_channel(channel_id)
    assert isinstance(channel, discord.TextChannel)
    return channel
