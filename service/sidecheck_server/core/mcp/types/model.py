"""The words in which shapes are told."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from sidecheck_server.core.mcp.versions import VERSIONS

__all__ = [
    "ANY",
    "BOOLEAN",
    "INTEGER",
    "NUMBER",
    "OBJECT",
    "STRING",
    "URI",
    "Alias",
    "Alternative",
    "Choice",
    "Field",
    "Kind",
    "ListOf",
    "MapOf",
    "ObjectType",
    "OneOf",
    "Plain",
    "Ref",
    "Type",
    "constant",
    "one_of_values",
    "optional",
    "required",
]

_FIRST, _LAST = VERSIONS[0], VERSIONS[-1]


@dataclass(frozen=True, slots=True)
class Plain:
    """A value without parts of its own, told in JSON Schema."""

    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ref:
    """A value of the type of that name."""

    name: str


@dataclass(frozen=True, slots=True)
class ListOf:
    """An array of them."""

    item: "Kind"
    #: How many there may be, or None if that is not bounded.
    most: int | None = None


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object whose members are all of one kind."""

    value: "Kind"


@dataclass(frozen=True, slots=True)
class OneOf:
    """A value of any of these kinds."""

    kinds: tuple["Kind", ...]


Kind: TypeAlias = Plain | Ref | ListOf | MapOf | OneOf


@dataclass(frozen=True, slots=True)
class Field:
    """A member of an object, in the versions from *since* to *until*."""

    name: str
    kind: Kind
    required: bool
    since: str = _FIRST
    until: str = _LAST


def required(name: str, kind: Kind, since: str = _FIRST, until: str = _LAST) -> Field:
    """Return a member that must be there."""
    return Field(name, kind, True, since, until)  # noqa: FBT003


def optional(name: str, kind: Kind, since: str = _FIRST, until: str = _LAST) -> Field:
    """Return a member that may be missing, but not null."""
    return Field(name, kind, False, since, until)  # noqa: FBT003


@dataclass(frozen=True, slots=True)
class ObjectType:
    """An object. It may have more members than are told, unless it is *closed*.

    A member may be told several times, for versions that do not overlap.
    """

    name: str
    fields: tuple[Field, ...] = ()
    #: The names of shapes whose members it has too, if their versions have them.
    bases: tuple[str, ...] = ()
    closed: bool = False
    since: str = _FIRST
    until: str = _LAST


@dataclass(frozen=True, slots=True)
class Alternative:
    """A type that a choice may be, in the versions from *since* to *until*."""

    name: str
    since: str = _FIRST
    until: str = _LAST


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of one of several types."""

    name: str
    alternatives: tuple[Alternative, ...]
    #: Members that all of them have and that tell them from others, where this choice is
    #: an alternative itself.
    marks: tuple[Field, ...] = ()
    since: str = _FIRST
    until: str = _LAST


@dataclass(frozen=True, slots=True)
class Alias:
    """A name for a kind."""

    name: str
    kind: Kind
    since: str = _FIRST
    until: str = _LAST


Type: TypeAlias = ObjectType | Choice | Alias

ANY = Plain({})
BOOLEAN = Plain({"type": "boolean"})
INTEGER = Plain({"type": "integer"})
NUMBER = Plain({"type": "number"})
#: An object with any members.
OBJECT = Plain({"type": "object"})
STRING = Plain({"type": "string"})
#: The format says what is meant; whether the text is one is for rules to tell.
URI = Plain({"type": "string", "format": "uri"})


def constant(value: str | int) -> Plain:
    """Return the kind of that very text or number."""
    return Plain({"type": "string" if isinstance(value, str) else "integer", "const": value})


def one_of_values(values: Iterable[str]) -> Plain:
    """Return the kind of one of these texts."""
    return Plain({"type": "string", "enum": list(values)})
