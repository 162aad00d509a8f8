"""The canonical form: what schemas of every dialect are lowered to.

It is JSON Schema draft-07 with these differences, so that one small code generator
serves all dialects and no text of a schema ever becomes an identifier:

* ``$ref`` is ``#/definitions/dN``, stands alone, and N is counted.
* ``pattern`` and the keys of ``patternProperties`` are numbers into `Lowered.patterns`;
  ``format`` is a number into `Lowered.formats`.
* ``const`` is an ``enum`` of one; a constant that is an array or an object is
  `Constant`, a number into `Lowered.constants`.
* ``type`` has one more name, ``int``: an integer that is not written as 1.0.
* ``contains`` has ``minContains`` and ``maxContains`` beside it.
* ``byType`` is a list of ``[types, schema]``, and demands of a value of one of those types
  that the schema beside it accepts it. All other values are refused. No two types have a
  value in common.
* ``byMember`` holds the ``name`` of a member and ``cases``, a list of ``[values, schema]``.
  It demands of an object to have that member, with one of those values, which are strings,
  booleans or null, and that the schema beside it accepts the object. No value comes twice.
* Annotations, identifiers and what has no effect are gone.
"""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sidecheck_server.core.types import JsonValue

__all__ = ["CannotLowerError", "Canonical", "Constant", "Lowered"]

Canonical: TypeAlias = bool | dict[str, Any]


class CannotLowerError(Exception):
    """The canonical form has no words for something; *reason* names it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant that does not fit into an expression: number N of `Lowered.constants`."""

    number: int


@dataclass(slots=True)
class Lowered:
    """A schema in canonical form: numbered definitions, of which ``d0`` is the root."""

    definitions: dict[str, Canonical] = field(default_factory=dict)
    #: The patterns and formats with their numbers, in order.
    patterns: dict[str, int] = field(default_factory=dict)
    formats: dict[str, int] = field(default_factory=dict)
    constants: list[JsonValue] = field(default_factory=list)
