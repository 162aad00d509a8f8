"""What there is to say of a fault, and the parts of it that several rules share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.explain.schemas import describe
from sidecheck_server.core.explain.values import Values, quoted

__all__ = ["Rule", "Saying", "aside", "is_member", "pattern_text"]

_LONGEST_PATTERN = 120


@dataclass(frozen=True, slots=True)
class Saying:
    """What there is to say of a fault."""

    message: str
    suggestion: str = ""


Rule = Callable[[Fault, Values], Saying]
"""Puts the faults of one keyword into words."""


def is_member(fault: Fault) -> bool:
    """Return whether the value of *fault* stands in an object."""
    path = fault.absolute_path
    return bool(path) and isinstance(path[-1], str)


def aside(schema: Any, fault: Fault) -> str:
    """Return what *schema*, a subschema at the fault, asks for, in parentheses."""
    described = describe(schema, fault.scope, 1)
    return f" ({described})" if described else ""


def pattern_text(pattern: str) -> str:
    """Return *pattern*, cut if it is long."""
    if len(pattern) > _LONGEST_PATTERN:
        pattern = pattern[: _LONGEST_PATTERN - 1] + "…"
    return pattern if pattern.isprintable() else quoted(pattern)
