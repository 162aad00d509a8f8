"""Settings of the server: read once, validated, immutable.

Flags of `sidecheck serve` override environment variables, which override the settings
file, which overrides the defaults. Unknown names in the file are errors.
"""

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from sidecheck_server.core.limits import Limits
from sidecheck_server.input_files import UnusableFileError, check_file
from sidecheck_server.limit_ranges import check_limits
from sidecheck_server.listen_addresses import check_address
from sidecheck_server.policies import GatewayPolicies, Pinning
from sidecheck_server.registry.quotas import RegistryQuotas
from sidecheck_server.transport_limits import TransportLimits

__all__ = ["Settings", "ToolsFile", "UnusableSettingsError", "read_settings"]

_MOST_SECONDS = 86_400
"""A day. Timers overflow when they are set to much more than a century."""

_LONGEST_SOCKET_PATH = 107
"""Bytes of a unix socket's path: `sun_path` has 108, and a null byte ends it (unix(7))."""

_LARGEST_FILE = 1 << 20
"""Bytes of the settings file."""
_FILE_VARIABLE = "SIDECHECK_CONFIG"


class UnusableSettingsError(Exception):
    """A setting is invalid; the message names it and the expected value."""


@dataclass(frozen=True, slots=True)
class ToolsFile:
    """A file of tool definitions to register at startup."""

    file: Path
    #: The namespace of the tools; "" stands for the file's name without its suffix.
    server: Annotated[str, Field(max_length=256)] = ""


class Settings(BaseSettings):
    """Settings of the server."""

    model_config = SettingsConfigDict(
        env_prefix="SIDECHECK_", env_nested_delimiter="__", frozen=True, extra="forbid"
    )

    listen: Annotated[
        str,
        Field(
            description='TCP address to listen on: "host:port", with port 0 for any free port; '
            '"" for none.'
        ),
    ] = "127.0.0.1:50151"
    unix_socket: Annotated[
        Path | None, Field(description="Path of a unix socket to listen on as well.")
    ] = None
    unix_socket_mode: Annotated[
        str, Field(pattern=r"^0?[0-7]{3}$", description="File mode of that socket, octal.")
    ] = "660"
    admin_listen: Annotated[
        str,
        Field(
            description="TCP address of probes, metrics and the methods of the API over HTTP: "
            '"host:port", with port 0 for any free port; "" for none.'
        ),
    ] = ""
    admin_open: Annotated[
        bool,
        Field(
            description="Whether the admin address serves the methods of the API beyond loopback, "
            "to whoever reaches it."
        ),
    ] = False
    registry: Annotated[
        Path | None, Field(description="File of the tool registry; in memory if unset.")
    ] = None
    tools: Annotated[
        tuple[ToolsFile, ...],
        NoDecode,
        Field(description="Files of tool definitions to register at startup."),
    ] = ()
    protocol_version: Annotated[
        Literal["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"],
        Field(description="MCP protocol version of requests and registrations that name none."),
    ] = "2025-11-25"
    workers: Annotated[
        int,
        Field(
            ge=1,
            le=64,
            description="Number of worker processes, which compile schemas and validate what "
            "takes too many steps for the event loop.",
        ),
    ] = 2
    memory_bytes: Annotated[
        int,
        Field(
            ge=1 << 20,
            description="Memory that all caches together may take, in bytes: half of it for "
            "compiled schemas of registered tools, a quarter for those of requests.",
        ),
    ] = 256 << 20
    report_only: Annotated[
        tuple[str, ...],
        NoDecode,
        Field(description="Servers whose tools are validated without enforcing the verdicts."),
    ] = ()
    drain_seconds: Annotated[
        float,
        Field(
            ge=0,
            le=_MOST_SECONDS,
            allow_inf_nan=False,
            description="Seconds to keep serving after a stop, while health reports not serving.",
        ),
    ] = 0.0
    grace_seconds: Annotated[
        float,
        Field(
            gt=0,
            le=_MOST_SECONDS,
            allow_inf_nan=False,
            description="Seconds that active calls may take to finish after a stop.",
        ),
    ] = 10.0
    reflection: Annotated[bool, Field(description="Whether to serve gRPC reflection.")] = True
    inference: Annotated[
        bool,
        Field(
            description="Whether to infer tools from source text, which is parsed and never run."
        ),
    ] = True
    gateways: Annotated[
        tuple[Literal["ext_proc", "ext_mcp"], ...],
        NoDecode,
        Field(
            description="Protocols of gateways to serve: ext_proc of Envoy, which needs the extra "
            "`envoy` of the package, and ext_mcp of agentgateway."
        ),
    ] = ()
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Field(description="Lowest level to log.")
    ] = "info"
    log_format: Annotated[
        Literal["auto", "json", "console"],
        Field(description="Format of the log; auto is console on a terminal and JSON elsewhere."),
    ] = "auto"
    transport: Annotated[
        TransportLimits, Field(description="Limits of connections, calls and bytes at once.")
    ] = TransportLimits()
    gateway_policies: Annotated[
        GatewayPolicies,
        Field(description="What gateways do about what is invalid."),
    ] = GatewayPolicies()
    registry_quotas: Annotated[
        RegistryQuotas, Field(description="Quotas of the tools that are registered.")
    ] = RegistryQuotas()
    limits: Annotated[Limits, Field(description="Limits of requests, payloads and schemas.")] = (
        Limits()
    )

    @field_validator("report_only", "tools", "gateways", mode="before")
    @classmethod
    def _read_list(cls, value: Any, info: ValidationInfo) -> Any:
        """Return the list that a text holds: JSON, or items with commas between them."""
        if not isinstance(value, str):
            return value
        if value.lstrip().startswith("["):
            try:
                return json.loads(value)
            except ValueError:
                raise ValueError(
                    "expected a JSON array, or items with commas between them"
                ) from None
        items = [item.strip() for item in value.split(",") if item.strip()]
        return [{"file": item} for item in items] if info.field_name == "tools" else items

    @field_validator("limits")
    @classmethod
    def _limits_are_in_range(cls, limits: Limits) -> Limits:
        check_limits(limits)
        return limits

    @field_validator("listen", "admin_listen")
    @classmethod
    def _listen_is_an_address(cls, listen: str) -> str:
        check_address(listen)
        return listen

    @field_validator("unix_socket")
    @classmethod
    def _socket_path_is_short(cls, path: Path | None) -> Path | None:
        if path is not None and len(os.fsencode(path.absolute())) > _LONGEST_SOCKET_PATH:
            raise ValueError(
                f"the path of a unix socket has at most {_LONGEST_SOCKET_PATH} bytes, "
                "with its folders"
            )
        if path is not None and "\0" in str(path):
            raise ValueError("expected no null character")
        return path

    @field_validator("registry")
    @classmethod
    def _registry_is_a_file(cls, path: Path | None) -> Path | None:
        if path is not None:
            with suppress(FileNotFoundError):
                try:
                    check_file(path)
                except UnusableFileError as error:
                    raise ValueError(str(error)) from None
        return path

    @field_validator("registry_quotas")
    @classmethod
    def _quotas_are_positive(cls, quotas: RegistryQuotas) -> RegistryQuotas:
        for name, quota in asdict(quotas).items():
            if quota < 1:
                raise ValueError(f"{name} must be at least 1")
        return quotas

    @field_validator("gateway_policies")
    @classmethod
    def _pins_have_a_folder(cls, policies: GatewayPolicies) -> GatewayPolicies:
        if policies.pins is not Pinning.OFF and not policies.pins_folder:
            raise ValueError("pins_folder must be set, for the lock files of pinned tools")
        return policies

    @model_validator(mode="after")
    def _listens_somewhere(self) -> Self:
        if not self.listen and self.unix_socket is None:
            raise ValueError(
                "listen and unix_socket are both empty: there is no address to listen on"
            )
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
        """Return the sources of settings, in the order of precedence."""
        file = cls.model_config.get("toml_file")
        from_file = (TomlConfigSettingsSource(settings_cls, file),) if file else ()
        return (init_settings, env_settings, *from_file)


def read_settings(config: Path | None = None, **flags: Any) -> Settings:
    """Return the settings; a flag that is None is not set.

    Raises:
        UnusableSettingsError: a value is invalid, or the file cannot be read.
    """
    file = config or (Path(name) if (name := os.environ.get(_FILE_VARIABLE)) else None)

    class FromFile(Settings):
        model_config = SettingsConfigDict(toml_file=file)

    values = {name: value for name, value in flags.items() if value is not None}
    try:
        if file is not None:
            check_file(file, _LARGEST_FILE)
        return FromFile(**values)
    except FileNotFoundError:
        raise UnusableSettingsError(f"the settings file {file} does not exist") from None
    except UnusableFileError as error:
        raise UnusableSettingsError(f"the settings file {file} {error}") from None
    except ValidationError as error:
        messages = "; ".join(map(_message, error.errors()))
        raise UnusableSettingsError(f"invalid settings: {messages}") from None
    except (OSError, ValueError) as error:
        raise UnusableSettingsError(f"the settings cannot be read: {error}") from None


def _message(error: ErrorDetails) -> str:
    name = ".".join(map(str, error["loc"]))
    return f"{name}: {error['msg']}" if name else error["msg"]
