"""Rules on version negotiation, and on versions and capabilities of requests.

In versions up to 2025-11-25 a handshake determines the version. Since 2026-07-28 each request
declares its version and capabilities, and errors name those that the server needs.
`core.mcp.sessions.negotiation` finds the faults of the rules without a check.
"""

import re
from collections.abc import Iterator
from datetime import date
from typing import Any

from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.mcp.context import FIRST_STATELESS, LAST_HANDSHAKE, VERSIONS, Context
from sidecheck_server.core.mcp.rules.capabilities import find_client_capabilities
from sidecheck_server.core.mcp.rules.metadata import META
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, RuleSet
from sidecheck_server.core.types import Severity

__all__ = [
    "DISCOVER_NOT_IMPLEMENTED",
    "INITIALIZE_ERROR_WITHOUT_VERSIONS",
    "MALFORMED_REQUEST_ACCEPTED",
    "PROTOCOL_VERSION_UNKNOWN",
    "PROTOCOL_VERSION_WITHOUT_HANDSHAKE",
    "UNSUPPORTED_VERSION_ACCEPTED",
    "UNSUPPORTED_VERSION_SUPPORTED",
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
        description = Values(hidden=context.hide_values).describe(version)
        supported_versions = ", ".join(VERSIONS)
        message = (
            f"expected a version of the protocol, one of {supported_versions}; found {description}"
        )
        yield Fault((_NAME,), message)


def _may_be_version(text: str) -> bool:
    """Return whether *text* is a published, a draft or possibly a later version."""
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
    # "As specified by the negotiated legacy protocol version": a version up to 2025-11-25.
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


_SINCE = "2026-07-28"
_VERSIONS = Clause("basic/versioning", "protocol-version-negotiation")
_CODES = Clause("basic", "error-codes")
_CAPABILITIES_DATA = "MissingRequiredClientCapabilityErrorData"

_DECLARATION_RULES = RuleSet(Group.DECLARATIONS, since=_SINCE)

MALFORMED_REQUEST_ACCEPTED = _DECLARATION_RULES.declare(
    "MALFORMED_REQUEST_ACCEPTED",
    Severity.ERROR,
    META,
    "A server MUST NOT respond with a result to a request without the required fields of `_meta`.",
)
UNSUPPORTED_VERSION_ACCEPTED = _DECLARATION_RULES.declare(
    "UNSUPPORTED_VERSION_ACCEPTED",
    Severity.ERROR,
    _VERSIONS,
    "A server MUST NOT respond with a result to a request of a version that it does not list as"
    " supported.",
)


@_DECLARATION_RULES.rule(
    "UNSUPPORTED_VERSION_SUPPORTED",
    Severity.ERROR,
    _CODES,
    "The error for an unsupported version MUST be used only for a version that the "
    "server does not list as supported.",
    on="UnsupportedProtocolVersionErrorData",
)
def _supported_version(data: Any, context: Context) -> Iterator[Fault]:
    if not isinstance(data, dict):
        return
    supported, requested = data.get("supported"), data.get("requested")
    if isinstance(supported, list) and isinstance(requested, str):
        spend(context.budget, len(supported))
        if requested in supported:
            description = Values(hidden=context.hide_values).describe(requested)
            message = f'"supported" lists the requested version; found {description}'
            yield Fault(("requested",), message)


UNSUPPORTED_VERSION_SUPPORTED = _supported_version
DISCOVER_NOT_IMPLEMENTED = _DECLARATION_RULES.declare(
    "DISCOVER_NOT_IMPLEMENTED",
    Severity.ERROR,
    _VERSIONS,
    "A server that responds to requests of this version MUST implement server/discover.",
)


@_DECLARATION_RULES.rule(
    "REQUIRED_CAPABILITIES_EMPTY",
    Severity.ERROR,
    META,
    "The error for missing capabilities MUST list them.",
    on=_CAPABILITIES_DATA,
)
def _empty_capabilities(data: Any, _context: Context) -> Iterator[Fault]:
    if isinstance(data, dict) and data.get("requiredCapabilities") == {}:
        yield Fault(("requiredCapabilities",), "expected the missing capabilities, found none")


@_DECLARATION_RULES.rule(
    "REQUIRED_CAPABILITIES_DECLARED",
    Severity.ERROR,
    _CODES,
    "The error for missing capabilities MUST be used only if the request did not declare them.",
    on=_CAPABILITIES_DATA,
)
def _declared_capabilities(data: Any, context: Context) -> Iterator[Fault]:
    required = data.get("requiredCapabilities") if isinstance(data, dict) else None
    declared = find_client_capabilities(context)
    if not isinstance(required, dict) or not required or declared is None:
        return
    if _covers(declared, required, context.budget) and not _may_lack_forms(declared, required):
        message = "the request declared all of these capabilities"
        yield Fault(("requiredCapabilities",), message)


def _may_lack_forms(declared: dict[str, Any], required: dict[str, Any]) -> bool:
    """Return whether the form mode is required and not declared.

    An empty "elicitation" in *required* requires the form mode.
    """
    if required.get("elicitation") != {}:
        return False
    elicitation = declared.get("elicitation")
    return isinstance(elicitation, dict) and bool(elicitation) and "form" not in elicitation


def _covers(declared: Any, required: Any, budget: Budget) -> bool:
    """Return whether *declared* has all properties of *required*, with equal values."""
    spend(budget, 20)
    if not isinstance(required, dict):
        return bool(declared == required)
    return isinstance(declared, dict) and all(
        name in declared and _covers(declared[name], value, budget)
        for name, value in required.items()
    )
