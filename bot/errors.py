"""Every error of Aside's own.

AsideError                  its text is one sentence for a person: what happened and what to do
├── UserInputError          what the person wrote or chose can't be used (exit status 2)
│   ├── DocumentError       a YAML file is wrong: file, line, what is wrong, what to write
│   │   ├── SettingsError   … aside.yaml or an ASIDE_* variable
│   │   └── ScenarioError   … a scenario of the library
│   └── UnknownName         no scenario, character or model is called that; names the nearest
├── Refused                 the rules of the game forbid it (not the GM, nobody's stage, scene paused, part taken)
├── EngineError             no text could be generated
│   ├── ModelFileError      the model's file is missing, no GGUF, cut off, or too large
│   ├── EngineStartError    the engine didn't come up
│   ├── EngineDied          the worker or the server went away in the middle; asking again is safe
│   ├── EngineBusy          the queue is full; ask again later
│   └── PromptTooLong       the prompt does not fit the context
├── WeightsError            a model couldn't be fetched or stored
├── StoreError              the database can't be opened or used
│   └── Unstorable          … just now: it is locked, or its disk full; asking again later is worth it
├── NoWords                 the model was asked twice and neither spoke nor acted
└── PostingError            Discord refused what Aside wanted to post
    ├── Unreachable         … or rather did not answer, so that nobody knows whether it did what it was asked
    ├── MissingPermission   … since the bot lacks a permission, named, in a channel, named
    └── NoRoom              … since the channel has all the webhooks it may have
"""


class AsideError(Exception):
    """Base of all errors below. `str(error)` is one sentence for a person; the cause chain has the rest for the log."""


class UserInputError(AsideError):
    """What the person wrote or chose can't be used."""


class DocumentError(UserInputError):
    """A YAML file is wrong. The text names file, line, fault and remedy; `faults` has one such text for each fault."""

    def __init__(self, text: str, faults: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.faults = faults or (text,)


class SettingsError(DocumentError):
    """`aside.yaml` or an `ASIDE_*` variable is wrong."""


class ScenarioError(DocumentError):
    """A scenario of the library is wrong."""


class NameNotFound(UserInputError):
    """Nothing is called that. The text names the nearest names there are."""


class Refused(AsideError):
    """The rules of the game forbid it. The text is for the person who asked, privately."""


class EngineError(AsideError):
    """No text could be generated."""


class ModelFileError(EngineError):
    """The model's file is missing, is no GGUF, is cut off, or does not fit into memory."""


class EngineStartError(EngineError):
    """The engine didn't come up."""


class EngineDied(EngineError):
    """The worker or the server went away in the middle of a reply. Asking again is safe."""


class EngineBusy(EngineError):
    """Too many requests wait already. Ask again later."""


class PromptTooLong(EngineError):
    """The prompt leaves no room for a reply in the model's context."""


class EmptyReply(AsideError):
    """The model was asked twice and brought no public beat."""


class WeightsError(AsideError):
    """A model couldn't be fetched, checked or stored."""


class StoreError(AsideError):
    """The database can't be opened or used."""


class StoreUnavailable(StoreError):
    """The database can't be used just now: it is locked, its disk is full or fails. Asking again is worth it."""


class PostingError(AsideError):
    """Discord refused what Aside wanted to post."""


class DiscordNotResponding(PostingError):
    """Discord did not answer. It may have done what it was asked; asking again later is worth it."""


class MissingPermission(PostingError):
    """The bot lacks a permission in a channel; the text names both."""


class WebhookLimitReached(PostingError):
    """The channel has all the webhooks it may have."""
