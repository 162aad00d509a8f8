"""What ``unevaluatedProperties`` and ``unevaluatedItems`` apply to (2020-12 core, section 11).

Evaluated is what the subschemas that judge the same value, and accept it, apply
themselves to. A subschema that must accept it (under ``allOf``, ``$ref``, ``then``)
counts without being asked: if it does not, its own faults make the schema fail, and
it would only be confusing to call what it describes unknown.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.engines.fault import NO_FAULTS
from sidecheck_server.core.engines.scope import Scope, scope_of
from sidecheck_server.core.engines.weights import APPLICATION_STEPS
from sidecheck_server.core.types import Draft

__all__ = ["accepts", "iterate_applied", "unevaluated_items", "unevaluated_names"]

Schema = Mapping[str, Any]

_NAME = 4
"""Steps of looking whether one name is evaluated."""


def accepts(validator: Any, instance: Any, schema: Any) -> bool:
    """Return whether *schema*, a subschema at hand, accepts *instance*."""
    found = validator.descend(instance, schema)
    return found is NO_FAULTS or next(found, None) is None


def unevaluated_names(validator: Any, instance: Mapping[str, Any], schema: Schema) -> Sequence[str]:
    """Return the names of *instance* that nothing beside *schema*'s keyword evaluates."""
    left = dict.fromkeys(instance)
    for scope, beside in iterate_applied(validator, instance, schema):
        in_force = beside.keys() & scope.dialect.keywords
        if "additionalProperties" in in_force or (
            "unevaluatedProperties" in in_force and beside is not schema
        ):
            return ()
        declared = beside["properties"] if "properties" in in_force else ()
        patterns = beside["patternProperties"] if "patternProperties" in in_force else ()
        spend(scope.budget, _NAME * len(left))
        for name in list(left):
            if name in declared or _matches_any(name, patterns, scope):
                del left[name]
    return tuple(left)


def _matches_any(name: str, patterns: Iterable[str], scope: Scope) -> bool:
    return any(scope.checks.matches(each, name, scope.budget) for each in patterns)


def unevaluated_items(validator: Any, instance: Sequence[Any], schema: Schema) -> Sequence[int]:
    """Return the positions in *instance* that nothing beside *schema*'s keyword evaluates."""
    first = 0
    spend(scope_of(validator).budget, len(instance))
    left = dict.fromkeys(range(len(instance)))
    for scope, beside in iterate_applied(validator, instance, schema):
        in_force = beside.keys() & scope.dialect.keywords
        listed = _listed(beside, in_force, scope.dialect.draft)
        if listed is None or ("unevaluatedItems" in in_force and beside is not schema):
            return ()
        first = max(first, listed)
        # Since 2020-12 the items that match count (2020-12 core, section 10.3.1.3).
        if "contains" in in_force and scope.dialect.draft is Draft.DRAFT_2020_12:
            here = validator.evolve(_resolver=scope)
            for index in list(left):
                if accepts(here, instance[index], beside["contains"]):
                    del left[index]
    return tuple(index for index in left if index >= first)


def _listed(schema: Schema, in_force: set[str], draft: Draft) -> int | None:
    """Return how many first items *schema* evaluates by position; None for all of them."""
    if draft is Draft.DRAFT_2020_12:
        if "items" in in_force:
            return None
        return len(schema["prefixItems"]) if "prefixItems" in in_force else 0
    items = schema["items"] if "items" in in_force else []
    if not isinstance(items, list) or (items and "additionalItems" in in_force):
        return None
    return len(items)


def iterate_applied(
    validator: Any, instance: Any, schema: Any
) -> Iterator[tuple[Scope, Mapping[str, Any]]]:
    """Yield *schema* and the subschemas that judge *instance* with it, each with its scope.

    Of a choice these are the branches that accept it, or all of them if none does.
    """
    if not isinstance(schema, dict):
        return
    spend(scope_of(validator).budget, APPLICATION_STEPS)
    scope = scope_of(validator).enter(schema)
    if scope is not scope_of(validator):
        validator = validator.evolve(_resolver=scope)
    if scope.dialect.reference_hides_siblings and "$ref" in schema:
        in_force: set[str] = {"$ref"}
    else:
        in_force = schema.keys() & scope.dialect.keywords
    if in_force != {"$ref"}:
        yield scope, schema
    for keyword, follow in (
        ("$ref", scope.follow),
        ("$dynamicRef", scope.follow_dynamic),
        ("$recursiveRef", scope.follow_recursive),
    ):
        if keyword in in_force:
            target, there = follow(schema[keyword])
            yield from iterate_applied(validator.evolve(_resolver=there), instance, target)
    for subschema in _in_place(validator, instance, schema, in_force):
        yield from iterate_applied(validator, instance, subschema)


def _in_place(validator: Any, instance: Any, schema: Schema, in_force: set[str]) -> Iterator[Any]:
    if "allOf" in in_force:
        yield from schema["allOf"]
    for choice in ("anyOf", "oneOf"):
        if choice in in_force:
            accepted = [each for each in schema[choice] if accepts(validator, instance, each)]
            yield from accepted or schema[choice]
    if "if" in in_force:
        chosen = "else"
        if accepts(validator, instance, schema["if"]):
            chosen = "then"
            yield schema["if"]
        if chosen in in_force:
            yield schema[chosen]
    if isinstance(instance, dict):
        yield from _dependent(instance, schema, in_force)


def _dependent(instance: Mapping[str, Any], schema: Schema, in_force: set[str]) -> Iterator[Any]:
    for keyword in ("dependentSchemas", "dependencies"):
        if keyword in in_force:
            for name, needed in schema[keyword].items():
                if name in instance and not isinstance(needed, list):
                    yield needed
