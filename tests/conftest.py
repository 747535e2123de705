"""Marks that follow from a test's folder and fixtures, and settings for all tests."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

HERE: Final = Path(__file__).parent
SLOW_FOLDERS: Final = frozenset({"bench", "play", "proof", "tryout"})
MARKED_FOLDERS: Final = frozenset({"play", "proof"})
SLOW_FILES: Final = frozenset(
    {
        "cli/test_bench.py",
        "cli/test_evaluate.py",
        "cli/test_models.py",
        "cli/test_setup.py",
        "cli/test_standard_streams.py",
        "her/test_reply_parser_properties.py",
        "terminal/test_pseudo_terminal.py",
        "weights/test_build.py",
    }
)
"""Files whose tests take several seconds each, mostly because they start programs."""

SLOW_MARKS: Final = frozenset({"model", "program"})

# Several worker processes run models at the same time. OpenMP's threads wait for each other in busy
# loops, so that two threads per model take several times as long as one.
os.environ.setdefault("OMP_THREAD_LIMIT", "1")

# A shell without job control starts background programs with SIGINT ignored, and their children
# inherit that. The tests of Ctrl-C need Python's own handler.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The other worker processes make an example's time say nothing about the code.
settings.register_profile("aside", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("aside")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test by its folder, and group the tests that share an expensive fixture.

    A group runs in one of the worker processes, so that its fixture is made only once.
    """
    for item in items:
        path = item.path.relative_to(HERE)
        folder = path.parts[0]
        if folder in MARKED_FOLDERS:
            item.add_marker(folder)
        if (
            folder in SLOW_FOLDERS
            or path.as_posix() in SLOW_FILES
            or any(item.get_closest_marker(mark) for mark in SLOW_MARKS)
        ):
            item.add_marker("slow")
        if shared := sorted(_shared_fixtures(item)):
            item.add_marker(pytest.mark.xdist_group(shared[0]))


def _shared_fixtures(item: pytest.Item) -> set[str]:
    """Return the names of this project's fixtures that several tests share."""
    info = getattr(item, "_fixtureinfo", None)  # pytest has no public way to ask for the scope
    if info is None:
        return set()
    return {
        f"{fixture.baseid}::{name}"
        for name, fixtures in info.name2fixturedefs.items()
        for fixture in fixtures
        if fixture.scope != "function" and fixture.baseid.startswith("tests")
    }
