"""`aside version`."""

from __future__ import annotations

import typer


def version() -> None:
    """Tell which Aside this is."""
    from importlib.metadata import version as installed

    typer.echo(f"aside {installed('aside')}")
