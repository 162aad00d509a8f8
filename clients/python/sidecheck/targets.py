"""What a payload is judged under: tools and schemas, known to the server or sent along.

JSON of a definition or a schema may be given as ``bytes`` or ``str``, which are
JSON text and sent as they are, or as a Python value, which is encoded. Text is
the safer form for what came over a wire: digests and property order survive.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = [
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

#: A schema: JSON text, or an object or a boolean (JSON Schema 2020-12 core,
#: section 4.3) to be encoded.
SchemaJson: TypeAlias = bytes | str | bool | Mapping[str, Any]

#: A tool definition: JSON text, or an object to be encoded.
ToolJson: TypeAlias = bytes | str | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON document, given along with a schema, that its references may point to."""

    #: The absolute URI under which references find it.
    uri: str
    #: The document.
    json: SchemaJson


@dataclass(frozen=True, slots=True)
class RegisteredTool:
    """A tool that was registered under the name of its server."""

    #: The namespace of the server that offers the tool.
    server: str
    #: The tool's name, exactly as registered; "" where `CallParams` say it.
    name: str = ""
    #: If not "", the digest that the registered definition must have; another one
    #: is refused with ``DEFINITION_MISMATCH``.
    definition_digest: str = ""


@dataclass(frozen=True, slots=True)
class DefinitionDigest:
    """A tool definition known to the registry by its digest."""

    #: ``sha256:`` and 64 hexadecimal digits.
    digest: str


@dataclass(frozen=True, slots=True)
class SchemaDigest:
    """A schema of a registered tool, known by its digest."""

    #: ``sha256:`` and 64 hexadecimal digits.
    digest: str


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool definition in the form of an MCP ``tools/list`` entry."""

    #: The definition.
    json: bytes | str | Mapping[str, Any]
    #: Documents that the tool's schemas refer to.
    documents: tuple[Document, ...] = ()


@dataclass(frozen=True, slots=True)
class Schema:
    """A JSON Schema that is sent along with the payload."""

    #: The schema.
    json: SchemaJson
    #: Documents that it refers to; one may be the meta-schema of its ``$schema``.
    documents: tuple[Document, ...] = ()
    #: The URI of the dialect to assume if the schema has no ``$schema``. "" means
    #: JSON Schema 2020-12, the default of MCP.
    default_dialect: str = ""


#: Anything that a payload can be judged under.
Target: TypeAlias = RegisteredTool | DefinitionDigest | SchemaDigest | ToolDefinition | Schema
