"""`/cast`: take or return a part, leave or enter the stage, list the cast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import discord
from discord import app_commands
from discord.ext import commands

from bot.errors import NameNotFound, Refused
from bot.library.normalise import normalise
from bot.posting import status_pages
from bot.posting.character_forms import format_request, join_view
from bot.posting.escaping import escape_name
from bot.scenes import cast
from bot.scenes.scene import JoinPolicy
from bot.scenes.turn_rights import SCENE_GONE
from cogs import autocomplete, interaction_replies
from cogs.help_topics import for_game_masters

if TYPE_CHECKING:
    from bot.scenes.departures import Departures
    from bot.scenes.gm_actions import GmActions
    from bot.scenes.own_characters import OwnCharacters, StoredCharacter
    from bot.scenes.persona_lines import PersonaLines
    from bot.scenes.scene import Scene
    from bot.scenes.theatre import Theatre

_POLICIES = {
    JoinPolicy.ASK: "Players can ask to bring characters of their own. A game master decides.",
    JoinPolicy.OPEN: "Players can bring characters of their own with `/cast join`.",
    JoinPolicy.CLOSED: "Players can't bring characters of their own into this scene.",
}


@dataclass(frozen=True, slots=True)
class JoinRequest:
    """A player's question to bring a character of their own, with the game master's decision."""

    approved: bool
    scene_id: int
    owner_id: int
    own_id: int
    revision: int


@app_commands.guild_only()
class CastCommands(
    commands.GroupCog, group_name="cast", group_description="Take parts and see who plays whom"
):
    """The commands under `/cast`."""

    def __init__(
        self,
        theatre: Theatre,
        actions: GmActions,
        departures: Departures,
        characters: OwnCharacters,
        personas: PersonaLines,
    ) -> None:
        super().__init__()
        self._personas = personas
        self._characters = characters
        self._departures = departures
        self._theatre = theatre
        self._actions = actions

    @app_commands.command(
        description="Play a character of the scene or of your own. Your lines become its lines"
    )
    @app_commands.describe(character="The character to play")
    async def join(self, interaction: discord.Interaction, character: str) -> None:
        """Give the user a part, or let their own character join the scene."""
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        if (own := await self._find_own(interaction, scene, character)) is not None:
            await self._join_with_own(interaction, scene, own)
            return
        scene = await self._departures.check_part(scene, character)
        joined = await self._theatre.controls.join(scene, interaction.user.id, character)
        part = joined.part_of(interaction.user.id)
        await self._announce_player(interaction, part.character if part else character)

    @join.autocomplete("character")
    async def _joinable(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        scene = self._theatre.at(interaction.channel_id or 0)
        if scene is None:
            return []
        user_id = interaction.user.id
        free = [
            part.character
            for part in scene.parts
            if part.player_id is None
            and scene.character(part.character).playable
            and (part.own is None or part.own.owner_id == user_id)
        ]
        choices = [autocomplete.text_choice(name, name) for name in free]
        choices += [
            autocomplete.own_choice(one)
            for one in await self._characters.list_of(user_id)
            if cast.find_own(scene, one.id) is None
        ]
        return [one for one in choices if normalise(typed) in normalise(one.name)][
            : autocomplete.MAX_CHOICES
        ]

    async def _find_own(
        self, interaction: discord.Interaction, scene: Scene, character: str
    ) -> StoredCharacter | None:
        """Return the own character that the user means, or None if they mean one of the scene's.

        A name of the scene wins. Raises NameNotFound.
        """
        user_id = interaction.user.id
        if (own_id := autocomplete.read_own_id(character)) is not None:
            return await self._characters.require_own(user_id, own_id)
        try:
            cast.find_part(scene, character)
        except NameNotFound:
            own = await self._characters.list_of(user_id)
            means = [one for one in own if normalise(one.sheet.name) == normalise(character)]
            if not means:
                raise
            return means[0]
        return None

    async def _join_with_own(
        self, interaction: discord.Interaction, scene: Scene, own: StoredCharacter
    ) -> None:
        if await self._characters.join(scene, own) is not None:
            await self._announce_player(interaction, own.sheet.name)
            return
        await interaction.response.send_message(
            format_request(own, interaction.user.display_name), view=join_view(scene, own)
        )

    async def _announce_player(self, interaction: discord.Interaction, character: str) -> None:
        await interaction_replies.reply_publicly(
            interaction,
            f"{escape_name(interaction.user.display_name)} plays **{escape_name(character)}** now.",
        )

    async def decide(self, interaction: discord.Interaction, asked: JoinRequest) -> None:
        """Let a character join that its player asked to play, or decline.

        For game masters. The player can withdraw the question.
        """
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        if scene.id != asked.scene_id:
            raise Refused(SCENE_GONE)
        user_id = interaction.user.id
        cast.require_not_muted(scene, user_id)
        person = f"<@{asked.owner_id}>"
        if not asked.approved:
            if user_id != asked.owner_id:
                cast.require_gm(scene, user_id)
            text = (
                f"{person} does not ask any more."
                if user_id == asked.owner_id
                else f"The game master declined the character of {person}."
            )
        else:
            one = await self._characters.approve(
                scene, asked.own_id, asked.owner_id, asked.revision, user_id
            )
            text = f"{person} plays **{escape_name(one.sheet.name)}** now."
        await interaction.response.edit_message(content=text, view=None)

    @for_game_masters
    @app_commands.command(description="Show your lines as your character's, or as you type them")
    @app_commands.describe(lines="persona: under its name and picture. plain: under your own name")
    async def voice(
        self, interaction: discord.Interaction, lines: Literal["persona", "plain"]
    ) -> None:
        """Choose how the user's lines appear."""
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        await interaction.response.defer(ephemeral=True)
        as_persona = lines == "persona"
        name = escape_name(
            await self._personas.choose(scene, interaction.user.id, as_persona=as_persona)
        )
        await interaction_replies.reply_privately(
            interaction,
            f"Your lines appear as **{name}** now. *Apps* → *Edit* on a line changes or deletes it."
            if as_persona
            else "Your lines stay as you type them.",
        )

    @app_commands.command(description="Choose if players may bring characters of their own")
    @app_commands.describe(
        own_characters="Ask a game master about each, let all in, or let none in"
    )
    async def policy(
        self, interaction: discord.Interaction, own_characters: Literal["ask", "open", "closed"]
    ) -> None:
        """Choose whether own characters may join."""
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        policy = JoinPolicy(own_characters)
        await self._characters.set_policy(scene, policy, interaction.user.id)
        await interaction_replies.reply_publicly(interaction, _POLICIES[policy])

    @for_game_masters
    @app_commands.command(description="Take a player's own character out (game masters)")
    @app_commands.describe(character="The player's own character")
    async def remove(self, interaction: discord.Interaction, character: str) -> None:
        """Take an own character out of the scene."""
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        removed = await self._characters.take_out(scene, character, interaction.user.id)
        await interaction_replies.reply_publicly(
            interaction, f"**{escape_name(removed)}** has left the scene."
        )

    @remove.autocomplete("character")
    async def _removable(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        scene = self._theatre.at(interaction.channel_id or 0)
        names = [part.character for part in scene.parts if part.own] if scene else []
        matching = [name for name in names if normalise(typed) in normalise(name)]
        return [autocomplete.text_choice(name, name) for name in matching]

    @app_commands.command(description="Stop playing your character")
    @app_commands.describe(
        rest="Let the character rest, so that no one plays it",
        model="Leave your own character to the model (default: it leaves the scene)",
    )
    async def leave(
        self, interaction: discord.Interaction, rest: bool = False, model: bool = False
    ) -> None:
        """Take the user's part from them."""
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        character = await self._theatre.controls.leave(
            scene, interaction.user.id, rest=rest, stay=model
        )
        now = self._theatre.require_scene(scene.place.channel_id)
        if now.find_part(character) is None:
            state = "has left the scene"
        else:
            state = "rests now" if rest else "is played by the model now"
        await interaction_replies.reply_publicly(
            interaction, f"**{escape_name(character)}** {state}."
        )

    @for_game_masters
    @app_commands.command(
        description="Let a character rest: it does not reply until you wake it (game masters)"
    )
    @app_commands.describe(character="The character that rests")
    async def rest(self, interaction: discord.Interaction, character: str) -> None:
        """Stop the replies of a character."""
        await self._rest(interaction, character, rests=True)

    @for_game_masters
    @app_commands.command(description="Let the model play a resting character again (game masters)")
    @app_commands.describe(character="The character to wake")
    async def wake(self, interaction: discord.Interaction, character: str) -> None:
        """Let the model play a resting character again."""
        await self._rest(interaction, character, rests=False)

    @app_commands.command(
        name="exit", description="Take a character off stage. It hears nothing until it comes back"
    )
    @app_commands.describe(character="The character that leaves (default: yours)")
    async def exit_(self, interaction: discord.Interaction, character: str | None = None) -> None:
        """Take a character off stage."""
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        left = await self._actions.leave_stage(scene, character, interaction.user.id)
        await interaction_replies.reply_publicly(interaction, f"*{escape_name(left)} leaves.*")

    @app_commands.command(description="Bring a character back on stage")
    @app_commands.describe(character="The character that comes back (default: yours)")
    async def enter(self, interaction: discord.Interaction, character: str | None = None) -> None:
        """Bring a character back on stage."""
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        entered = await self._actions.enter_stage(scene, character, interaction.user.id)
        await interaction_replies.reply_publicly(interaction, f"*{escape_name(entered)} enters.*")

    @rest.autocomplete("character")
    @wake.autocomplete("character")
    @exit_.autocomplete("character")
    @enter.autocomplete("character")
    async def _others(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        return autocomplete.character_choices(self._theatre.at(interaction.channel_id or 0), typed)

    @app_commands.command(name="list", description="Show who plays whom")
    async def list_(self, interaction: discord.Interaction) -> None:
        """Show the cast."""
        for page in status_pages.format_cast(
            self._theatre.require_scene(interaction.channel_id or 0)
        ):
            await interaction_replies.reply_privately(interaction, page)

    async def _rest(self, interaction: discord.Interaction, character: str, *, rests: bool) -> None:
        scene = self._theatre.require_scene(interaction.channel_id or 0)
        scene = await self._departures.check_part(scene, character)
        changed = await self._actions.rest(scene, character, interaction.user.id, rests=rests)
        part = cast.find_part(changed, character)
        state = "rests now" if rests else "is played by the model again"
        await interaction_replies.reply_publicly(
            interaction, f"**{escape_name(part.character)}** {state}."
        )
