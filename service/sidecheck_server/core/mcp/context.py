"""Protocol versions, and the context of a check."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Budget
from sidecheck_server.core.types import Document

__all__ = [
    "DEFAULT_VERSION",
    "FIRST_STATELESS",
    "LAST_HANDSHAKE",
    "VERSIONS",
    "Context",
    "Sender",
    "check_version_known",
    "has_structured_content",
    "requires_object_output",
]

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
"""Supported versions, oldest first. They are dates and sort as text."""

# Decision 0042: the earlier version causes fewer false errors if the caller names none.
DEFAULT_VERSION = "2025-11-25"
"""Version of requests that name no version."""

LAST_HANDSHAKE = "2025-11-25"
"""Last version whose sessions begin with a handshake (`initialize`)."""

FIRST_STATELESS = "2026-07-28"
"""First version without a handshake; each request declares version and capabilities."""

_STRUCTURED_CONTENT_SINCE = "2025-06-18"
_ANY_OUTPUT_TYPE_SINCE = "2026-07-28"  # SEP-2106


def check_version_known(version: str) -> None:
    """Check that *version* is supported; "" stands for the default.

    Raises:
        RequestError: UNKNOWN_PROTOCOL_VERSION.
    """
    if version and version not in VERSIONS:
        supported_versions = ", ".join(VERSIONS)
        raise RequestError(
            ErrorReason.UNKNOWN_PROTOCOL_VERSION,
            f"unknown MCP protocol version {version[:40]!r}; expected one of {supported_versions}",
            {"protocol_version": version[:40], "known": supported_versions},
        )


def has_structured_content(version: str) -> bool:
    """Return whether *version* has output schemas and structured content."""
    return version >= _STRUCTURED_CONTENT_SINCE


def requires_object_output(version: str) -> bool:
    """Return whether structured content of *version* must be a JSON object."""
    return _STRUCTURED_CONTENT_SINCE <= version < _ANY_OUTPUT_TYPE_SINCE


class Sender(StrEnum):
    """Side of a connection that sent a message."""

    CLIENT = "client"
    SERVER = "server"

    # Enumerations have a slower `__hash__`, written in Python; many tables are keyed by senders.
    __hash__ = str.__hash__

    @property
    def peer(self) -> "Sender":
        """The other side of the connection."""
        return _SERVER if self is _CLIENT else _CLIENT


# Access to a member of an enumeration takes longer than to a global variable.
_CLIENT, _SERVER = Sender.CLIENT, Sender.SERVER


@dataclass(frozen=True, slots=True)
class Context:
    """Input of a rule, in addition to the value that it checks."""

    #: Protocol version whose rules apply; one of `VERSIONS`.
    version: str = DEFAULT_VERSION
    #: Sender of the value, or None if unknown.
    sender: Sender | None = None
    #: Capabilities that the client declared. None if unknown; no rule requires any then.
    client_capabilities: dict[str, Any] | None = None
    #: Capabilities that the server declared, or None if unknown.
    server_capabilities: dict[str, Any] | None = None
    #: The `params` of the request that a result belongs to, or None if unknown.
    request: Any = None
    #: Documents that schemas may refer to.
    documents: tuple[Document, ...] = ()
    #: Whether messages omit values of the payload.
    hide_values: bool = False
    #: Whether the check precedes a registration. If so, a schema that cannot be compiled is an
    #: error, even if the specification allows to list it.
    to_be_registered: bool = False
    #: Remaining steps of the check (`core.limits`), set at the start of a check. A rule whose
    #: work grows with the value spends steps before the work.
    budget: Budget = field(default_factory=lambda: [1_000_000])
    #: Intermediate results that several rules share, by kind and identity of a part of the
    #: value. The entry refers to the part too, so that no other object gets the same identity.
    #: `dataclasses.replace` starts with an empty memo.
    memo: dict[tuple[str, int], tuple[Any, Any]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
