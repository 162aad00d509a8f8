"""The canonical form of schemas, to which schemas of every dialect are lowered.

It is JSON Schema draft-07 with the following differences. They let one small code generator
support all dialects, and keep texts of a schema out of identifiers:

* ``$ref`` is ``#/definitions/dN`` with a number N, and has no siblings.
* ``pattern`` and the keys of ``patternProperties`` are indexes into
  `LoweredSchema.patterns`; ``format`` is an index into `LoweredSchema.formats`.
* ``const`` is an ``enum`` with one value; a constant that is an array or an object is a
  `Constant`, an index into `LoweredSchema.constants`.
* ``type`` has an additional name, ``int``: an integer without fraction or exponent.
* ``contains`` always has a sibling ``minContains``, and may have a sibling ``maxContains``.
* ``byType`` is a list of ``[types, schema]``: a value must have one of the types, and match
  the schema of this type. No two types share a value.
* ``byProperty`` has the ``name`` of a property and ``cases``, a list of ``[values,
  schema]``: an object must have the property with one of the values (strings, booleans or
  null), and match the schema of this value. No value occurs twice.
* Annotations, identifiers and keywords without effect are absent.
"""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sidecheck_server.core.types import JsonValue

__all__ = ["CannotLowerError", "Canonical", "Constant", "LoweredSchema"]

Canonical: TypeAlias = bool | dict[str, Any]


class CannotLowerError(Exception):
    """The canonical form cannot express a part of a schema; *reason* names it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Constant:
    """An array or object constant: an index into `LoweredSchema.constants`."""

    number: int


@dataclass(slots=True)
class LoweredSchema:
    """A schema in canonical form, as numbered definitions with the root ``d0``."""

    definitions: dict[str, Canonical] = field(default_factory=dict)
    #: Patterns and formats with their numbers, in order.
    patterns: dict[str, int] = field(default_factory=dict)
    formats: dict[str, int] = field(default_factory=dict)
    constants: list[JsonValue] = field(default_factory=list)
