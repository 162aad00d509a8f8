"""Subjects of protocol checks as JSON texts, and the requests that check them."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.types import Severity

__all__ = [
    "CallParams",
    "CheckRequest",
    "Elicitation",
    "ElicitationResult",
    "ProtocolMessage",
    "ReportLimits",
    "ResultProfile",
    "Sampling",
    "Subject",
    "ToolJson",
    "ToolList",
    "ToolResult",
]


@dataclass(frozen=True, slots=True)
class ToolJson:
    """A tool definition: an entry of a ``tools/list`` result."""

    json: bytes
    #: Whether its author hands it over, rather than a server lists it: its output schema may
    #: have any root, and nulls and Python's names are read as in `protocol_form`.
    canonical: bool = False

    @property
    def size(self) -> int:
        """Total length of its JSON texts in bytes."""
        return len(self.json)


@dataclass(frozen=True, slots=True)
class ToolList:
    """Result of a ``tools/list`` request, with or without its tool definitions."""

    json: bytes
    #: Whether it is handed over, as `ToolJson.canonical`, rather than sent by a server.
    canonical: bool = False

    @property
    def size(self) -> int:
        """Total length of its JSON texts in bytes."""
        return len(self.json)


@dataclass(frozen=True, slots=True)
class Elicitation:
    """``params`` of an ``elicitation/create`` request."""

    params: bytes

    @property
    def size(self) -> int:
        """Total length of its JSON texts in bytes."""
        return len(self.params)


@dataclass(frozen=True, slots=True)
class ElicitationResult:
    """Result of an ``elicitation/create`` request."""

    result: bytes
    #: ``params`` of the request, or b"" if unknown.
    params: bytes = b""

    @property
    def size(self) -> int:
        """Total length of its JSON texts in bytes."""
        return len(self.result) + len(self.params)


@dataclass(frozen=True, slots=True)
class Sampling:
    """``params`` of a ``sampling/createMessage`` request."""

    params: bytes

    @property
    def size(self) -> int:
        """Total length of its JSON texts in bytes."""
        return len(self.params)


@dataclass(frozen=True, slots=True)
class CallParams:
    """``params`` of a ``tools/call`` request."""

    params: bytes
    #: Name of the tool that they must call, or "" for any.
    tool: str = ""

    @property
    def size(self) -> int:
        """Total length of its JSON texts in bytes."""
        return len(self.params)


class ResultProfile(StrEnum):
    """Form that a tool result must have: MCP's, or text content alone."""

    SPECIFICATION = "specification"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A ``CallToolResult``."""

    json: bytes
    profile: ResultProfile = ResultProfile.SPECIFICATION
    #: Whether the tool has an output schema. The text profile never has structured content.
    has_output_schema: bool = False

    @property
    def size(self) -> int:
        """Total length of its JSON texts in bytes."""
        return len(self.json)


@dataclass(frozen=True, slots=True)
class ProtocolMessage:
    """A JSON-RPC message, or a batch of them."""

    json: bytes
    #: For a response: method of its request, or "" if unknown; that of `request` has
    #: precedence.
    request_method: str = ""
    #: For a response: the whole request, or b"" if unknown.
    request: bytes = b""
    #: For the first messages of a batch: methods of their requests, or "" if unknown.
    item_methods: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Total length of its JSON texts in bytes."""
        return len(self.json) + len(self.request)


Subject: TypeAlias = (
    ToolJson
    | ToolList
    | Elicitation
    | ElicitationResult
    | Sampling
    | CallParams
    | ToolResult
    | ProtocolMessage
)


@dataclass(frozen=True, slots=True)
class ReportLimits:
    """Bounds on the violations of a report."""

    #: At least 1.
    max_violations: int = 20
    #: Total length of all violations; the first is reported whatever its length.
    max_characters: int = 1 << 20
    #: Less severe violations are left out.
    min_severity: Severity = Severity.INFO


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """A subject, the context to check it in, and the limits of the report."""

    subject: Subject
    context: Context = field(default_factory=Context)
    limits: ReportLimits = field(default_factory=ReportLimits)

    @property
    def evaluation_options(self) -> EvaluationOptions:
        """Options for validating values against schemas of the payload."""
        return EvaluationOptions(
            max_violations=self.limits.max_violations,
            max_length=self.limits.max_characters,
            hide_values=self.context.hide_values,
        )
