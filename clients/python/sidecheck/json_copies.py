"""Copies of JSON that share nothing with it, at any depth.

This module needs the standard library alone.
"""

import math
from collections.abc import Iterator
from types import NoneType
from typing import Any, Final

__all__ = ["MOST_VALUES", "NotJson", "copied"]

#: The most values that are copied. Shared Python objects can stand for far more than
#: they take in memory, and are written out one by one.
MOST_VALUES: Final = 1_000_000

#: The most characters of a place that a message tells.
_MOST_TOLD: Final = 200
_PLAIN: Final = frozenset({str, int, bool, NoneType})


class NotJson(ValueError):
    """What was given has no form in JSON; the message says where and why."""


def copied(source: dict[str, Any], member: str) -> Any:
    """Return what writing *source* as JSON and reading it back would; so tuples become lists.

    Raises:
        NotJson: JSON cannot express it (RFC 8259): other types, names that are no strings,
            NaN or infinities, itself within itself; or it has more values than are copied.
            The message begins with the place, a JSON Pointer that begins with *member*.
    """
    levels = [_Level({member: source})]
    whole = levels[0].copy
    try:
        _copy(levels)
    except NotJson as error:
        pointer = "".join(f"/{_escaped(level.at)}" for level in levels)
        told = pointer if len(pointer) <= _MOST_TOLD else f"{pointer[:_MOST_TOLD]}…"
        raise NotJson(f"{told} {error}") from None
    return whole[member]


class _Level:
    """An object or array that is being copied, within those before it."""

    __slots__ = ("at", "copy", "rest", "source")

    def __init__(self, source: Any) -> None:
        #: The member or item that it is about.
        self.at: str | int = ""
        self.source = source
        self.copy: Any
        self.rest: Iterator[tuple[Any, Any]]
        if isinstance(source, dict):
            _check_names(source)
            self.copy, self.rest = {}, iter(source.items())
        elif isinstance(source, list | tuple):
            self.copy, self.rest = [None] * len(source), iter(enumerate(source))
        else:
            raise NotJson(f"is of type {type(source).__name__}, which JSON cannot express")

    def inner(self) -> "_Level | None":
        """Copy all before the next object or array, and return that; None at the end."""
        for self.at, value in self.rest:  # noqa: B020  (what it iterates stays the same)
            if type(value) not in _PLAIN and not _is_scalar(value):
                inner = _Level(value)
                self.copy[self.at] = inner.copy
                return inner
            self.copy[self.at] = value
        return None


def _check_names(source: dict[Any, Any]) -> None:
    for name in source:
        if not isinstance(name, str):
            kind = type(name).__name__
            raise NotJson(f"has a name of type {kind}, which JSON cannot express")


def _is_scalar(value: object) -> bool:
    if isinstance(value, float) and not math.isfinite(value):
        raise NotJson("is NaN or infinite, which JSON cannot express")
    return isinstance(value, str | int | float)


def _copy(levels: list[_Level]) -> None:
    # What is being copied, so that an object within itself is found.
    within: set[int] = set()
    left = MOST_VALUES
    while levels:
        inner = levels[-1].inner()
        if inner is None:
            within.discard(id(levels.pop().source))
            continue
        if id(inner.source) in within:
            raise NotJson("stands within itself, which JSON cannot express")
        left -= len(inner.source)
        if left < 0:
            raise NotJson(f"is beyond the {MOST_VALUES:,} values that are copied at most")
        within.add(id(inner.source))
        levels.append(inner)


def _escaped(at: str | int) -> str:
    return str(at).replace("~", "~0").replace("/", "~1")
