"""Targets of a validation: registered tools, digests, inline tools and schemas.

Definitions and schemas are JSON text as ``bytes``, or objects to encode, as
`sidecheck.json_texts` describes. Prefer text for definitions that were received over a
network: it keeps digests and the order of properties.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias

from sidecheck.json_types import JsonBytes, JsonObject

__all__ = [
    "TARGETS",
    "DefinitionDigest",
    "Document",
    "RegisteredTool",
    "Schema",
    "SchemaDigest",
    "SchemaJson",
    "Target",
    "ToolDefinition",
    "ToolJson",
]

#: A schema: JSON text, or an object or boolean (JSON Schema 2020-12 core, section 4.3)
#: to encode.
SchemaJson: TypeAlias = JsonBytes | JsonObject | bool

#: A tool definition: JSON text, or an object to encode.
ToolJson: TypeAlias = JsonBytes | JsonObject


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON document sent along with a schema, for its references."""

    #: Absolute URI by which references name the document.
    uri: str
    #: The document.
    json: SchemaJson


@dataclass(frozen=True, slots=True)
class RegisteredTool:
    """A tool of the registry, by server and name."""

    #: Namespace of the server that offers the tool.
    server: str
    #: Name of the tool, exactly as registered; "" with `CallParams`, which contain it.
    name: str = ""
    #: If not "", the expected digest of the registered definition; a different digest is the
    #: error ``DEFINITION_MISMATCH``.
    definition_digest: str = ""


@dataclass(frozen=True, slots=True)
class DefinitionDigest:
    """A tool definition of the registry, by its digest."""

    #: ``sha256:`` and 64 hexadecimal digits.
    digest: str


@dataclass(frozen=True, slots=True)
class SchemaDigest:
    """A schema of a registered tool, by its digest."""

    #: ``sha256:`` and 64 hexadecimal digits.
    digest: str


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool definition sent inline, as an entry of an MCP ``tools/list`` result."""

    #: The definition.
    json: ToolJson
    #: Documents that the schemas of the tool refer to.
    documents: tuple[Document, ...] = ()


@dataclass(frozen=True, slots=True)
class Schema:
    """A JSON Schema sent inline."""

    #: The schema.
    json: SchemaJson
    #: Documents that it refers to; one may be the meta-schema of its ``$schema``.
    documents: tuple[Document, ...] = ()
    #: URI of the dialect of a schema without ``$schema``; "" is JSON Schema 2020-12, the
    #: default of MCP.
    default_dialect: str = ""


#: The target of a validation.
Target: TypeAlias = RegisteredTool | DefinitionDigest | SchemaDigest | ToolDefinition | Schema

#: The classes of `Target`, for `isinstance`.
TARGETS: Final = (RegisteredTool, DefinitionDigest, SchemaDigest, ToolDefinition, Schema)
