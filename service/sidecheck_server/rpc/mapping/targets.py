"""Targets of requests, and the subjects that are validated against them."""

from collections.abc import Iterable

from sidecheck.v1 import target_pb2

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.schemas.dialects import DEFAULT_DIALECT, SchemaSource
from sidecheck_server.core.types import Document
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
]


def subject_from_proto(subject: target_pb2.Subject) -> tuple[SubjectKind | None, bytes]:
    """Return the kind of *subject*, None if it is not set, and its JSON text if it has one."""
    kind = subject.WhichOneof("subject")
    if kind is None or kind == "absent_structured_content":
        return kind, b""
    return kind, getattr(subject, kind)


def target_from_proto(target: target_pb2.Target) -> Target:
    """Return the target.

    Raises:
        RequestError: INVALID_REQUEST if it is not set.
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
                "the request has no target to validate against",
                {"field": "target"},
            )


def tool_from_proto(tool: target_pb2.InlineTool) -> InlineTool:
    """Return an inline tool definition."""
    return InlineTool(tool.json, documents_from_proto(tool.documents))


def documents_from_proto(documents: Iterable[target_pb2.Document]) -> tuple[Document, ...]:
    """Return the documents that schemas may refer to."""
    return tuple(Document(document.uri, document.json) for document in documents)
