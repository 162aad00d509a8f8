"""Classes that describe types: objects, choices, aliases and kinds of values.

Discriminators are properties that identify the intended type among several alternatives.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

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
    "Discriminators",
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
    "discriminators_of",
    "one_of_values",
    "optional",
    "required",
    "tag_of",
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
    """Return an optional property. It may be missing, but not null."""
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
    #: Properties that all alternatives share, which distinguish this choice where it is an
    #: alternative of another choice.
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
    """Return the kind whose only value is *value*."""
    return Plain({"type": "string" if isinstance(value, str) else "integer", "const": value})


def one_of_values(values: Iterable[str]) -> Plain:
    """Return the kind whose values are the strings *values*."""
    return Plain({"type": "string", "enum": list(values)})


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Discriminators:
    """Properties that distinguish a type from its alternatives."""

    #: Required properties that have one of a few values.
    constants: tuple[tuple[str, tuple[Any, ...]], ...]
    #: Required properties.
    required: tuple[str, ...]
    #: Properties that have one of a few values if they are present.
    possible: tuple[tuple[str, tuple[Any, ...]], ...]

    def match_constants(self, value: Any) -> bool:
        """Return whether *value* has the constants.

        A value that is not an object matches a type without required properties.
        """
        if not isinstance(value, dict):
            return not self.required
        for name, values in self.constants:  # noqa: SIM110  (`all` takes three times as long)
            if value.get(name) not in values:
                return False
        return True

    def has_required(self, value: Any) -> bool:
        """Return whether the object *value* has all required properties."""
        for name in self.required:  # noqa: SIM110  (as above)
            if name not in value:
                return False
        return True

    def may_match(self, value: Any) -> bool:
        """Return whether *value* is an object and no property contradicts the type."""
        return (
            isinstance(value, dict)
            and self.match_constants(value)
            and all(value.get(name, values[0]) in values for name, values in self.possible)
        )


def discriminators_of(alternatives: Sequence[Iterable[Property]]) -> list[Discriminators]:
    """Return the discriminators of alternative types, each given by its properties."""
    enumerations = [_list_enumerations(properties) for properties in alternatives]
    # A property with several values discriminates only if all alternatives enumerate it.
    shared = set(enumerations[0]).intersection(*enumerations[1:])
    return [
        _build_discriminators(
            properties,
            {
                name: values
                for name, values in enumeration.items()
                if len(values) == 1 or name in shared
            },
        )
        for properties, enumeration in zip(alternatives, enumerations, strict=True)
    ]


def tag_of(alternatives: Sequence[tuple[Discriminators, T]]) -> tuple[str, dict[str, T]]:
    """Return a property that tags *alternatives*, and the alternatives by its value.

    Each alternative must have exactly one constant, a distinct string, under the same
    property. Returns ("", {}) if there is no such property.
    """
    names = {name for discriminators, _ in alternatives for name, _ in discriminators.constants}
    by_text = {
        values[0]: alternative
        for discriminators, alternative in alternatives
        for _, values in discriminators.constants
        if len(discriminators.constants) == len(values) == 1 and isinstance(values[0], str)
    }
    if len(names) == 1 and len(by_text) == len(alternatives):
        return names.pop(), by_text
    return "", {}


def _build_discriminators(
    properties: Iterable[Property], enumerations: dict[str, tuple[Any, ...]]
) -> Discriminators:
    required = tuple(property_.name for property_ in properties if property_.required)
    return Discriminators(
        constants=tuple(
            (name, values) for name, values in enumerations.items() if name in required
        ),
        required=required,
        possible=tuple(enumerations.items()),
    )


def _list_enumerations(properties: Iterable[Property]) -> dict[str, tuple[Any, ...]]:
    """Return the allowed values of each of *properties* with ``const`` or ``enum``."""
    enumerations: dict[str, tuple[Any, ...]] = {}
    for property_ in properties:
        if isinstance(property_.kind, Plain):
            schema = property_.kind.schema
            if "const" in schema:
                enumerations[property_.name] = (schema["const"],)
            elif "enum" in schema:
                enumerations[property_.name] = tuple(schema["enum"])
    return enumerations
