"""Selection of the intended branch of ``anyOf`` or ``oneOf``.

Reporting the faults of every branch would bury the relevant ones. In most cases the type,
the value of a discriminator, or the property names of the payload identify one branch, and
only its faults are reported.

Otherwise the branch with the fewest faults is reported. If several branches have as few,
one message describes the constraints of each.
"""
# Decision 0011: one fault of the payload gives one violation, in the intended branch.

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.engines.weights import APPLICATION_STEPS
from sidecheck_server.core.explain.implications import is_implied
from sidecheck_server.core.explain.messages import explain_fault
from sidecheck_server.core.explain.schemas import (
    MOST_BRANCHES,
    MOST_PROPERTIES,
    SchemaPart,
    allowed_constants,
    describe_schema,
    rejects_every_value,
    schema_parts,
)
from sidecheck_server.core.explain.value_messages import explain_not_allowed
from sidecheck_server.core.explain.values import Message, Values, count_noun, join_phrase, quote
from sidecheck_server.core.json_values import all_unique, has_type, json_equal
from sidecheck_server.core.limits import spend
from sidecheck_server.core.types import as_pointer

__all__ = [
    "Discriminator",
    "compare_branches",
    "explain_alternatives",
    "find_plausible_branches",
    "select_branch",
]

_DEEPEST = 3
"""Most nested choices that are read."""


@dataclass(frozen=True, slots=True)
class Discriminator:
    """A property that identifies branches, but whose value selects none of them."""

    name: str
    #: The values that would select a branch.
    values: list[Any]


@dataclass(frozen=True, slots=True)
class _Branch:
    index: int
    parts: list[SchemaPart]
    #: The allowed constants of the properties limited to some.
    constants: dict[str, list[Any]]
    #: The names of declared or required properties.
    names: frozenset[str]
    required: frozenset[str]


def select_branch(fault: Fault) -> int | Discriminator | None:
    """Return the index of the intended branch, or the wrong or missing discriminator.

    None if the branch is ambiguous.
    """
    plausible = find_plausible_branches(fault)
    if isinstance(plausible, Discriminator):
        return plausible
    return plausible[0] if len(plausible) == 1 else None


def find_plausible_branches(fault: Fault) -> list[int] | Discriminator:
    """Return the indexes of the branches that may be intended, or the discriminator.

    A discriminator is returned if it is wrong or missing, so that it selects no branch. The
    list is empty if no branch may accept values of the type, or if there are too many
    branches.
    """
    instance = fault.instance
    if len(fault.keyword_value) > MOST_BRANCHES:
        return []
    branches = [
        _read_branch(index, parts)
        for index, schema in enumerate(fault.keyword_value)
        if not rejects_every_value(schema)
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
"""Keywords by which a schema may limit a property to constants."""


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
            # Most properties have a single part without constants.
            spend(scope.budget, APPLICATION_STEPS)
            continue
        for part in schema_parts(schema, scope):
            values = allowed_constants(part)
            if values is not None:
                constants.setdefault(name, values)
    names = required | {name for name, _, _ in properties}
    for part in parts:
        for inner in _read_choices(part, depth):
            # A nested choice requires the names that all of its branches require.
            shared = frozenset.intersection(*(branch.required for branch in inner))
            required |= shared
            names = names.union(*(branch.names for branch in inner))
            for name in dict.fromkeys(name for branch in inner for name in branch.constants):
                if all(name in branch.constants for branch in inner):
                    constants.setdefault(name, _constants_of(name, inner))
    return _Branch(index, parts, constants, names, required)


def _read_choices(part: SchemaPart, depth: int) -> Iterator[list[_Branch]]:
    """Yield the branches of each choice in *part*, up to a nesting depth."""
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
                schema_parts(branch, part.scope)
                for branch in branches
                if not rejects_every_value(branch)
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
    """Return whether the values of the property *name* distinguish *branches*."""
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
    """Return the branches with the most declared and fewest missing properties."""
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


_MOST_BRANCHES = 20
"""Most branches that are compared."""
_MOST_FAULTS = 5
"""Most faults that are counted in a branch."""
_MOST_SHOWN = 3
"""Most branches whose faults a message shows."""


@dataclass(frozen=True, slots=True)
class _Alternative:
    """A branch of a choice, with the first faults under it."""

    index: int
    faults: list[Fault]


def compare_branches(fault: Fault, indexes: Sequence[int]) -> list[_Alternative]:
    """Return the branches at *indexes* with the fewest faults, in order.

    The result is empty for a scalar, and for an object without any required property: a
    description of the branches is more useful then.

    Raises:
        Exhausted: the comparison takes more than half of the remaining steps; the other half
            is reserved for reporting the choice itself.
    """
    explore_branch, budget = fault.explore_branch, fault.scope.budget
    if explore_branch is None or not isinstance(fault.instance, dict | list):
        return []
    reserved = budget[0] // 2
    budget[0] -= reserved
    try:
        alternatives = [
            _Alternative(index, _first_faults(fault, explore_branch(index)))
            for index in indexes[:_MOST_BRANCHES]
        ]
    finally:
        budget[0] += reserved
    if all(_lacks_everything(inner, fault) for item in alternatives for inner in item.faults):
        return []
    fewest = min((len(alternative.faults) for alternative in alternatives), default=0)
    return [alternative for alternative in alternatives if len(alternative.faults) == fewest]


def _first_faults(choice: Fault, faults: Iterable[Fault]) -> list[Fault]:
    """Return the first of *faults* under *choice*, without implied ones."""
    first: list[Fault] = []
    for inner in faults:
        inner.parent = choice
        if not is_implied(inner):
            first.append(inner)
        if len(first) == _MOST_FAULTS:
            break
    return first


def _lacks_everything(inner: Fault, choice: Fault) -> bool:
    """Return whether *inner* says that the value of *choice* has no required property."""
    if inner.keyword != "required" or inner.instance is not choice.instance:
        return False
    return not any(name in inner.instance for name in inner.keyword_value)


def explain_alternatives(
    fault: Fault, alternatives: Sequence[_Alternative], values: Values
) -> tuple[Message, Sequence[str | int]]:
    """Return the message for a choice whose *alternatives* have equally many faults.

    The path is that of the value that all of them reject first, or of the choice.
    """
    first = [alternative.faults[0] for alternative in alternatives]
    path = first[0].absolute_path
    if all(inner.absolute_path == path for inner in first):
        message = _explain_names(first, values) or _explain_values(first, values)
        if message is not None:
            return message, path
    return _explain_separately(fault, alternatives, values), fault.absolute_path


def _explain_names(faults: Sequence[Fault], values: Values) -> Message | None:
    """Return the message if each alternative misses a property, or None."""
    if any(fault.keyword != "required" for fault in faults):
        return None
    names = list(dict.fromkeys(fault.detail for fault in faults))
    if len(names) == 1:
        return explain_fault(faults[0], values)
    actual = values.describe_names(faults[0].instance)
    return Message(f"expected {join_phrase([*map(quote, names)])} to be present, found {actual}")


_VALUES = frozenset({"type", "const", "enum", "format", "pattern", "anyOf", "oneOf"})
"""Keywords for which a description of the schema explains the fault."""


def _explain_values(faults: Sequence[Fault], values: Values) -> Message | None:
    """Return the message for a value that several schemas reject, or None."""
    if any(fault.keyword not in _VALUES for fault in faults):
        return None
    instance = faults[0].instance
    constants = [_constants_at(fault) for fault in faults]
    if all(constants):
        return explain_not_allowed(
            [value for fault_constants in constants for value in fault_constants], instance, values
        )
    phrases = list(dict.fromkeys(describe_schema(fault.schema, fault.scope) for fault in faults))
    if len(phrases) == 1:
        return explain_fault(faults[0], values)
    if not all(phrases) or isinstance(instance, dict):
        return None
    return Message(f"expected {join_phrase(phrases)}, found {values.describe(instance)}")


def _constants_at(fault: Fault) -> list[object]:
    for part in schema_parts(fault.schema, fault.scope):
        constants = allowed_constants(part)
        if constants is not None:
            return constants
    return []


def _explain_separately(
    fault: Fault, alternatives: Sequence[_Alternative], values: Values
) -> Message:
    """Return the message with the first fault of each of the first *alternatives*."""
    reasons: dict[str, int] = {}
    for alternative in alternatives:
        reasons.setdefault(_explain_first(fault, alternative, values), alternative.index)
    shown = [f"alternative {index}: {reason}" for reason, index in reasons.items()][:_MOST_SHOWN]
    if len(reasons) > _MOST_SHOWN:
        shown.append(f"and {count_noun(len(reasons) - _MOST_SHOWN, 'other alternative')}")
    total = count_noun(len(fault.keyword_value), "alternative")
    return Message(f"none of {total} matches; {'; '.join(shown)}")


def _explain_first(fault: Fault, alternative: _Alternative, values: Values) -> str:
    inner = alternative.faults[0]
    text = explain_fault(inner, values).text
    path = inner.absolute_path[len(fault.absolute_path) :]
    return text if values.hidden or not path else f"{text} (at {as_pointer(path)})"
