"""What a payload is judged under: five ways to name a schema."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.types import Document

__all__ = [
    "DefinitionDigest",
    "InlineTool",
    "RegisteredTool",
    "SchemaDigest",
    "Side",
    "Target",
]


class Side(StrEnum):
    """Which schema of a tool judges."""

    INPUT = "input"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class RegisteredTool:
    """A tool known to the registry by name."""

    server: str
    name: str
    #: The definition digest that the tool must have, or "".
    pinned: str = ""


@dataclass(frozen=True, slots=True)
class DefinitionDigest:
    """A tool definition known to the registry by its digest."""

    digest: str


@dataclass(frozen=True, slots=True)
class SchemaDigest:
    """A schema of a registered tool, by its digest."""

    digest: str


@dataclass(frozen=True, slots=True)
class InlineTool:
    """A tool definition that is sent along."""

    json: bytes
    documents: tuple[Document, ...] = ()


#: A schema that is sent along is its own source.
Target: TypeAlias = RegisteredTool | DefinitionDigest | SchemaDigest | InlineTool | SchemaSource
