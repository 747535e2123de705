"""Make the help of all commands plain: unboxed, with the words that people type as placeholders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typer.core import TyperArgument, TyperGroup, TyperOption

if TYPE_CHECKING:
    from collections.abc import Iterable

_PLACEHOLDERS = {str: "TEXT", int: "N", float: "N"}


def simplify_help(group: TyperGroup) -> None:
    """Change the parameters of a group and of all its commands so that their help is plain."""
    _simplify_parameters(group.params)
    for command in group.commands.values():
        if isinstance(command, TyperGroup):
            simplify_help(command)
        else:
            _simplify_parameters(command.params)


def _simplify_parameters(parameters: Iterable[object]) -> None:
    for parameter in parameters:
        if isinstance(parameter, TyperArgument):
            parameter.metavar = parameter.metavar or (parameter.name or "").upper()
            # typer has no setting for this. Without it, it prints `<str>` behind the name.
            vars(parameter)["display_type_rich"] = _hide_type
        elif isinstance(parameter, TyperOption) and parameter.metavar is None:
            parameter.metavar = _find_placeholder(parameter.type_descriptor.annotation)


def _hide_type(ctx: Any) -> None:
    """Print no type."""


def _find_placeholder(annotation: Any) -> str | None:
    for item in (annotation, *getattr(annotation, "__args__", ())):
        if item in _PLACEHOLDERS:
            return _PLACEHOLDERS[item]
    return None
