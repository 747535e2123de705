"""The sentences that players read about errors.

They name no address, port, path or setting. Those are for whoever runs Aside, in the log and in
`aside doctor`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot.errors import (
    CharacterError,
    DocumentError,
    EngineBusy,
    EngineDied,
    EngineError,
    PromptTooLong,
    StoreError,
    StoreUnavailable,
    WeightsError,
)

if TYPE_CHECKING:
    from bot.errors import AsideError

_SENTENCES: Final = (
    (EngineBusy, "The model has too many replies to write. Try again later."),
    (
        PromptTooLong,
        "The model's context has no room for a reply. Whoever runs Aside has been told.",
    ),
    (EngineDied, "The connection to the model was lost. Try again."),
    (EngineError, "The model's server does not answer. Whoever runs Aside has been told."),
    (WeightsError, "The model can't be used. Whoever runs Aside has been told."),
    (StoreUnavailable, "Aside can't save at the moment. Try again later."),
    (StoreError, "Aside can't save. Whoever runs Aside has been told."),
    (DocumentError, "That scenario's file has a mistake. Whoever runs Aside has been told."),
)
"""Subclasses come before their base classes."""


def describe_to_players(error: AsideError) -> str:
    """Return a sentence about an error that players may read.

    A fault in a person's own character is theirs to fix.
    """
    if isinstance(error, CharacterError):
        return str(error)
    return next((sentence for kind, sentence in _SENTENCES if isinstance(error, kind)), str(error))
