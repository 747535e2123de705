"""The source of the importance matrix for `aside models build`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from bot.cli.models.calibration import CalibrationText, compute_matrix, prepare_run
from bot.cli.models.machine import build_plan_request, get_weights_folder, measure_memory
from bot.errors import WeightsError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from bot.settings import Settings
    from bot.weights.build import BuildProgress, ImportanceSource, Source
    from bot.weights.fit import Memory

_CHUNK: Final = 512  # tokens
# Quantisations that a matrix can be computed with if the unquantised model is too large, finest
# first.
_CALIBRATING: Final = ("Q8_0", "Q4_K_M", "Q3_K_S", "Q2_K")


@dataclass(frozen=True, slots=True)
class BuildTarget:
    """The source and the result of a build. `name` is the result's name in the settings."""

    source: Source
    path: Path
    quantisation: str
    title: str
    name: str
    dialect: str | None = None


class GivenImportance:
    """An importance matrix in a file."""

    def __init__(self, path: Path) -> None:
        """Raise WeightsError if the file can't be read."""
        from bot.weights.importance_file import read_importance

        read_importance(path)
        self._path = path

    def find(self, unquantised: Path, told: BuildProgress) -> Path:  # noqa: ARG002 - it is there
        """Return the file."""
        return self._path


class ComputedImportance:
    """The matrix of a model in the weights folder, computed if it is missing.

    It is computed with a file of the model that is already here, or else with the unquantised
    model, or, if that is too large for this machine, with a temporary quantisation.
    """

    def __init__(
        self, target: BuildTarget, settings: Settings, memory: Memory | None = None
    ) -> None:
        """`memory` is the free memory (None: that of this machine)."""
        from bot.weights.installed import importance_path

        self._memory = memory
        self._target = target
        self._settings = settings
        self._path = importance_path(target.title, get_weights_folder(settings))

    def find(self, unquantised: Path, told: BuildProgress) -> Path:
        """Return the file of the matrix. Raise AsideError."""
        if not self._path.is_file():
            with self._model(unquantised, told) as model:
                run = prepare_run(model, self._settings, _CHUNK)
                report = compute_matrix(
                    run, CalibrationText(), self._path, told, self._settings, self._target.dialect
                )
            warn_of_partial_data(report.partial)
        return self._path

    def _model(self, unquantised: Path, told: BuildProgress) -> AbstractContextManager[Path]:
        from contextlib import nullcontext

        if installed := self._find_installed():
            return nullcontext(installed)
        chosen = self._choose(unquantised)
        if chosen is None:
            return nullcontext(unquantised)
        return _temporary_model(unquantised, chosen, told)

    def _find_installed(self) -> Path | None:
        """Return the largest file of the model that is here."""
        from bot.weights.quantisation import UNQUANTISED, parse_quantisation

        stem = f"{self._target.title}-"
        files = [
            path
            for path in self._target.path.parent.glob("*.gguf")
            if path.name.startswith(stem)
            and parse_quantisation(path.name) not in ("", *UNQUANTISED)
        ]
        return max(files, key=lambda path: path.stat().st_size, default=None)

    def _choose(self, unquantised: Path) -> str | None:
        """Return the quantisation to compute with, or None for the unquantised model."""
        from bot.weights import gguf_reader
        from bot.weights.fit import plan_quantisations
        from bot.weights.quantisation import estimate_layouts_of_file

        layouts = {"": gguf_reader.check_model(unquantised)}
        layouts |= estimate_layouts_of_file(unquantised, _CALIBRATING)
        request = build_plan_request(self._settings, minds=1)
        found = plan_quantisations(layouts, self._memory or measure_memory(), request)
        running = [one for one in found if one.plan is not None]
        if not running:
            raise WeightsError(
                f"{self._target.title} does not fit into this machine's memory, so its importance "
                "matrix can't be computed here. Compute it elsewhere with `aside models imatrix`, "
                "and name its file with --imatrix."
            )
        best = next((one for one in running if one.whole), running[0])
        return best.quantisation or None


def _temporary_model(
    unquantised: Path, quantisation: str, told: BuildProgress
) -> AbstractContextManager[Path]:
    from contextlib import contextmanager

    from bot.weights.quantisation import quantise

    @contextmanager
    def make() -> Iterator[Path]:
        path = unquantised.with_name(f"{unquantised.stem}.calibrating.gguf")
        told.step(f"Quantising to {quantisation} for the importance matrix", "tensors")
        try:
            quantise(unquantised, path, quantisation, told.progress)
            yield path
        finally:
            path.unlink(missing_ok=True)

    return make()


def choose_importance(given: str, target: BuildTarget, settings: Settings) -> ImportanceSource:
    """Return the source that `--imatrix` names. Raise WeightsError if its file can't be read."""
    if given.strip().casefold() == "auto":
        return ComputedImportance(target, settings)
    return GivenImportance(Path(given).expanduser())


def warn_of_partial_data(partial: tuple[str, ...]) -> None:
    """Say that the text did not use some experts."""
    if partial:
        typer.echo(
            f"The text did not use all experts of {len(partial)} tensors. Their columns count "
            "equally. A longer text may help.",
            err=True,
        )
