"""Targets of requests, and the subjects that are validated against them."""

from collections.abc import Iterable, Sequence

from sidecheck.v1 import target_pb2

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import limit_exceeded_error
from sidecheck_server.core.schemas.dialects import DEFAULT_DIALECT, SchemaSource
from sidecheck_server.core.types import Document
from sidecheck_server.services.offload import TimeSlice
from sidecheck_server.services.targets import (
    DefinitionDigest,
    InlineTool,
    RegisteredTool,
    SchemaDigest,
    SubjectKind,
    Target,
)

__all__ = [
    "documents_from_proto",
    "subject_from_proto",
    "target_from_proto",
    "tool_from_proto",
    "tools_from_proto",
]


_MAX_DOCUMENTS = 10_000
"""Maximum documents to read: a message may have a million, which would take a second."""


def subject_from_proto(subject: target_pb2.Subject) -> tuple[SubjectKind | None, bytes]:
    """Return the kind of *subject*, or None, and its JSON text, or b""."""
    kind = subject.WhichOneof("subject")
    if kind is None or kind == "absent_structured_content":
        return kind, b""
    return kind, getattr(subject, kind)


def target_from_proto(target: target_pb2.Target) -> Target:
    """Return the target.

    Raises:
        RequestError: INVALID_REQUEST if *target* is not set; as `documents_from_proto`.
    """
    match target.WhichOneof("target"):
        case "registered_tool":
            tool = target.registered_tool
            return RegisteredTool(tool.server, tool.name, tool.definition_digest)
        case "definition_digest":
            return DefinitionDigest(target.definition_digest)
        case "schema_digest":
            return SchemaDigest(target.schema_digest)
        case "inline_tool":
            return tool_from_proto(target.inline_tool)
        case "inline_schema":
            schema = target.inline_schema
            dialect = schema.default_dialect or DEFAULT_DIALECT.uri
            return SchemaSource(schema.json, documents_from_proto(schema.documents), dialect)
        case _:
            raise RequestError(
                ErrorReason.INVALID_REQUEST,
                "the request has no target; expected a registered tool, a digest, or a tool or "
                "schema sent inline",
                {"field": "target"},
            )


def tool_from_proto(tool: target_pb2.InlineTool) -> InlineTool:
    """Return an inline tool definition."""
    return InlineTool(tool.json, documents_from_proto(tool.documents))


async def tools_from_proto(tools: Iterable[target_pb2.InlineTool]) -> tuple[InlineTool, ...]:
    """Return inline tool definitions, and yield to other tasks in between.

    Raises:
        RequestError: LIMIT_EXCEEDED if a tool has more than `_MAX_DOCUMENTS` documents.
    """
    inline, time_slice = [], TimeSlice()
    for tool in tools:
        inline.append(tool_from_proto(tool))
        await time_slice.yield_if_over()
    return tuple(inline)


def documents_from_proto(documents: Sequence[target_pb2.Document]) -> tuple[Document, ...]:
    """Return the documents that schemas may refer to.

    Raises:
        RequestError: LIMIT_EXCEEDED if there are more than `_MAX_DOCUMENTS`. The limit of the
            settings applies when the documents are used.
    """
    if len(documents) > _MAX_DOCUMENTS:
        raise limit_exceeded_error("documents", _MAX_DOCUMENTS, "the documents", len(documents))
    return tuple(Document(document.uri, document.json) for document in documents)
