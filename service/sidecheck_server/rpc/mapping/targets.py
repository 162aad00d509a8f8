"""What payloads are judged under, from the wire."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from sidecheck.v1 import target_pb2

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.schemas.dialects import DEFAULT_DIALECT
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.types import Document
from sidecheck_server.services.targets import (
    DefinitionDigest,
    InlineTool,
    RegisteredTool,
    SchemaDigest,
    Side,
    Target,
)

__all__ = ["WHOLES", "documents_from_wire", "side_of", "target_from_wire"]

WHOLES = frozenset({"call_params", "call_result", "absent_structured_content"})
"""The subjects that are judged under a tool, and not under one of its schemas alone."""

_SIDES: Mapping[str, Side] = MappingProxyType(
    {"arguments": Side.INPUT, "structured_content": Side.OUTPUT}
)


def side_of(subject: str | None) -> Side:
    """Return which schema of a tool judges the *subject* of that name, which is none of `WHOLES`.

    Raises:
        Refusal: INVALID_REQUEST if there is none.
    """
    if subject is None:
        raise RequestError(
            ErrorReason.INVALID_REQUEST, "the request has no subject to judge", {"field": "subject"}
        )
    return _SIDES[subject]


def target_from_wire(target: target_pb2.Target) -> Target:
    """Return the target.

    Raises:
        Refusal: INVALID_REQUEST if there is none.
    """
    match target.WhichOneof("target"):
        case "registered_tool":
            named = target.registered_tool
            return RegisteredTool(named.server, named.name, named.definition_digest)
        case "definition_digest":
            return DefinitionDigest(target.definition_digest)
        case "schema_digest":
            return SchemaDigest(target.schema_digest)
        case "inline_tool":
            return tool_from_wire(target.inline_tool)
        case "inline_schema":
            schema = target.inline_schema
            dialect = schema.default_dialect or DEFAULT_DIALECT.uri
            return SchemaSource(schema.json, documents_from_wire(schema.documents), dialect)
        case _:
            raise RequestError(
                ErrorReason.INVALID_REQUEST,
                "the request has no target to judge under",
                {"field": "target"},
            )


def tool_from_wire(tool: target_pb2.InlineTool) -> InlineTool:
    """Return a tool definition that was sent along."""
    return InlineTool(tool.json, documents_from_wire(tool.documents))


def documents_from_wire(documents: Iterable[target_pb2.Document]) -> tuple[Document, ...]:
    """Return the documents that were sent along."""
    return tuple(Document(document.uri, document.json) for document in documents)
