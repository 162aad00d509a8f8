"""Whether the schema requires the property whose value has a fault."""

from typing import Any

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.engines.scope import Scope
from sidecheck_server.core.engines.weights import APPLICATION_STEPS
from sidecheck_server.core.explain.schemas import schema_parts
from sidecheck_server.core.limits import spend

__all__ = ["may_be_left_out"]

_NAMED = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies"})
"""Keywords whose subschemas have names."""
_LISTED = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
"""Keywords whose subschemas have indexes."""
_OF_PROPERTIES = frozenset(
    {"properties", "patternProperties", "additionalProperties", "unevaluatedProperties"}
)
"""Keywords whose subschemas apply to properties of the value."""
_OF_ITEMS = frozenset({"items", "prefixItems", "additionalItems", "unevaluatedItems"})
"""Keywords whose subschemas apply to items of the value."""


def may_be_left_out(fault: Fault) -> bool:
    """Return whether *fault* is of the value of a property that no schema requires.

    Schemas that lead to the fault are read, with what they include by ``$ref`` and ``allOf``.

    Raises:
        Exhausted: the budget of *fault* has too few steps.
    """
    path = fault.absolute_path
    if not path or not isinstance(path[-1], str):
        return False
    try:
        around = _schemas_around(fault)
    except LookupError:
        return False  # The path is not only of keywords, such as that of a protocol message.
    name = path[-1]
    return bool(around) and not any(
        name in part.get("required", list)
        for schema, scope in around
        for part in schema_parts(schema, scope)
    )


def _schemas_around(fault: Fault) -> list[tuple[Any, Scope]]:
    """Return the schemas on the path to *fault* that apply to the object with its property.

    There are none if the path leads through a dynamic reference.

    Raises:
        LookupError: the path leads through something else than keywords.
    """
    scope = fault.scope.within(fault.scope.resources.root)
    schema: Any = scope.resource.contents
    applied: list[tuple[Any, Scope]] = []
    around: list[tuple[Any, Scope]] = []
    steps = iter(fault.absolute_schema_path)
    for keyword in steps:
        spend(scope.budget, APPLICATION_STEPS)
        if not isinstance(schema, dict):
            return []
        scope = scope.enter(schema)
        applied.append((schema, scope))
        if schema is fault.schema and keyword == fault.keyword:
            break
        if keyword == "$ref":
            schema, scope = scope.follow(schema["$ref"])
            continue
        schema = schema[keyword]
        if keyword in _NAMED or keyword in _LISTED or isinstance(schema, list):
            schema = schema[next(steps)]
        if keyword in _OF_PROPERTIES:
            around, applied = applied, []
        elif keyword in _OF_ITEMS:
            around, applied = [], []
    return around
