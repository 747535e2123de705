"""The form of the Dockerfile, the compose file and the systemd unit. None of them is run here."""

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


def instructions() -> list[tuple[str, str]]:
    """Return the name and the arguments of each instruction of the Dockerfile."""
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


def arguments_of(instruction: str) -> list[str]:
    return [rest for name, rest in instructions() if name == instruction]


def test_the_dockerfile_contains_only_known_instructions() -> None:
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


def test_every_copied_file_exists_and_is_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for copied in arguments_of("COPY"):
        for source in [] if copied.startswith("--from") else copied.split()[:-1]:
            assert (ROOT / source).exists()
            assert f"!{source}" in ignored
    assert "!.env" not in ignored


def test_base_images_have_tags_and_the_program_is_not_root() -> None:
    bases = [rest.split("=", 1)[1] for rest in arguments_of("ARG") if "_BASE" in rest]
    bases += [
        value
        for key, value in COMPOSE["services"]["aside-cuda"]["build"]["args"].items()
        if "_BASE" in key
    ]
    assert len(bases) == 4
    assert all(":" in base and not base.endswith(":latest") for base in bases)
    assert arguments_of("USER") == ["aside"]
    names = [name for name, _ in instructions()]
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert all(
        "--no-install-recommends" in run and "rm -rf /var/lib/apt/lists/*" in run
        for run in arguments_of("RUN")
        if "apt-get" in run
    )


def test_the_health_check_reads_the_file_that_the_bot_touches() -> None:
    (health,) = arguments_of("HEALTHCHECK")
    (command,) = arguments_of("CMD")[-1:]
    path = re.search(r"/tmp/[\w-]+", health)
    assert path
    assert path[0] in command
    run = get_command(app).commands["run"]  # type: ignore[attr-defined] # it is a group
    assert any("--healthy" in option.opts for option in run.params)


@pytest.mark.parametrize("service", ["aside", "aside-cuda"])
def test_a_service_keeps_only_weights_and_database(service: str) -> None:
    settings = COMPOSE["services"][service]
    assert (
        {volume.split(":")[0] for volume in settings["volumes"]}
        == set(COMPOSE["volumes"])
        == {"data", "weights"}
    )
    assert settings["read_only"] is True
    assert settings["env_file"] == ".env"
    assert settings["cap_drop"] == ["ALL"]


def test_only_the_cuda_service_asks_for_a_gpu() -> None:
    cuda = COMPOSE["services"]["aside-cuda"]
    assert "-DGGML_CUDA=on" in cuda["build"]["args"]["CMAKE_ARGS"]
    (device,) = cuda["deploy"]["resources"]["reservations"]["devices"]
    assert (device["driver"], device["capabilities"]) == ("nvidia", ["gpu"])
    assert "deploy" not in COMPOSE["services"]["aside"]


def test_the_systemd_unit_does_not_restart_after_a_wrong_setting() -> None:
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
