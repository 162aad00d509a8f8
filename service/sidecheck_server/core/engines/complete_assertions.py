"""Assertion keywords of the complete engine: those without subschemas.

Each is a function with jsonschema's signature: it takes the validator, the value of the
keyword, the instance and the schema, and returns the faults or `NO_FAULTS`. None of
jsonschema's own are used, since they write the whole offending value into a message,
compare with ``==``, divide in binary, or search with ``re``.
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from sidecheck_server.core.engines.fault import NO_FAULTS, Fault
from sidecheck_server.core.engines.scope import KeywordFunction
from sidecheck_server.core.json_values import (
    CLASS_OF_TYPE,
    find_duplicate,
    is_multiple,
    is_number,
    json_equal,
)
from sidecheck_server.core.types import Draft

__all__ = ["assertions_of"]


def _type(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    for name in (value,) if isinstance(value, str) else value:
        known = CLASS_OF_TYPE.get(name)
        if validator.is_type(instance, name) if known is None else isinstance(instance, known):
            return NO_FAULTS
    return (Fault(),)


def _enum(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    # Only strings equal strings, and for strings `in` is fast.
    known = instance in value if isinstance(instance, str) else None
    if known is None:
        known = any(json_equal(constant, instance) for constant in value)
    return NO_FAULTS if known else (Fault(),)


def _const(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    return NO_FAULTS if json_equal(instance, value) else (Fault(),)


def _multiple_of(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    if is_number(instance) and not is_multiple(instance, value, validator.scope.budget):
        return (Fault(),)
    return NO_FAULTS


def _unique_items(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    if value is True and isinstance(instance, list):
        budget = validator.scope.budget
        repeated = find_duplicate(instance, budget)
        if repeated is not None:
            return (Fault(repeated),)
    return NO_FAULTS


def _pattern(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    if isinstance(instance, str):
        scope = validator.scope
        if not scope.checks.matches(value, instance, scope.budget):
            return (Fault(),)
    return NO_FAULTS


def _format(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    if isinstance(instance, str):
        scope = validator.scope
        if not scope.checks.conforms(instance, value, scope.dialect, scope.budget):
            return (Fault(),)
    return NO_FAULTS


def _required(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    if not isinstance(instance, dict):
        return NO_FAULTS
    return [Fault(name) for name in value if name not in instance] or NO_FAULTS


def _dependent_required(
    _validator: Any, value: Any, instance: Any, _schema: Any
) -> Iterator[Fault]:
    if isinstance(instance, dict):
        for name, dependents in value.items():
            if name in instance:
                for dependent in dependents:
                    if dependent not in instance:
                        yield Fault((name, dependent))


def _size(kind: type, breaks: Callable[[Any, Any], bool]) -> KeywordFunction:
    """Return the function of a keyword that bounds the length of values of *kind*."""

    def check(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
        if isinstance(instance, kind) and breaks(len(instance), value):  # type: ignore[arg-type]
            return (Fault(),)
        return NO_FAULTS

    return check


def _bound(breaks: Callable[[Any, Any], bool]) -> KeywordFunction:
    """Return the function of a keyword that bounds numbers."""

    def check(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
        if is_number(instance) and breaks(instance, value):
            return (Fault(),)
        return NO_FAULTS

    return check


def _bound_in_draft_04(
    breaks: Callable[[Any, Any], bool], exclusive: str, breaks_exclusive: Callable[[Any, Any], bool]
) -> KeywordFunction:
    """Return the function of a bound with an exclusive flag (draft-04 validation, 5.1.2)."""

    def check(_validator: Any, value: Any, instance: Any, schema: Any) -> Iterable[Fault]:
        broken = breaks_exclusive if schema.get(exclusive) is True else breaks
        if is_number(instance) and broken(instance, value):
            return (Fault(),)
        return NO_FAULTS

    return check


_ASSERTIONS: Mapping[str, KeywordFunction] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "multipleOf": _multiple_of,
    "maximum": _bound(operator.gt),
    "exclusiveMaximum": _bound(operator.ge),
    "minimum": _bound(operator.lt),
    "exclusiveMinimum": _bound(operator.le),
    "maxLength": _size(str, operator.gt),
    "minLength": _size(str, operator.lt),
    "maxItems": _size(list, operator.gt),
    "minItems": _size(list, operator.lt),
    "maxProperties": _size(dict, operator.gt),
    "minProperties": _size(dict, operator.lt),
    "uniqueItems": _unique_items,
    "pattern": _pattern,
    "format": _format,
    "required": _required,
    "dependentRequired": _dependent_required,
}
_ASSERTIONS_OF_DRAFT_04: Mapping[str, KeywordFunction] = {
    "maximum": _bound_in_draft_04(operator.gt, "exclusiveMaximum", operator.ge),
    "minimum": _bound_in_draft_04(operator.lt, "exclusiveMinimum", operator.le),
}


def assertions_of(draft: Draft) -> dict[str, KeywordFunction]:
    """Return the functions of the assertion keywords of *draft*, by keyword."""
    if draft is not Draft.DRAFT_04:
        return dict(_ASSERTIONS)
    known = {**_ASSERTIONS, **_ASSERTIONS_OF_DRAFT_04}
    return {name: known[name] for name in known if not name.startswith("exclusive")}
