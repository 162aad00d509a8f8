"""The keywords that judge a value by itself, for the complete engine.

Each is a function as jsonschema wants it: of the validator, the keyword's value, the
payload's value and the schema, returning the faults, or `NO_FAULTS`. None of jsonschema's own is
used here, since they write the whole offending value into a message, compare with
``==``, divide in binary, or search with ``re``.
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from sidecheck_server.core.engines.fault import NO_FAULTS, Fault
from sidecheck_server.core.engines.scope import scope_of
from sidecheck_server.core.json_values import (
    CLASS_OF_TYPE,
    find_duplicate,
    is_multiple,
    is_number,
    json_equal,
)
from sidecheck_server.core.types import Draft

__all__ = ["Keyword", "assertions_of"]

Keyword = Callable[[Any, Any, Any, Mapping[str, Any]], Iterable[Fault]]


def _type(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    for name in (value,) if isinstance(value, str) else value:
        known = CLASS_OF_TYPE.get(name)
        if validator.is_type(instance, name) if known is None else isinstance(instance, known):
            return NO_FAULTS
    return (Fault(),)


def _enum(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    # Nothing but a string equals a string, and for strings `in` is fast.
    known = instance in value if isinstance(instance, str) else None
    if known is None:
        known = any(json_equal(each, instance) for each in value)
    return NO_FAULTS if known else (Fault(),)


def _const(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    return NO_FAULTS if json_equal(instance, value) else (Fault(),)


def _multiple_of(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    if is_number(instance) and not is_multiple(instance, value, scope_of(validator).budget):
        return (Fault(),)
    return NO_FAULTS


def _unique_items(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    if value is True and isinstance(instance, list):
        budget = scope_of(validator).budget
        repeated = find_duplicate(instance, budget)
        if repeated is not None:
            return (Fault(repeated),)
    return NO_FAULTS


def _pattern(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    if isinstance(instance, str):
        scope = scope_of(validator)
        if not scope.checks.matches(value, instance, scope.budget):
            return (Fault(),)
    return NO_FAULTS


def _format(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    if isinstance(instance, str):
        scope = scope_of(validator)
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
        for name, needed in value.items():
            if name in instance:
                for each in needed:
                    if each not in instance:
                        yield Fault((name, each))


def _counting(kind: type, breaks: Callable[[Any, Any], bool]) -> Keyword:
    """Return a keyword that limits the length of values of *kind*."""

    def judge(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
        if isinstance(instance, kind) and breaks(len(instance), value):  # type: ignore[arg-type]
            return (Fault(),)
        return NO_FAULTS

    return judge


def _bounding(breaks: Callable[[Any, Any], bool]) -> Keyword:
    """Return a keyword that limits numbers."""

    def judge(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
        if is_number(instance) and breaks(instance, value):
            return (Fault(),)
        return NO_FAULTS

    return judge


def _bounding_in_draft_04(
    breaks: Callable[[Any, Any], bool], exclusive: str, breaks_exclusive: Callable[[Any, Any], bool]
) -> Keyword:
    """Return a keyword that limits numbers, with a boolean beside it (draft 4, section 5.1.2)."""

    def judge(_validator: Any, value: Any, instance: Any, schema: Any) -> Iterable[Fault]:
        broken = breaks_exclusive if schema.get(exclusive) is True else breaks
        if is_number(instance) and broken(instance, value):
            return (Fault(),)
        return NO_FAULTS

    return judge


_ASSERTIONS: Mapping[str, Keyword] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "multipleOf": _multiple_of,
    "maximum": _bounding(operator.gt),
    "exclusiveMaximum": _bounding(operator.ge),
    "minimum": _bounding(operator.lt),
    "exclusiveMinimum": _bounding(operator.le),
    "maxLength": _counting(str, operator.gt),
    "minLength": _counting(str, operator.lt),
    "maxItems": _counting(list, operator.gt),
    "minItems": _counting(list, operator.lt),
    "maxProperties": _counting(dict, operator.gt),
    "minProperties": _counting(dict, operator.lt),
    "uniqueItems": _unique_items,
    "pattern": _pattern,
    "format": _format,
    "required": _required,
    "dependentRequired": _dependent_required,
}
_ASSERTIONS_OF_DRAFT_04: Mapping[str, Keyword] = {
    "maximum": _bounding_in_draft_04(operator.gt, "exclusiveMaximum", operator.ge),
    "minimum": _bounding_in_draft_04(operator.lt, "exclusiveMinimum", operator.le),
}


def assertions_of(draft: Draft) -> dict[str, Keyword]:
    """Return the assertions by keyword, as *draft* reads them."""
    if draft is not Draft.DRAFT_04:
        return dict(_ASSERTIONS)
    known = {**_ASSERTIONS, **_ASSERTIONS_OF_DRAFT_04}
    return {name: known[name] for name in known if not name.startswith("exclusive")}
