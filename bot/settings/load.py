"""Load the settings from `aside.yaml`, `.env` and the environment."""

from __future__ import annotations

import logging
import os
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dotenv import dotenv_values
from pydantic import BaseModel, SecretStr

from bot.documents import (
    Fault,
    SourcePosition,
    Tree,
    apply_environment,
    combine_faults,
    parse,
    read_text,
    validate,
)
from bot.errors import SettingsError
from bot.settings.schema import RemoteEngineSettings, Settings
from bot.settings.value_types import API_KEY, TOKEN, clean_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

FILES = ("aside.yaml", "aside.yml")
PREFIX = "ASIDE_"
CONFIG = "ASIDE_CONFIG"
_log = logging.getLogger(__name__)
_SECRETS = {TOKEN: ("discord", "token"), API_KEY: ("engine", "api_key")}


def load_settings(
    path: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    folder: Path | None = None,
    *,
    warn: Callable[[str], None] = _log.warning,
) -> Settings:
    """Return the settings of the file at `path`, overridden by variables.

    Without a path, `ASIDE_CONFIG` names the file. If it is unset too, the file is `aside.yaml` in
    `folder` (default: the working folder), if it exists. `environ` overrides `.env` in that folder.
    `warn` receives a sentence about `ASIDE_*` variables that are not settings, such as those of a
    cluster. Reads files, so don't call this on the event loop. Raises SettingsError, which never
    quotes a secret.
    """
    home = folder or Path()
    try:
        variables = {**_read_env_file(home / ".env"), **environ}
        tree = _read_tree(_find_file(path, variables, home))
        faults = _remove_secrets(tree)
        faults += apply_environment(
            tree, Settings, variables, PREFIX, reserved=_SECRETS, ignored=(CONFIG,), warn=warn
        )
        checked = validate(tree, Settings)
        if isinstance(checked, list):
            faults += checked
        faults += _find_empty_values(tree, faults)
        faults += _find_folded_texts(tree, faults)
        if not faults and not isinstance(checked, list):
            return _with_secrets(checked, variables)
    except Fault as fault:
        faults = [fault]
    raise combine_faults(faults, SettingsError)


def _read_env_file(path: Path) -> dict[str, str]:
    if path.is_dir():
        raise Fault(
            SourcePosition(str(path)),
            "this is a folder, not a file. Docker creates one if the file to mount is missing. "
            "Delete it and create the file",
        )
    if not path.is_file():
        return {}
    values = dotenv_values(stream=StringIO(read_text(path)), interpolate=False)
    return {name: value or "" for name, value in values.items()}


def _find_file(path: Path | None, variables: Mapping[str, str], home: Path) -> Path | None:
    if path is not None:
        return path
    if (named := variables.get(CONFIG)) is None:
        return next((home / name for name in FILES if (home / name).exists()), None)
    if not named.strip():
        raise Fault(
            SourcePosition(CONFIG),
            "the variable is empty. Set it to the path of the settings file or unset it",
        )
    return Path(named.strip()).expanduser()


def _read_tree(path: Path | None) -> Tree:
    tree = parse(read_text(path), str(path)) if path else Tree.from_data(None, "the settings")
    if tree.data is None:
        tree.data = {}
    if isinstance(tree.data, dict):
        _drop_empty_groups(tree.data, Settings)
    return tree


def _drop_empty_groups(data: dict[str, Any], model: type[BaseModel]) -> None:
    """Remove groups of settings whose lines are all commented out."""
    for key in [key for key, value in data.items() if value is None]:
        if key in model.model_fields:
            del data[key]


def _find_empty_values(tree: Tree, known: Sequence[Fault]) -> list[Fault]:
    """Return a fault for each setting that has a key but no value in the file.

    For example, an empty `guilds:` would allow every server, and an empty `proxy:` no proxy.
    """
    reported = {fault.position for fault in known}
    return [
        Fault(
            position,
            f"`{path[-1]}` has no value. Write one, or delete the line to use the default",
        )
        for path, position in tree.positions.items()
        if len(path) > 1
        and isinstance(path[-1], str)
        and position.written == ""
        and tree.value(path) is None
        and path != ("engine", "sampling")
        and position not in reported
    ]


def _find_folded_texts(tree: Tree, known: Sequence[Fault]) -> list[Fault]:
    """Return a fault for each text that goes on in the next line, such as a list without dashes.

    YAML joins the lines with spaces, which no setting but `requirements` wants.
    """
    reported = {fault.position for fault in known}
    return [
        Fault(
            position,
            f"`{path[-1]}` is one text on several lines. Write it on one line, or start each entry"
            " of a list with `- `",
        )
        for path, position in tree.positions.items()
        if position.folded
        and path != ("engine", "requirements")
        and isinstance(tree.value(path), str)
        and position not in reported
    ]


def _remove_secrets(tree: Tree) -> list[Fault]:
    """Remove secrets from the tree. Return a fault for each that names the right variable."""
    faults = []
    for variable, (group, key) in _SECRETS.items():
        for place in ((group, key), (key,)):
            if position := tree.keys.get(place):
                tree.remove(place)
                faults.append(
                    Fault(
                        position,
                        f"this file must not contain a secret. Put it in the variable {variable}",
                    )
                )
    return faults


def _with_secrets(settings: Settings, variables: Mapping[str, str]) -> Settings:
    if token := _read_secret(TOKEN, variables):
        settings = settings.model_copy(
            update={"discord": _set_secret(settings.discord, "token", token)}
        )
    if isinstance(settings.engine, RemoteEngineSettings) and (
        key := _read_secret(API_KEY, variables)
    ):
        settings = settings.model_copy(
            update={"engine": _set_secret(settings.engine, "api_key", key)}
        )
    return settings


def _set_secret(group: BaseModel, key: str, secret: str) -> BaseModel:
    return group.model_copy(update={key: SecretStr(secret)})


def _read_secret(variable: str, variables: Mapping[str, str]) -> str:
    try:
        return clean_secret(variables.get(variable, ""))
    except ValueError as error:
        raise Fault(SourcePosition(variable), str(error)) from None
