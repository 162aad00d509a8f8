"""Subschemas that apply to the values of a payload.

Application is defined as for ``unevaluatedProperties`` (2020-12 core, section 11.3). If a
subschema applies, these apply as well: the targets of its references, the members of its
``allOf``, the branches of a choice that accept the value, the branch that ``if`` selects, and
the dependent schemas of present properties.

Branches of a choice that require another type never apply. If only one branch remains, it
applies without being evaluated, because the payload can match no other branch.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.engines.complete import CompleteEngine, Validator
from sidecheck_server.core.engines.scope import Scope
from sidecheck_server.core.engines.unevaluated import accepts, unevaluated_items, unevaluated_names
from sidecheck_server.core.json_values import has_type
from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.types import Draft, JsonValue

__all__ = [
    "AppliedSchema",
    "Container",
    "Path",
    "choose_single",
    "list_unconditional",
    "matches_name_pattern",
    "property_subschemas",
    "walk_containers",
]

Path = tuple[str | int, ...]

_PENDING = 200
"""Steps of queueing a subschema, in addition to the steps of applying it."""

_BranchChoice = Callable[[Sequence[int], Sequence[int]], Sequence[int]]
"""Takes the accepting branches and the branches that allow the type of the value; returns the
branches that apply."""


def _choose_all(accepting: Sequence[int], type_matching: Sequence[int]) -> Sequence[int]:
    """Choose the accepting branches, or else all that allow the type."""
    return accepting or type_matching


def choose_single(accepting: Sequence[int], _type_matching: Sequence[int]) -> Sequence[int]:
    """Choose the accepting branch if there is exactly one; otherwise no branch."""
    return accepting if len(accepting) == 1 else ()


@dataclass(frozen=True, slots=True, eq=False)
class _PendingSchema:
    """A subschema to apply, with its validator."""

    validator: Validator
    schema: Any
    #: The path of evaluation.
    path: Path
    #: Whether it is under ``if``, and thus asserts nothing.
    is_condition: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class AppliedSchema:
    """An object schema that applies to a value."""

    #: The validator in the scope of the schema.
    validator: Validator
    schema: Mapping[str, Any]
    #: The keywords of the schema that are in force in its dialect.
    in_force: frozenset[str]
    path: Path
    is_condition: bool

    def get(self, keyword: str, default: Any) -> Any:
        """Return the value of *keyword*, or *default* if it is not in force."""
        return self.schema[keyword] if keyword in self.in_force else default

    def has_annotation(self, name: str) -> bool:
        """Return whether it has the annotation *name* and no ``$ref`` hides that."""
        hides = self.validator.scope.dialect.reference_hides_siblings and "$ref" in self.schema
        return name in self.schema and not hides

    def subschema(self, keyword: str, *steps: str | int) -> _PendingSchema:
        """Return the subschema at *steps* in the value of *keyword*."""
        schema = self.schema[keyword]
        for step in steps:
            schema = schema[step]
        return _PendingSchema(
            self.validator, schema, (*self.path, keyword, *steps), self.is_condition
        )


def _list_applied(
    instance: JsonValue,
    initial: Iterable[_PendingSchema],
    choose: _BranchChoice = _choose_all,
) -> list[AppliedSchema]:
    """Return the schemas that apply to *instance* together with *initial*, each once.

    Raises:
        Exhausted: the budget of the validators has too few steps.
    """

    def expand(schema: AppliedSchema) -> Iterator[_PendingSchema]:
        yield from _iterate_unconditional(schema)
        yield from _iterate_chosen_branches(schema, instance, choose)
        yield from _iterate_conditional(schema, instance)

    return _closure(initial, expand)


def list_unconditional(initial: Iterable[_PendingSchema]) -> list[AppliedSchema]:
    """Return the schemas that always apply together with *initial*."""
    return _closure(initial, _iterate_unconditional)


def _closure(
    initial: Iterable[_PendingSchema],
    expand: Callable[[AppliedSchema], Iterator[_PendingSchema]],
) -> list[AppliedSchema]:
    applied: list[AppliedSchema] = []
    seen: set[tuple[object, ...]] = set()
    stack = list(initial)[::-1]
    while stack:
        pending = stack.pop()
        spend(pending.validator.scope.budget, _PENDING)
        schema = _apply(pending)
        if schema is None:
            continue
        scope = schema.validator.scope
        spend(scope.budget, scope.prepared.steps_of(schema.schema))
        # The path is not part of the key: a choice selects the same branches on every path.
        key = (
            id(schema.schema),
            *map(id, (scope.resource, *scope.entered)),
            schema.is_condition,
        )
        if key not in seen:
            seen.add(key)
            applied.append(schema)
            if not schema.in_force.isdisjoint(_IN_PLACE):
                stack.extend(list(expand(schema))[::-1])
    return applied


_IN_PLACE = frozenset(
    {"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "if"}
    | {"dependentSchemas", "dependencies"}
)
"""The keywords that apply subschemas to the same value."""


def _apply(pending: _PendingSchema) -> AppliedSchema | None:
    schema = pending.schema
    if not isinstance(schema, dict):
        return None
    scope = pending.validator.scope.enter(schema)
    pending = _in_scope(pending, scope, schema)
    in_force = schema.keys() & scope.dialect.keywords
    if scope.dialect.reference_hides_siblings and "$ref" in schema:
        in_force = {"$ref"}
    return AppliedSchema(
        pending.validator, schema, frozenset(in_force), pending.path, pending.is_condition
    )


def _in_scope(pending: _PendingSchema, scope: Scope, schema: Any) -> _PendingSchema:
    """Return *pending* with *schema* as its schema, in *scope*."""
    validator = pending.validator.within(scope)
    return _PendingSchema(validator, schema, pending.path, pending.is_condition)


def _iterate_unconditional(schema: AppliedSchema) -> Iterator[_PendingSchema]:
    scope = schema.validator.scope
    for keyword, follow in (
        ("$ref", scope.follow),
        ("$dynamicRef", scope.follow_dynamic),
        ("$recursiveRef", scope.follow_recursive),
    ):
        if keyword in schema.in_force:
            target, target_scope = follow(schema.schema[keyword])
            yield _in_scope(schema.subschema(keyword), target_scope, target)
    for index in range(len(schema.get("allOf", ()))):
        yield schema.subschema("allOf", index)


def _iterate_chosen_branches(
    schema: AppliedSchema, instance: JsonValue, choose: _BranchChoice
) -> Iterator[_PendingSchema]:
    for keyword in ("anyOf", "oneOf"):
        count = len(schema.get(keyword, ()))
        spend(schema.validator.scope.budget, _PENDING * count)
        branches = [schema.subschema(keyword, index) for index in range(count)]
        possible = [
            index for index, branch in enumerate(branches) if _allows_type(branch, instance)
        ]
        if len(possible) == 1:
            yield branches[possible[0]]
        elif possible:
            accepting = [
                index
                for index in possible
                if accepts(schema.validator, instance, branches[index].schema)
            ]
            for index in choose(accepting, possible):
                yield branches[index]


def _allows_type(branch: _PendingSchema, instance: JsonValue) -> bool:
    if branch.schema is False:
        return False
    for schema in list_unconditional([branch]):
        types = schema.get("type", None)
        names = [types] if isinstance(types, str) else types
        draft = schema.validator.scope.dialect.draft
        if names is not None and not any(has_type(instance, name, draft) for name in names):
            return False
    return True


def _iterate_conditional(schema: AppliedSchema, instance: JsonValue) -> Iterator[_PendingSchema]:
    if "if" in schema.in_force:
        chosen = "else"
        if accepts(schema.validator, instance, schema.schema["if"]):
            chosen = "then"
            condition = schema.subschema("if")
            yield _PendingSchema(
                condition.validator, condition.schema, condition.path, is_condition=True
            )
        if chosen in schema.in_force:
            yield schema.subschema(chosen)
    if isinstance(instance, dict):
        for keyword in ("dependentSchemas", "dependencies"):
            for name, dependent in schema.get(keyword, {}).items():
                if name in instance and not isinstance(dependent, list):
                    yield schema.subschema(keyword, name)


# Steps for a container, for each of its values, and for looking up a value in a schema.
_CONTAINER = 250
_VALUE = 3
_LOOK_UP = 40


@dataclass(frozen=True, slots=True, eq=False)
class Container:
    """An object or an array of a payload."""

    path: Path
    value: Any
    applied: Sequence[AppliedSchema]


_Level = Iterator[tuple[Path, JsonValue, list[_PendingSchema]]]
"""The children of one container, with the subschemas to apply to each."""


def walk_containers(
    engine: CompleteEngine,
    value: JsonValue,
    budget: Budget,
    choose: _BranchChoice = _choose_all,
) -> Iterator[Container]:
    """Yield the containers of *value* to which subschemas apply, outer ones first.

    A container without applying subschemas is skipped with all of its contents.

    Raises:
        Exhausted: *budget* has too few steps.
    """
    validator, schema = engine.at_root(budget)
    # Levels are lazy: most callers stop early.
    levels: list[_Level] = [iter([((), value, [_PendingSchema(validator, schema, ())])])]
    while levels:
        following = next(levels[-1], None)
        if following is None:
            levels.pop()
            continue
        path, current, initial = following
        if not isinstance(current, dict | list):
            return  # Only the root can be a scalar.
        spend(budget, _CONTAINER + _VALUE * len(current))
        applied = _list_applied(current, initial, choose)
        if applied:
            yield Container(path, current, applied)
            levels.append(_children(path, current, applied))


def property_subschemas(schema: AppliedSchema, name: str) -> Iterator[_PendingSchema]:
    """Yield the subschemas for a property, except ``unevaluatedProperties``."""
    spend(schema.validator.scope.budget, _LOOK_UP)
    is_declared = False
    if name in schema.get("properties", ()):
        is_declared = True
        yield schema.subschema("properties", name)
    for pattern in _matching_patterns(schema, name):
        is_declared = True
        yield schema.subschema("patternProperties", pattern)
    if not is_declared and "additionalProperties" in schema.in_force:
        yield schema.subschema("additionalProperties")


def matches_name_pattern(schema: AppliedSchema, name: str) -> bool:
    """Return whether a pattern of ``patternProperties`` of *schema* matches *name*."""
    return next(_matching_patterns(schema, name), None) is not None


def _matching_patterns(schema: AppliedSchema, name: str) -> Iterator[str]:
    patterns = schema.get("patternProperties", ())
    scope = schema.validator.scope
    for pattern in patterns:
        if scope.checks.matches(pattern, name, scope.budget):
            yield pattern


def _children(path: Path, value: JsonValue, applied: Sequence[AppliedSchema]) -> _Level:
    """Yield the objects and arrays directly in *value*, with the subschemas to apply."""
    if isinstance(value, dict):
        unevaluated = _unevaluated(value, applied, "unevaluatedProperties", unevaluated_names)
        for name, child in value.items():
            if isinstance(child, dict | list):
                subschemas = [
                    pending for schema in applied for pending in property_subschemas(schema, name)
                ]
                subschemas += [pending for names, pending in unevaluated if name in names]
                yield (*path, name), child, subschemas
    elif isinstance(value, list):
        unevaluated = _unevaluated(value, applied, "unevaluatedItems", unevaluated_items)
        for index, item in enumerate(value):
            if isinstance(item, dict | list):
                subschemas = [
                    pending for schema in applied for pending in _item_subschemas(schema, index)
                ]
                subschemas += [pending for indexes, pending in unevaluated if index in indexes]
                yield (*path, index), item, subschemas


def _unevaluated(
    value: Any,
    applied: Sequence[AppliedSchema],
    keyword: str,
    find_unevaluated: Callable[..., Sequence[Any]],
) -> list[tuple[frozenset[Any], _PendingSchema]]:
    """Return the subschemas of *keyword*, with their names or indexes."""
    subschemas = []
    for schema in applied:
        if isinstance(schema.get(keyword, None), dict):
            places = find_unevaluated(schema.validator, value, schema.schema)
            spend(schema.validator.scope.budget, _VALUE * len(places))
            subschemas.append((frozenset(places), schema.subschema(keyword)))
    return subschemas


def _item_subschemas(schema: AppliedSchema, index: int) -> Iterator[_PendingSchema]:
    scope = schema.validator.scope
    spend(scope.budget, _LOOK_UP)
    prefix, rest = "prefixItems", "items"
    if scope.dialect.draft is not Draft.DRAFT_2020_12:
        if not isinstance(schema.get("items", None), list):
            prefix, rest = "", "items"
        else:
            prefix, rest = "items", "additionalItems"
    if index < len(schema.get(prefix, ())):
        yield schema.subschema(prefix, index)
    elif rest in schema.in_force:
        yield schema.subschema(rest)
