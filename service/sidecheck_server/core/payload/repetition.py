"""Keys that stand more than once in an object (RFC 8259, section 4)."""

import json
from collections.abc import Iterator
from typing import Any, TypeAlias, Union

import msgspec

from sidecheck_server.core.types import JsonValue, Violation, as_pointer

__all__ = ["find_repeated_keys", "repeats_a_key"]

_ENCODE = msgspec.json.Encoder().encode

_LENGTH_OF_POINTERS = 1 << 20
"""How many characters the pointers of repeated keys may have in all: a long key
around many objects is a part of every pointer into them."""

#: The steps to a value: those to what it stands in, and the last one.
_Path: TypeAlias = Union[tuple["_Path", str | int], None]


def repeats_a_key(text: bytes, value: JsonValue) -> bool:
    """Return whether an object in *text* has a key twice; *value* has the last of each.

    Exact if *text* is JSON and *value* is what it was decoded to.
    """
    written = _ENCODE(value)
    if written == text:
        return False
    # A member that is lost costs a colon when the value is written again. Every
    # other colon stands in a string and is written as it was read, unless it was
    # escaped.
    colons = text.count(b":")
    if colons > 1 and b"\\" in text and b"\\u003" in text:
        escapes = text.replace(b"\\\\", b"")
        colons += escapes.count(b"\\u003a") + escapes.count(b"\\u003A")
    return colons > 1 and colons != written.count(b":")


def find_repeated_keys(text: bytes, most: int) -> tuple[tuple[Violation, ...], bool]:
    """Return a violation for each key that is repeated in *text*, and whether there are more.

    They are in the order of the text, at most *most* and fewer if pointers are very
    long. Nothing is told of the values of a repeated key but of the last one.
    """
    found: list[Violation] = []
    room = _LENGTH_OF_POINTERS
    for path, name in _repeated_keys(text):
        if len(found) == most or room <= 0:
            return tuple(found), True
        pointer = as_pointer((*_steps(path), name))
        room -= len(pointer)
        found.append(_repeated(pointer))
    return tuple(found), False


def _repeated_keys(text: bytes) -> Iterator[tuple[_Path, str]]:
    # Objects become tuples of pairs; nobody looks at numbers.
    root: Any = json.loads(text, object_pairs_hook=tuple, parse_int=str, parse_float=str)
    stack: list[tuple[_Path, Any]] = [(None, root)]
    while stack:
        path, value = stack.pop()
        if type(value) is tuple:
            members = dict(value)
            if len(members) < len(value):
                for name in _more_than_once(value):
                    yield path, name
            within = [
                ((path, name), member)
                for name, member in members.items()
                if member and type(member) in _CONTAINERS
            ]
        else:
            within = [
                ((path, index), item)
                for index, item in enumerate(value)
                if item and type(item) in _CONTAINERS
            ]
        # The stack is last in, first out; what comes first in the text is told first.
        within.reverse()
        stack += within


_CONTAINERS = {tuple, list}


def _more_than_once(pairs: tuple[tuple[str, Any], ...]) -> Iterator[str]:
    seen: set[str] = set()
    told: set[str] = set()
    for name, _ in pairs:
        if name not in seen:
            seen.add(name)
        elif name not in told:
            told.add(name)
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
        message="the object has this key more than once; readers would disagree which one counts",
        clause="RFC 8259, section 4; RFC 7493, section 2.3",
    )
