"""What was found by the rules of the protocol, for the wire."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from sidecheck.v1 import protocol_service_pb2

from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.check import Checked
from sidecheck_server.core.mcp.messages import reply_to
from sidecheck_server.core.mcp.subjects import Asked, ProtocolMessage
from sidecheck_server.core.mcp.tools.names import CheckedNames
from sidecheck_server.core.mcp.tools.outcomes import Treatment
from sidecheck_server.core.words import Verdict
from sidecheck_server.rpc.convert.targets import documents_from_wire
from sidecheck_server.rpc.convert.terms import terms_from_wire
from sidecheck_server.rpc.convert.verdicts import checked_to_wire
from sidecheck_server.state.targets import InlineTool
from sidecheck_server.state.tools import CheckedTools, ToolsToCheck

__all__ = ["answer_to_wire", "names_to_wire", "tools_from_wire", "tools_to_wire"]


def answer_to_wire(
    asked: Asked, checked: Checked, verdict: Verdict
) -> protocol_service_pb2.CheckAnswer:
    """Return the message of the *verdict* on what was *asked*, with the reply that is due."""
    if not isinstance(asked.subject, ProtocolMessage):
        return protocol_service_pb2.CheckAnswer(verdict=checked_to_wire(verdict))
    reply = reply_to(checked.messages, verdict, asked.context.version)
    told = checked_to_wire(verdict, _error_of(reply))
    return protocol_service_pb2.CheckAnswer(verdict=told, reply=reply)


def _error_of(reply: bytes) -> bytes:
    """Return the error in *reply*, or b"" if it has none, or one for each of a batch."""
    if not reply.startswith(b"{"):
        return b""
    members: Any = msgspec.json.decode(reply, type=dict[str, msgspec.Raw])
    return bytes(members["error"])


def names_to_wire(checked: CheckedNames) -> protocol_service_pb2.CheckToolNamesResponse:
    """Return the message of what was found in names."""
    return protocol_service_pb2.CheckToolNamesResponse(
        outcomes=[
            protocol_service_pb2.ToolNameOutcome(
                verdict=checked_to_wire(one.verdict),
                sdk_valid=one.sdk_valid,
                sdk_warnings=one.sdk_warnings,
                sanitized=one.sanitized,
            )
            for one in checked.names
        ],
        collisions=[
            protocol_service_pb2.NameCollision(sanitized=one.sanitized, places=one.places)
            for one in checked.collisions
        ],
    )


_TREATMENTS: Mapping[Treatment, protocol_service_pb2.ToolOutcome.Treatment] = MappingProxyType(
    {
        Treatment.KEEP: protocol_service_pb2.ToolOutcome.TREATMENT_KEEP,
        Treatment.WARN: protocol_service_pb2.ToolOutcome.TREATMENT_WARN,
        Treatment.DROP: protocol_service_pb2.ToolOutcome.TREATMENT_DROP,
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
        listing=request.listing,
        documents=documents_from_wire(request.documents),
        tools=tuple(
            InlineTool(tool.json, documents_from_wire(tool.documents)) for tool in request.tools
        ),
        context=terms.context,
        how=terms.how,
    )


def tools_to_wire(checked: CheckedTools) -> protocol_service_pb2.CheckToolsResponse:
    """Return the message of what was found in definitions, and in what lists them."""
    return protocol_service_pb2.CheckToolsResponse(
        outcomes=[
            protocol_service_pb2.ToolOutcome(
                name=one.name,
                pointer=one.pointer,
                treatment=_TREATMENTS[one.treatment],
                verdict=checked_to_wire(one.verdict),
            )
            for one in checked.outcomes
        ],
        listing=checked_to_wire(checked.listing),
    )
