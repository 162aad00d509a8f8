"""Duplicate keys of objects (RFC 8259, section 4)."""

import json
from collections.abc import Iterator
from typing import Any, TypeAlias, Union

from sidecheck_server.core.types import Violation, as_pointer

__all__ = ["any_repeated_key", "find_repeated_keys", "has_repeated_key"]

_LENGTH_OF_POINTERS = 1 << 20
"""The longest pointers in all, in characters: a long key around many objects is part of
every pointer into them."""

#: The path of a value: that of its container, and the last step.
_Path: TypeAlias = Union[tuple["_Path", str | int], None]


def has_repeated_key(text: bytes, written: bytes) -> bool:
    """Return whether an object in *text* has a duplicate key.

    Exact if *text* is JSON, and *written* the text of its value with the last of each duplicate.
    """
    # It lacks the colon of each lost duplicate. Every other colon is in a string, and is
    # written as it was read, unless it was escaped.
    colons = text.count(b":")
    if colons > 1 and b"\\" in text and b"\\u003" in text:
        escapes = text.replace(b"\\\\", b"")
        colons += escapes.count(b"\\u003a") + escapes.count(b"\\u003A")
    return colons > 1 and colons != written.count(b":")


def any_repeated_key(text: bytes) -> bool:
    """Return whether an object in *text* has a duplicate key, without converting numbers."""
    return next(_repeated_keys(text), None) is not None


def find_repeated_keys(text: bytes, max_violations: int) -> tuple[tuple[Violation, ...], bool]:
    """Return a violation for each duplicate key in *text*, and whether there are more.

    They are in the order of the text, at most *max_violations*, and fewer if pointers are
    very long. Of the values of a duplicate key only the last is searched.
    """
    violations: list[Violation] = []
    room = _LENGTH_OF_POINTERS
    for path, name in _repeated_keys(text):
        if len(violations) == max_violations or room <= 0:
            return tuple(violations), True
        pointer = as_pointer((*_steps(path), name))
        room -= len(pointer)
        violations.append(_repeated(pointer))
    return tuple(violations), False


def _repeated_keys(text: bytes) -> Iterator[tuple[_Path, str]]:
    # Objects become tuples of pairs; numbers are not needed.
    root: Any = json.loads(text, object_pairs_hook=tuple, parse_int=str, parse_float=str)
    stack: list[tuple[_Path, Any]] = [(None, root)]
    while stack:
        path, value = stack.pop()
        if type(value) is tuple:
            properties = dict(value)
            if len(properties) < len(value):
                for name in _duplicates(value):
                    yield path, name
            children = [
                ((path, name), child)
                for name, child in properties.items()
                if child and type(child) in _CONTAINERS
            ]
        else:
            children = [
                ((path, index), item)
                for index, item in enumerate(value)
                if item and type(item) in _CONTAINERS
            ]
        # Reversed, since the stack is last in, first out.
        children.reverse()
        stack += children


_CONTAINERS = {tuple, list}


def _duplicates(pairs: tuple[tuple[str, Any], ...]) -> Iterator[str]:
    seen: set[str] = set()
    reported: set[str] = set()
    for name, _ in pairs:
        if name not in seen:
            seen.add(name)
        elif name not in reported:
            reported.add(name)
            yield name


def _steps(path: _Path) -> list[str | int]:
    steps = []
    while path is not None:
        path, step = path
        steps.append(step)
    steps.reverse()
    return steps


def _repeated(pointer: str) -> Violation:
    return Violation(
        instance_location=pointer,
        keyword_location="",
        keyword="",
        code="DUPLICATE_KEY",
        message="duplicate key in the object; JSON parsers disagree on which value counts",
        spec_url="https://www.rfc-editor.org/rfc/rfc8259#section-4",
    )
