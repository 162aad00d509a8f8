"""Problems of tool definitions, as violations: what a refusal says, and names that repeat."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.types import Violation

__all__ = ["refusal_as_problems", "repeated_names"]


def refusal_as_problems(refusal: RequestError, pointer: str) -> tuple[Violation, ...]:
    """Turn the *refusal* of what stands at *pointer* of a definition into problems of it."""
    if not refusal.violations:
        return (Violation(pointer, "", "", refusal.reason.value, refusal.message),)
    return tuple(
        replace(problem, instance_location=pointer + problem.instance_location)
        for problem in refusal.violations
    )


def repeated_names(names: Iterable[str]) -> frozenset[str]:
    """Return those of *names* that stand more than once; a tool without a name has ""."""
    counts = Counter(name for name in names if name)
    return frozenset(name for name, count in counts.items() if count > 1)
