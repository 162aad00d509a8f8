"""Data model of portability: facts, hazards, and effects of hazards."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

from sidecheck_server.core.convert.providers.provider import Source
from sidecheck_server.core.limits import Budget
from sidecheck_server.core.portability.target import Target
from sidecheck_server.core.schemas.walker import SchemaLocation, walk_schema

__all__ = [
    "Effect",
    "Fact",
    "Find",
    "Hazard",
    "Occurrence",
    "Path",
    "ToolView",
    "view_tool",
]

#: Keys and indexes that lead from the tool definition to a value.
Path: TypeAlias = tuple[str | int, ...]


class Effect(Enum):
    """Consequence of a hazard at a target, as a clause of a message."""

    REQUEST_REFUSED = "the whole request is refused"
    LIST_REFUSED = "no tool of the server is loaded"
    TOOL_DROPPED = "the tool is dropped"
    CALLS_FAIL = "every call of the tool fails"
    SUBMISSION_REJECTED = "the submission is rejected"
    CONSTRAINT_IGNORED = "the constraint is ignored"

    @property
    def is_refusal(self) -> bool:
        """Whether the tool cannot be used; if not, it is only less constrained."""
        return self is not Effect.CONSTRAINT_IGNORED


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Place of a hazard in a definition."""

    path: Path
    #: Subject of the message, for example ``"anyOf" at the root``.
    subject: str
    #: JSON Schema keyword, or "".
    keyword: str = ""


@dataclass(frozen=True, slots=True)
class ToolView:
    """Tool definition, and the subschemas of both its schemas with their paths."""

    tool: dict[str, Any]
    #: Subschemas of the input schema that are objects; paths start at the input schema.
    inputs: tuple[SchemaLocation, ...]
    outputs: tuple[SchemaLocation, ...]
    #: Name of the server that offers it, or "".
    server: str = ""

    @property
    def name(self) -> str:
        """Name of the tool, or "" if it has none."""
        name = self.tool.get("name")
        return name if isinstance(name, str) else ""

    @property
    def root(self) -> dict[str, Any]:
        """The input schema; empty if it is not an object."""
        return self.inputs[0].schema if self.inputs else {}


def view_tool(tool: dict[str, Any], server: str, budget: Budget) -> ToolView:
    """Return the view of *tool*.

    Raises:
        Exhausted: *budget* is spent.
    """
    inputs = tuple(walk_schema(tool.get("inputSchema"), budget))
    outputs = tuple(walk_schema(tool.get("outputSchema"), budget))
    return ToolView(tool, inputs, outputs, server)


#: Yields the places of a hazard. Raises `Exhausted` if the budget is spent.
Find: TypeAlias = Callable[[ToolView, Budget], Iterator[Occurrence]]


@dataclass(frozen=True, slots=True)
class Hazard:
    """Part of a definition that some targets refuse or ignore."""

    #: Stable, in upper snake case. Hazards that differ only in a parameter share a code.
    code: str
    #: Requirement that a definition without the hazard meets.
    requirement: str
    #: What to write in its place, in the imperative.
    remedy: str
    find: Find = field(repr=False)


@dataclass(frozen=True, slots=True)
class Fact:
    """Effect of a hazard on a target, with its source."""

    target: Target
    hazard: Hazard
    effect: Effect
    source: Source
