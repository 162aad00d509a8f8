"""Settings: read once, checked, frozen.

A flag of `sidecheck serve` comes before an environment variable, that before the
file, and that before the default. Unknown names in the file are refused.
"""

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from sidecheck_server.core.budget import LONGEST_SEARCH
from sidecheck_server.core.limits import Limits

__all__ = ["Settings", "ToolsFile", "UnusableSettingsError", "read_settings"]

_SWITCHES = frozenset({"allow_backtracking"})
_FILE_VARIABLE = "SIDECHECK_CONFIG"


class UnusableSettingsError(Exception):
    """A setting is wrong; the message names it and says what would be right."""


@dataclass(frozen=True, slots=True)
class ToolsFile:
    """A file of tool definitions that are registered when the server starts."""

    file: Path
    #: The namespace of the tools; that of the file's name without its ending if "".
    server: Annotated[str, Field(max_length=256)] = ""


class Settings(BaseSettings):
    """The settings of the server."""

    model_config = SettingsConfigDict(
        env_prefix="SIDECHECK_", env_nested_delimiter="__", frozen=True, extra="forbid"
    )

    listen: Annotated[
        str,
        Field(description='Where to listen: "host:port", port 0 for any free one, "" for nowhere.'),
    ] = "127.0.0.1:50151"
    unix_socket: Annotated[
        Path | None, Field(description="The path of a unix socket to listen on too.")
    ] = None
    unix_socket_mode: Annotated[
        str, Field(pattern=r"^0?[0-7]{3}$", description="The mode of that socket, octal.")
    ] = "660"
    registry: Annotated[
        Path | None, Field(description="The file that keeps the tools; in memory if unset.")
    ] = None
    tools: Annotated[
        tuple[ToolsFile, ...], Field(description="Files of tools to register at the start.")
    ] = ()
    workers: Annotated[
        int,
        Field(ge=1, le=64, description="Processes that compile schemas and judge what takes long."),
    ] = 2
    registered_schemas: Annotated[
        int,
        Field(
            ge=1,
            description="How many schemas of registered tools stay compiled; "
            "one counts once for every 16 KB of its text.",
        ),
    ] = 100_000
    inline_schemas: Annotated[
        int,
        Field(
            ge=1,
            description="How many schemas that were sent along stay compiled, counted likewise.",
        ),
    ] = 10_000
    report_only: Annotated[
        tuple[str, ...],
        Field(description="The servers whose tools are judged but not enforced: verdicts say so."),
    ] = ()
    drain_seconds: Annotated[
        float,
        Field(
            ge=0,
            allow_inf_nan=False,
            description="How long to serve on, not serving by health, when stopped.",
        ),
    ] = 0.0
    grace_seconds: Annotated[
        float,
        Field(
            gt=0,
            allow_inf_nan=False,
            description="How long calls under way may take when stopped.",
        ),
    ] = 10.0
    reflection: Annotated[bool, Field(description="Whether to serve gRPC reflection.")] = True
    inference: Annotated[
        bool, Field(description="Whether to infer tools from source text, which is never run.")
    ] = True
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Field(description="What to log.")
    ] = "info"
    log_format: Annotated[
        Literal["auto", "json", "console"],
        Field(description="How to log; auto is console on a terminal and JSON elsewhere."),
    ] = "auto"
    limits: Annotated[Limits, Field(description="The bounds of what is judged.")] = Limits()

    @field_validator("limits")
    @classmethod
    def _limits_are_positive(cls, limits: Limits) -> Limits:
        for field in fields(limits):
            if field.name not in _SWITCHES and getattr(limits, field.name) < 1:
                raise ValueError(f"{field.name} must be at least 1")
        if limits.payload_bytes >= limits.message_bytes:
            raise ValueError("payload_bytes must lie below message_bytes")
        if not limits.inline_steps < LONGEST_SEARCH:
            raise ValueError(f"inline_steps must lie below {LONGEST_SEARCH}")
        return limits

    @model_validator(mode="after")
    def _listens_somewhere(self) -> Self:
        if not self.listen and self.unix_socket is None:
            raise ValueError("listen and unix_socket leave no address to listen on")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Say where settings come from, in the order of precedence."""
        file = cls.model_config.get("toml_file")
        from_file = (TomlConfigSettingsSource(settings_cls, file),) if file else ()
        return (init_settings, env_settings, *from_file)


def read_settings(config: Path | None = None, **flags: Any) -> Settings:
    """Return the settings, where a flag that is None was not given.

    Raises:
        UnusableSettingsError: a value is wrong, or the file cannot be read.
    """
    file = config or (Path(name) if (name := os.environ.get(_FILE_VARIABLE)) else None)

    class FromFile(Settings):
        model_config = SettingsConfigDict(toml_file=file)

    given = {name: value for name, value in flags.items() if value is not None}
    # The variable that names the file is not itself a setting.
    try:
        if file is not None and not file.is_file():
            raise UnusableSettingsError(f"the settings file {file} is not there")
        return FromFile(**given)
    except ValidationError as error:
        faults = "; ".join(map(_told, error.errors()))
        raise UnusableSettingsError(f"the settings are not usable: {faults}") from None
    except (OSError, ValueError) as error:
        raise UnusableSettingsError(f"the settings cannot be read: {error}") from None


def _told(fault: ErrorDetails) -> str:
    place = ".".join(map(str, fault["loc"]))
    return f"{place}: {fault['msg']}" if place else fault["msg"]
