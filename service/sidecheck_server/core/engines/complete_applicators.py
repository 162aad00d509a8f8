"""The keywords that apply subschemas, for the complete engine.

jsonschema's own functions are used where they do nothing but descend. The others
would search names with ``re``, take subschemas out of their place, or write the
whole offending value into a message.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from jsonschema import Draft202012Validator

from sidecheck_server.core.budget import spend
from sidecheck_server.core.engines.complete_assertions import Keyword
from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.engines.scope import scope_of
from sidecheck_server.core.engines.unevaluated import accepts, unevaluated_items, unevaluated_names
from sidecheck_server.core.schemas.keywords import Draft

__all__ = ["applicators_of"]

_NAME = 4
"""Steps of looking whether one name is declared."""


def _ref(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[Fault]:
    target, scope = scope_of(validator).follow(value)
    return _descend(validator, instance, target, resolver=scope)


def _dynamic_ref(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[Fault]:
    target, scope = scope_of(validator).follow_dynamic(value)
    return _descend(validator, instance, target, resolver=scope)


def _recursive_ref(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[Fault]:
    target, scope = scope_of(validator).follow_recursive(value)
    return _descend(validator, instance, target, resolver=scope)


def _any_of(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[Fault]:
    for branch in value:
        if next(_descend(validator, instance, branch), None) is None:
            return
    yield _choice(validator, value, instance)


def _one_of(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[Fault]:
    accepted = []
    for index, branch in enumerate(value):
        if accepts(validator, instance, branch):
            accepted.append(index)
            if len(accepted) == 2:
                yield Fault(tuple(accepted))
                return
    if not accepted:
        yield _choice(validator, value, instance)


def _choice(validator: Any, branches: Any, instance: Any) -> Fault:
    def explore(index: int) -> Iterator[Fault]:
        return _descend(validator, instance, branches[index], schema_path=index)

    return Fault(explore=explore)


def _not(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[Fault]:
    if accepts(validator, instance, value):
        yield Fault()


def _if(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Fault]:
    chosen = "then" if accepts(validator, instance, value) else "else"
    if chosen in schema:
        yield from _descend(validator, instance, schema[chosen], schema_path=chosen)


def _dependencies(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[Fault]:
    if isinstance(instance, dict):
        for name, needed in value.items():
            if name not in instance:
                continue
            if isinstance(needed, list):
                for each in needed:
                    if each not in instance:
                        yield Fault((name, each))
            else:
                yield from _descend(validator, instance, needed, schema_path=name)


def _pattern_properties(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[Fault]:
    if isinstance(instance, dict):
        scope = scope_of(validator)
        for pattern, subschema in value.items():
            for name, member in instance.items():
                if scope.checks.matches(pattern, name, scope.budget):
                    yield from _descend(
                        validator, member, subschema, path=name, schema_path=pattern
                    )


def _additional_properties(
    validator: Any, value: Any, instance: Any, schema: Any
) -> Iterator[Fault]:
    if isinstance(instance, dict) and value is not True:
        scope = scope_of(validator)
        spend(scope.budget, _NAME * len(instance))
        # With an applicator in force, so are its siblings of the same vocabulary.
        declared = schema.get("properties", {})
        patterns = schema.get("patternProperties", {})
        extra = (
            name
            for name in instance
            if name not in declared
            and not any(scope.checks.matches(pattern, name, scope.budget) for pattern in patterns)
        )
        yield from _closed(validator, value, instance, extra)


def _unevaluated_properties(
    validator: Any, value: Any, instance: Any, schema: Any
) -> Iterator[Fault]:
    if isinstance(instance, dict) and value is not True:
        yield from _closed(
            validator, value, instance, unevaluated_names(validator, instance, schema)
        )


def _closed(
    validator: Any, value: Any, instance: dict[str, Any], extra: Iterable[str]
) -> Iterator[Fault]:
    for name in extra:
        if value is False:
            yield Fault(name, at=(name,))
        else:
            yield from _descend(validator, instance[name], value, path=name)


def _property_names(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[Fault]:
    if isinstance(instance, dict):
        for name in instance:
            # The first thing wrong with a name says enough of it.
            wrong = next(_descend(validator, name, value), None)
            if wrong is not None:
                yield Fault(wrong, at=(name,))


def _items_after(first: int, value: Any, validator: Any, instance: list[Any]) -> Iterator[Fault]:
    if value is False:
        if len(instance) > first:
            yield Fault(first, at=(first,))
    elif value is not True:
        for index in range(first, len(instance)):
            yield from _descend(validator, instance[index], value, path=index)


def _items(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Fault]:
    if isinstance(instance, list):
        yield from _items_after(len(schema.get("prefixItems", ())), value, validator, instance)


def _items_or_list(validator: Any, value: Any, instance: Any, schema: Any) -> Iterable[Fault]:
    if isinstance(value, list):
        descents: Iterable[Fault] = _PREFIX_ITEMS(validator, value, instance, schema)
        return descents
    return _items_after(0, value, validator, instance) if isinstance(instance, list) else ()


def _additional_items(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Fault]:
    listed = schema.get("items")
    # Without a list of items there are no additional ones (2019-09 core, section 9.3.1.2).
    if isinstance(instance, list) and isinstance(listed, list):
        yield from _items_after(len(listed), value, validator, instance)


def _unevaluated_items(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Fault]:
    if isinstance(instance, list) and value is not True:
        for index in unevaluated_items(validator, instance, schema):
            if value is False:
                yield Fault(index, at=(index,))
                return
            yield from _descend(validator, instance[index], value, path=index)


def _contains(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Fault]:
    if isinstance(instance, list):
        in_force = scope_of(validator).dialect.keywords
        if "minContains" in schema and "minContains" in in_force:
            return  # which then says how many it takes (2019-09 validation, section 6.4.5)
        if not any(accepts(validator, item, value) for item in instance):
            yield Fault()


def _min_contains(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Fault]:
    if _counts_contained(validator, instance, schema):
        found = _count_up_to(value, validator, instance, schema["contains"])
        if found < value:
            yield Fault(found)


def _max_contains(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Fault]:
    if _counts_contained(validator, instance, schema):
        found = _count_up_to(value + 1, validator, instance, schema["contains"])
        if found > value:
            yield Fault(found)


def _counts_contained(validator: Any, instance: Any, schema: Any) -> bool:
    in_force = scope_of(validator).dialect.keywords
    return isinstance(instance, list) and "contains" in schema and "contains" in in_force


def _count_up_to(enough: int, validator: Any, instance: list[Any], subschema: Any) -> int:
    count = 0
    for item in instance:
        if count >= enough:
            break
        count += accepts(validator, item, subschema)
    return count


def _descend(validator: Any, instance: Any, schema: Any, **where: Any) -> Iterator[Fault]:
    faults: Iterator[Fault] = validator.descend(instance, schema, **where)
    return faults


_PREFIX_ITEMS = Draft202012Validator.VALIDATORS["prefixItems"]

_APPLICATORS: Mapping[str, Any] = MappingProxyType(
    {
        **{
            name: Draft202012Validator.VALIDATORS[name]
            for name in ("allOf", "dependentSchemas", "properties")
        },
        "$ref": _ref,
        "$recursiveRef": _recursive_ref,
        "$dynamicRef": _dynamic_ref,
        "anyOf": _any_of,
        "oneOf": _one_of,
        "not": _not,
        "if": _if,
        "dependencies": _dependencies,
        "prefixItems": _PREFIX_ITEMS,
        "items": _items_or_list,
        "additionalItems": _additional_items,
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


def applicators_of(draft: Draft) -> dict[str, Keyword]:
    """Return the applicators by keyword, as *draft* reads them."""
    known = dict(_APPLICATORS)
    if draft is Draft.DRAFT_2020_12:
        known["items"] = _items
    return known
