"""The locations of the keyword ``default`` in a schema.

Each step of a path leads to a schema, an object of schemas, a list of schemas, either, or
data. It is independent of the converter that it tests.
"""

from typing import Any

__all__ = ["default_places", "without_defaults"]

_BY_STEP = {
    "schema": "additionalItems additionalProperties contains contentSchema else if not"
    " propertyNames then unevaluatedItems unevaluatedProperties",
    "list": "allOf anyOf oneOf prefixItems",
    "object": "$defs definitions dependencies dependentSchemas patternProperties properties",
    "either": "items",
}
_LEADS_TO = {keyword: kind for kind, keywords in _BY_STEP.items() for keyword in keywords.split()}


def _kind_behind(kind: str, value: Any, step: str | int) -> str:
    """Return the kind of the node one *step* below *value*, which has *kind*."""
    if isinstance(value, list):
        return "schema" if kind in {"list", "either"} else "data"
    if kind == "object":
        return "schema"
    return _LEADS_TO.get(str(step), "data") if kind in {"schema", "either"} else "data"


def default_places(value: Any, kind: str = "schema", at: str = "") -> list[str]:
    """Return the pointers of every ``default`` that is a keyword."""
    places = []
    for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if _is_default(kind, value, step):
            places.append(f"{at}/{step}")
        elif isinstance(inner, dict | list):
            places += default_places(inner, _kind_behind(kind, value, step), f"{at}/{step}")
    return places


def without_defaults(value: Any, kind: str = "schema") -> Any:
    """Return a copy of *value* without the keyword ``default``."""
    if isinstance(value, dict):
        return {
            step: without_defaults(inner, _kind_behind(kind, value, step))
            for step, inner in value.items()
            if not _is_default(kind, value, step)
        }
    if isinstance(value, list):
        return [without_defaults(inner, _kind_behind(kind, value, 0)) for inner in value]
    return value


def _is_default(kind: str, value: Any, step: str | int) -> bool:
    return step == "default" and isinstance(value, dict) and kind in {"schema", "either"}
