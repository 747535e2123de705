"""Quantisations: their names, the sizes they give, and quantising a file.

llama.cpp's own quantiser reports the sizes, from a file with the model's header and a hole as data.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gguf import GGMLQuantizationType

from bot import subprocess_env
from bot.errors import UserInputError, WeightsError
from bot.weights import gguf_reader
from bot.weights.gguf_reader import GgufFile, Tensor
from bot.weights.gguf_writer import write_header

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.weights.dimensions import Dimensions
    from bot.weights.hub import Progress

# Those that need no importance matrix, largest first.
QUANTISATIONS: Final = (
    "BF16",
    "F16",
    "Q8_0",
    "Q6_K",
    "Q5_K_M",
    "Q5_K_S",
    "Q5_0",
    "Q4_K_M",
    "Q4_K_S",
    "IQ4_XS",
    "Q3_K_L",
    "Q3_K_M",
    "Q3_K_S",
    "Q2_K",
)
UNQUANTISED: Final = ("F32", "BF16", "F16")

_IN_NAME = re.compile(
    r"(?<![A-Za-z0-9])(I?Q\d(?:_[A-Z0-9]+)*|BF16|F16|F32)(?=(?:-\d{5}-of-\d{5})?\.gguf$)",
    re.IGNORECASE,
)
_TENSOR = re.compile(
    r"\[ *(?P<number>\d+)/ *(?P<all>\d+)\] +(?P<name>\S+) +"
    r"- \[(?P<shape>[ \d,]+)\], type = +(?P<kind>\w+), "
    r"(?:.*\((?P<becomes>\w+)\)|.*)"
)
_LAST_WORDS = 5


def require_quantisation(text: str) -> str:
    """Return the quantisation in its usual spelling.

    Raise UserInputError, with the known ones, if it is unknown.
    """
    if (name := text.strip().upper()) in QUANTISATIONS:
        return name
    raise UserInputError(
        f"There is no quantisation {text!r}. Choose one of {', '.join(QUANTISATIONS)}."
    )


def parse_quantisation(name: str) -> str:
    """Return the quantisation in the name of a GGUF file, in capitals, or an empty text."""
    found = _IN_NAME.search(name)
    return found[1].upper() if found else ""


def estimate_layouts(
    name: str, dimensions: Dimensions, quantisations: Sequence[str]
) -> dict[str, GgufFile]:
    """Return the header that a model's file would have under each quantisation.

    Takes a few hundredths of a second each. Raise WeightsError if llama.cpp reports no sizes.
    """
    from bot.weights import llama_quantise

    with tempfile.TemporaryDirectory(prefix="aside-sizes-") as folder:
        hollow = Path(folder) / "hollow.gguf"
        write_header(hollow, dimensions, "BF16", name)
        plain = gguf_reader.read_header(hollow)
        return {
            one: _header(plain, one, llama_quantise.report_sizes(hollow, one))
            for one in quantisations
        }


def _header(plain: GgufFile, quantisation: str, said: str) -> GgufFile:
    tensors = tuple(_tensor(found) for found in _TENSOR.finditer(said))
    if len(tensors) != len(plain.tensors):
        raise WeightsError("llama.cpp's quantiser reported no sizes. Reinstall llama-cpp-python.")
    return replace(plain, path=Path(f"{plain.name}-{quantisation}.gguf"), tensors=tensors)


def quantise(
    source: Path, target: Path, quantisation: str, progress: Progress | None = None
) -> None:
    """Quantise the GGUF file `source` into `target`. `progress` receives the number of tensors.

    `target` appears once it is complete. A partial file is deleted in any case, including Ctrl-C.
    Raise WeightsError.
    """
    part = target.with_name(f"{target.name}.part")
    try:
        for line in _quantiser(quantisation, str(source), str(part)):
            if progress and (found := _TENSOR.match(line)):
                progress(int(found["number"]), int(found["all"]))
        gguf_reader.check_model(part)
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.replace(target)
    except OSError as error:
        raise WeightsError(
            f"{target} can't be stored ({error.strerror or error}). Choose another folder."
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _quantiser(*order: str) -> Iterator[str]:
    """Yield the lines of the quantiser's log. Raise WeightsError if it fails."""
    command = [sys.executable, "-m", "bot.weights.llama_quantise", *order]
    words: list[str] = []
    process = subprocess.Popen(  # noqa: S603 - our own module
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=subprocess_env.child_environment(),
    )
    try:
        assert process.stdout is not None  # noqa: S101 - the pipe was requested
        for raw in process.stdout:
            words = [*words[1 - _LAST_WORDS :], raw.decode("utf-8", "replace").strip()]
            yield words[-1]
        if process.wait():
            said = next((word for word in reversed(words) if "rror" in word or "fail" in word), "")
            raise WeightsError(
                f"llama.cpp's quantiser failed{f': {said}' if said else ''}. Check whether "
                "the disk is full."
            )
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


def _tensor(found: re.Match[str]) -> Tensor:
    shape = tuple(int(extent) for extent in found["shape"].split(","))
    kind = GGMLQuantizationType[(found["becomes"] or found["kind"]).upper()]
    return Tensor(found["name"], 0, gguf_reader.tensor_bytes(shape, kind))
