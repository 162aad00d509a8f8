"""Version negotiation.

Versions up to 2025-11-25 are agreed on by a handshake; since 2026-07-28 each request has its
version.
"""

import re
from collections.abc import Iterator
from datetime import date
from typing import Any

from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.mcp.context import FIRST_STATELESS, LAST_HANDSHAKE, VERSIONS, Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, RuleSet
from sidecheck_server.core.types import Severity

__all__ = [
    "INITIALIZE_ERROR_WITHOUT_VERSIONS",
    "PROTOCOL_VERSION_UNKNOWN",
    "PROTOCOL_VERSION_WITHOUT_HANDSHAKE",
]

_NEGOTIATION = ("basic/lifecycle", "version-negotiation")
_COMPATIBILITY = (
    "basic/versioning",
    "backward-compatibility-with-initialization-based-versions",
)
_NAME = "protocolVersion"
_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DRAFT = "DRAFT-"
"""Prefix that drafts of the schema gave their versions, such as ``DRAFT-2025-v2``."""

_NEGOTIATION_RULES = RuleSet(Group.VERSION_NEGOTIATION)


@_NEGOTIATION_RULES.rule(
    "PROTOCOL_VERSION_PROPOSAL",
    # The client MUST send a version that it supports, which may be a draft or a private one.
    Severity.WARNING,
    Clause(*_NEGOTIATION),
    "The client SHOULD propose a version of the protocol: the date of a published one.",
    on="InitializeRequestParams",
    until=LAST_HANDSHAKE,
)
def _proposal(params: Any, context: Context) -> Iterator[Fault]:
    version = params.get(_NAME) if isinstance(params, dict) else None
    if isinstance(version, str) and not _may_be_version(version):
        found = Values(hidden=context.hide_values).describe(version)
        known = ", ".join(VERSIONS)
        message = f"expected a version of the protocol, one of {known}; found {found}"
        yield Fault((_NAME,), message)


def _may_be_version(text: str) -> bool:
    """Return whether *text* is a published version, a draft, or may be a later version."""
    if text in VERSIONS or text.startswith(_DRAFT):
        return True
    if _DATE.fullmatch(text) is None or text < VERSIONS[-1]:
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


PROTOCOL_VERSION_UNKNOWN = _NEGOTIATION_RULES.declare(
    "PROTOCOL_VERSION_UNKNOWN",
    Severity.ERROR,
    Clause(*_NEGOTIATION),
    "The server MUST respond to initialize with a version of the protocol.",
    until=LAST_HANDSHAKE,
)
PROTOCOL_VERSION_WITHOUT_HANDSHAKE = _NEGOTIATION_RULES.declare(
    "PROTOCOL_VERSION_WITHOUT_HANDSHAKE",
    # "As specified by the negotiated legacy protocol version", which is one until 2025-11-25.
    Severity.WARNING,
    Clause(
        *_COMPATIBILITY,
        before=((LAST_HANDSHAKE, *_NEGOTIATION),),
    ),
    "The server SHOULD respond to initialize with a version that has a handshake, 2025-11-25 or"
    " an earlier one.",
)
INITIALIZE_ERROR_WITHOUT_VERSIONS = _NEGOTIATION_RULES.declare(
    "INITIALIZE_ERROR_WITHOUT_VERSIONS",
    Severity.WARNING,
    Clause(*_COMPATIBILITY),
    "A server without initialize SHOULD name the versions that it supports in its error response.",
    since=FIRST_STATELESS,
)
