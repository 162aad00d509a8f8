"""Deep copies of JSON values, with checks.

This module needs only the standard library.
"""

import math
from collections.abc import Iterator
from types import NoneType
from typing import Any, Final

from sidecheck.pointers import as_pointer

__all__ = ["MAX_VALUES", "NotJson", "copy_json"]

#: Maximum values to copy. Shared Python objects are copied for each reference, so the copy may
#: be far larger than the source.
MAX_VALUES: Final = 1_000_000

#: Maximum length of a location in a message, in characters.
_MAX_LOCATION: Final = 200
_PLAIN: Final = frozenset({str, int, bool, NoneType})


class NotJson(ValueError):
    """A value that JSON cannot express; the message has the location and the reason."""


def copy_json(source: dict[str, Any], name: str) -> Any:
    """Return a copy as if *source* was written as JSON and read: tuples become lists.

    Raises:
        NotJson: JSON cannot express a value (RFC 8259): another type, a property name that
            is not a string, NaN or an infinity, or a value that contains itself; or there
            are more than `MAX_VALUES` values. The message begins with the location, a JSON
            Pointer that starts at *name*.
    """
    levels = [_Level({name: source})]
    root = levels[0].copy
    try:
        _copy(levels)
    except NotJson as error:
        pointer = as_pointer(level.key for level in levels)
        if len(pointer) > _MAX_LOCATION:
            pointer = f"{pointer[:_MAX_LOCATION]}…"
        raise NotJson(f"{pointer} {error}") from None
    return root[name]


class _Level:
    """An object or array in progress, nested in the levels before it."""

    __slots__ = ("copy", "key", "rest", "source")

    def __init__(self, source: Any) -> None:
        #: Name or index of the value that is being copied.
        self.key: str | int = ""
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
        """Copy up to the next object or array, and return its level; None at the end."""
        for self.key, value in self.rest:  # noqa: B020  (the iterator stays the same)
            if type(value) not in _PLAIN and not _is_scalar(value):
                inner = _Level(value)
                self.copy[self.key] = inner.copy
                return inner
            self.copy[self.key] = value
        return None


def _check_names(source: dict[Any, Any]) -> None:
    for name in source:
        if not isinstance(name, str):
            raise NotJson(
                f"has a property name of type {type(name).__name__}, which JSON cannot express"
            )


def _is_scalar(value: object) -> bool:
    if isinstance(value, float) and not math.isfinite(value):
        raise NotJson("is NaN or infinite, which JSON cannot express")
    return isinstance(value, str | int | float)


def _copy(levels: list[_Level]) -> None:
    # The objects and arrays in progress, to find one that contains itself.
    open_ids: set[int] = set()
    remaining = MAX_VALUES
    while levels:
        inner = levels[-1].inner()
        if inner is None:
            open_ids.discard(id(levels.pop().source))
            continue
        if id(inner.source) in open_ids:
            raise NotJson("contains itself, which JSON cannot express")
        remaining -= len(inner.source)
        if remaining < 0:
            raise NotJson(f"exceeds the limit of {MAX_VALUES:,} values")
        open_ids.add(id(inner.source))
        levels.append(inner)
