"""`aside transcript`: write the story of a scene to a file."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path  # noqa: TC003 - typer reads annotations
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.console.shared_options import Config, open_library, read_settings, write
from bot.errors import UserInputError
from bot.transcript.format_name import FormatName

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.library.library import Library
    from bot.scenes.scene import Scene

_MOST_SCENES = 50


def transcript(
    scene: Annotated[
        int | None,
        typer.Argument(metavar="SCENE", help="Number of the scene (default: list the scenes)."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="Write to this file: .html, .md or .json."),
    ] = None,
    format_: Annotated[
        FormatName | None,
        typer.Option("--format", help="Format (default: by FILE's suffix, or else md)."),
    ] = None,
    thoughts: Annotated[
        bool, typer.Option("--thoughts", help="Include all thoughts and planning.")
    ] = False,
    store: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Database (default: `store.path` in the settings)."),
    ] = None,
    config: Config = None,
) -> None:
    """Write the story of a scene as HTML, Markdown or JSON. The bot may be running.

    The transcript has what everyone read in the channel. Whispers are not in it. Thoughts are in it
    if they were revealed to the channel.
    """
    settings = read_settings(config)
    path = store or settings.store.path
    if scene is None:
        write(asyncio.run(_list_scenes(path)))
        return
    name = format_ or _guess_format(output)
    text = asyncio.run(_write(path, scene, open_library(settings), name, thoughts=thoughts))
    if output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()
        return
    try:
        output.write_bytes(text)
    except OSError as error:
        raise UserInputError(
            f"{output} can't be written ({error.strerror}). Choose another file."
        ) from error


def _guess_format(output: Path | None) -> FormatName:
    """Return the format that a file's suffix names. Raise UserInputError if it names none."""
    if output is None:
        return FormatName.MARKDOWN
    suffix = output.suffix.lower().removeprefix(".")
    by_suffix = {name.value: name for name in FormatName} | {"htm": FormatName.HTML}
    if suffix not in by_suffix:
        raise UserInputError(
            f"{output} does not end in .html, .md or .json. Rename it or add --format."
        )
    return by_suffix[suffix]


async def _list_scenes(path: Path) -> str:
    from bot.store.snapshot import open_snapshot

    async with open_snapshot(path) as store:
        scenes = await store.latest_scenes(_MOST_SCENES)
    if not scenes:
        return f"{path} has no scenes.\n"
    return "".join(f"{line}\n" for line in _format_scenes(scenes))


def _format_scenes(scenes: Sequence[Scene]) -> list[str]:
    width = max(len(str(scene.id)) for scene in scenes)
    return [
        f"{scene.id:>{width}}  {scene.started_at:%Y-%m-%d}  {scene.state.value:8}"
        f"{scene.scenario.title} · {scene.scenario.book}"
        for scene in scenes
    ]


async def _write(
    path: Path, scene_id: int, library: Library, name: FormatName, *, thoughts: bool
) -> bytes:
    from bot.scenes.scene import AT_TERMINAL
    from bot.store.snapshot import open_snapshot
    from bot.transcript.transcript_content import Reader
    from bot.transcript.transcripts import Transcripts

    async with open_snapshot(path) as store:
        scene = await store.scene(scene_id)
        if scene is None:
            raise UserInputError(
                f"{path} has no scene {scene_id}. Run `aside transcript` to list the scenes."
            )
        reader = Reader(AT_TERMINAL, has_thoughts=thoughts)
        files = Transcripts(store, library).write(scene, reader, name)
        contents = [file.content async for file in files]
    if not contents:
        raise UserInputError(f"Scene {scene_id} has no turns yet. Play it first.")
    return contents[0]
