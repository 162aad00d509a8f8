"""Published versions of the Model Context Protocol, and where they differ in tool output."""

from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = [
    "DEFAULT_VERSION",
    "VERSIONS",
    "check_version_known",
    "has_structured_content",
    "requires_object_output",
]

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
"""Supported versions, oldest first. They are dates and sort as text."""

DEFAULT_VERSION = "2025-11-25"
"""Version of requests that name none: the one that most servers speak."""

_STRUCTURED_CONTENT_SINCE = "2025-06-18"
_ANY_OUTPUT_TYPE_SINCE = "2026-07-28"  # SEP-2106


def check_version_known(version: str) -> None:
    """Check that *version* is supported; "" stands for the default.

    Raises:
        RequestError: UNKNOWN_PROTOCOL_VERSION.
    """
    if version and version not in VERSIONS:
        known = ", ".join(VERSIONS)
        raise RequestError(
            ErrorReason.UNKNOWN_PROTOCOL_VERSION,
            f"unknown MCP protocol version {version[:40]!r}; expected one of {known}",
            {"protocol_version": version[:40], "known": known},
        )


def has_structured_content(version: str) -> bool:
    """Return whether *version* has output schemas and structured content."""
    return version >= _STRUCTURED_CONTENT_SINCE


def requires_object_output(version: str) -> bool:
    """Return whether *version* has structured content that must be a JSON object."""
    return _STRUCTURED_CONTENT_SINCE <= version < _ANY_OUTPUT_TYPE_SINCE
