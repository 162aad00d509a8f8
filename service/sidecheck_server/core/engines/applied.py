"""Which subschemas apply to a value, without saying whether they accept it.

It is the notion of evaluation that ``unevaluatedProperties`` has (2020-12 core,
section 11.3): a subschema applies together with those that it leads to through
references and ``allOf``, with the branches of a choice that accept the value, with the
branch that ``if`` selects, and with the dependent schemas of members that are present.

Of the branches of a choice, those that ask for another type never apply; if that leaves
one, it applies without being asked, since then it alone can have been meant.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.engines.json_types import has_type
from sidecheck_server.core.engines.scope import Scope, scope_of
from sidecheck_server.core.engines.unevaluated import accepts
from sidecheck_server.core.types import JsonValue

__all__ = [
    "Applied",
    "Choose",
    "Waiting",
    "accepting_or_all",
    "always",
    "applied_to",
    "only_accepting",
    "waiting",
]

Path = tuple[str | int, ...]

Choose = Callable[[Sequence[int], Sequence[int]], Sequence[int]]
"""Tells which branches of a choice apply, given those that accept the value and those that
allow its type."""


def accepting_or_all(accepting: Sequence[int], of_the_type: Sequence[int]) -> Sequence[int]:
    """Choose the branches that accept the value, or all of its type if none does."""
    return accepting or of_the_type


def only_accepting(accepting: Sequence[int], _of_the_type: Sequence[int]) -> Sequence[int]:
    """Choose the branch that accepts the value if no other does, and else none."""
    return accepting if len(accepting) == 1 else ()


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """A subschema that is to be applied, and the validator that would do so."""

    validator: Any
    schema: Any
    #: The path of evaluation that leads there.
    path: Path
    #: Whether it only asks what holds, under ``if``, and demands nothing.
    asks: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Applied:
    """An object schema that applies to a value."""

    #: Stands in the scope of the schema.
    validator: Any
    schema: Mapping[str, Any]
    #: The keywords of the schema that its dialect knows.
    in_force: frozenset[str]
    path: Path
    asks: bool

    def get(self, keyword: str, absent: Any) -> Any:
        """Return the value of *keyword*, or *absent* if it is not in force."""
        return self.schema[keyword] if keyword in self.in_force else absent

    def has(self, annotation: str) -> bool:
        """Return whether it has *annotation*, which is not void beside a reference."""
        hides = scope_of(self.validator).dialect.reference_hides_siblings and "$ref" in self.schema
        return annotation in self.schema and not hides

    def below(self, keyword: str, *steps: str | int) -> Waiting:
        """Return the subschema that *steps* lead to from *keyword*."""
        schema = self.schema[keyword]
        for step in steps:
            schema = schema[step]
        return Waiting(self.validator, schema, (*self.path, keyword, *steps), self.asks)


def applied_to(
    instance: JsonValue, first: Iterable[Waiting], choose: Choose = accepting_or_all
) -> list[Applied]:
    """Return what applies to *instance* if the subschemas *first* do, each once.

    Raises:
        Exhausted: the budget of their validators has too few steps.
    """

    def lead(here: Applied) -> Iterator[Waiting]:
        yield from _unconditional(here)
        yield from _chosen(here, instance, choose)
        yield from _conditional(here, instance)

    return _closure(first, lead)


def always(first: Iterable[Waiting]) -> list[Applied]:
    """Return what applies to every value to which the subschemas *first* do."""
    return _closure(first, _unconditional)


def waiting(here: Waiting, scope: Scope, schema: Any, *steps: str | int) -> Waiting:
    """Return *schema*, which *steps* lead to from *here*, to be applied in *scope*."""
    validator = here.validator
    if scope is not scope_of(validator):
        validator = validator.evolve(_resolver=scope)
    return Waiting(validator, schema, (*here.path, *steps), here.asks)


def _closure(
    first: Iterable[Waiting], lead: Callable[[Applied], Iterator[Waiting]]
) -> list[Applied]:
    found: list[Applied] = []
    seen: set[tuple[object, ...]] = set()
    stack = list(first)[::-1]
    while stack:
        here = _entered(stack.pop())
        if here is None:
            continue
        scope = scope_of(here.validator)
        spend(scope.budget, scope.readings.charge(here.schema))
        # A choice, once taken, is the same for all ways that lead to it.
        key = (id(here.schema), *map(id, (scope.resource, *scope.entered)), here.asks)
        if key not in seen:
            seen.add(key)
            found.append(here)
            if not here.in_force.isdisjoint(_LEADING):
                stack.extend(list(lead(here))[::-1])
    return found


_LEADING = frozenset(
    {"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "if"}
    | {"dependentSchemas", "dependencies"}
)
"""The keywords that apply subschemas to the same value."""


def _entered(here: Waiting) -> Applied | None:
    schema = here.schema
    if not isinstance(schema, dict):
        return None
    scope = scope_of(here.validator).enter(schema)
    here = waiting(here, scope, schema)
    in_force = schema.keys() & scope.dialect.keywords
    if scope.dialect.reference_hides_siblings and "$ref" in schema:
        in_force = {"$ref"}
    return Applied(here.validator, schema, frozenset(in_force), here.path, here.asks)


def _unconditional(here: Applied) -> Iterator[Waiting]:
    scope = scope_of(here.validator)
    for keyword, follow in (
        ("$ref", scope.follow),
        ("$dynamicRef", scope.follow_dynamic),
        ("$recursiveRef", scope.follow_recursive),
    ):
        if keyword in here.in_force:
            target, there = follow(here.schema[keyword])
            yield waiting(here.below(keyword), there, target)
    for index in range(len(here.get("allOf", ()))):
        yield here.below("allOf", index)


def _chosen(here: Applied, instance: JsonValue, choose: Choose) -> Iterator[Waiting]:
    for keyword in ("anyOf", "oneOf"):
        branches = [here.below(keyword, index) for index in range(len(here.get(keyword, ())))]
        possible = [index for index, each in enumerate(branches) if _allows_type(each, instance)]
        if len(possible) == 1:
            yield branches[possible[0]]
        elif possible:
            accepting = [
                index
                for index in possible
                if accepts(here.validator, instance, branches[index].schema)
            ]
            for index in choose(accepting, possible):
                yield branches[index]


def _allows_type(branch: Waiting, instance: JsonValue) -> bool:
    if branch.schema is False:
        return False
    for part in always([branch]):
        types = part.get("type", None)
        names = [types] if isinstance(types, str) else types
        draft = scope_of(part.validator).dialect.draft
        if names is not None and not any(has_type(instance, name, draft) for name in names):
            return False
    return True


def _conditional(here: Applied, instance: JsonValue) -> Iterator[Waiting]:
    if "if" in here.in_force:
        chosen = "else"
        if accepts(here.validator, instance, here.schema["if"]):
            chosen = "then"
            asked = here.below("if")
            yield Waiting(asked.validator, asked.schema, asked.path, asks=True)
        if chosen in here.in_force:
            yield here.below(chosen)
    if isinstance(instance, dict):
        for keyword in ("dependentSchemas", "dependencies"):
            for name, needed in here.get(keyword, {}).items():
                if name in instance and not isinstance(needed, list):
                    yield here.below(keyword, name)
