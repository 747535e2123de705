"""What can be set, with defaults such that nothing needs to be."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PositiveInt, model_validator

from bot.settings.value_types import (
    API_KEY,
    TOKEN,
    Addresses,
    Folders,
    Guilds,
    Level,
    Secret,
    Switch,
    Texts,
    UserPath,
    WebAddress,
)


class Group(BaseModel):
    """Base of all settings: immutable, unknown keys refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=True
    )


class DiscordSettings(Group):
    """How Aside goes to Discord, and where it may play."""

    token: Secret = Field(default=None, description=f"from {TOKEN} only")
    proxy: WebAddress | None = Field(
        default=None, repr=False, description="proxy for everything that goes to Discord"
    )
    mention_roles: bool = Field(
        default=True, description="make a role for each character, so that `@` completes names"
    )
    guilds: Guilds | None = Field(
        default=None,
        description="ids of the servers to play on; left out: every server that invites the bot",
    )


class EngineSettings(Group):
    """Base of the kinds of engines."""

    def options(self) -> dict[str, Any]:
        """Return plain data with fields of that kind's own options (`LocalOptions`, `RemoteOptions`): those that hold
        something, so that the engine's own default stands where nothing does."""
        return self.model_dump(exclude={"kind"}, exclude_none=True)


class SamplingSettings(Group):
    """How tokens are drawn. What is left out stays as the model's makers recommend it."""

    temperature: float | None = Field(default=None, ge=0, le=5)
    top_p: float | None = Field(default=None, gt=0, le=1)
    top_k: int | None = Field(default=None, ge=0)
    min_p: float | None = Field(default=None, ge=0, lt=1)
    repeat_penalty: float | None = Field(default=None, gt=0, le=3)
    dry: float | None = Field(
        default=None, ge=0, le=5, description="holds back phrases that repeat; 0.8 is usual"
    )


class LocalEngineSettings(EngineSettings):
    """A model on this machine, through llama.cpp."""

    kind: Literal["local"] = "local"
    model: str = Field(
        default="demo", min_length=1, description="a name, a GGUF file, or hf:OWNER/REPO/FILE.gguf"
    )
    weights: UserPath | None = Field(
        default=None, description="the folder weights are kept in; left out: Aside's own"
    )
    dialect: Literal["her", "stand-in"] | None = Field(
        default=None, description="how the model is spoken to"
    )
    sampling: SamplingSettings | None = None
    context: Annotated[int, Field(ge=512)] | None = Field(
        default=None,
        description="tokens of one mind, prompt and reply together; left out: what memory allows",
    )
    minds: Annotated[int, Field(ge=1, le=256)] | None = Field(
        default=None, description="replies generated at once; left out: what memory allows"
    )
    gpu_layers: Annotated[int, Field(ge=0)] | Literal["auto", "all"] = Field(
        default="auto", description="layers on the GPU"
    )
    rpc: Texts = Field(
        default=(),
        description="host:port of other machines whose devices are used, on a trusted network",
    )
    cache_type: Literal["f16", "q8_0", "q4_0"] | None = Field(
        default=None, description="how keys and values are kept; left out: what memory allows"
    )
    host_memory: int = Field(
        default=2 * 2**30, ge=0, description="bytes of main memory for minds that rest"
    )
    flash_attention: Switch = "auto"
    threads: PositiveInt | None = Field(default=None, description="left out: one for each core")
    queue: PositiveInt = Field(default=64, description="replies that may wait for their turn")
    hung_after: float = Field(
        default=20.0, gt=0, description="seconds without a sign of life until a restart"
    )
    step_limit: float = Field(
        default=300.0, gt=0, description="seconds that one step of the model may take"
    )
    ready_within: float = Field(
        default=60.0, gt=0, description="seconds a reply waits for a restart"
    )
    check_memory: bool = Field(default=True, description="refuse to load what can't fit")


class RemoteEngineSettings(EngineSettings):
    """A model behind an OpenAI-compatible completions server."""

    kind: Literal["remote"] = "remote"
    base_url: Addresses = Field(
        min_length=1, description="the server's address up to and with /v1, or a list of them"
    )
    model: str | None = Field(
        default=None, min_length=1, description="left out: the only one that server has"
    )
    api_key: Secret = Field(default=None, description=f"from {API_KEY} only")
    dialect: Literal["her", "stand-in"] = Field(
        default="her", description="how the model is spoken to"
    )
    sampling: SamplingSettings | None = None
    context: Annotated[int, Field(ge=512)] | None = Field(
        default=None,
        description="tokens of one mind, prompt and reply together; left out: what the server says",
    )
    connect_timeout: float = Field(default=10.0, gt=0, description="seconds")
    silence_timeout: float = Field(
        default=300.0, gt=0, description="seconds without a token, the first one included"
    )
    check_every: float = Field(
        default=15.0, gt=0, description="seconds between two looks at a server that failed"
    )
    retry_pause: float = Field(
        default=0.5, gt=0, description="seconds before the second try, then twice that"
    )
    grammar: bool = Field(
        default=False, description="send grammars along, as llama-server takes them"
    )


class PlaySettings(Group):
    """How replies are made."""

    max_tokens: int = Field(
        default=2048, ge=32, le=32768, description="the longest reply, planning included"
    )
    planning_tokens: int = Field(
        default=1024, ge=0, le=32768, description="planning is closed by force after these"
    )
    guided: bool = Field(default=True, description="hold replies to a grammar where the engine can")
    empty_think: bool = Field(
        default=False, description="put Qwen3's empty <think> block before each reply"
    )
    streaming: bool = Field(default=True, description="show a reply while it is being written")

    @model_validator(mode="after")
    def _require_room_for_speech(self) -> PlaySettings:
        if self.planning_tokens >= self.max_tokens:
            raise ValueError(
                "`planning_tokens` must be smaller than `max_tokens`, or no room is left for words"
            )
        return self

    def limits(self) -> dict[str, Any]:
        """Return plain data with the fields of a performance's `Limits`."""
        return self.model_dump(exclude={"streaming"})


class LibrarySettings(Group):
    """Where scenarios are looked for, besides those that ship."""

    folders: Folders = Field(default=(), description="folders with scenarios of your own")


class StoreSettings(Group):
    """Where scenes are remembered."""

    path: UserPath = Field(default=Path("aside.db"), description="the database's file")


class LoggingSettings(Group):
    """What is logged, where."""

    level: Level = "INFO"
    file: UserPath | None = Field(default=None, description="a file that gets the log too")


def _add_kind(engine: object) -> object:
    if not isinstance(engine, dict) or "kind" in engine:
        return engine
    return {"kind": "remote" if "base_url" in engine else "local", **engine}


class Settings(Group):
    """Everything that can be set. `Settings()` is what holds where nobody set anything."""

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
        """Whether somebody chose the model, rather than taking the default."""
        return "model" in self.engine.model_fields_set
