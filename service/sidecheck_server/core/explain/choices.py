"""Which of several alternatives a payload was meant to be.

Saying everything that is wrong under every branch of ``anyOf`` or ``oneOf`` helps
nobody. Mostly one branch is evidently meant: the only one of that type, the one whose
``kind`` is given, the one with those properties. Then its faults are the ones to tell.
"""

from dataclasses import dataclass
from itertools import islice
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.engines.weights import APPLICATION_STEPS
from sidecheck_server.core.explain.schemas import (
    MOST_BRANCHES,
    MOST_PROPERTIES,
    SchemaPart,
    allowed_constants,
    schema_parts,
)
from sidecheck_server.core.json_values import all_unique, has_type, json_equal

__all__ = ["Discriminator", "select_branch"]

_DEEPEST = 3


@dataclass(frozen=True, slots=True)
class Discriminator:
    """A property that tells the branches apart, and that names none of them."""

    name: str
    #: The values that would name one.
    values: list[Any]


@dataclass(frozen=True, slots=True)
class _Branch:
    index: int
    parts: list[SchemaPart]
    #: The properties that allow nothing but a few constants.
    constants: dict[str, list[Any]]
    #: The names of the properties that it describes or requires.
    names: frozenset[str]
    required: frozenset[str]


def select_branch(fault: Fault) -> int | Discriminator | None:
    """Return the index of the branch that was meant, or the tag that says so wrongly.

    None if there is no telling.
    """
    instance = fault.instance
    if len(fault.validator_value) > MOST_BRANCHES:
        return None
    branches = [
        _branch(index, parts)
        for index, schema in enumerate(fault.validator_value)
        if schema is not False and _admits(parts := schema_parts(schema, fault.scope), instance)
    ]
    if isinstance(instance, list) and instance:
        branches = [each for each in branches if _admits_first(each, instance)] or branches
    if len(branches) > 1 and isinstance(instance, dict):
        for name in dict.fromkeys(name for each in branches for name in each.constants):
            if name in instance and _tells_apart(name, branches, fault):
                named = [each for each in branches if _allows(each, name, instance[name])]
                if not named:
                    return Discriminator(name, _values(name, branches))
                tagged = [each for each in named if name in each.constants]
                branches = tagged or named
        branches = _most_alike(branches, instance)
    if len(branches) == 1:
        return branches[0].index
    return _missing_tag(branches, fault)


_LIMITING = frozenset({"$ref", "allOf", "const", "enum"})


def _branch(index: int, parts: list[SchemaPart]) -> _Branch:
    required = frozenset(name for part in parts for name in part.get("required", list))
    members = [
        (name, member, part.scope)
        for part in parts
        for name, member in islice(part.get("properties", dict).items(), MOST_PROPERTIES)
    ]
    known: dict[str, list[Any]] = {}
    for name, member, scope in members:
        if isinstance(member, dict) and not member.keys() & _LIMITING:
            # Most members are so: the one part that they have limits nothing.
            spend(scope.budget, APPLICATION_STEPS)
            continue
        for part in schema_parts(member, scope):
            values = allowed_constants(part)
            if values is not None:
                known.setdefault(name, values)
    return _Branch(index, parts, known, required | {name for name, _, _ in members}, required)


def _admits(parts: list[SchemaPart], instance: Any, depth: int = 0) -> bool:
    """Return whether values of the type of *instance* have a chance."""
    return all(_part_admits(part, instance, depth) for part in parts)


def _part_admits(part: SchemaPart, instance: Any, depth: int) -> bool:
    in_force = part.scope.dialect.keywords
    types = part.schema.get("type") if "type" in in_force else None
    if types is not None:
        draft = part.scope.dialect.draft
        names = [types] if isinstance(types, str) else types
        if not any(has_type(instance, name, draft) for name in names):
            return False
    values = allowed_constants(part)
    if values is not None and types is None:
        return any(_same_kind(value, instance) for value in values)
    for choice in ("anyOf", "oneOf"):
        branches = part.get(choice, list)
        if branches and depth < _DEEPEST:
            inner = (schema_parts(each, part.scope) for each in branches if each is not False)
            if not any(_admits(parts, instance, depth + 1) for parts in inner):
                return False
    return True


def _same_kind(one: Any, two: Any) -> bool:
    numbers = (int, float)
    if isinstance(one, numbers) and isinstance(two, numbers):
        return isinstance(one, bool) == isinstance(two, bool)
    return type(one) is type(two)


def _admits_first(branch: _Branch, instance: list[Any]) -> bool:
    items = ((part.schema.get("items"), part.scope) for part in branch.parts)
    return all(_admits(schema_parts(each, scope), instance[0]) for each, scope in items)


def _tells_apart(name: str, branches: list[_Branch], fault: Fault) -> bool:
    """Return whether *name* is there to say which branch is meant."""
    values = [each.constants[name] for each in branches if name in each.constants]
    if len(values) == 1:
        return len(values[0]) == 1
    return all_unique([value for each in values for value in each], fault.scope.budget)


def _values(name: str, branches: list[_Branch]) -> list[Any]:
    return [value for each in branches for value in each.constants.get(name, ())]


def _allows(branch: _Branch, name: str, value: Any) -> bool:
    known = branch.constants.get(name)
    return known is None or any(json_equal(each, value) for each in known)


def _most_alike(branches: list[_Branch], instance: dict[str, Any]) -> list[_Branch]:
    """Return the branches that describe most of the members and miss the fewest."""
    if len(branches) < 2:
        return branches
    likeness = [
        (sum(name in each.names for name in instance), -len(each.required - instance.keys()))
        for each in branches
    ]
    best = max(likeness)
    if not best[0]:
        return branches
    return [each for each, alike in zip(branches, likeness, strict=True) if alike == best]


def _missing_tag(branches: list[_Branch], fault: Fault) -> Discriminator | None:
    instance = fault.instance
    if len(branches) < 2 or not isinstance(instance, dict):
        return None
    for name in branches[0].constants:
        everywhere = all(name in each.constants and name in each.required for each in branches)
        if everywhere and name not in instance and _tells_apart(name, branches, fault):
            return Discriminator(name, _values(name, branches))
    return None
