"""Values of settings: how they are read from text, and what they may be.

The functions are validators of pydantic: each returns the value, and raises ValueError for
one that cannot be used. The text says what is expected; pydantic adds the name.
"""

import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from sidecheck_server.config.addresses import Address
from sidecheck_server.config.input_files import UnusableFileError, check_file
from sidecheck_server.config.policies import GatewayPolicies, Pinning
from sidecheck_server.core.limits import LONGEST_SEARCH, Limits
from sidecheck_server.registry.location import PostgresLocation, RegistryLocation
from sidecheck_server.registry.quotas import RegistryQuotas

__all__ = [
    "check_address",
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
]

_MOST = 2**31 - 1
"""The largest value of most limits: options of gRPC and limits in the API have 32 bits."""

_MOST_SECONDS = 86_400
"""A day. Timers overflow when they are set to much more than a century."""

_LIMIT_RANGES = {
    # The first worker proves that it works by compiling the schema `true`.
    "schema_bytes": (len("true"), _MOST),
    # RE2's parser has a level for each level of blocks.
    "pattern_repetitions": (1, 100_000),
    "steps": (1, 2**53),
    "inline_steps": (1, LONGEST_SEARCH - 1),
    "compile_seconds": (1, _MOST_SECONDS),
    "validation_seconds": (1, _MOST_SECONDS),
    # A worker maps 53 MiB before its first task. Below, none would start.
    "worker_bytes": (128 << 20, 2**53),
}
"""The least and the largest value of limits that have other bounds than 1 and `_MOST`."""

_LONGEST_SOCKET_PATH = 107
"""Bytes of a unix socket's path: `sun_path` has 108, and a null byte ends it (unix(7))."""


def read_list(value: Any) -> Any:
    """Return the list that a text holds: JSON, or items with commas between them."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except ValueError:
            raise ValueError("expected a JSON array, or items with commas between them") from None
    return [item.strip() for item in value.split(",") if item.strip()]


def read_files(value: Any) -> Any:
    """Return the files of tools that a text holds: JSON, or names with commas between them."""
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


def check_address(address: str) -> str:
    """Check that *address* is ``host:port``, or empty."""
    if address:
        try:
            Address.parse(address)
        except ValueError as error:
            raise ValueError(f'{error}, or ""') from None
    _check_characters(address)
    return address


def check_socket_path(path: Path | None) -> Path | None:
    """Check that a unix socket can have *path*."""
    if path is not None:
        if len(os.fsencode(path.absolute())) > _LONGEST_SOCKET_PATH:
            raise ValueError(
                f"the path of a unix socket has at most {_LONGEST_SOCKET_PATH} bytes, "
                "with its folders"
            )
        _check_characters(str(path))
    return path


def read_registry(value: Any) -> RegistryLocation:
    """Return the location that *value* names: a URI, or a regular file if it exists."""
    if value is None or isinstance(value, PostgresLocation):
        return value
    # A variable that a file was read into, as a Secret is, often ends with a line feed.
    if isinstance(value, str) and PostgresLocation.is_uri(uri := value.strip()):
        _check_characters(uri)
        return PostgresLocation(uri)
    if value == "":
        raise ValueError("is empty; leave it unset for a registry in memory")
    is_connection = isinstance(value, str) and PostgresLocation.is_other_connection(value)
    if is_connection or not isinstance(value, str | Path):
        # pydantic reports no TypeError
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


def check_policies(policies: GatewayPolicies) -> GatewayPolicies:
    """Check that *policies* which pin tools have a folder for it."""
    if policies.pins is not Pinning.OFF and not policies.pins_folder:
        raise ValueError("pins_folder must be set, for the lock files of pinned tools")
    return policies


def check_tls(
    listen: str, certificate: Path | None, key: Path | None, client_ca: Path | None
) -> None:
    """Check that the settings of TLS are complete, and that there is an address for them."""
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


def _check_characters(text: str) -> None:
    if "\0" in text:
        raise ValueError("expected no null character")


def limit_range(name: str) -> tuple[int, int]:
    """Return the least and the largest value of the limit *name*."""
    return _LIMIT_RANGES.get(name, (1, _MOST))


def check_limits(limits: Limits) -> Limits:
    """Check that *limits* are in their ranges, and return them.

    Raises:
        ValueError: one is not; the text names it.
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
