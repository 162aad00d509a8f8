"""Messages of ProtocolService about tool names and tool definitions."""

from collections.abc import Iterable
from typing import Final

from sidecheck.json_texts import protocol_text
from sidecheck.protocol import (
    CheckedNames,
    CheckedTools,
    CheckOptions,
    Disposition,
    NameCollision,
    ProtocolContext,
    ToolNameOutcome,
    ToolOutcome,
)
from sidecheck.targets import Document, ToolJson
from sidecheck.tool_lists import DEFINITIONS, Definition, list_tools
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.wire.decoders.verdict import decode_verdict
from sidecheck.wire.errors import require_count, require_field
from sidecheck.wire.protocol import encode_context, encode_options
from sidecheck.wire.values import copy_fields, encode_documents, encode_inline_tools

__all__ = ["decode_names", "decode_tools", "encode_names", "encode_tools"]

DISPOSITIONS: Final = {
    protocol_pb.ToolOutcome.DISPOSITION_KEEP: Disposition.KEEP,
    protocol_pb.ToolOutcome.DISPOSITION_WARN: Disposition.WARN,
    protocol_pb.ToolOutcome.DISPOSITION_DROP: Disposition.DROP,
}


def encode_names(
    names: Iterable[str], context: ProtocolContext | None, options: CheckOptions | None
) -> protocol_pb.CheckToolNamesRequest:
    """Return the request to check tool names.

    Raises:
        TypeError: *names* is a single string.
    """
    if isinstance(names, str):
        raise TypeError("names must be an iterable of strings, not a single string")
    return protocol_pb.CheckToolNamesRequest(
        context=encode_context(context), options=encode_options(options), names=names
    )


def encode_tools(
    tools_list: ToolJson | None,
    definitions: Definition | ToolJson | Iterable[Definition | ToolJson] | None,
    documents: Iterable[Document],
    context: ProtocolContext | None,
    options: CheckOptions | None,
) -> protocol_pb.CheckToolsRequest:
    """Return the request to check either a tools list or definitions.

    Raises:
        TypeError: Neither or both are given; or a value has another type.
        ValueError: *documents* are passed with *definitions*.
    """
    if (tools_list is None) is (definitions is None):
        raise TypeError(
            "check_tools needs either tools_list, which a server sent, or definitions, which are"
            " to be registered"
        )
    request = protocol_pb.CheckToolsRequest(
        context=encode_context(context), options=encode_options(options)
    )
    if tools_list is not None:
        if isinstance(tools_list, DEFINITIONS):
            name = type(tools_list).__name__
            raise TypeError(f"tools_list must be JSON, not {name}; definitions= takes a {name}")
        request.tools_list = protocol_text(tools_list, "tools_list")
        request.documents.extend(encode_documents(documents))
        return request
    if any(True for _ in documents):
        raise ValueError(
            "documents belong to a tools list; give those of a definition in its ToolDefinition"
        )
    request.tools.extend(encode_inline_tools(list_tools(definitions)))
    return request


def decode_names(response: protocol_pb.CheckToolNamesResponse, count: int) -> CheckedNames:
    """Return the result of a check of *count* tool names."""
    require_count(response, "outcomes", count)
    return CheckedNames(
        outcomes=tuple(
            copy_fields(
                outcome,
                ToolNameOutcome,
                verdict=decode_verdict(require_field(outcome, "verdict")),
                sdk_warnings=tuple(outcome.sdk_warnings),
            )
            for outcome in response.outcomes
        ),
        collisions=tuple(
            NameCollision(collision.sanitized, tuple(collision.indexes))
            for collision in response.collisions
        ),
    )


def decode_tools(response: protocol_pb.CheckToolsResponse, count: int) -> CheckedTools:
    """Return the result of a check; *count* is 0 for a tools list."""
    if count:
        require_count(response, "outcomes", count)
    return CheckedTools(
        outcomes=tuple(
            copy_fields(
                outcome,
                ToolOutcome,
                disposition=DISPOSITIONS.get(outcome.disposition, Disposition.UNSPECIFIED),
                verdict=decode_verdict(require_field(outcome, "verdict")),
            )
            for outcome in response.outcomes
        ),
        tools_list_verdict=decode_verdict(require_field(response, "tools_list_verdict")),
    )
