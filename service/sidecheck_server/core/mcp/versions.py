"""The published versions of the Model Context Protocol."""

from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = ["DEFAULT_VERSION", "VERSIONS", "check_version_known"]

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
"""The versions that are known, oldest first."""

DEFAULT_VERSION = "2025-11-25"
"""The version that holds if a request names none: the one that most servers speak."""


def check_version_known(version: str) -> None:
    """Check that *version* is known; "" stands for the default.

    Raises:
        Refusal: UNKNOWN_PROTOCOL_VERSION.
    """
    if version and version not in VERSIONS:
        known = ", ".join(VERSIONS)
        raise RequestError(
            ErrorReason.UNKNOWN_PROTOCOL_VERSION,
            f"the MCP protocol version {version[:40]!r} is not known; known are {known}",
            {"protocol_version": version[:40], "known": known},
        )
