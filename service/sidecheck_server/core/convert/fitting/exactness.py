"""Exactness: whether a subset keeps all that stands below a part as it is."""

import re
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.convert.apis.api import References
from sidecheck_server.core.convert.fitting.fitting import Fitting
from sidecheck_server.core.convert.part import Part, reachable
from sidecheck_server.core.convert.translation import ANNOTATIONS

__all__ = ["OF_OBJECTS", "may_encode", "stays_exact"]

_STEPS = 100
OF_OBJECTS = frozenset(
    {
        "properties",
        "patternProperties",
        "additionalProperties",
        "propertyNames",
        "required",
        "minProperties",
        "maxProperties",
        "dependentRequired",
        "dependentSchemas",
        "unevaluatedProperties",
    }
)
"""The keywords that say something of objects only."""
# Groups and escapes that engines differ about.
_SPECIAL = re.compile(r"\(\?|\\[^dswDSWbntr.\\/^$|()\[\]{}*+?-]")


def stays_exact(part: Part, fitting: Fitting) -> bool:
    """Return whether the subset takes *part*, and all that it leads to, as they are.

    "No" may be said of parts that would in the end be kept; "yes" may not of others. A
    part with notes counts as widened.

    Raises:
        Exhausted: the budget is spent.
    """
    found = reachable(part)
    spend(fitting.record.budget, _STEPS * len(found))
    return all(_is_taken(each, fitting) for each in found)


def may_encode(part: Part, fitting: Fitting) -> bool:
    """Return whether payloads at *part* or below may get another form.

    Raises:
        Exhausted: the budget is spent.
    """
    subset = fitting.subset
    if subset.closed or subset.all_required or subset.typed or not subset.empty_objects:
        return True
    if not fitting.members:
        return False
    found = reachable(part)
    spend(fitting.record.budget, _STEPS * len(found))
    return any(_is_renamed(each, fitting) for each in found)


def _is_renamed(part: Part, fitting: Fitting) -> bool:
    keywords = ("properties", "required", "dependentRequired", "dependentSchemas")
    return any(name in fitting.members for each in keywords for name in part.keywords.get(each, ()))


def _is_taken(part: Part, fitting: Fitting) -> bool:
    subset = fitting.subset
    if part.notes or _is_renamed(part, fitting):
        return False
    if part.never:
        return subset.boolean_schemas or fitting.takes("not")
    asserted = part.keywords.keys() - ANNOTATIONS.keys() - {"contentSchema"}
    if subset.closed or subset.all_required:
        types = part.keywords.get("type", "object")
        if "object" in types or not OF_OBJECTS.isdisjoint(asserted):
            return False
    bare = "object" in part.keywords.get("type", ()) and not part.keywords.get("properties")
    if bare and not subset.empty_objects:
        return False
    if subset.typed and asserted.isdisjoint(("type", "anyOf", "enum", "$ref")):
        return False
    if "$ref" in asserted and subset.references is References.ALONE and len(asserted) > 1:
        return False
    if not all(each == "$ref" or _takes(each, fitting) for each in asserted):
        return False
    return all(_is_taken_as(each, part.keywords[each], fitting) for each in asserted)


def _takes(keyword: str, fitting: Fitting) -> bool:
    return fitting.takes(keyword) or (keyword == "const" and fitting.takes("enum"))


def _is_taken_as(keyword: str, value: Any, fitting: Fitting) -> bool:
    """Return whether the subset takes *keyword* with that *value*."""
    subset = fitting.subset
    if keyword == "type":
        listed = isinstance(value, list)
        of_arrays = value == "array" or (listed and "array" in value)
        return (subset.type_lists or not listed) and not (subset.items and of_arrays)
    if keyword in ("enum", "const") and subset.enum_of_strings:
        return all(isinstance(each, str) for each in (value if keyword == "enum" else [value]))
    if keyword == "minItems":
        return subset.min_items is None or value in subset.min_items
    if keyword in ("pattern", "patternProperties"):
        return not any(map(_SPECIAL.search, [value] if isinstance(value, str) else value))
    return True
