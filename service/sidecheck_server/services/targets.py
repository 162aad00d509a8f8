"""Targets: the five forms in which a request names a schema or a tool."""

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

#: Kinds of subjects. A schema of the tool validates arguments and structured content; the
#: rules of the protocol apply as well to call params, results and absent structured content.
SubjectKind: TypeAlias = Literal[
    "arguments", "structured_content", "call_params", "call_result", "absent_structured_content"
]


class Side(StrEnum):
    """The schema of a tool that validates a payload: its input or its output schema."""

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
        """Length of the definition and its documents, in bytes."""
        return len(self.json) + sum(len(document.json) for document in self.documents)


#: A schema that the request contains is its own source.
Target: TypeAlias = RegisteredTool | DefinitionDigest | SchemaDigest | InlineTool | SchemaSource
