"""Targets, definitions and verdicts in messages of several services.

Values and messages use the same names of fields, so most fields are copied by name.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast

from google.protobuf.message import Message

from sidecheck.json_texts import is_json_object, protocol_text
from sidecheck.targets import (
    DefinitionDigest,
    Document,
    RegisteredTool,
    Schema,
    SchemaDigest,
    Target,
    ToolDefinition,
    ToolJson,
)
from sidecheck.tool_lists import DEFINITIONS, Definition
from sidecheck.v1 import target_pb2 as target_pb

__all__ = [
    "copy_fields",
    "element_bytes",
    "encode_documents",
    "encode_inline_tool",
    "encode_inline_tools",
    "encode_target",
    "encode_tool_target",
    "find_label",
    "require_revision",
]

Value = TypeVar("Value")


# Encoding


def find_label(field: str, value: str, labels: Mapping[str, str]) -> str:
    """Return the label of the enum value for *value*.

    Raises:
        ValueError: *labels* has no such value.
    """
    if value not in labels:
        expected = ", ".join(map(repr, labels))
        raise ValueError(f"invalid {field} {value!r}; expected one of {expected}")
    return labels[value]


def encode_documents(documents: Iterable[Document]) -> list[target_pb.Document]:
    """Return the messages for *documents*."""
    return [
        target_pb.Document(uri=document.uri, json=protocol_text(document.json, "Document.json"))
        for document in documents
    ]


def encode_inline_tool(tool: Definition | ToolJson, name: str = "tool") -> target_pb.InlineTool:
    """Return the message for a definition, which may be bare JSON.

    Raises:
        ValueError: JSON cannot express a value in *tool*.
        TypeError: *tool* is a ``str``. The error refers to it as *name*.
    """
    if not isinstance(tool, DEFINITIONS):
        return target_pb.InlineTool(json=protocol_text(tool, name))
    return target_pb.InlineTool(
        json=protocol_text(tool.json, f"{type(tool).__name__}.json"),
        documents=encode_documents(getattr(tool, "documents", ())),
    )


def encode_inline_tools(tools: Iterable[Definition | ToolJson]) -> list[target_pb.InlineTool]:
    """Return the messages for definitions; raises as `encode_inline_tool`."""
    return [encode_inline_tool(tool, f"tools[{index}]") for index, tool in enumerate(tools)]


def encode_target(target: Target | None) -> target_pb.Target | None:
    """Return the message for *target*; None stays None."""
    match target:
        case None:
            return None
        case RegisteredTool(server, name, digest):
            return target_pb.Target(
                registered_tool=target_pb.RegisteredTool(
                    server=server, name=name, definition_digest=digest
                )
            )
        case DefinitionDigest(digest):
            return target_pb.Target(definition_digest=digest)
        case SchemaDigest(digest):
            return target_pb.Target(schema_digest=digest)
        case ToolDefinition():
            return target_pb.Target(inline_tool=encode_inline_tool(target))
        case Schema():
            return target_pb.Target(
                inline_schema=target_pb.InlineSchema(
                    json=protocol_text(target.json, "Schema.json"),
                    documents=encode_documents(target.documents),
                    default_dialect=target.default_dialect,
                )
            )
    raise TypeError(
        f"invalid target of type {type(target).__name__}; pass a RegisteredTool or ToolDefinition"
    )


def encode_tool_target(
    tool: Target | Definition | ToolJson, name: str = "tool"
) -> target_pb.Target | None:
    """Return the message for a target or for a definition, which may be bare JSON."""
    if isinstance(tool, (str, *DEFINITIONS)) or is_json_object(tool):
        return target_pb.Target(inline_tool=encode_inline_tool(tool, name))
    return encode_target(cast("Target", tool))


def element_bytes(message: Message) -> int:
    """Return the size of *message* as an element of a repeated field.

    An element consists of the tag, one byte for the field numbers in use, the length, seven
    bits per byte, and the message (Protocol Buffers, "Encoding").
    """
    size = message.ByteSize()
    return 1 + max(1, (size.bit_length() + 6) // 7) + size


def require_revision(request: Message, revision: int) -> None:
    """Set *revision* as the minimum revision of *request*, if it reads the registry."""
    if "min_revision" in request.DESCRIPTOR.fields_by_name:
        request.min_revision = revision  # type: ignore[attr-defined]


# Decoding


def copy_fields(message: Message, kind: type[Value], **converted: object) -> Value:
    """Return a *kind* with the fields in *converted*; copy all other fields from *message*."""
    fields: tuple[dataclasses.Field[Any], ...] = dataclasses.fields(cast("Any", kind))
    names = {field.name for field in fields}.difference(converted)
    return kind(**{name: getattr(message, name) for name in names}, **converted)
