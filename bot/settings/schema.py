"""The settings and their defaults."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PositiveInt, model_validator

from bot.documents import NestedFault
from bot.settings.value_types import (
    API_KEY,
    TOKEN,
    Addresses,
    Folders,
    Guilds,
    Level,
    ModelName,
    RpcAddresses,
    Secret,
    Switch,
    UserPath,
    WebAddress,
    accepts_numbers_only,
)


class Group(BaseModel):
    """Base of all groups of settings. Immutable; unknown keys are rejected."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=True
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_switches_as_numbers(cls, values: object) -> object:
        """Refuse `yes` for a number. pydantic would take it for 1."""
        for name, value in values.items() if isinstance(values, dict) else ():
            field = cls.model_fields.get(name)
            if isinstance(value, bool) and field and accepts_numbers_only(field.annotation):
                raise NestedFault((name,), f"`{name}` must be a number, not true or false")
        return values


class DiscordSettings(Group):
    """The connection to Discord and the servers to play on."""

    token: Secret = Field(default=None, description=f"from {TOKEN} only")
    proxy: WebAddress | None = Field(
        default=None, repr=False, description="proxy for all traffic to Discord"
    )
    mention_roles: bool = Field(
        default=True, description="create a role for each character, so that `@` completes names"
    )
    guilds: Guilds | None = Field(
        default=None,
        description="ids of the servers to play on (default: every server that invites the bot)",
    )


class EngineSettings(Group):
    """Base of the engine settings."""

    requirements: str | None = Field(
        default=None,
        min_length=1,
        max_length=20_000,
        description="the Requirements section of HER's prompt, with {character} for the name",
    )

    def options(self) -> dict[str, Any]:
        """Return the fields of `LocalOptions` or `RemoteOptions` that are set.

        The engine's own default applies to each field that is left out.
        """
        return self.model_dump(exclude={"kind"}, exclude_none=True)


class SamplingSettings(Group):
    """How tokens are sampled. The model's recommended value applies if a field is left out."""

    temperature: float | None = Field(default=None, ge=0, le=5)
    top_p: float | None = Field(default=None, gt=0, le=1)
    top_k: int | None = Field(default=None, ge=0)
    min_p: float | None = Field(default=None, ge=0, lt=1)
    repeat_penalty: float | None = Field(default=None, gt=0, le=3)
    dry: float | None = Field(
        default=None, ge=0, le=5, description="penalty for repeated phrases; 0.8 is usual"
    )


class LocalEngineSettings(EngineSettings):
    """A model on this machine, run by llama.cpp."""

    kind: Literal["local"] = "local"
    model: ModelName = Field(
        default="demo", min_length=1, description="a name, a GGUF file, or hf:OWNER/REPO/FILE.gguf"
    )
    weights: UserPath | None = Field(
        default=None, description="the folder for weights (default: Aside's own folder)"
    )
    dialect: Literal["her", "plain", "stand-in"] | None = Field(
        default=None, description="the prompt format of the model"
    )
    sampling: SamplingSettings | None = None
    context: Annotated[int, Field(ge=512)] | None = Field(
        default=None,
        description="tokens of one mind, prompt and reply together (default: as memory allows)",
    )
    minds: Annotated[int, Field(ge=1, le=256)] | None = Field(
        default=None, description="replies generated at once (default: as memory allows)"
    )
    gpu_layers: Annotated[int, Field(ge=0)] | Literal["auto", "all"] = Field(
        default="auto", description="layers on the GPU"
    )
    rpc: RpcAddresses = Field(
        default=(),
        description="host:port of other machines that lend their devices, on a trusted network",
    )
    cache_type: Literal["f16", "q8_0", "q4_0"] | None = Field(
        default=None, description="the type of cached keys and values (default: as memory allows)"
    )
    host_memory: int = Field(
        default=2 * 2**30, ge=0, description="bytes of main memory for idle minds"
    )
    flash_attention: Switch = "auto"
    threads: PositiveInt | None = Field(
        default=None, description="threads of the CPU (default: one for each core)"
    )
    queue: PositiveInt = Field(default=64, description="replies that may wait in the queue")
    hung_after: float = Field(
        default=20.0, gt=0, description="seconds without a heartbeat before a restart"
    )
    step_limit: float = Field(
        default=300.0, gt=0, description="seconds that one step of the model may take"
    )
    ready_within: float = Field(
        default=60.0, gt=0, description="seconds that a reply waits for a restart"
    )
    check_memory: bool = Field(default=True, description="refuse to load a model that can't fit")


class RemoteEngineSettings(EngineSettings):
    """A model behind an OpenAI-compatible completions server."""

    kind: Literal["remote"] = "remote"
    base_url: Addresses = Field(
        min_length=1, description="the server's address including /v1, or a list of addresses"
    )
    model: str | None = Field(
        default=None,
        min_length=1,
        description="the model's name (default: the server's only model)",
    )
    api_key: Secret = Field(default=None, description=f"from {API_KEY} only")
    dialect: Literal["her", "plain", "stand-in"] = Field(
        default="her", description="the prompt format of the model"
    )
    sampling: SamplingSettings | None = None
    context: Annotated[int, Field(ge=512)] | None = Field(
        default=None,
        description="tokens of one mind, prompt and reply together (default: the server's)",
    )
    connect_timeout: float = Field(default=10.0, gt=0, description="seconds for a connection")
    silence_timeout: float = Field(
        default=300.0, gt=0, description="seconds without a token, the first one included"
    )
    check_every: float = Field(
        default=15.0, gt=0, description="seconds between two checks of a failed server"
    )
    retry_pause: float = Field(
        default=0.5, gt=0, description="seconds before the first retry, then doubled"
    )
    grammar: bool = Field(
        default=False,
        description="hold replies to HER's form with a grammar, if the server obeys one",
    )


class PlaySettings(Group):
    """How replies are generated."""

    max_tokens: int = Field(
        default=2048, ge=32, le=32768, description="the longest reply, planning included"
    )
    planning_tokens: int = Field(
        default=1024, ge=0, le=32768, description="tokens after which planning is cut off"
    )
    guided: bool = Field(
        default=True, description="constrain replies with a grammar if the engine can"
    )
    empty_think: bool = Field(
        default=False, description="put Qwen3's empty <think> block before each reply"
    )
    streaming: bool = Field(default=True, description="show a reply while it is being generated")

    @model_validator(mode="after")
    def _require_room_for_speech(self) -> PlaySettings:
        if self.planning_tokens >= self.max_tokens:
            raise ValueError(
                "`planning_tokens` must be smaller than `max_tokens`, or no room is left for speech"
            )
        return self

    def limits(self) -> dict[str, Any]:
        """Return the fields of `ReplyLimits`."""
        return self.model_dump(exclude={"streaming"})


class LibrarySettings(Group):
    """Folders with scenarios, besides those that ship with Aside."""

    folders: Folders = Field(default=(), description="folders with scenarios of your own")


class BackupSettings(Group):
    """Backups that the bot makes while it runs."""

    folder: UserPath | None = Field(
        default=None, description="a folder for backups; null: make none"
    )
    every_hours: float = Field(default=24, ge=0.1, le=8760, description="hours between backups")
    keep: int = Field(default=7, ge=1, le=1000, description="number of backups to keep")


class StoreSettings(Group):
    """Where scenes are stored."""

    path: UserPath = Field(default=Path("aside.db"), description="the database file")
    backups: BackupSettings = BackupSettings()


class LoggingSettings(Group):
    """The level and the file of the log."""

    level: Level = "INFO"
    file: UserPath | None = Field(default=None, description="a file that also receives the log")


def _add_kind(engine: object) -> object:
    if not isinstance(engine, dict) or "kind" in engine:
        return engine
    return {"kind": "remote" if "base_url" in engine else "local", **engine}


class Settings(Group):
    """All settings. `Settings()` has every default."""

    discord: DiscordSettings = DiscordSettings()
    engine: Annotated[
        LocalEngineSettings | RemoteEngineSettings,
        Field(discriminator="kind"),
        BeforeValidator(_add_kind),
    ] = LocalEngineSettings()
    play: PlaySettings = PlaySettings()
    library: LibrarySettings = LibrarySettings()
    store: StoreSettings = StoreSettings()
    logging: LoggingSettings = LoggingSettings()

    @property
    def model_chosen(self) -> bool:
        """Return whether a person chose the model."""
        return "model" in self.engine.model_fields_set
