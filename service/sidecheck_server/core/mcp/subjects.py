"""What can be checked by the rules of the protocol, each as its JSON text."""

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
    """A tool definition: an entry of a ``tools/list`` answer."""

    json: bytes

    @property
    def size(self) -> int:
        """The length of its texts together, in bytes."""
        return len(self.json)


@dataclass(frozen=True, slots=True)
class ToolList:
    """The result of a ``tools/list`` request; its definitions may be left out."""

    json: bytes

    @property
    def size(self) -> int:
        """The length of its texts together, in bytes."""
        return len(self.json)


@dataclass(frozen=True, slots=True)
class Elicitation:
    """The ``params`` of an ``elicitation/create`` request."""

    params: bytes

    @property
    def size(self) -> int:
        """The length of its texts together, in bytes."""
        return len(self.params)


@dataclass(frozen=True, slots=True)
class ElicitationResult:
    """The result of an ``elicitation/create`` request."""

    result: bytes
    #: The ``params`` of the request, or b"" if they are not known.
    params: bytes = b""

    @property
    def size(self) -> int:
        """The length of its texts together, in bytes."""
        return len(self.result) + len(self.params)


@dataclass(frozen=True, slots=True)
class Sampling:
    """The ``params`` of a ``sampling/createMessage`` request."""

    params: bytes

    @property
    def size(self) -> int:
        """The length of its texts together, in bytes."""
        return len(self.params)


@dataclass(frozen=True, slots=True)
class CallParams:
    """The ``params`` of a ``tools/call`` request."""

    params: bytes
    #: The name of the tool that they must call, or "" if they may call any.
    tool: str = ""

    @property
    def size(self) -> int:
        """The length of its texts together, in bytes."""
        return len(self.params)


class ResultProfile(StrEnum):
    """What a tool's result must be."""

    SPECIFICATION = "specification"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A ``CallToolResult``."""

    json: bytes
    profile: ResultProfile = ResultProfile.SPECIFICATION
    #: Whether the tool that gave it has an output schema. The profile of texts has no
    #: structured content, whatever the tool has.
    has_output_schema: bool = False

    @property
    def size(self) -> int:
        """The length of its texts together, in bytes."""
        return len(self.json)


@dataclass(frozen=True, slots=True)
class ProtocolMessage:
    """A JSON-RPC message, or a batch of them."""

    json: bytes
    #: For a response: the method that it answers, or "" if not known; that of `request`
    #: goes before.
    answers: str = ""
    #: For a response: the request that it answers, whole, or b"" if not known.
    request: bytes = b""

    @property
    def size(self) -> int:
        """The length of its texts together, in bytes."""
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
    """How much is told."""

    #: The largest number of violations; at least one.
    most: int = 20
    #: The largest text of all of them, in characters; one is always told.
    longest: int = 1 << 20
    #: Less grave ones are left out.
    least: Severity = Severity.INFO


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """A subject, and how to check it."""

    subject: Subject
    context: Context = field(default_factory=Context)
    how: ReportLimits = field(default_factory=ReportLimits)

    @property
    def judging(self) -> EvaluationOptions:
        """How values are judged that the rules ask about."""
        return EvaluationOptions(
            max_violations=self.how.most,
            max_length=self.how.longest,
            hide_values=self.context.hide_values,
        )
