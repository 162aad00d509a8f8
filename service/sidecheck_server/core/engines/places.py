"""The objects and arrays of a payload, each with the subschemas that apply to it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.engines.applied import (
    Applied,
    Choose,
    Path,
    Waiting,
    accepting_or_all,
    applied_to,
)
from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.engines.scope import scope_of
from sidecheck_server.core.engines.unevaluated import unevaluated_items, unevaluated_names
from sidecheck_server.core.schemas.keywords import Draft
from sidecheck_server.core.types import JsonValue

__all__ = ["Place", "knows_by_pattern", "member_subschemas", "places"]


# In steps: an object or array, going over what it holds, asking a subschema about that.
_PLACE = 150
_STEP = 3
_ASKING = 30


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """An object or an array of a payload."""

    path: Path
    value: Any
    applied: Sequence[Applied]


_Level = Iterator[tuple[Path, JsonValue, list[Waiting]]]
"""What is at one depth, with the subschemas that are to be applied to it."""


def places(
    engine: CompleteEngine,
    value: JsonValue,
    budget: Budget,
    choose: Choose = accepting_or_all,
) -> Iterator[Place]:
    """Yield the objects and arrays of *value* that subschemas apply to, outer ones first.

    Not those to which none does, nor what they hold.

    Raises:
        Exhausted: *budget* has too few steps.
    """
    validator, schema = engine.at_root(budget)
    # Each level is gone through as it is asked for: most callers stop early.
    levels: list[_Level] = [iter([((), value, [Waiting(validator, schema, ())])])]
    while levels:
        found = next(levels[-1], None)
        if found is None:
            levels.pop()
            continue
        path, here, first = found
        applied = applied_to(here, first, choose)
        if applied and isinstance(here, dict | list):
            spend(budget, _PLACE + _STEP * len(here))
            yield Place(path, here, applied)
            levels.append(_within(path, here, applied))


def member_subschemas(here: Applied, name: str) -> Iterator[Waiting]:
    """Yield what *here* applies to a member called *name*, but for ``unevaluatedProperties``."""
    spend(scope_of(here.validator).budget, _ASKING)
    known = False
    if name in here.get("properties", ()):
        known = True
        yield here.below("properties", name)
    for pattern in _patterns(here, name):
        known = True
        yield here.below("patternProperties", pattern)
    if not known and "additionalProperties" in here.in_force:
        yield here.below("additionalProperties")


def knows_by_pattern(here: Applied, name: str) -> bool:
    """Return whether a pattern of *here* stands for *name*."""
    return next(_patterns(here, name), None) is not None


def _patterns(here: Applied, name: str) -> Iterator[str]:
    patterns = here.get("patternProperties", ())
    scope = scope_of(here.validator)
    for pattern in patterns:
        if scope.checks.matches(pattern, name, scope.budget):
            yield pattern


def _within(path: Path, value: JsonValue, applied: Sequence[Applied]) -> _Level:
    """Yield the objects and arrays directly in *value*, with what is applied to each."""
    if isinstance(value, dict):
        rest = _unevaluated(value, applied, "unevaluatedProperties", unevaluated_names)
        for name, member in value.items():
            if isinstance(member, dict | list):
                subschemas = [each for here in applied for each in member_subschemas(here, name)]
                subschemas += [each for names, each in rest if name in names]
                yield (*path, name), member, subschemas
    elif isinstance(value, list):
        rest = _unevaluated(value, applied, "unevaluatedItems", unevaluated_items)
        for index, item in enumerate(value):
            if isinstance(item, dict | list):
                subschemas = [each for here in applied for each in _item_subschemas(here, index)]
                subschemas += [each for indexes, each in rest if index in indexes]
                yield (*path, index), item, subschemas


def _unevaluated(
    value: Any, applied: Sequence[Applied], keyword: str, left: Callable[..., Sequence[Any]]
) -> list[tuple[frozenset[Any], Waiting]]:
    """Return what *keyword* applies, with the steps to where it does."""
    return [
        (frozenset(left(here.validator, value, here.schema)), here.below(keyword))
        for here in applied
        if isinstance(here.get(keyword, None), dict)
    ]


def _item_subschemas(here: Applied, index: int) -> Iterator[Waiting]:
    scope = scope_of(here.validator)
    spend(scope.budget, _ASKING)
    listed, rest = "prefixItems", "items"
    if scope.dialect.draft is not Draft.DRAFT_2020_12:
        if not isinstance(here.get("items", None), list):
            listed, rest = "", "items"
        else:
            listed, rest = "items", "additionalItems"
    if index < len(here.get(listed, ())):
        yield here.below(listed, index)
    elif rest in here.in_force:
        yield here.below(rest)
