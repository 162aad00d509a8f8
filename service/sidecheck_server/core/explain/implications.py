"""Faults that another fault of the same value implies, and that are not reported."""

from collections.abc import Iterable, Iterator
from itertools import islice

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.explain.schemas import MOST_BRANCHES, schema_parts
from sidecheck_server.core.json_values import json_equal

__all__ = ["declared_names", "find_required_name", "is_implied"]

_MOST_COMPARED = 1000
"""Most declared names that are read."""


def is_implied(fault: Fault) -> bool:
    """Return whether another, more specific fault implies *fault*.

    A fault of ``const`` or ``enum`` implies one of ``type``. An unknown property with a
    similar name implies a missing one.
    """
    if fault.keyword == "required":
        return _is_renamed(fault)
    return fault.keyword == "type" and _differs_from_constants(fault)


def _differs_from_constants(fault: Fault) -> bool:
    in_force = fault.scope.dialect.keywords
    if "const" in fault.schema and "const" in in_force:
        return not json_equal(fault.schema["const"], fault.instance)
    if "enum" in fault.schema and "enum" in in_force:
        return not any(json_equal(value, fault.instance) for value in fault.schema["enum"])
    return False


def _is_renamed(fault: Fault) -> bool:
    """Return whether an unknown property is probably the missing one, misspelt."""
    closing = next((keyword for keyword in _CLOSING if _closes(fault, keyword)), "")
    if not closing:
        return False
    misspelling = find_nearest(fault.detail, _unknown_names(fault, closing))
    return bool(misspelling) and fault.detail == _find_missing_name(fault, closing, misspelling)


def find_required_name(fault: Fault) -> str:
    """Return the required name that the unknown property of *fault* misspells, or "".

    *fault* is of ``additionalProperties`` or ``unevaluatedProperties``. If the result is not
    "", `is_implied` holds for the fault of ``required`` of the same schema.
    """
    unknown, closing = fault.detail, fault.keyword
    required = fault.schema.get("required", ())
    if not required or "required" not in fault.scope.dialect.keywords:
        return ""
    name = _find_missing_name(fault, closing, unknown)
    if name not in required or find_nearest(name, _unknown_names(fault, closing)) != unknown:
        return ""
    return name


_CLOSING = ("additionalProperties", "unevaluatedProperties")


def _closes(fault: Fault, keyword: str) -> bool:
    return fault.schema.get(keyword) is False and keyword in fault.scope.dialect.keywords


def _unknown_names(fault: Fault, closing: str) -> Iterator[str]:
    """Yield the names in the object of *fault* that *closing* rejects."""
    declared = set(islice(declared_names(fault, closing), _MOST_COMPARED))
    patterns = fault.schema.get("patternProperties", ())
    scope = fault.scope
    for name in fault.instance:
        if name not in declared and not any(
            scope.checks.matches(pattern, name, scope.budget) for pattern in patterns
        ):
            yield name


def _find_missing_name(fault: Fault, closing: str, unknown: str) -> str:
    declared = dict.fromkeys(islice(declared_names(fault, closing), _MOST_COMPARED))
    return find_nearest(unknown, (name for name in declared if name not in fault.instance))


def declared_names(fault: Fault, keyword: str) -> Iterable[str]:
    """Yield the names declared by the schema of *fault*, as *keyword* reads them."""
    if keyword == "additionalProperties":
        # It depends only on adjacent `properties` (2020-12 core, section 10.3.2.3).
        yield from fault.schema.get("properties", ())
        return
    for part in schema_parts(fault.schema, fault.scope):
        yield from part.get("properties", dict)
        # Branches of a choice may declare further names.
        branches = (*part.get("anyOf", list), *part.get("oneOf", list))
        for branch in branches[:MOST_BRANCHES]:
            for inner in schema_parts(branch, part.scope):
                yield from inner.get("properties", dict)
