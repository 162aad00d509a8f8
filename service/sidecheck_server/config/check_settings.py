"""Settings of the checks in the process of a proxy.

Without a variable or file of settings, reading them does not import `config.settings`, whose
libraries take longer to import than all that the first message needs.
"""

import os
from dataclasses import dataclass, replace
from typing import Final

from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import DEFAULT_VERSION

__all__ = [
    "DEFAULT_MEMORY_BYTES",
    "SETTING_NAMES",
    "CheckSettings",
    "UnusableSettingsError",
    "read_check_settings",
]

DEFAULT_MEMORY_BYTES: Final = 256 << 20

_ENVELOPE_BYTES: Final = 1 << 20
"""Bytes of an API request beyond those of the message, for the definition of a tool."""

_WORKER_SECONDS: Final = 10
"""Maximum seconds that a message waits for a worker process whose start makes no progress."""

_PREFIX: Final = "SIDECHECK_"

SETTING_NAMES: Final = frozenset(
    {
        "admin_listen",
        "admin_open",
        "config",
        "drain_seconds",
        "event_loop",
        "gateway_policies",
        "gateways",
        "grace_seconds",
        "inference",
        "limits",
        "listen",
        "log_format",
        "log_level",
        "memory_bytes",
        "processes",
        "protocol_version",
        "reflection",
        "registry",
        "registry_history_seconds",
        "registry_quotas",
        "report_only",
        "tls_certificate",
        "tls_client_ca",
        "tls_key",
        "tokens_file",
        "tokens_without_tls",
        "tools",
        "transport",
        "unix_socket",
        "unix_socket_mode",
        "workers",
    }
)
"""Names of the settings, and that of the variable with the file of settings."""


class UnusableSettingsError(Exception):
    """A setting is invalid; the message names it and the expected value."""


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """The settings that the checks of a proxy use."""

    limits: Limits
    memory_bytes: int = DEFAULT_MEMORY_BYTES
    protocol_version: str = DEFAULT_VERSION
    log_format: str = "auto"
    log_level: str = "warning"


def read_check_settings(max_message_bytes: int) -> CheckSettings:
    """Return the settings for messages of at most *max_message_bytes*.

    Raises:
        UnusableSettingsError: a variable is invalid, or the file cannot be read.
    """
    limits = {
        "payload_bytes": max_message_bytes,
        "message_bytes": max_message_bytes + _ENVELOPE_BYTES,
        "worker_wait_seconds": _WORKER_SECONDS,
    }
    if not _has_settings():
        return CheckSettings(replace(Limits(), **limits))
    from sidecheck_server.config.settings import read_settings  # noqa: PLC0415

    settings = read_settings(workers=1, log_level="warning", limits=limits)
    return CheckSettings(
        settings.limits,
        settings.memory_bytes,
        settings.protocol_version,
        settings.log_format,
        settings.log_level,
    )


def _has_settings() -> bool:
    """Return whether the environment has a setting."""
    names = (name.upper() for name in os.environ)
    settings = (name.removeprefix(_PREFIX).lower() for name in names if name.startswith(_PREFIX))
    return any(name.partition("__")[0] in SETTING_NAMES for name in settings)
