"""The names of the transcript formats. The command line imports only this at its start."""

from __future__ import annotations

from enum import StrEnum


class FormatName(StrEnum):
    """The name of a format, as typed by people. It is also the suffix of the file."""

    HTML = "html"
    MARKDOWN = "md"
    JSON = "json"
