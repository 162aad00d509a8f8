"""Problems of tool definitions, as violations: what a refusal says, and names that repeat."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from sidecheck_server.core.mcp.rules.rule import Clause
from sidecheck_server.core.mcp.versions import DEFAULT_VERSION
from sidecheck_server.core.refusals import Refusal
from sidecheck_server.core.words import Severity, Violation

__all__ = ["duplicate_name", "refusal_as_problems", "repeated_names"]

_UNIQUE = Clause("server/tools", "tool")


def refusal_as_problems(refusal: Refusal, pointer: str) -> tuple[Violation, ...]:
    """Turn the *refusal* of what stands at *pointer* of a definition into problems of it."""
    if not refusal.problems:
        return (Violation(pointer, "", "", refusal.reason.value, refusal.message),)
    return tuple(
        replace(problem, instance_pointer=pointer + problem.instance_pointer)
        for problem in refusal.problems
    )


def repeated_names(names: Iterable[str]) -> frozenset[str]:
    """Return those of *names* that stand more than once; a tool without a name has ""."""
    counts = Counter(name for name in names if name)
    return frozenset(name for name, count in counts.items() if count > 1)


def duplicate_name(message: str, version: str = DEFAULT_VERSION) -> Violation:
    """Return the warning of a name that another tool has too, which *message* tells."""
    return Violation(
        instance_pointer="/name",
        schema_pointer="",
        keyword="",
        code="TOOL_NAME_DUPLICATE",
        message=message,
        severity=Severity.WARNING,
        clause=_UNIQUE.at(version),
    )
