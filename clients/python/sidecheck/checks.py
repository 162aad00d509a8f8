"""What is checked by the rules of the protocol: what peers say to each other.

JSON given as ``bytes`` or ``str`` is JSON text and sent as it is: what came over a wire
is best checked as it came. Any other value is encoded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sidecheck.targets import Target
from sidecheck.violations import Severity

__all__ = [
    "CheckItem",
    "CheckOptions",
    "Elicitation",
    "ElicitationResult",
    "ProtocolContext",
    "ProtocolJson",
    "ProtocolMessage",
    "ResultProfile",
    "Sampling",
    "Sender",
    "ToolResult",
]

#: JSON of the protocol: JSON text, or an object or an array to be encoded.
ProtocolJson: TypeAlias = bytes | str | Mapping[str, Any] | Sequence[Any]

#: Who sent a message; "" if that is not known: then what either may send is admitted.
Sender: TypeAlias = Literal["", "client", "server"]

#: What the result of a tool must be: what the specification of the protocol version
#: says, or the text contract of `sidecheck.text_contract`.
ResultProfile: TypeAlias = Literal["specification", "text"]


@dataclass(frozen=True, slots=True)
class ProtocolContext:
    """What is known of the client and the server of the protocol."""

    #: The MCP protocol version whose rules hold, for example ``2025-11-25``. ""
    #: means the server's default, which `ServerInfo` names.
    protocol_version: str = ""
    #: The capabilities that the client declared. If None they are not known, and
    #: nothing is said to need one.
    client_capabilities: bytes | str | Mapping[str, Any] | None = None
    #: The capabilities that the server declared; else as those of the client.
    server_capabilities: bytes | str | Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """How much an answer tells; every default is the server's own."""

    #: The largest number of violations in a verdict; the server lowers it to its own
    #: limit.
    max_violations: int = 20
    #: Whether messages leave out the values found.
    hide_values: bool = False
    #: Violations less grave than this are left out.
    min_severity: Severity = Severity.INFO


@dataclass(frozen=True, slots=True)
class Elicitation:
    """The ``params`` of an ``elicitation/create`` request."""

    params: ProtocolJson


@dataclass(frozen=True, slots=True)
class ElicitationResult:
    """The result of an ``elicitation/create`` request."""

    result: ProtocolJson
    #: The ``params`` of the request. If None they are not known, and the content is not
    #: judged under what was asked for.
    params: ProtocolJson | None = None


@dataclass(frozen=True, slots=True)
class Sampling:
    """The ``params`` of a ``sampling/createMessage`` request, with its whole history."""

    params: ProtocolJson


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A ``CallToolResult``."""

    result: ProtocolJson
    #: What it must be.
    profile: ResultProfile = "specification"
    #: The tool that gave it, whose output schema judges the structured content. If None,
    #: that is not judged.
    tool: Target | None = None


@dataclass(frozen=True, slots=True)
class ProtocolMessage:
    """A JSON-RPC message, or a batch of them where the protocol version has batches."""

    message: ProtocolJson
    #: Who sent it.
    sender: Sender = ""
    #: For a response: the method of the request that it answers. If "" and no
    #: ``request`` is given, only its envelope is judged.
    answers: str = ""
    #: For a response: the request that it answers, whole.
    request: ProtocolJson | None = None


#: One thing of many that are checked in one call.
CheckItem: TypeAlias = Elicitation | ElicitationResult | Sampling | ToolResult | ProtocolMessage
