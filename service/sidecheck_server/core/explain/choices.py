"""Selection of the branch of a choice that a payload was meant to match.

Reporting every fault under every branch of ``anyOf`` or ``oneOf`` helps nobody.
Mostly one branch is evidently meant: the only one of that type, the one whose ``kind``
is given, the one with those properties. Then its faults are the ones to report.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.engines.weights import APPLICATION_STEPS
from sidecheck_server.core.explain.schemas import (
    MOST_BRANCHES,
    MOST_PROPERTIES,
    SchemaPart,
    allowed_constants,
    is_never,
    schema_parts,
)
from sidecheck_server.core.json_values import all_unique, has_type, json_equal
from sidecheck_server.core.limits import spend

__all__ = ["Discriminator", "find_plausible", "select_branch"]

_DEEPEST = 3
"""How many choices, nested in each other, are looked into."""


@dataclass(frozen=True, slots=True)
class Discriminator:
    """A property that tells the branches apart, but whose value selects none of them."""

    name: str
    #: The values that would select a branch.
    values: list[Any]


@dataclass(frozen=True, slots=True)
class _Branch:
    index: int
    parts: list[SchemaPart]
    #: The properties that allow only a few constants.
    constants: dict[str, list[Any]]
    #: The names of the properties that it describes or requires.
    names: frozenset[str]
    required: frozenset[str]


def select_branch(fault: Fault) -> int | Discriminator | None:
    """Return the index of the branch that was meant, or its wrong or missing discriminator.

    None if the schemas do not tell.
    """
    plausible = find_plausible(fault)
    if isinstance(plausible, Discriminator):
        return plausible
    return plausible[0] if len(plausible) == 1 else None


def find_plausible(fault: Fault) -> list[int] | Discriminator:
    """Return the indexes of the branches that may have been meant, or the discriminator.

    The latter is wrong or missing, so that it selects none. There are no indexes if no branch
    may accept values of the type, or if there are too many branches.
    """
    instance = fault.instance
    if len(fault.keyword_value) > MOST_BRANCHES:
        return []
    branches = [
        _read_branch(index, parts)
        for index, schema in enumerate(fault.keyword_value)
        if not is_never(schema)
        and _may_accept(parts := schema_parts(schema, fault.scope), instance)
    ]
    if isinstance(instance, list) and instance:
        branches = [
            branch for branch in branches if _may_accept_first_item(branch, instance)
        ] or branches
    if len(branches) > 1 and isinstance(instance, dict):
        for name in dict.fromkeys(name for branch in branches for name in branch.constants):
            if name in instance and _discriminates(name, branches, fault):
                allowing = [branch for branch in branches if _allows(branch, name, instance[name])]
                if not allowing:
                    return Discriminator(name, _constants_of(name, branches))
                naming = [branch for branch in allowing if name in branch.constants]
                branches = naming or allowing
        branches = _most_similar(branches, instance)
    return _missing_discriminator(branches, fault) or [branch.index for branch in branches]


_MAY_LIMIT = frozenset({"$ref", "allOf", "const", "enum"})


def _read_branch(index: int, parts: list[SchemaPart], depth: int = 0) -> _Branch:
    required = frozenset(name for part in parts for name in part.get("required", list))
    properties = [
        (name, schema, part.scope)
        for part in parts
        for name, schema in islice(part.get("properties", dict).items(), MOST_PROPERTIES)
    ]
    constants: dict[str, list[Any]] = {}
    for name, schema, scope in properties:
        if isinstance(schema, dict) and not schema.keys() & _MAY_LIMIT:
            # True of most properties: their one part limits nothing.
            spend(scope.budget, APPLICATION_STEPS)
            continue
        for part in schema_parts(schema, scope):
            values = allowed_constants(part)
            if values is not None:
                constants.setdefault(name, values)
    names = required | {name for name, _, _ in properties}
    for part in parts:
        for inner in _read_choices(part, depth):
            # A choice in a branch demands what all of its branches do.
            shared = frozenset.intersection(*(branch.required for branch in inner))
            required |= shared
            names = names.union(*(branch.names for branch in inner))
            for name in dict.fromkeys(name for branch in inner for name in branch.constants):
                if all(name in branch.constants for branch in inner):
                    constants.setdefault(name, _constants_of(name, inner))
    return _Branch(index, parts, constants, names, required)


def _read_choices(part: SchemaPart, depth: int) -> Iterator[list[_Branch]]:
    """Yield the branches of each choice in *part*, up to a depth."""
    for keyword in ("anyOf", "oneOf"):
        branches = part.get(keyword, list)
        if branches and depth < _DEEPEST and len(branches) <= MOST_BRANCHES:
            yield [
                _read_branch(index, schema_parts(branch, part.scope), depth + 1)
                for index, branch in enumerate(branches)
            ]


def _may_accept(parts: list[SchemaPart], instance: Any, depth: int = 0) -> bool:
    """Return whether values of the type of *instance* may match all *parts*."""
    return all(_part_may_accept(part, instance, depth) for part in parts)


def _part_may_accept(part: SchemaPart, instance: Any, depth: int) -> bool:
    in_force = part.scope.dialect.keywords
    types = part.schema.get("type") if "type" in in_force else None
    if types is not None:
        draft = part.scope.dialect.draft
        names = [types] if isinstance(types, str) else types
        if not any(has_type(instance, name, draft) for name in names):
            return False
    values = allowed_constants(part)
    if values is not None and types is None:
        return any(_are_same_kind(value, instance) for value in values)
    for choice in ("anyOf", "oneOf"):
        branches = part.get(choice, list)
        if branches and depth < _DEEPEST:
            inner = (
                schema_parts(branch, part.scope) for branch in branches if not is_never(branch)
            )
            if not any(_may_accept(parts, instance, depth + 1) for parts in inner):
                return False
    return True


def _are_same_kind(left: Any, right: Any) -> bool:
    numbers = (int, float)
    if isinstance(left, numbers) and isinstance(right, numbers):
        return isinstance(left, bool) == isinstance(right, bool)
    return type(left) is type(right)


def _may_accept_first_item(branch: _Branch, instance: list[Any]) -> bool:
    items = ((part.schema.get("items"), part.scope) for part in branch.parts)
    return all(_may_accept(schema_parts(schema, scope), instance[0]) for schema, scope in items)


def _discriminates(name: str, branches: list[_Branch], fault: Fault) -> bool:
    """Return whether the values of the property *name* tell *branches* apart."""
    values = [branch.constants[name] for branch in branches if name in branch.constants]
    if len(values) == 1:
        return len(values[0]) == 1
    return all_unique([value for constants in values for value in constants], fault.scope.budget)


def _constants_of(name: str, branches: list[_Branch]) -> list[Any]:
    return [value for branch in branches for value in branch.constants.get(name, ())]


def _allows(branch: _Branch, name: str, value: Any) -> bool:
    constants = branch.constants.get(name)
    return constants is None or any(json_equal(constant, value) for constant in constants)


def _most_similar(branches: list[_Branch], instance: dict[str, Any]) -> list[_Branch]:
    """Return the branches that describe the most properties and lack the fewest required."""
    if len(branches) < 2:
        return branches
    ranks = [
        (sum(name in branch.names for name in instance), -len(branch.required - instance.keys()))
        for branch in branches
    ]
    best = max(ranks)
    if not best[0]:
        return branches
    return [branch for branch, rank in zip(branches, ranks, strict=True) if rank == best]


def _missing_discriminator(branches: list[_Branch], fault: Fault) -> Discriminator | None:
    instance = fault.instance
    if len(branches) < 2 or not isinstance(instance, dict):
        return None
    for name in branches[0].constants:
        in_all = all(name in branch.constants and name in branch.required for branch in branches)
        if in_all and name not in instance and _discriminates(name, branches, fault):
            return Discriminator(name, _constants_of(name, branches))
    return None
