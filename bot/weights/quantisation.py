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
from bot.weights.importance_file import read_importance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.weights.dimensions import Dimensions
    from bot.weights.hub import Progress

# Largest first.
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
    "IQ3_M",
    "IQ3_S",
    "Q3_K_S",
    "IQ3_XS",
    "IQ3_XXS",
    "Q2_K",
    "IQ2_M",
    "IQ2_S",
    "IQ2_XS",
    "IQ2_XXS",
)
# llama.cpp refuses to make these without an importance matrix.
NEEDS_IMPORTANCE: Final = frozenset({"IQ3_XS", "IQ3_XXS", "IQ2_M", "IQ2_S", "IQ2_XS", "IQ2_XXS"})
# About 2.5 bits per weight: a clear loss.
COARSE: Final = frozenset({"Q2_K", "IQ2_M", "IQ2_S", "IQ2_XS", "IQ2_XXS"})
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
_OTHER_SIZE = re.compile(
    r"imatrix size (?P<matrix>\d+) is different from tensor size (?P<model>\d+) for (?P<name>\S+)"
)
_MISSING = re.compile(r"Missing importance matrix for tensor (?P<name>\S+)")
_LAST_WORDS = 8


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


def require_importance(quantisation: str, *, given: bool) -> None:
    """Raise UserInputError if the quantisation needs an importance matrix and none is given, or if
    one is given and can't be used.
    """
    if quantisation in NEEDS_IMPORTANCE and not given:
        raise UserInputError(
            f"{quantisation} needs an importance matrix. Add `--imatrix auto`, or name a file with "
            "`--imatrix FILE`."
        )
    if quantisation in UNQUANTISED and given:
        raise UserInputError(
            f"{quantisation} is not quantised, so it takes no importance matrix. Choose another "
            "--quant."
        )


def has_importance(path: Path) -> bool:
    """Return whether a file was quantised with an importance matrix. Raise ModelFileError."""
    return "quantize.imatrix.entries_count" in gguf_reader.read_header(path).values


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
            one: _header(
                plain,
                one,
                llama_quantise.report_sizes(hollow, one, importance=one in NEEDS_IMPORTANCE),
            )
            for one in quantisations
        }


def estimate_layouts_of_file(
    path: Path, quantisations: Sequence[str]
) -> dict[str, tuple[GgufFile]]:
    """Return the header that an unquantised file would have under each quantisation.

    Raise WeightsError or ModelFileError.
    """
    from bot.weights import llama_quantise

    plain = gguf_reader.read_header(path)
    return {
        one: (_header(plain, one, llama_quantise.report_sizes(path, one)),) for one in quantisations
    }


def _header(plain: GgufFile, quantisation: str, said: str) -> GgufFile:
    tensors = tuple(_tensor(found) for found in _TENSOR.finditer(said))
    if len(tensors) != len(plain.tensors):
        raise WeightsError("llama.cpp's quantiser reported no sizes. Reinstall llama-cpp-python.")
    return replace(plain, path=Path(f"{plain.name}-{quantisation}.gguf"), tensors=tensors)


def quantise(
    source: Path,
    target: Path,
    quantisation: str,
    progress: Progress | None = None,
    importance: Path | None = None,
) -> None:
    """Quantise the GGUF file `source` into `target`. `progress` receives the number of tensors.

    `importance` is the file of an importance matrix. `target` appears once it is complete. A
    partial file is deleted in any case, including Ctrl-C. Raise UserInputError if the matrix is
    missing, or WeightsError.
    """
    part = target.with_name(f"{target.name}.part")
    order = [quantisation, str(source), str(part)]
    if importance is not None:
        require_matching_importance(importance, source)
        order.append(str(importance))
    require_importance(quantisation, given=importance is not None)
    try:
        for line in _quantiser(*order):
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
            raise _explain_failure(words)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


def require_matching_importance(importance: Path, model: Path) -> None:
    """Raise WeightsError if an importance matrix is of another model."""
    names = {tensor.name for tensor in gguf_reader.read_header(model).tensors}
    if names.isdisjoint(read_importance(importance).tensors):
        raise WeightsError(
            f"The importance matrix {importance} has no tensor of {model.name}. Use the matrix of "
            "this model."
        )


def _explain_failure(words: Sequence[str]) -> WeightsError:
    """Return an error with the cause, given the last lines of the quantiser's log."""
    log = "\n".join(words)
    if found := _OTHER_SIZE.search(log):
        return WeightsError(
            f"The importance matrix is of another model: for {found['name']} it has "
            f"{found['matrix']} columns instead of {found['model']}. Use the matrix of this model."
        )
    if found := _MISSING.search(log):
        return WeightsError(
            f"The importance matrix has no data for {found['name']}, which this quantisation "
            "needs. Compute it with a longer text, or choose a larger quantisation."
        )
    said = next((word for word in reversed(words) if "rror" in word or "fail" in word), "")
    return WeightsError(
        f"llama.cpp's quantiser failed{f': {said}' if said else ''}. Check whether the disk is "
        "full."
    )


def _tensor(found: re.Match[str]) -> Tensor:
    shape = tuple(int(extent) for extent in found["shape"].split(","))
    kind = GGMLQuantizationType[(found["becomes"] or found["kind"]).upper()]
    return Tensor(found["name"], 0, gguf_reader.tensor_bytes(shape, kind))
