"""Values of ProtocolService: subjects to check, and results.

JSON given as ``bytes`` is JSON text and is sent unchanged; prefer this for messages that were
received over a network. Any other value is encoded, as `sidecheck.json_texts` describes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from sidecheck.errors import SidecheckError
from sidecheck.json_types import NO_TEXT, JsonBytes, JsonObject, JsonText
from sidecheck.targets import Target
from sidecheck.values.verdict import Severity, Verdict

__all__ = [
    "CheckItem",
    "CheckOptions",
    "CheckOutcome",
    "CheckResult",
    "CheckedNames",
    "CheckedTools",
    "Disposition",
    "Elicitation",
    "ElicitationResult",
    "Form",
    "NameCollision",
    "ProtocolContext",
    "ProtocolJson",
    "ProtocolMessage",
    "RepeatedViolation",
    "ResultProfile",
    "Rule",
    "Sampling",
    "Sender",
    "SessionMessage",
    "SessionSummary",
    "ToolNameOutcome",
    "ToolOutcome",
    "ToolResult",
    "elicitation_params",
    "fill_context_version",
]

#: JSON of the protocol: JSON text, or an object or array to encode.
ProtocolJson: TypeAlias = JsonBytes | JsonObject | Sequence[Any]

#: Sender of a message; "" if unknown, which admits the messages of both sides.
Sender: TypeAlias = Literal["", "client", "server"]

#: Requirements on a tool result: the specification of the protocol version, or the text
#: contract of `sidecheck.text_contract`.
ResultProfile: TypeAlias = Literal["specification", "text"]

#: A pydantic model class that describes the form of an elicitation.
Form: TypeAlias = type[Any]


# Requests


@dataclass(frozen=True, slots=True)
class ProtocolContext:
    """Protocol version and negotiated capabilities of a connection."""

    #: MCP protocol version whose rules apply, for example ``2025-11-25``; "" is the default
    #: of the client, or else the version that the tool of a result was registered under, or
    #: else the default of the server, which `ServerInfo` names.
    protocol_version: str = ""
    #: Capabilities that the client declared; None if unknown, so that no rule requires one.
    client_capabilities: JsonBytes | JsonObject | None = None
    #: Capabilities that the server declared; None if unknown.
    server_capabilities: JsonBytes | JsonObject | None = None


def fill_context_version(
    context: ProtocolContext | None, protocol_version: str
) -> ProtocolContext | None:
    """Return *context* with *protocol_version* if it names none; "" changes nothing.

    Raises:
        TypeError: *context* is not a `ProtocolContext`.
    """
    if not isinstance(context, ProtocolContext | None):
        raise TypeError(f"context must be a ProtocolContext, not {type(context).__name__}")
    if not protocol_version or (context is not None and context.protocol_version):
        return context
    return replace(context or ProtocolContext(), protocol_version=protocol_version)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """Amount of detail in the result of a check; the defaults are those of the server."""

    #: Maximum number of violations in a verdict; the server lowers it to its own limit.
    max_violations: int = 20
    #: Whether to omit values from messages.
    hide_values: bool = False
    #: Violations below this severity are omitted.
    min_severity: Severity = Severity.INFO


@dataclass(frozen=True, slots=True)
class Elicitation:
    """The ``params`` of an ``elicitation/create`` request."""

    params: ProtocolJson


@dataclass(frozen=True, slots=True)
class ElicitationResult:
    """The result of an ``elicitation/create`` request."""

    result: ProtocolJson
    #: The ``params`` of the request. If they are None, the content is not validated against
    #: the requested schema.
    params: ProtocolJson | None = None


@dataclass(frozen=True, slots=True)
class Sampling:
    """The ``params`` of a ``sampling/createMessage`` request, with its history."""

    params: ProtocolJson


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A ``CallToolResult``."""

    result: ProtocolJson
    #: Requirements on the result.
    profile: ResultProfile = "specification"
    #: The tool whose output schema validates the structured content; None skips that.
    tool: Target | None = None


@dataclass(frozen=True, slots=True)
class ProtocolMessage:
    """A JSON-RPC message, or a JSON-RPC batch if the protocol version has batches."""

    message: ProtocolJson
    sender: Sender = ""
    #: For a response: the method of its request. If it is "" and ``request`` is None,
    #: only the envelope is checked.
    request_method: str = ""
    #: For a response: the complete request.
    request: ProtocolJson | None = None


@dataclass(frozen=True, slots=True)
class SessionMessage:
    """A message of a session."""

    message: ProtocolMessage
    #: Status of the HTTP response to it, or 0.
    http_status: int = 0


#: One item of a batch of checks.
CheckItem: TypeAlias = Elicitation | ElicitationResult | Sampling | ToolResult | ProtocolMessage


def elicitation_params(params: ProtocolJson | Form) -> ProtocolJson:
    """Return *params*, or the params for the form of a pydantic model class.

    Raises:
        ImportError: *params* is a class and pydantic is not installed.
        TypeError: *params* is a class but not a pydantic model.
    """
    if not isinstance(params, type):
        return params
    # pydantic is an optional dependency.
    from sidecheck.elicitation import form  # noqa: PLC0415

    return form(params)


# Responses


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A requirement of the MCP specification, or advice of a model provider."""

    #: Code of its violations.
    code: str
    #: Severity of its violations.
    severity: Severity
    #: Protocol versions that have the rule, oldest first.
    protocol_versions: tuple[str, ...]
    #: URL of the specification section, in the newest of these versions.
    spec_url: str
    #: The requirement, in one sentence.
    requirement: str
    #: Types of the protocol schema whose values are checked.
    subjects: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """Result of one check."""

    #: Verdict on the JSON sent; instance locations point into it.
    verdict: Verdict
    #: For a message with an error: the complete JSON-RPC response for its sender. Empty
    #: for notifications and responses, which have no response.
    error_response: JsonText = NO_TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedViolation:
    """A violation of several messages, reported in the verdict on the first."""

    #: Code of the violation.
    code: str
    #: Tool concerned, or "" if the violation is about a side of the session.
    tool: str
    #: Number of messages with the violation.
    count: int
    #: Index of the first such message among the checked messages, from 0.
    first_item: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """Violations that occurred in more than one message of a session."""

    #: In the order of the first messages.
    repeated_violations: tuple[RepeatedViolation, ...]


#: Outcome of one item of a batch or session.
CheckOutcome: TypeAlias = CheckResult | SidecheckError


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolNameOutcome:
    """Outcome of the check of one tool name."""

    #: Verdict on the name; its locations are empty.
    verdict: Verdict
    #: Whether the Python SDK accepts the name: 1 to 128 characters of ``A-Za-z0-9_.-``.
    sdk_valid: bool
    #: The warnings of the Python SDK, verbatim and in its order.
    sdk_warnings: tuple[str, ...]
    #: The name for APIs that accept up to 64 characters of ``A-Za-z0-9_-``.
    sanitized: str


@dataclass(frozen=True, slots=True)
class NameCollision:
    """Tool names that are equal once sanitized."""

    #: The sanitized name.
    sanitized: str
    #: Indexes of the names in the request.
    indexes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CheckedNames:
    """Result of a check of tool names."""

    #: Outcomes of the names, in order.
    outcomes: tuple[ToolNameOutcome, ...]
    #: Names that collide once sanitized.
    collisions: tuple[NameCollision, ...]


class Disposition(StrEnum):
    """Treatment of a tool by a conforming client."""

    #: The client uses the tool.
    KEEP = "keep"
    #: The client uses the tool, and its author should look at the violations.
    WARN = "warn"
    #: The client ignores this tool and uses the others.
    DROP = "drop"
    #: A value that this release of the client does not know.
    UNSPECIFIED = "unspecified"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """Outcome of the check of one tool definition."""

    #: Name of the tool; "" if the definition has none.
    name: str
    #: JSON Pointer to the definition in the tools list; "" for definitions given separately.
    pointer: str
    disposition: Disposition
    #: Verdict on the definition; instance locations point into it.
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class CheckedTools:
    """Result of a check of tool definitions."""

    #: Outcomes of the definitions, in order.
    outcomes: tuple[ToolOutcome, ...]
    #: Verdict on the tools list outside of the definitions.
    tools_list_verdict: Verdict
