"""The errors that Aside raises on purpose.

AsideError                      `str(error)` is a sentence for a person: the fact, then the fix
├── UserInputError              the person's input can't be used (exit status 2)
│   ├── DocumentError           a YAML file is invalid: file, line, fault and fix
│   │   ├── SettingsError       … aside.yaml or an ASIDE_* variable
│   │   ├── ScenarioError       … a scenario of the library
│   │   └── CharacterError      … the form, file or picture of a person's own character
│   └── NameNotFound            no scenario, character or model has this name; suggests the nearest
├── Refused                     the rules of the game forbid it; may carry a Remedy
├── EngineError                 text generation failed
│   ├── ModelFileError          the model file is missing, not GGUF, truncated or too large; also a
│   │                           UserInputError, because the person named the model
│   │   └── ModelNotDownloaded  … or published on the hub and not downloaded yet
│   ├── EngineStartError        the engine did not start
│   ├── EngineDied              the worker or the server went away during a reply; a retry is safe
│   ├── EngineBusy              the queue is full; retry later
│   └── PromptTooLong           the prompt does not fit the context
├── EmptyReply                  two attempts brought neither speech nor action; `bot/scenes` has a
│                               subclass that carries the thoughts
├── WeightsError                a model can't be downloaded or stored
│   └── NoSuchModel             … because the named model does not exist; also a UserInputError
├── StoreError                  the database can't be opened or used
│   ├── UnusableDatabase        … because of the file that the settings name; also a UserInputError
│   └── StoreUnavailable        … for the moment: it is locked, or its disk is full; retry later
└── PostingError                Discord rejected a post
    ├── DiscordNotResponding    … or did not answer: it may have carried out the request
    ├── MissingPermission       … because the bot lacks a permission in a channel
    ├── ContentRejected         … because a filter refused the words; a retry needs other words
    └── WebhookUnavailable      … because the channel can have no webhook of Aside's
        └── WebhookLimitReached … because it has as many webhooks as Discord allows
"""

from enum import Enum, auto


class AsideError(Exception):
    """Base class of the errors below.

    `str(error)` is a sentence for a person. The cause chain holds the details for the log.
    """


class UserInputError(AsideError):
    """The person's input can't be used."""


class DocumentError(UserInputError):
    """A YAML file is invalid.

    The text gives file, line, fault and fix. `faults` holds one such text per fault.
    """

    def __init__(self, text: str, faults: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.faults = faults or (text,)


class SettingsError(DocumentError):
    """`aside.yaml` or an `ASIDE_*` variable is invalid."""


class ScenarioError(DocumentError):
    """A scenario of the library is invalid."""


class CharacterError(DocumentError):
    """The form, the file or the picture of a person's own character is invalid."""


class NameNotFound(UserInputError):
    """No scenario, character or model has this name. The text suggests the nearest names."""


class Remedy(Enum):
    """An action that lifts a refusal, or that helps with a notice.

    The domain knows actions, not commands. Each interface words them for its own users:
    `cogs.remedy_texts` with slash commands and buttons, `bot.terminal.typed_remedies` with typed
    commands.
    """

    START_SCENE = auto()
    END_SCENE = auto()
    UNPAUSE_SCENE = auto()
    ENTER_STAGE = auto()
    WAKE_CHARACTER = auto()
    LIST_CAST = auto()
    JOIN_CAST = auto()
    ASK_PLAYER_TO_LEAVE = auto()
    TAKE_OUT_OWN_CHARACTER = auto()
    LIST_OWN_CHARACTERS = auto()
    DELETE_OWN_CHARACTER = auto()
    GIVE_PART_TO_MODEL = auto()
    UNMUTE = auto()
    HAND_OVER = auto()
    REMOVE_GM = auto()
    ADD_GM = auto()
    LIST_NOTES = auto()
    READ_HISTORY = auto()
    SET_INSIGHT = auto()
    MAKE_TAKE = auto()
    TRY_AGAIN = auto()
    HIDE_REPLY = auto()
    USE_CURRENT_BUTTONS = auto()
    RUN_BOT = auto()


class Refused(AsideError):
    """The rules of the game forbid it. The text is for the person who asked, in private.

    `reason` is the fact in plain sentences that name no command. `remedy` is the action that
    lifts the refusal, if there is one.
    """

    def __init__(self, reason: str, remedy: Remedy | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


class EngineError(AsideError):
    """Text generation failed.

    Players may read the text. `detail` is the sentence for whoever runs Aside, and may contain
    addresses and names of settings. It is empty if the text says everything.
    """

    def __init__(self, text: str, detail: str = "") -> None:
        super().__init__(text)
        self.detail = detail


class ModelFileError(EngineError, UserInputError):
    """The model file is missing, not GGUF, truncated, or too large for the memory."""


class ModelNotDownloaded(ModelFileError):
    """The model is published on the hub and not downloaded yet."""


class EngineStartError(EngineError):
    """The engine did not start."""


class EngineDied(EngineError):
    """The worker or the server went away during a reply. A retry is safe."""


class EngineBusy(EngineError):
    """The engine's queue is full. Retry later."""


class PromptTooLong(EngineError):
    """The prompt leaves no room for a reply in the model's context."""


class EmptyReply(AsideError):
    """Two attempts brought no public beat."""


class WeightsError(AsideError):
    """A model can't be downloaded, verified or stored."""


class NoSuchModel(WeightsError, UserInputError):
    """The hub or a folder has no model of the name that the person gave."""


class StoreError(AsideError):
    """The database can't be opened or used."""


class UnusableDatabase(StoreError, UserInputError):
    """The file that the settings name is a folder, damaged, newer, or not a database of Aside."""


class StoreUnavailable(StoreError):
    """The database can't be used for the moment: it is locked, or its disk is full. Retry later."""


class PostingError(AsideError):
    """Discord rejected a post."""


class DiscordNotResponding(PostingError):
    """Discord did not answer. It may have carried out the request. Retry later."""


class MissingPermission(PostingError):
    """The bot lacks a permission in a channel. The text names both."""


class ContentRejected(PostingError):
    """A filter of the server's or of Discord's refused the words. It will refuse them again."""


class WebhookUnavailable(PostingError):
    """The channel can have no webhook of Aside's for now. The text gives the reason."""


class WebhookLimitReached(WebhookUnavailable):
    """The channel has as many webhooks as Discord allows."""
