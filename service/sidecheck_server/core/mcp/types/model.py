"""Classes that describe types: objects, choices, aliases and the kinds of their parts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from sidecheck_server.core.mcp.context import VERSIONS

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
    "Kind",
    "ListOf",
    "MapOf",
    "ObjectType",
    "OneOf",
    "Plain",
    "Property",
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
    """A value without typed parts, described by a JSON Schema."""

    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ref:
    """A value of the named type."""

    name: str


@dataclass(frozen=True, slots=True)
class ListOf:
    """An array of items of one kind."""

    item: "Kind"
    #: Largest number of items, or None if unbounded.
    max_items: int | None = None


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object whose properties are all of one kind."""

    value: "Kind"


@dataclass(frozen=True, slots=True)
class OneOf:
    """A value of one of several kinds."""

    kinds: tuple["Kind", ...]


Kind: TypeAlias = Plain | Ref | ListOf | MapOf | OneOf


@dataclass(frozen=True, slots=True)
class Property:
    """A property of an object, in the versions from *since* to *until*."""

    name: str
    kind: Kind
    required: bool
    since: str = _FIRST
    until: str = _LAST


def required(name: str, kind: Kind, since: str = _FIRST, until: str = _LAST) -> Property:
    """Return a required property."""
    return Property(name, kind, True, since, until)  # noqa: FBT003


def optional(name: str, kind: Kind, since: str = _FIRST, until: str = _LAST) -> Property:
    """Return a property that may be missing, but not null."""
    return Property(name, kind, False, since, until)  # noqa: FBT003


@dataclass(frozen=True, slots=True)
class ObjectType:
    """An object. It may have further properties, unless it is *closed*.

    A property may be listed several times, for versions that do not overlap.
    """

    name: str
    properties: tuple[Property, ...] = ()
    #: Names of types whose properties it inherits, in the versions that have those types.
    bases: tuple[str, ...] = ()
    closed: bool = False
    since: str = _FIRST
    until: str = _LAST


@dataclass(frozen=True, slots=True)
class Alternative:
    """A type of a choice, in the versions from *since* to *until*."""

    name: str
    since: str = _FIRST
    until: str = _LAST


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of one of several types."""

    name: str
    alternatives: tuple[Alternative, ...]
    #: Properties that all alternatives share and that distinguish them from other types,
    #: where this choice is an alternative itself.
    discriminators: tuple[Property, ...] = ()
    since: str = _FIRST
    until: str = _LAST


@dataclass(frozen=True, slots=True)
class Alias:
    """A named kind."""

    name: str
    kind: Kind
    since: str = _FIRST
    until: str = _LAST


Type: TypeAlias = ObjectType | Choice | Alias

ANY = Plain({})
BOOLEAN = Plain({"type": "boolean"})
INTEGER = Plain({"type": "integer"})
NUMBER = Plain({"type": "number"})
#: An object with any properties.
OBJECT = Plain({"type": "object"})
STRING = Plain({"type": "string"})
#: The format is an annotation; rules check the text.
URI = Plain({"type": "string", "format": "uri"})


def constant(value: str | int) -> Plain:
    """Return the kind of one text or number."""
    return Plain({"type": "string" if isinstance(value, str) else "integer", "const": value})


def one_of_values(values: Iterable[str]) -> Plain:
    """Return the kind of texts that are one of *values*."""
    return Plain({"type": "string", "enum": list(values)})
