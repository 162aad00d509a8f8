"""What was found by the rules of the protocol, for the wire."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from sidecheck.v1 import protocol_service_pb2

from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.check import Checked
from sidecheck_server.core.mcp.messages import reply_to
from sidecheck_server.core.mcp.subjects import CheckRequest, ProtocolMessage
from sidecheck_server.core.mcp.tools.names import CheckedName, Collision
from sidecheck_server.core.mcp.tools.outcomes import CheckedTool, Disposition
from sidecheck_server.core.types import Verdict
from sidecheck_server.rpc.mapping.context import terms_from_wire
from sidecheck_server.rpc.mapping.targets import documents_from_wire, tool_from_wire
from sidecheck_server.rpc.mapping.verdicts import checked_to_wire
from sidecheck_server.services.tools import ToolsToCheck

__all__ = [
    "answer_to_wire",
    "collision_to_wire",
    "name_to_wire",
    "tool_outcome_to_wire",
    "tools_from_wire",
]


def answer_to_wire(
    asked: CheckRequest, checked: Checked, verdict: Verdict, *, replies: bool = True
) -> protocol_service_pb2.CheckResult:
    """Return the message of the *verdict* on what was *asked*, with the reply that is due.

    Unless *replies*, the reply is left out.
    """
    if not (replies and isinstance(asked.subject, ProtocolMessage)):
        return protocol_service_pb2.CheckResult(verdict=checked_to_wire(verdict))
    version, hidden = asked.context.version, asked.context.hide_values
    reply = reply_to(checked.messages, verdict, version, hide_values=hidden)
    told = checked_to_wire(verdict, _error_of(reply))
    return protocol_service_pb2.CheckResult(verdict=told, error_response=reply)


def _error_of(reply: bytes) -> bytes:
    """Return the error in *reply*, or b"" if it has none, or one for each of a batch."""
    if not reply.startswith(b"{"):
        return b""
    members: Any = msgspec.json.decode(reply, type=dict[str, msgspec.Raw])
    return bytes(members["error"])


def name_to_wire(checked: CheckedName) -> protocol_service_pb2.ToolNameOutcome:
    """Return the message of what was found of a name."""
    return protocol_service_pb2.ToolNameOutcome(
        verdict=checked_to_wire(checked.verdict),
        sdk_valid=checked.sdk_valid,
        sdk_warnings=checked.sdk_warnings,
        sanitized=checked.sanitized,
    )


def collision_to_wire(collision: Collision) -> protocol_service_pb2.NameCollision:
    """Return the message of names that become the same."""
    return protocol_service_pb2.NameCollision(
        sanitized=collision.sanitized, indexes=collision.places
    )


_TREATMENTS: Mapping[Disposition, protocol_service_pb2.ToolOutcome.Disposition] = MappingProxyType(
    {
        Disposition.KEEP: protocol_service_pb2.ToolOutcome.DISPOSITION_KEEP,
        Disposition.WARN: protocol_service_pb2.ToolOutcome.DISPOSITION_WARN,
        Disposition.DROP: protocol_service_pb2.ToolOutcome.DISPOSITION_DROP,
    }
)


def tools_from_wire(
    request: protocol_service_pb2.CheckToolsRequest, limits: Limits
) -> ToolsToCheck:
    """Return the definitions to check, and how.

    Raises:
        Refusal: as `terms_from_wire`; LIMIT_EXCEEDED if there are too many tools, which are
            counted before they are read.
    """
    if len(request.tools) > limits.batch_items:
        raise exceeded("batch_items", limits.batch_items, "the tools", len(request.tools))
    terms = terms_from_wire(request.context, request.options, limits)
    return ToolsToCheck(
        listing=request.tools_list,
        documents=documents_from_wire(request.documents),
        tools=tuple(map(tool_from_wire, request.tools)),
        context=terms.context,
        how=terms.how,
    )


def tool_outcome_to_wire(checked: CheckedTool) -> protocol_service_pb2.ToolOutcome:
    """Return the message of what was found in a definition."""
    return protocol_service_pb2.ToolOutcome(
        name=checked.name,
        pointer=checked.pointer,
        disposition=_TREATMENTS[checked.disposition],
        verdict=checked_to_wire(checked.verdict),
    )
