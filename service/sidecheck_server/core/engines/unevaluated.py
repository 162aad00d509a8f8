"""Application of ``unevaluatedProperties`` and ``unevaluatedItems``.

See 2020-12 core, section 11. A property or item is evaluated if a subschema applies to it
through a schema that applies to the same container and accepts it. Required subschemas
(under ``allOf``, ``$ref``, ``then``) count without being evaluated: if one rejects the
container, its own faults make the payload invalid, and reporting its properties as unknown
would mislead.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sidecheck_server.core.engines.fault import NO_FAULTS
from sidecheck_server.core.engines.scope import Scope
from sidecheck_server.core.engines.weights import APPLICATION_STEPS
from sidecheck_server.core.limits import spend
from sidecheck_server.core.types import Draft

__all__ = ["accepts", "iterate_applied", "unevaluated_items", "unevaluated_names"]

Schema = Mapping[str, Any]

_NAME = 4
"""Steps for storing one name or index, or for looking it up."""


def accepts(validator: Any, instance: Any, schema: Any) -> bool:
    """Return whether *schema*, in the scope of *validator*, accepts *instance*."""
    faults = validator.descend(instance, schema)
    return faults is NO_FAULTS or next(faults, None) is None


def unevaluated_names(validator: Any, instance: Mapping[str, Any], schema: Schema) -> Sequence[str]:
    """Return the names to which ``unevaluatedProperties`` of *schema* applies."""
    spend(validator.scope.budget, _NAME * len(instance))
    remaining = dict.fromkeys(instance)
    for scope, sibling in iterate_applied(validator, instance, schema):
        in_force = sibling.keys() & scope.dialect.keywords
        if "additionalProperties" in in_force or (
            "unevaluatedProperties" in in_force and sibling is not schema
        ):
            return ()
        declared = sibling["properties"] if "properties" in in_force else ()
        patterns = sibling["patternProperties"] if "patternProperties" in in_force else ()
        # Iterate over the smaller set: a schema may have thousands of siblings with a name
        # each, and a payload as many names.
        candidates = declared if len(declared) < len(remaining) else tuple(remaining)
        spend(scope.budget, _NAME * len(candidates))
        for name in candidates:
            if name in declared:
                remaining.pop(name, None)
        for pattern in patterns:
            spend(scope.budget, _NAME * len(remaining))
            for name in tuple(remaining):
                if scope.checks.matches(pattern, name, scope.budget):
                    del remaining[name]
    return tuple(remaining)


def unevaluated_items(validator: Any, instance: Sequence[Any], schema: Schema) -> Sequence[int]:
    """Return the indexes to which ``unevaluatedItems`` of *schema* applies."""
    first = 0
    spend(validator.scope.budget, _NAME * len(instance))
    remaining = dict.fromkeys(range(len(instance)))
    for scope, sibling in iterate_applied(validator, instance, schema):
        in_force = sibling.keys() & scope.dialect.keywords
        count = _count_evaluated(sibling, in_force, scope.dialect.draft)
        if count is None or ("unevaluatedItems" in in_force and sibling is not schema):
            return ()
        first = max(first, count)
        # From 2020-12 on, matching items are evaluated (2020-12 core, section 10.3.1.3).
        if "contains" in in_force and scope.dialect.draft is Draft.DRAFT_2020_12:
            sibling_validator = validator.within(scope)
            for index in list(remaining):
                if accepts(sibling_validator, instance[index], sibling["contains"]):
                    del remaining[index]
    return tuple(index for index in remaining if index >= first)


def _count_evaluated(schema: Schema, in_force: set[str], draft: Draft) -> int | None:
    """Return the number of leading items that *schema* evaluates; None for all items."""
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
    """Yield *schema* and all that applies to *instance* with it, with the scopes.

    For ``anyOf`` and ``oneOf``, these are the branches that accept *instance*; if there are
    none, all branches.
    """
    if not isinstance(schema, dict):
        return
    spend(validator.scope.budget, APPLICATION_STEPS)
    scope = validator.scope.enter(schema)
    validator = validator.within(scope)
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
            target, target_scope = follow(schema[keyword])
            yield from iterate_applied(validator.within(target_scope), instance, target)
    for subschema in _in_place(validator, instance, schema, in_force):
        yield from iterate_applied(validator, instance, subschema)


def _in_place(validator: Any, instance: Any, schema: Schema, in_force: set[str]) -> Iterator[Any]:
    if "allOf" in in_force:
        yield from schema["allOf"]
    for choice in ("anyOf", "oneOf"):
        if choice in in_force:
            accepting = [
                branch for branch in schema[choice] if accepts(validator, instance, branch)
            ]
            yield from accepting or schema[choice]
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
            for name, dependent in schema[keyword].items():
                if name in instance and not isinstance(dependent, list):
                    yield dependent
