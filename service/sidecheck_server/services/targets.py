"""Targets: the five ways to say what a payload is validated against."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document

__all__ = [
    "DefinitionDigest",
    "InlineTool",
    "RegisteredTool",
    "SchemaDigest",
    "Side",
    "SubjectKind",
    "Target",
]

#: What is validated: arguments or structured content by a schema of the tool; the params
#: of a call, a result, or the absence of structured content by the protocol too.
SubjectKind: TypeAlias = Literal[
    "arguments", "structured_content", "call_params", "call_result", "absent_structured_content"
]


class Side(StrEnum):
    """Which schema of a tool validates a payload."""

    INPUT = "input"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class RegisteredTool:
    """A registered tool, by server and name."""

    server: str
    name: str
    #: The definition digest that the tool must have, or "".
    pinned: str = ""


@dataclass(frozen=True, slots=True)
class DefinitionDigest:
    """A registered tool definition, by its digest."""

    digest: str


@dataclass(frozen=True, slots=True)
class SchemaDigest:
    """A schema of a registered tool, by its digest."""

    digest: str


@dataclass(frozen=True, slots=True)
class InlineTool:
    """A tool definition that the request contains."""

    json: bytes
    documents: tuple[Document, ...] = ()

    @property
    def size(self) -> int:
        """The length of the definition and its documents, in bytes."""
        return len(self.json) + sum(len(document.json) for document in self.documents)


#: A schema that the request contains is its own source.
Target: TypeAlias = RegisteredTool | DefinitionDigest | SchemaDigest | InlineTool | SchemaSource
