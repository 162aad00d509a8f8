"""Subjects of protocol checks, as JSON texts, and requests for checks."""

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
    #: Whether its author submits it; False if a server lists it. The output schema of a
    #: canonical definition may have any root, and nulls and snake-case names are read as in
    #: `protocol_form`.
    canonical: bool = False

    @property
    def size(self) -> int:
        """Total length of its JSON texts in bytes."""
        return len(self.json)


@dataclass(frozen=True, slots=True)
class ToolList:
    """Result of a ``tools/list`` request, with or without its tool definitions."""

    json: bytes
    #: Whether its author submits it; False if a server sends it. See `ToolJson.canonical`.
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
    #: Name of the tool that they must call, or "" for any tool.
    tool: str = ""

    @property
    def size(self) -> int:
        """Total length of its JSON texts in bytes."""
        return len(self.params)


class ResultProfile(StrEnum):
    """Required form of a tool result: as in the specification, or only text."""

    SPECIFICATION = "specification"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A ``CallToolResult``."""

    json: bytes
    profile: ResultProfile = ResultProfile.SPECIFICATION
    #: Whether the tool has an output schema. The text contract never has structured content.
    has_output_schema: bool = False

    @property
    def size(self) -> int:
        """Total length of its JSON texts in bytes."""
        return len(self.json)


@dataclass(frozen=True, slots=True)
class ProtocolMessage:
    """A JSON-RPC message, or a batch of them."""

    json: bytes
    #: For a response: method of its request, or "" if unknown. The method in `request` has
    #: precedence.
    request_method: str = ""
    #: For a response: the whole request, or b"" if unknown.
    request: bytes = b""
    #: For responses among the first messages of a batch: methods of their requests, or "".
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
    #: Total length of all violations of a severity; the first may exceed it.
    max_characters: int = 1 << 20
    #: Less severe violations are omitted.
    min_severity: Severity = Severity.INFO


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """A subject, the context of its check, and the limits of the report."""

    subject: Subject
    context: Context = field(default_factory=Context)
    limits: ReportLimits = field(default_factory=ReportLimits)

    @property
    def evaluation_options(self) -> EvaluationOptions:
        """Options of validations against schemas in the payload."""
        return EvaluationOptions(
            max_violations=self.limits.max_violations,
            max_length=self.limits.max_characters,
            hide_values=self.context.hide_values,
        )
