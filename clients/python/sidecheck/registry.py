"""Registered tools, and options of a registration."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sidecheck.targets import Document

__all__ = ["OnRejected", "Tool"]

#: Treatment of a registration with a rejected tool: raise `ToolsRejected` ("error"), or
#: return it.
OnRejected: TypeAlias = Literal["error", "return"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool of the registry."""

    #: Namespace of its server.
    server: str
    name: str
    #: The definition, byte for byte as registered, unless it was adapted.
    json: bytes
    #: Documents registered with it, as text.
    documents: tuple[Document, ...] = ()
    definition_digest: str = ""
    input_schema_digest: str = ""
    #: "" if it has no output schema.
    output_schema_digest: str = ""
    #: Revision of the registry that bound the name to the definition.
    revision: int = 0
    #: Protocol version under which the tool was registered.
    protocol_version: str = ""
