"""Settings of the server: read once, validated, immutable.

Flags of `sidecheck serve` override environment variables, which override the settings
file, which overrides the defaults. Unknown names in the file are errors.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from sidecheck_server.config.input_files import UnusableFileError, check_file
from sidecheck_server.config.policies import GatewayPolicies
from sidecheck_server.config.setting_values import (
    check_address,
    check_limits,
    check_policies,
    check_processes,
    check_quotas,
    check_socket_path,
    check_tls,
    read_files,
    read_list,
    read_registry,
)
from sidecheck_server.config.transport_limits import TransportLimits
from sidecheck_server.core.limits import Limits
from sidecheck_server.registry.location import HISTORY_SECONDS, RegistryLocation
from sidecheck_server.registry.quotas import RegistryQuotas

__all__ = ["Settings", "ToolsFile", "UnusableSettingsError", "read_settings"]

_MOST_SECONDS = 86_400
"""A day. Timers overflow when they are set to much more than a century."""

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
        AfterValidator(check_address),
        Field(
            description='TCP address to listen on: "host:port", with port 0 for any free port; '
            '"" for none.'
        ),
    ] = "127.0.0.1:50151"
    unix_socket: Annotated[
        Path | None,
        AfterValidator(check_socket_path),
        Field(description="Path of a unix socket to listen on as well."),
    ] = None
    unix_socket_mode: Annotated[
        str, Field(pattern=r"^0?[0-7]{3}$", description="File mode of that socket, octal.")
    ] = "660"
    admin_listen: Annotated[
        str,
        AfterValidator(check_address),
        Field(
            description="TCP address of probes, metrics, the page and the methods of the API over "
            'HTTP: "host:port", with port 0 for any free port; "" for none.'
        ),
    ] = ""
    tls_certificate: Annotated[
        Path | None,
        Field(
            description="File of the certificate of the TCP address, in PEM, followed by those "
            "between it and its authority; without it, plain text. Read again when it changes, "
            "as are the next two."
        ),
    ] = None
    tls_key: Annotated[
        Path | None, Field(description="File of its private key, in PEM, not encrypted.")
    ] = None
    tls_client_ca: Annotated[
        Path | None,
        Field(
            description="File of the authorities of clients, in PEM: connections without a "
            "certificate of theirs are rejected. Unset, clients need none."
        ),
    ] = None
    tokens_file: Annotated[
        Path | None,
        Field(
            description="File of the tokens that callers must have, in TOML: name, SHA-256, roles "
            "and servers of each. Read again when it changes. Unset, anybody may call."
        ),
    ] = None
    tokens_without_tls: Annotated[
        bool,
        Field(
            description="Whether tokens may pass a network in plain text, as where a mesh "
            "encrypts it."
        ),
    ] = False
    admin_open: Annotated[
        bool,
        Field(
            description="Whether the admin address serves the page and the methods of the API "
            "beyond loopback, to whoever reaches it."
        ),
    ] = False
    registry: Annotated[
        RegistryLocation,
        PlainValidator(read_registry),
        Field(
            description="File of the tool registry, or URI of a PostgreSQL database that servers "
            "may share (`postgresql://…`), for which the package needs the extra `postgres`; in "
            "memory if unset."
        ),
    ] = None
    registry_history_seconds: Annotated[
        float,
        Field(
            ge=60,
            le=30 * _MOST_SECONDS,
            allow_inf_nan=False,
            description="Seconds for which changes of the registry are kept, for those who watch "
            "it (`WatchTools`), at most 32 MiB of definitions in each server; and by a registry "
            "on PostgreSQL, also for the servers that follow it, at most the last 10,000, and as "
            "many bytes as the quota `bytes`.",
        ),
    ] = HISTORY_SECONDS
    tools: Annotated[
        tuple[ToolsFile, ...],
        NoDecode,
        BeforeValidator(read_files),
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
    processes: Annotated[
        int,
        Field(
            ge=1,
            le=256,
            description="Number of processes that serve the TCP address, each on a processor of "
            "its own. With several, one more process has the registry, the workers and the admin "
            "address.",
        ),
    ] = 1
    event_loop: Annotated[
        Literal["asyncio", "uvloop"],
        Field(
            description="Event loop of what serves calls; uvloop, which takes about a tenth less "
            "of the processor, needs the extra `uvloop` of the package."
        ),
    ] = "asyncio"
    memory_bytes: Annotated[
        int,
        Field(
            ge=1 << 20,
            description="Memory that all caches together may take, in bytes: half of it for "
            "compiled schemas of registered tools, a quarter for those of requests. Several "
            "processes share it.",
        ),
    ] = 256 << 20
    report_only: Annotated[
        tuple[str, ...],
        NoDecode,
        BeforeValidator(read_list),
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
        BeforeValidator(read_list),
        Field(
            description="Protocols of gateways to serve: ext_proc of Envoy, and ext_mcp of "
            "agentgateway."
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
        AfterValidator(check_policies),
        Field(description="What gateways do about what is invalid."),
    ] = GatewayPolicies()
    registry_quotas: Annotated[
        RegistryQuotas,
        AfterValidator(check_quotas),
        Field(description="Quotas of the tools that are registered."),
    ] = RegistryQuotas()
    limits: Annotated[
        Limits,
        AfterValidator(check_limits),
        Field(description="Limits of requests, payloads and schemas."),
    ] = Limits()

    @model_validator(mode="after")
    def _check_addresses(self) -> Self:
        if not self.listen and self.unix_socket is None:
            raise ValueError(
                "listen and unix_socket are both empty: there is no address to listen on"
            )
        if self.processes > 1:
            check_processes(self.listen, self.unix_socket)
        check_tls(self.listen, self.tls_certificate, self.tls_key, self.tls_client_ca)
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
        # Of a class that other processes know.
        return Settings.model_construct(**dict(FromFile(**values)))
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
