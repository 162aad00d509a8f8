"""Readings: what a subschema demands, found out when it is first applied."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.engines.charges import charge_for
from sidecheck_server.core.schemas.dialects import Dialect
from sidecheck_server.core.schemas.keywords import Draft
from sidecheck_server.core.schemas.resources import Resource
from sidecheck_server.core.types import JsonValue

__all__ = ["Judge", "Reading", "Readings", "reading_of"]

Judge = Callable[[Any, Any, Any, Any], Iterable[Any]]
"""Yields the faults of a keyword, given validator, its value, the payload's, the schema."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A subschema as it is read under a dialect."""

    #: The steps that applying it takes.
    charge: int
    #: The keywords in force with their values and what judges by them, as they stand.
    keywords: tuple[tuple[str, Any, Judge], ...]
    #: Whether it may be the root of a resource.
    identified: bool


def reading_of(schema: Any, judges: Mapping[str, Judge], dialect: Dialect) -> Reading:
    """Return the reading of *schema*, an object, by the *judges* of *dialect*."""
    hides = dialect.reference_hides_siblings and "$ref" in schema
    placed = (("$ref", schema["$ref"]),) if hides else schema.items()
    return Reading(
        charge_for(schema),
        tuple((name, value, judges[name]) for name, value in placed if name in judges),
        "$id" in schema or "id" in schema,
    )


class Readings:
    """The readings of one schema by the identity of subschemas, which must live as long."""

    __slots__ = ("_charges", "_known", "targets")

    def __init__(self) -> None:
        #: What references lead to, by the identity of the resource in which they stand.
        self.targets: dict[tuple[int, str], tuple[JsonValue, Resource]] = {}
        self._charges: dict[int, int] = {}
        self._known: dict[tuple[Draft, frozenset[str]], dict[int, Reading]] = {}

    def under(self, dialect: Dialect) -> dict[int, Reading]:
        """Return those under *dialect* so far."""
        return self._known.setdefault((dialect.draft, dialect.keywords), {})

    def charge(self, schema: Any) -> int:
        """Return the steps of applying *schema* itself, for who does so in an order of his own."""
        steps = self._charges.get(id(schema))
        if steps is None:
            steps = self._charges[id(schema)] = charge_for(schema)
        return steps
