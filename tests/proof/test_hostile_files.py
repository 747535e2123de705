"""Files that expand enormously are refused, each in a sentence, with little memory and time.

The system limits both for the program that reads them, so the tests do not depend on the machine's
speed.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import struct
import subprocess
import sys
import zipfile
import zlib
from typing import TYPE_CHECKING

import pytest
import yaml

from bot.settings import LibrarySettings
from tests.engine.scripted_engine import ScriptedEngine
from tests.library.sample_libraries import put, scenario
from tests.proof.test_abuse import assert_answered
from tests.scenes.scene_harness import reply

if sys.platform != "linux":
    pytest.skip("only Linux holds a program to its address space", allow_module_level=True)

import resource  # Windows lacks it

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from tests.play.harness import Evening

MEMORY = 640 * 2**20  # bytes of address space for the whole program, with Python and its libraries
SECONDS = 60  # seconds of CPU time for all files together; each takes far less than one
LONGEST = 600  # characters of a sentence

SOUND = yaml.safe_dump(scenario())
LAUGHS = "a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30)
)
WIDE = f"x: &x [{', '.join('1' * 400)}]\ncharacters: [{', '.join(['*x'] * 1500)}]\n"
BOMBS: dict[str, str] = {
    "laughs": LAUGHS,
    "wide": WIDE,
    "long": f"a: &a {'ha' * 200_000}\nb: [{', '.join(['*a'] * 100_000)}]\n",
    "deep": "[" * 500_000,
    "deep-groups": "{a: " * 250_000,
    "deep-lines": "".join(f"{' ' * depth}a:\n" for depth in range(1400)),
    "circle": "a: &a [*a]\n",
    "merge": "a: &a {b: c}\n" + "".join(f"k{n}: {{<<: *a}}\n" for n in range(15_000)),
    "sixties": f"title: {':'.join(['1'] * 500_000)}\n",
    "sixties-and-a-half": f"title: {':'.join(['1'] * 500_000)}.5\n",
    "digits": f"title: {'9' * 1_000_000}\n",
    "hex": f"title: 0x{'f' * 1_000_000}\n",
    "exponent": "characters: [{name: A, talkativeness: 1e999999999}]\n",
    "date": "title: 2024-01-01 00:00:00.99999999999999999999999999999999999999\n",
    "keys": "".join(f"k{n}:\n" for n in range(30_000)),
    "quotes": '"' * 900_000,
    "anchors": "".join(f"- &a{n} b\n" for n in range(60_000)),
    "tags": "a: !!python/object/apply:os.system [exit 7]\n",
    "people": "characters:\n" + "- name: A\n" * 20_000,
    "spaces": " " * 1_000_000,
    "large": "title: " + "a" * 3_000_000,
}
SCENES: dict[str, str] = {
    "deep": "[" * 1_000_000,
    "many": "[" + "[]," * 20_000_000 + "[]]",
    "number": f'[{{"book": {"9" * 100_000}}}]',
    "large": '"' + "a" * 70_000_000 + '"',
    "half": '[{"book": "\\ud800", "scenario": "x", "key_characters": [{"name": "\\udfff"}]}]',
}


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("../../scenario.yaml", bytes(100_000_000))
    return file.getvalue()


def picture(*chunks: tuple[bytes, bytes], side: int = 8) -> bytes:
    """Return a PNG file with these chunks between its header and its end."""
    head = (b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0))
    written = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in (head, *chunks, (b"IEND", b""))
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(written)


def faces() -> dict[str, bytes]:
    zeros = zlib.compress(bytes(200_000_000), 9)
    return {
        "zip": zipped(),
        "gzip": gzip.compress(bytes(100_000_000)),
        "wide": picture((b"IDAT", zeros), side=60_000),
        "unfolding": picture(
            (b"zTXt", b"chara\0\0" + zeros), (b"IDAT", zlib.compress(bytes(8 * 9)))
        ),
        "profile": picture((b"iCCP", b"p\0\0" + zeros), (b"IDAT", zlib.compress(bytes(8 * 9)))),
    }


def shelf(folder: Path, bombs: Collection[str] = BOMBS, scenes: Collection[str] = SCENES) -> Path:
    """Write a library of bombs with one playable scenario."""
    put(folder, "party")
    for name in bombs:
        (folder / f"bomb-{name}.yaml").write_text(BOMBS[name], encoding="utf-8")
    (folder / "bomb-zip.yaml").write_bytes(zipped())
    for name in scenes:
        (folder / f"scenes-{name}.json").write_text(SCENES[name], encoding="utf-8")
    for name, data in faces().items():
        file = put(folder, f"face-{name}", characters=[{"name": "The Hatter", "face": "face.png"}])
        (file.parent / "face.png").write_bytes(data)
    return folder


def hold() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def test_a_library_of_bombs_is_refused_file_by_file_with_little_memory(tmp_path: Path) -> None:
    folder = shelf(tmp_path / "shelf")
    checked = subprocess.run(
        [sys.executable, "-m", "bot", "scenarios", "check", "--json", str(folder)],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)},
        preexec_fn=hold,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 2, checked.stderr[-2000:]
    assert "Traceback" not in checked.stderr
    faults = json.loads(checked.stdout)["faults"]
    for name in [f"bomb-{name}" for name in (*BOMBS, "zip")] + [
        f"scenes-{name}" for name in SCENES
    ]:
        assert [fault for fault in faults if name in fault], name
    for name in faces():
        assert [fault for fault in faults if f"face-{name}" in fault], name
    assert max(map(len, faults)) < LONGEST
    assert "party" not in "".join(faults)


async def test_the_rest_of_a_library_is_playable_beside_bombs(
    evening: Evening, tmp_path: Path
) -> None:
    folder = shelf(tmp_path / "shelf", ("laughs", "sixties", "deep", "tags"), ("number", "deep"))
    library = LibrarySettings(folders=(folder,))
    evening.settings = evening.settings.model_copy(update={"library": library})
    engine = ScriptedEngine([reply("The Hatter", says="No room!")])
    await engine.start()
    async with evening.online(engine):
        offered = await evening.gm.autocomplete(evening.stage, "scene start", scenario="")
        assert not [choice for choice in offered if "bomb" in str(choice.value)]
        for name in ("bomb-laughs", "bomb-sixties", "scenes-number", "../shelf/party", "bomb-zip"):
            refused = await evening.gm.slash(evening.stage, "scene start", scenario=name)
            assert_answered(refused, name)
            assert "has started" not in refused.text
            assert len(refused.text) < LONGEST
        await evening.gm.slash(evening.stage, "scene start", scenario="face-wide")
        evening.lizzy.say(evening.stage, "@The Hatter May I sit?")
        assert (await evening.answer()).content == "*smiles* No room!"
