"""The subschemas that apply to a value, whether or not they accept it.

This is the notion of evaluation that ``unevaluatedProperties`` has (2020-12 core,
section 11.3): a subschema applies together with those that it leads to through
references and ``allOf``, with the branches of a choice that accept the value, with the
branch that ``if`` selects, and with the dependent schemas of present properties.

Branches of a choice that demand another type never apply. If that leaves one branch, it
applies without being evaluated, since no other can have been meant.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.engines.scope import Scope
from sidecheck_server.core.engines.unevaluated import accepts
from sidecheck_server.core.engines.validator import Validator
from sidecheck_server.core.json_values import has_type
from sidecheck_server.core.limits import spend
from sidecheck_server.core.types import JsonValue

__all__ = [
    "AppliedSchema",
    "BranchChoice",
    "PendingSchema",
    "accepting_or_all",
    "list_applied",
    "list_unconditional",
    "only_accepting",
]

Path = tuple[str | int, ...]

_PENDING = 200
"""Steps of any subschema that is to be applied, beside those of applying it."""

BranchChoice = Callable[[Sequence[int], Sequence[int]], Sequence[int]]
"""Returns the branches of a choice that apply, given those that accept the value and those
that allow its type."""


def accepting_or_all(accepting: Sequence[int], type_matching: Sequence[int]) -> Sequence[int]:
    """Choose the branches that accept the value, or all that allow its type if none does."""
    return accepting or type_matching


def only_accepting(accepting: Sequence[int], _type_matching: Sequence[int]) -> Sequence[int]:
    """Choose the branch that alone accepts the value, or none."""
    return accepting if len(accepting) == 1 else ()


@dataclass(frozen=True, slots=True, eq=False)
class PendingSchema:
    """A subschema to be applied, and the validator to apply it."""

    validator: Validator
    schema: Any
    #: The path of evaluation to it.
    path: Path
    #: Whether it stands under ``if``, and so demands nothing.
    is_condition: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class AppliedSchema:
    """An object schema that applies to a value."""

    #: In the scope of the schema.
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
        """Return whether it has the annotation *name*, not hidden by a reference."""
        hides = self.validator.scope.dialect.reference_hides_siblings and "$ref" in self.schema
        return name in self.schema and not hides

    def subschema(self, keyword: str, *steps: str | int) -> PendingSchema:
        """Return the subschema at *steps* in the value of *keyword*."""
        schema = self.schema[keyword]
        for step in steps:
            schema = schema[step]
        return PendingSchema(
            self.validator, schema, (*self.path, keyword, *steps), self.is_condition
        )


def list_applied(
    instance: JsonValue, initial: Iterable[PendingSchema], choose: BranchChoice = accepting_or_all
) -> list[AppliedSchema]:
    """Return the schemas that apply to *instance* if those of *initial* do, each once.

    Raises:
        Exhausted: the budget of their validators has too few steps.
    """

    def expand(schema: AppliedSchema) -> Iterator[PendingSchema]:
        yield from _unconditional(schema)
        yield from _chosen(schema, instance, choose)
        yield from _conditional(schema, instance)

    return _closure(initial, expand)


def list_unconditional(initial: Iterable[PendingSchema]) -> list[AppliedSchema]:
    """Return the schemas that apply to every value to which those of *initial* do."""
    return _closure(initial, _unconditional)


def _closure(
    initial: Iterable[PendingSchema],
    expand: Callable[[AppliedSchema], Iterator[PendingSchema]],
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
        # A choice selects the same branches on every path that leads to it.
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


def _apply(pending: PendingSchema) -> AppliedSchema | None:
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


def _in_scope(pending: PendingSchema, scope: Scope, schema: Any) -> PendingSchema:
    """Return *schema* in place of that of *pending*, to be applied in *scope*."""
    validator = pending.validator.within(scope)
    return PendingSchema(validator, schema, pending.path, pending.is_condition)


def _unconditional(schema: AppliedSchema) -> Iterator[PendingSchema]:
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


def _chosen(
    schema: AppliedSchema, instance: JsonValue, choose: BranchChoice
) -> Iterator[PendingSchema]:
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


def _allows_type(branch: PendingSchema, instance: JsonValue) -> bool:
    if branch.schema is False:
        return False
    for schema in list_unconditional([branch]):
        types = schema.get("type", None)
        names = [types] if isinstance(types, str) else types
        draft = schema.validator.scope.dialect.draft
        if names is not None and not any(has_type(instance, name, draft) for name in names):
            return False
    return True


def _conditional(schema: AppliedSchema, instance: JsonValue) -> Iterator[PendingSchema]:
    if "if" in schema.in_force:
        chosen = "else"
        if accepts(schema.validator, instance, schema.schema["if"]):
            chosen = "then"
            condition = schema.subschema("if")
            yield PendingSchema(
                condition.validator, condition.schema, condition.path, is_condition=True
            )
        if chosen in schema.in_force:
            yield schema.subschema(chosen)
    if isinstance(instance, dict):
        for keyword in ("dependentSchemas", "dependencies"):
            for name, dependent in schema.get(keyword, {}).items():
                if name in instance and not isinstance(dependent, list):
                    yield schema.subschema(keyword, name)
