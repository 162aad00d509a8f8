"""Settings of the checks in the process of a proxy.

Without a variable or file of settings, reading them does not import `config.settings`, whose
libraries take longer to import than all that the first message needs.
"""

from dataclasses import dataclass
from typing import Any, Final

from sidecheck_server.config.setting_names import DEFAULT_MEMORY_BYTES, has_settings
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import DEFAULT_VERSION

__all__ = ["CheckSettings", "read_check_settings"]

_ENVELOPE_BYTES: Final = 1 << 20
"""Bytes of an API request beyond those of the message, for the definition of a tool."""

_WORKER_SECONDS: Final = 10
"""Maximum seconds that a message waits for a worker process whose start makes no progress."""


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
    limits: dict[str, Any] = {
        "payload_bytes": max_message_bytes,
        "message_bytes": max_message_bytes + _ENVELOPE_BYTES,
        "worker_wait_seconds": _WORKER_SECONDS,
    }
    if not has_settings():
        return CheckSettings(Limits(**limits))
    from sidecheck_server.config.settings import read_settings  # noqa: PLC0415

    settings = read_settings(workers=1, log_level="warning", limits=limits)
    return CheckSettings(
        settings.limits,
        settings.memory_bytes,
        settings.protocol_version,
        settings.log_format,
        settings.log_level,
    )
