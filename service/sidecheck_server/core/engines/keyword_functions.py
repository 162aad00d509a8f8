"""Keyword functions of the complete engine: assertions and applicators.

Each has jsonschema's signature: it takes the validator, the value of the keyword, the
instance and the schema, and returns the faults or `NO_FAULTS`. For applicators that only
descend, jsonschema's own functions are used, from `VALIDATORS` of its validator classes. Its
other functions write the whole offending value into a message, compare with ``==``, divide
in binary, search with ``re``, or lose the path of subschemas.
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.engines.fault import NO_FAULTS, Fault
from sidecheck_server.core.engines.scope import KeywordFunction
from sidecheck_server.core.engines.unevaluated import accepts, unevaluated_items, unevaluated_names
from sidecheck_server.core.json_values import (
    CLASS_OF_TYPE,
    find_duplicate,
    is_multiple,
    is_number,
    json_equal,
)
from sidecheck_server.core.limits import spend
from sidecheck_server.core.types import Draft

__all__ = ["applicators_of", "assertions_of"]


def _type(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    for name in (value,) if isinstance(value, str) else value:
        kind = CLASS_OF_TYPE.get(name)
        if validator.is_type(instance, name) if kind is None else isinstance(instance, kind):
            return NO_FAULTS
    return (Fault(),)


def _enum(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    # Python's `==` is exact for strings, and `in` is fast.
    is_listed = instance in value if isinstance(instance, str) else None
    if is_listed is None:
        is_listed = any(json_equal(constant, instance) for constant in value)
    return NO_FAULTS if is_listed else (Fault(),)


def _const(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    return NO_FAULTS if json_equal(instance, value) else (Fault(),)


def _multiple_of(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    if is_number(instance) and not is_multiple(instance, value, validator.scope.budget):
        return (Fault(),)
    return NO_FAULTS


def _unique_items(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    if value is True and isinstance(instance, list):
        budget = validator.scope.budget
        duplicate = find_duplicate(instance, budget)
        if duplicate is not None:
            return (Fault(duplicate),)
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
    """Return the function of a bound with a flag (draft-04 validation, 5.1.2)."""

    def check(_validator: Any, value: Any, instance: Any, schema: Any) -> Iterable[Fault]:
        fails = breaks_exclusive if schema.get(exclusive) is True else breaks
        if is_number(instance) and fails(instance, value):
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
    functions = {**_ASSERTIONS, **_ASSERTIONS_OF_DRAFT_04}
    return {name: functions[name] for name in functions if not name.startswith("exclusive")}


_NAME = 4
"""Steps for looking up one name among the declared properties."""


def _ref(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    target, scope = validator.scope.follow(value)
    faults: Iterable[Fault] = validator.within(scope).descend(instance, target)
    return faults


def _dynamic_ref(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    target, scope = validator.scope.follow_dynamic(value)
    faults: Iterable[Fault] = validator.within(scope).descend(instance, target)
    return faults


def _recursive_ref(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    target, scope = validator.scope.follow_recursive(value)
    faults: Iterable[Fault] = validator.within(scope).descend(instance, target)
    return faults


def _any_of(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    for branch in value:
        # Same as `accepts`, without its stack frame at each level of the payload.
        faults = validator.descend(instance, branch)
        if faults is NO_FAULTS or next(faults, None) is None:
            return NO_FAULTS
    return (_build_choice_fault(validator, value, instance),)


def _one_of(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    accepted = []
    for index, branch in enumerate(value):
        faults = validator.descend(instance, branch)
        if faults is NO_FAULTS or next(faults, None) is None:
            accepted.append(index)
            if len(accepted) == 2:
                return (Fault(tuple(accepted)),)
    return NO_FAULTS if accepted else (_build_choice_fault(validator, value, instance),)


def _build_choice_fault(validator: Any, branches: Any, instance: Any) -> Fault:
    def explore(index: int) -> Iterable[Fault]:
        faults: Iterable[Fault] = validator.descend(instance, branches[index], schema_path=index)
        return faults

    return Fault(explore_branch=explore)


def _not(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    faults = validator.descend(instance, value)
    accepted = faults is NO_FAULTS or next(faults, None) is None
    return (Fault(),) if accepted else NO_FAULTS


def _properties(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterable[Fault]:
    if isinstance(instance, dict):
        properties = iter(value.items())
        for name, subschema in properties:
            if name in instance:
                faults = validator.descend(instance[name], subschema, name, name)
                if faults is not NO_FAULTS:
                    return _remaining_properties(faults, validator, properties, instance)
    return NO_FAULTS


def _remaining_properties(
    faults: Iterable[Fault], validator: Any, properties: Iterator[tuple[str, Any]], instance: Any
) -> Iterator[Fault]:
    yield from faults
    for name, subschema in properties:
        if name in instance:
            yield from validator.descend(instance[name], subschema, name, name)


def _if(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Fault]:
    chosen = "then" if accepts(validator, instance, value) else "else"
    if chosen in schema:
        yield from validator.descend(instance, schema[chosen], schema_path=chosen)


def _dependencies(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[Fault]:
    if isinstance(instance, dict):
        for name, dependents in value.items():
            if name not in instance:
                continue
            if isinstance(dependents, list):
                for dependent in dependents:
                    if dependent not in instance:
                        yield Fault((name, dependent))
            else:
                yield from validator.descend(instance, dependents, schema_path=name)


def _pattern_properties(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[Fault]:
    if isinstance(instance, dict):
        scope = validator.scope
        for pattern, subschema in value.items():
            for name, item in instance.items():
                if scope.checks.matches(pattern, name, scope.budget):
                    yield from validator.descend(item, subschema, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any, value: Any, instance: Any, schema: Any
) -> Iterable[Fault]:
    if not isinstance(instance, dict) or value is True:
        return NO_FAULTS
    scope = validator.scope
    spend(scope.budget, _NAME * len(instance))
    # The siblings are in the same vocabulary, so they are in force too.
    declared = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    unknown = [name for name in instance if name not in declared]
    extra = (
        name
        for name in unknown
        if not any(scope.checks.matches(pattern, name, scope.budget) for pattern in patterns)
    )
    return _check_extra_properties(validator, value, instance, extra) if unknown else NO_FAULTS


def _unevaluated_properties(
    validator: Any, value: Any, instance: Any, schema: Any
) -> Iterator[Fault]:
    if isinstance(instance, dict) and value is not True:
        yield from _check_extra_properties(
            validator, value, instance, unevaluated_names(validator, instance, schema)
        )


def _check_extra_properties(
    validator: Any, value: Any, instance: dict[str, Any], extra: Iterable[str]
) -> Iterator[Fault]:
    for name in extra:
        if value is False:
            yield Fault(name, at=(name,))
        else:
            yield from validator.descend(instance[name], value, path=name)


def _property_names(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[Fault]:
    if isinstance(instance, dict):
        for name in instance:
            # One fault for each name is enough.
            fault = next(iter(validator.descend(name, value)), None)
            if fault is not None:
                yield Fault(fault, at=(name,))


def _items_from(start: Callable[[Mapping[str, Any]], int | None]) -> KeywordFunction:
    """Return the function of a keyword for the items from index *start* on.

    *start* returns None if the keyword applies to no items. All cases are in one function,
    to use one stack frame for each level of a payload.
    """

    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterable[Fault]:
        first = start(schema) if isinstance(instance, list) else None
        if first is None or value is True:
            return NO_FAULTS
        if value is False:
            return (Fault(first, at=(first,)),) if len(instance) > first else NO_FAULTS
        if isinstance(value, list):
            prefix_faults: Iterable[Fault] = _PREFIX_ITEMS(validator, value, instance, schema)
            return prefix_faults
        for index in range(first, len(instance)):
            faults = validator.descend(instance[index], value, index)
            if faults is not NO_FAULTS:
                return _remaining_items(faults, index + 1, value, validator, instance)
        return NO_FAULTS

    return check


def _remaining_items(
    faults: Iterable[Fault], first: int, value: Any, validator: Any, instance: list[Any]
) -> Iterator[Fault]:
    yield from faults
    for index in range(first, len(instance)):
        yield from validator.descend(instance[index], value, index)


def _count_listed(schema: Mapping[str, Any]) -> int | None:
    listed = schema.get("items")
    # Without a list in `items`, `additionalItems` is ignored (2019-09 core, section 9.3.1.2).
    return len(listed) if isinstance(listed, list) else None


def _unevaluated_items(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Fault]:
    if isinstance(instance, list) and value is not True:
        for index in unevaluated_items(validator, instance, schema):
            if value is False:
                yield Fault(index, at=(index,))
                return
            yield from validator.descend(instance[index], value, path=index)


def _contains(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Fault]:
    if isinstance(instance, list):
        in_force = validator.scope.dialect.keywords
        if "minContains" in schema and "minContains" in in_force:
            return  # `minContains` replaces it (2019-09 validation, section 6.4.5).
        if not any(accepts(validator, item, value) for item in instance):
            yield Fault()


def _min_contains(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Fault]:
    if _counts_contained(validator, instance, schema):
        count = _count_up_to(value, validator, instance, schema["contains"])
        if count < value:
            yield Fault(count)


def _max_contains(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Fault]:
    if _counts_contained(validator, instance, schema):
        count = _count_up_to(value + 1, validator, instance, schema["contains"])
        if count > value:
            yield Fault(count)


def _counts_contained(validator: Any, instance: Any, schema: Any) -> bool:
    in_force = validator.scope.dialect.keywords
    return isinstance(instance, list) and "contains" in schema and "contains" in in_force


def _count_up_to(enough: int, validator: Any, instance: list[Any], subschema: Any) -> int:
    count = 0
    for item in instance:
        if count >= enough:
            break
        count += accepts(validator, item, subschema)
    return count


@cache
def _functions_of_jsonschema() -> Mapping[str, KeywordFunction]:
    # Imported late: it takes as long as compiling ten schemas, and valid payloads need none.
    from jsonschema import Draft202012Validator  # noqa: PLC0415

    functions: Mapping[str, KeywordFunction] = Draft202012Validator.VALIDATORS
    return functions


def _from_jsonschema(keyword: str) -> KeywordFunction:
    """Return jsonschema's function of *keyword*."""

    def apply(validator: Any, value: Any, instance: Any, schema: Any) -> Iterable[Fault]:
        # A generator, so that this call adds no stack frame to its evaluation.
        return _functions_of_jsonschema()[keyword](validator, value, instance, schema)

    return apply


_PREFIX_ITEMS = _from_jsonschema("prefixItems")

_APPLICATORS: Mapping[str, Any] = MappingProxyType(
    {
        "allOf": _from_jsonschema("allOf"),
        "dependentSchemas": _from_jsonschema("dependentSchemas"),
        "$ref": _ref,
        "$recursiveRef": _recursive_ref,
        "$dynamicRef": _dynamic_ref,
        "properties": _properties,
        "anyOf": _any_of,
        "oneOf": _one_of,
        "not": _not,
        "if": _if,
        "dependencies": _dependencies,
        "prefixItems": _PREFIX_ITEMS,
        "items": _items_from(lambda _schema: 0),
        "additionalItems": _items_from(_count_listed),
        "contains": _contains,
        "minContains": _min_contains,
        "maxContains": _max_contains,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "propertyNames": _property_names,
        "unevaluatedProperties": _unevaluated_properties,
        "unevaluatedItems": _unevaluated_items,
    }
)


def applicators_of(draft: Draft) -> dict[str, KeywordFunction]:
    """Return the functions of the applicator keywords of *draft*, by keyword."""
    functions = dict(_APPLICATORS)
    if draft is Draft.DRAFT_2020_12:
        functions["items"] = _items_from(lambda schema: len(schema.get("prefixItems", ())))
    return functions
