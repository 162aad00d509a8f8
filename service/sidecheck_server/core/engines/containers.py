"""The objects and arrays of a payload, with the subschemas that apply to each."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.engines.applied import (
    AppliedSchema,
    BranchChoice,
    Path,
    PendingSchema,
    accepting_or_all,
    list_applied,
)
from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.engines.unevaluated import unevaluated_items, unevaluated_names
from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.types import Draft, JsonValue

__all__ = ["Container", "matches_name_pattern", "property_subschemas", "walk_containers"]


# In steps: a container, each of its values, looking up one of them in a schema.
_CONTAINER = 250
_VALUE = 3
_LOOK_UP = 40


@dataclass(frozen=True, slots=True, eq=False)
class Container:
    """An object or an array of a payload."""

    path: Path
    value: Any
    applied: Sequence[AppliedSchema]


_Level = Iterator[tuple[Path, JsonValue, list[PendingSchema]]]
"""The values at one depth, with the subschemas to be applied to each."""


def walk_containers(
    engine: CompleteEngine,
    value: JsonValue,
    budget: Budget,
    choose: BranchChoice = accepting_or_all,
) -> Iterator[Container]:
    """Yield the objects and arrays of *value* to which subschemas apply, outer ones first.

    Containers to which none applies are left out, with all that is in them.

    Raises:
        Exhausted: *budget* has too few steps.
    """
    validator, schema = engine.at_root(budget)
    # Levels are lazy: most callers stop early.
    levels: list[_Level] = [iter([((), value, [PendingSchema(validator, schema, ())])])]
    while levels:
        following = next(levels[-1], None)
        if following is None:
            levels.pop()
            continue
        path, current, initial = following
        if not isinstance(current, dict | list):
            return
        spend(budget, _CONTAINER + _VALUE * len(current))
        applied = list_applied(current, initial, choose)
        if applied:
            yield Container(path, current, applied)
            levels.append(_children(path, current, applied))


def property_subschemas(schema: AppliedSchema, name: str) -> Iterator[PendingSchema]:
    """Yield what *schema* applies to a property *name*, except ``unevaluatedProperties``."""
    spend(schema.validator.scope.budget, _LOOK_UP)
    known = False
    if name in schema.get("properties", ()):
        known = True
        yield schema.subschema("properties", name)
    for pattern in _matching_patterns(schema, name):
        known = True
        yield schema.subschema("patternProperties", pattern)
    if not known and "additionalProperties" in schema.in_force:
        yield schema.subschema("additionalProperties")


def matches_name_pattern(schema: AppliedSchema, name: str) -> bool:
    """Return whether a pattern of ``patternProperties`` of *schema* matches *name*."""
    return next(_matching_patterns(schema, name), None) is not None


def _matching_patterns(schema: AppliedSchema, name: str) -> Iterator[str]:
    patterns = schema.get("patternProperties", ())
    scope = schema.validator.scope
    for pattern in patterns:
        if scope.checks.matches(pattern, name, scope.budget):
            yield pattern


def _children(path: Path, value: JsonValue, applied: Sequence[AppliedSchema]) -> _Level:
    """Yield the objects and arrays directly in *value*, with the subschemas to be applied."""
    if isinstance(value, dict):
        unevaluated = _unevaluated(value, applied, "unevaluatedProperties", unevaluated_names)
        for name, child in value.items():
            if isinstance(child, dict | list):
                subschemas = [
                    pending for schema in applied for pending in property_subschemas(schema, name)
                ]
                subschemas += [pending for names, pending in unevaluated if name in names]
                yield (*path, name), child, subschemas
    elif isinstance(value, list):
        unevaluated = _unevaluated(value, applied, "unevaluatedItems", unevaluated_items)
        for index, item in enumerate(value):
            if isinstance(item, dict | list):
                subschemas = [
                    pending for schema in applied for pending in _item_subschemas(schema, index)
                ]
                subschemas += [pending for indexes, pending in unevaluated if index in indexes]
                yield (*path, index), item, subschemas


def _unevaluated(
    value: Any,
    applied: Sequence[AppliedSchema],
    keyword: str,
    find_unevaluated: Callable[..., Sequence[Any]],
) -> list[tuple[frozenset[Any], PendingSchema]]:
    """Return the subschemas of *keyword*, with the names or indexes that they apply to."""
    subschemas = []
    for schema in applied:
        if isinstance(schema.get(keyword, None), dict):
            places = find_unevaluated(schema.validator, value, schema.schema)
            spend(schema.validator.scope.budget, _VALUE * len(places))
            subschemas.append((frozenset(places), schema.subschema(keyword)))
    return subschemas


def _item_subschemas(schema: AppliedSchema, index: int) -> Iterator[PendingSchema]:
    scope = schema.validator.scope
    spend(scope.budget, _LOOK_UP)
    prefix, rest = "prefixItems", "items"
    if scope.dialect.draft is not Draft.DRAFT_2020_12:
        if not isinstance(schema.get("items", None), list):
            prefix, rest = "", "items"
        else:
            prefix, rest = "items", "additionalItems"
    if index < len(schema.get(prefix, ())):
        yield schema.subschema(prefix, index)
    elif rest in schema.in_force:
        yield schema.subschema(rest)
