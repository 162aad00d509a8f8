"""Discriminators: properties that show which of several types a value is meant to be."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sidecheck_server.core.mcp.types.model import Plain, Property

__all__ = ["Discriminators", "discriminators_of", "tag_of"]

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
        """Return whether *value* has the constants; values that are no objects have none."""
        if not isinstance(value, dict):
            return not self.required
        for name, values in self.constants:  # noqa: SIM110  (`all` takes three times as long)
            if value.get(name) not in values:
                return False
        return True

    def are_present(self, value: Any) -> bool:
        """Return whether the object *value* has all required properties."""
        for name in self.required:  # noqa: SIM110  (as above)
            if name not in value:
                return False
        return True

    def may_match(self, value: Any) -> bool:
        """Return whether *value* is an object without a contradicting property."""
        return (
            isinstance(value, dict)
            and self.match_constants(value)
            and all(value.get(name, values[0]) in values for name, values in self.possible)
        )


def discriminators_of(alternatives: Sequence[Iterable[Property]]) -> list[Discriminators]:
    """Return the discriminators of alternative types, each given by its properties."""
    enumerations = [_enumerations(properties) for properties in alternatives]
    # A property with several values discriminates only if every alternative enumerates it.
    shared = set(enumerations[0]).intersection(*enumerations[1:])
    return [
        _discriminators(
            properties,
            {name: values for name, values in own.items() if len(values) == 1 or name in shared},
        )
        for properties, own in zip(alternatives, enumerations, strict=True)
    ]


def tag_of(alternatives: Sequence[tuple[Discriminators, T]]) -> tuple[str, dict[str, T]]:
    """Return the property whose text alone selects one of *alternatives*, and the selection.

    ("", {}) if there is none: each alternative must have one constant text of its own under
    the same property, and no other constant.
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


def _discriminators(
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


def _enumerations(properties: Iterable[Property]) -> dict[str, tuple[Any, ...]]:
    """Return the allowed values of those *properties* that enumerate them, by name."""
    enumerations: dict[str, tuple[Any, ...]] = {}
    for property_ in properties:
        if isinstance(property_.kind, Plain):
            schema = property_.kind.schema
            if "const" in schema:
                enumerations[property_.name] = (schema["const"],)
            elif "enum" in schema:
                enumerations[property_.name] = tuple(schema["enum"])
    return enumerations
