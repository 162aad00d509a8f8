"""Names of the settings, for programs that must not import pydantic unless one is set."""

import os
from typing import Final

__all__ = ["DEFAULT_MEMORY_BYTES", "SETTING_NAMES", "UnusableSettingsError", "has_settings"]

_PREFIX: Final = "SIDECHECK_"

DEFAULT_MEMORY_BYTES: Final = 256 << 20

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
        "server",
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


def has_settings() -> bool:
    """Return whether the environment has a setting."""
    names = (name.upper() for name in os.environ)
    settings = (name.removeprefix(_PREFIX).lower() for name in names if name.startswith(_PREFIX))
    return any(name.partition("__")[0] in SETTING_NAMES for name in settings)
