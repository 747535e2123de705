"""The container, the compose file and the systemd unit, as far as they can be checked without running them."""

from __future__ import annotations

import re
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from bot.cli import app

ROOT = Path(__file__).parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
UNIT = re.search(
    r"```ini\n(.*?)```", (ROOT / "docs" / "systemd.md").read_text(encoding="utf-8"), re.DOTALL
)
PINS = (ROOT / "requirements.txt").read_text(encoding="utf-8")


def instructions() -> list[tuple[str, str]]:
    """What the Dockerfile says, comments taken out and continued lines joined."""
    lines = [
        line
        for line in DOCKERFILE.splitlines()
        if line.strip() and not line.lstrip().startswith("#")
    ]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [
        (name, " ".join(rest.split()))
        for name, _, rest in (line.partition(" ") for line in joined.splitlines())
    ]


def said(name: str) -> list[str]:
    return [rest for one, rest in instructions() if one == name]


def test_the_dockerfile_holds_nothing_but_instructions() -> None:
    known = {
        "ARG",
        "FROM",
        "RUN",
        "WORKDIR",
        "COPY",
        "ENV",
        "USER",
        "VOLUME",
        "HEALTHCHECK",
        "ENTRYPOINT",
        "CMD",
    }
    assert {name for name, _ in instructions()} == known
    assert [name for name, _ in instructions()].count("CMD") == 1


def test_what_is_copied_is_there_and_reaches_the_builder() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for copied in said("COPY"):
        for source in [] if copied.startswith("--from") else copied.split()[:-1]:
            assert (ROOT / source).exists()
            assert f"!{source}" in ignored
    assert "!.env" not in ignored


def test_every_base_has_a_tag_and_the_program_runs_without_privileges() -> None:
    bases = [rest.split("=", 1)[1] for rest in said("ARG") if "_BASE" in rest]
    bases += [
        value
        for key, value in COMPOSE["services"]["aside-cuda"]["build"]["args"].items()
        if "_BASE" in key
    ]
    assert len(bases) == 4
    assert all(":" in base and not base.endswith(":latest") for base in bases)
    assert said("USER") == ["aside"]
    names = [name for name, _ in instructions()]
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert all(
        "--no-install-recommends" in run and "rm -rf /var/lib/apt/lists/*" in run
        for run in said("RUN")
        if "apt-get" in run
    )


def test_the_container_is_healthy_by_the_file_that_the_bot_touches() -> None:
    (health,), (command,) = said("HEALTHCHECK"), said("CMD")[-1:]
    path = re.search(r"/tmp/[\w-]+", health)
    assert path
    assert path[0] in command
    run = get_command(app).commands["run"]  # type: ignore[attr-defined] # it is a group
    assert any("--healthy" in option.opts for option in run.params)


@pytest.mark.parametrize("service", ["aside", "aside-cuda"])
def test_a_service_keeps_weights_and_database_and_nothing_else(service: str) -> None:
    told = COMPOSE["services"][service]
    assert (
        {volume.split(":")[0] for volume in told["volumes"]}
        == set(COMPOSE["volumes"])
        == {"data", "weights"}
    )
    assert told["read_only"] is True
    assert told["env_file"] == ".env"
    assert told["cap_drop"] == ["ALL"]


def test_cuda_is_asked_for_where_it_is_built_in() -> None:
    cuda = COMPOSE["services"]["aside-cuda"]
    assert "-DGGML_CUDA=on" in cuda["build"]["args"]["CMAKE_ARGS"]
    (device,) = cuda["deploy"]["resources"]["reservations"]["devices"]
    assert (device["driver"], device["capabilities"]) == ("nvidia", ["gpu"])
    assert "deploy" not in COMPOSE["services"]["aside"]


def test_the_unit_in_the_documentation_starts_the_program_and_not_for_ever_where_that_is_no_use() -> (
    None
):
    assert UNIT
    unit = ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign] # systemd's keys have capitals
    unit.read_string(UNIT[1])
    assert unit["Service"]["ExecStart"].endswith("/aside run")
    assert unit["Service"]["Restart"] == "on-failure"
    assert unit["Service"]["RestartPreventExitStatus"] == "2"
    assert unit["Service"]["WorkingDirectory"] in unit["Service"]["ReadWritePaths"]


def test_the_guides_admit_untested_steps() -> None:
    assert "**Untested.**" in (ROOT / "docs" / "docker.md").read_text(encoding="utf-8")
    assert "**Partly tested.**" in (ROOT / "docs" / "systemd.md").read_text(encoding="utf-8")
