"""Members that a schema does not know.

Most schemas of tools leave their objects open, as JSON Schema does by default, though
nothing but the declared members is ever read. So a misspelt name is valid, and lost.

A member is unknown to its object if the subschemas that apply to the object, in the
sense of ``unevaluatedProperties`` (2020-12 core, section 11.3), together

- close the object or declare ``properties``, and not only under ``if``;
- do not open it: none has ``additionalProperties`` or ``unevaluatedProperties`` that is
  anything but ``false``;
- and do not name the member: not in ``properties``, by a pattern, nor among the names
  that they require or make others depend on.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.engines.applied import Applied, Path
from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.engines.places import Place, knows_by_pattern, places
from sidecheck_server.core.engines.unevaluated import accepts
from sidecheck_server.core.explain.nearest import MOST_CANDIDATES, nearest
from sidecheck_server.core.explain.values import Values, quoted
from sidecheck_server.core.repair.edits import ABSENT, edited
from sidecheck_server.core.repair.types import UnknownMember
from sidecheck_server.core.types import Change, ChangeRule, JsonValue, as_pointer

__all__ = ["strip_unknown", "unknown_members"]

# In steps: asking a subschema about a name, telling of one, comparing it with another.
_ASKING = 15
_FINDING = 300
_COMPARING = 150

_CLOSING = ("additionalProperties", "unevaluatedProperties")


def unknown_members(
    engine: CompleteEngine, value: JsonValue, budget: Budget, *, hide_values: bool = False
) -> Iterator[UnknownMember]:
    """Yield the members in *value* that the schema does not know, and does not forbid itself.

    Raises:
        Exhausted: *budget* has too few steps.
    """
    values = Values(hidden=hide_values)
    for found in _found(engine, value, budget):
        if not found.forbidden:
            near = found.nearest(budget)
            said = f"the schema does not know the {values.property_named(found.name)}"
            yield UnknownMember(
                as_pointer(found.path),
                as_pointer(found.schema_path),
                f"{said}; did you mean {quoted(near)}?" if near else said,
                near,
            )


def strip_unknown(
    engine: CompleteEngine, value: JsonValue, budget: Budget, *, hide_values: bool = False
) -> tuple[JsonValue, tuple[Change, ...]]:
    """Return *value* without the members that the schema does not know, and what was removed.

    Those that it forbids because it does not know them are removed too, since that is
    what a caller wants to be spared. Removing may change which branch of a choice
    applies; it is repeated until nothing unknown is left.

    Raises:
        Exhausted: *budget* has too few steps.
    """
    values = Values(hidden=hide_values)
    changes: list[Change] = []
    while True:
        # What is inside a member that goes goes with it.
        found: dict[Path, _Found] = {}
        for each in _found(engine, value, budget):
            if not any(each.path[:length] in found for length in range(1, len(each.path))):
                found[each.path] = each
        if not found:
            return value, tuple(changes)
        value = edited(value, dict.fromkeys(found, ABSENT), budget)
        changes += [_removal(each, values, budget) for each in found.values()]


def _removal(found: "_Found", values: Values, budget: Budget) -> Change:
    near = found.nearest(budget)
    said = f"removed the {values.property_named(found.name)}, which the schema does not know"
    return Change(
        as_pointer(found.path),
        ChangeRule.UNKNOWN_PROPERTY_REMOVED,
        as_pointer(found.schema_path),
        f"{said}; perhaps {quoted(near)} was meant" if near else said,
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """A member that nothing names."""

    place: Place
    name: str
    #: What closes the object, or declares its members.
    schema_path: Path
    #: Whether the schema refuses it as it stands.
    forbidden: bool

    @property
    def path(self) -> Path:
        """Where the member is."""
        return (*self.place.path, self.name)

    def nearest(self, budget: Budget) -> str:
        """Return the name that may have been meant, or ""."""
        declared = [here.get("properties", ()) for here in self.place.applied]
        count = sum(map(len, declared))
        spend(budget, count + _COMPARING * min(count, MOST_CANDIDATES))
        known = dict.fromkeys(chain.from_iterable(declared))
        return nearest(self.name, (each for each in known if each not in self.place.value))


def _found(engine: CompleteEngine, value: JsonValue, budget: Budget) -> Iterator[_Found]:
    for place in places(engine, value, budget):
        if isinstance(place.value, dict) and place.value:
            yield from _found_in(place, budget)


def _found_in(place: Place, budget: Budget) -> Iterator[_Found]:
    if any(here.get(name, False) is not False for here in place.applied for name in _CLOSING):
        return
    closing = [(here, name) for here in place.applied for name in _CLOSING if name in here.in_force]
    declaring = [
        (here, "properties")
        for here in place.applied
        if "properties" in here.in_force and not here.asks
    ]
    if not closing and not declaring:
        return
    here, keyword = (declaring or closing)[0]
    spend(budget, _ASKING * len(place.value) * len(place.applied))
    for name in place.value:
        if not any(_knows(each, name) for each in place.applied):
            spend(budget, _FINDING)
            forbidden = bool(closing) or _is_refused_as_name(name, place)
            yield _Found(place, name, (*here.path, keyword), forbidden)


def _is_refused_as_name(name: str, place: Place) -> bool:
    return any(
        "propertyNames" in here.in_force
        and not accepts(here.validator, name, here.schema["propertyNames"])
        for here in place.applied
    )


def _knows(here: Applied, name: str) -> bool:
    """Return whether *here* has something to say of a member called *name*."""
    named = (names(here.schema[keyword]) for keyword, names in _NAMING if keyword in here.in_force)
    return any(name in names for names in named) or knows_by_pattern(here, name)


def _themselves(value: Collection[str]) -> Collection[str]:
    return value


def _depending(value: Mapping[str, Any]) -> Collection[str]:
    needed = (each for each in value.values() if isinstance(each, list))
    return {*value, *chain.from_iterable(needed)}


_NAMING: tuple[tuple[str, Callable[[Any], Collection[str]]], ...] = (
    ("properties", _themselves),
    ("required", _themselves),
    ("dependentRequired", _depending),
    ("dependentSchemas", _themselves),
    ("dependencies", _depending),
)
"""The keywords that name members, and which ones."""
