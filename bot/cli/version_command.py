"""`aside version`: print the version."""

from __future__ import annotations

import typer


def version() -> None:
    """Print the version of Aside."""
    from importlib.metadata import version as installed

    typer.echo(f"aside {installed('aside')}")
