"""Checking tool definitions without registering them: what is wrong with each, in full."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.problems import (
    duplicate_name,
    refusal_as_problems,
    repeated_names,
)
from sidecheck_server.core.mcp.tools import read_tool
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.core.schemas.compilation import compile_source
from sidecheck_server.core.words import Document, Severity, Violation

__all__ = ["CheckedTool", "Problem", "check_tool", "tell_duplicates"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong with a tool definition."""

    violation: Violation
    #: The very place, as a JSON Pointer into the definition, where the violation names
    #: the schema as a whole.
    pointer: str


@dataclass(frozen=True, slots=True)
class CheckedTool:
    """What became of one definition."""

    #: The tool's name, or "" if the definition has none.
    name: str
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether the tool would be registered: none of its problems is an error."""
        return not any(one.violation.severity is Severity.ERROR for one in self.problems)


def check_tool(text: bytes, documents: tuple[Document, ...], limits: Limits) -> CheckedTool:
    """Return what is wrong with the tool definition whose JSON *text* is given.

    Both of its schemas are compiled, so it takes as long as that.
    """
    try:
        tool = read_tool(text, documents, limits)
    except Refusal as refusal:
        return CheckedTool(_name(text), _as_problems(refusal, ""))
    problems: list[Problem] = []
    for key, source in (("inputSchema", tool.input), ("outputSchema", tool.output)):
        if source is not None:
            try:
                compile_source(source, limits)
            except Refusal as refusal:
                problems += _as_problems(refusal, f"/{key}")
    return CheckedTool(tool.name, tuple(problems))


def _as_problems(refusal: Refusal, pointer: str) -> tuple[Problem, ...]:
    """Turn the *refusal* of what stands at *pointer* of a definition into problems of it."""
    found = refusal_as_problems(refusal, pointer)
    if not refusal.problems:
        return (Problem(found[0], pointer + _place(refusal)),)
    return tuple(Problem(each, each.instance_pointer) for each in found)


def tell_duplicates(checked: Sequence[CheckedTool]) -> list[CheckedTool]:
    """Return *checked* with a warning at every name that stands more than once."""
    repeated = repeated_names(one.name for one in checked)
    said = "several tools have this name; of those registered together, the last counts"
    problem = Problem(duplicate_name(said), "/name")
    return [
        replace(one, problems=(*one.problems, problem)) if one.name in repeated else one
        for one in checked
    ]


def _place(refusal: Refusal) -> str:
    place = refusal.metadata.get("place", "")
    # In a document given along, a place begins with its URI.
    if place and not place.startswith("/"):
        return ""
    return f"{place}/$ref" if refusal.reason is Reason.UNRESOLVABLE_REFERENCE else place


def _name(text: bytes) -> str:
    try:
        tool = decode(text, max_depth=len(text))
    except MalformedError:
        return ""
    name = tool.get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) else ""
