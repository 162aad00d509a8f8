"""Tests of union branches: cheap, necessary conditions for a match.

A test is a JSON object: ``types`` are the possible types of the value, ``required`` the
required properties of objects, ``only`` all properties that they may have, ``constants`` the
scalars that a property can have, by its name. All are optional.

A test never rules out a branch that admits the value. Limits bound the size of tests: a test
with fewer conditions is only weaker.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.json_values import has_type, json_equal
from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.types import Draft, JsonValue

__all__ = ["MAX_CONSTANTS", "TYPES", "BranchMatcher", "BranchTestBuilder"]

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
"""The types that a test may name."""

MAX_CONSTANTS = 20
"""Maximum number of values of a property in a test."""

_DRAFT = Draft.DRAFT_2020_12

# Steps per test, and per name or value in a test.
_TEST = 40
_ITEM = 4


class BranchMatcher:
    """Evaluator of tests, with a cache of their lists of names as sets."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        # By identity: tests live as long as their decoder.
        self._sets: dict[int, frozenset[str]] = {}

    def name_set(self, names: list[str]) -> frozenset[str]:
        """Return *names*, a list of a decoder, as a set.

        Raises:
            Exhausted: the budget is spent.
        """
        cached = self._sets.get(id(names))
        if cached is None:
            spend(self._budget, _ITEM * len(names))
            cached = self._sets[id(names)] = frozenset(names)
        return cached

    def matches_types(self, test: Mapping[str, Any], value: JsonValue) -> bool:
        """Return whether *value* has one of the types in *test*.

        Raises:
            Exhausted: the budget is spent.
        """
        spend(self._budget, _TEST)
        types = test.get("types")
        return types is None or any(has_type(value, name, _DRAFT) for name in types)

    def matches(self, test: Mapping[str, Any], value: JsonValue) -> bool:
        """Return whether *value* satisfies all conditions of *test*.

        Raises:
            Exhausted: the budget is spent.
        """
        if not self.matches_types(test, value):
            return False
        if not isinstance(value, dict):
            return True
        required = test.get("required", ())
        spend(self._budget, _ITEM * len(required))
        if not all(name in value for name in required):
            return False
        for name, constants in test.get("constants", {}).items():
            spend(self._budget, _ITEM * (1 + len(constants)))
            if name in value and not any(
                json_equal(constant, value[name]) for constant in constants
            ):
                return False
        allowed_names = test.get("only")
        if allowed_names is None:
            return True
        spend(self._budget, _ITEM * len(value))
        return len(value) <= len(allowed_names) and value.keys() <= self.name_set(allowed_names)


_MAX_TEXT = 32 << 10
"""Maximum characters of all tests of one decoder; further tests have types only."""

_NAME_OVERHEAD = 6
"""Characters of JSON punctuation around a name."""

_VISITS_PER_TEST, _VISITS = 512, 100_000
"""Maximum visits of nodes for one test, and for all tests of one decoder."""

_NAMES_PER_VISIT = 8
"""Number of names, or items of a list, that take as long as a visit of a node."""

_MAX_UNION_DEPTH = 4
"""Maximum depth of nested unions."""


class BranchTestBuilder:
    """Builder of the tests of one decoder."""

    def __init__(self) -> None:
        self._text_left = _MAX_TEXT
        self._visits_left = _VISITS

    def build(self, node: SchemaNode) -> dict[str, Any]:
        """Return a test of the values that the transformed *node* admits."""
        visitor = _Visitor(min(_VISITS_PER_TEST, self._visits_left))
        before = visitor.left
        test: dict[str, Any] = {}
        types = visitor.types(node, _MAX_UNION_DEPTH)
        if types is not None:
            test["types"] = sorted(types - {"integer"} if "number" in types else types)
        if types is None or "object" in types:
            nodes = [
                conjunct
                for conjunct in visitor.conjuncts(node)
                if visitor.spend(_name_count(conjunct) // _NAMES_PER_VISIT)
            ]
            self._add(test, "constants", visitor.constant_properties(nodes))
            self._add(test, "required", _required(nodes))
            self._add(test, "only", _allowed_names(nodes))
        self._visits_left -= before - visitor.left
        return test

    def _add(self, test: dict[str, Any], name: str, condition: Any) -> None:
        """Add *condition* to *test* unless it is empty or exceeds the limit of text."""
        if condition is None or (not condition and name != "only"):
            return
        size = _size(condition)
        if size <= self._text_left:
            self._text_left -= size
            test[name] = condition


def _size(condition: Any) -> int:
    if isinstance(condition, Mapping):
        return sum(len(name) + _NAME_OVERHEAD + _size(value) for name, value in condition.items())
    return sum(
        _NAME_OVERHEAD + len(item if isinstance(item, str) else repr(item)) for item in condition
    )


class _Visitor:
    """Visitor of nodes with a limited number of visits."""

    def __init__(self, left: int) -> None:
        self.left = left

    def conjuncts(self, node: SchemaNode) -> Iterator[SchemaNode]:
        """Yield *node* and the nodes that it requires through ``$ref`` and ``allOf``."""
        pending = [node]
        seen: set[int] = set()
        while pending:
            node = pending.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if not self.spend(1 + len(node.keywords.get("allOf", ())) // _NAMES_PER_VISIT):
                return
            yield node
            pending += reversed(_nodes_of(node, "allOf"))
            pending += _nodes_of(node, "$ref")

    def spend(self, visits: int) -> bool:
        """Deduct *visits*; return False if fewer are left."""
        if visits > self.left:
            return False
        self.left -= visits
        return True

    def types(self, node: SchemaNode, depth: int) -> set[str] | None:
        """Return the types that values of *node* can have, or None if they are unknown."""
        possible_types: set[str] | None = None
        for conjunct in self.conjuncts(node):
            for types in self._asserted_types(conjunct, depth):
                possible_types = types if possible_types is None else possible_types & types
        return possible_types

    def _asserted_types(self, node: SchemaNode, depth: int) -> Iterator[set[str]]:
        if node.never:
            yield set()
        type_value = node.keywords.get("type")
        if type_value is not None:
            names = {type_value} if isinstance(type_value, str) else set(type_value)
            yield names | {"integer"} if "number" in names else names
        values = _values(node)
        if values is not None:
            yield set().union(*map(_types_of_value, values))
        for union in ("anyOf", "oneOf"):
            types = self._types_of_union(node, union, depth)
            if types is not None:
                yield types

    def _types_of_union(self, node: SchemaNode, union: str, depth: int) -> set[str] | None:
        count = len(node.keywords.get(union, ()))
        if not count or not depth or not self.spend(count // _NAMES_PER_VISIT):
            return None
        possible_types: set[str] = set()
        for branch in _nodes_of(node, union):
            types = self.types(branch, depth - 1)
            if types is None:
                return None
            possible_types |= types
        return possible_types

    def constant_properties(self, nodes: list[SchemaNode]) -> dict[str, list[Any]]:
        """Return the values of each property that can have only a few scalars."""
        constants: dict[str, list[Any]] = {}
        for node in nodes:
            for name, schema in node.keywords.get("properties", {}).items():
                values = self._constants(schema, _MAX_UNION_DEPTH) if self.left else None
                if values is not None:
                    constants.setdefault(name, values)
        return constants

    def _constants(self, node: SchemaNode, depth: int) -> list[Any] | None:
        """Return all values that *node* admits, or None unless they are a few scalars."""
        for conjunct in self.conjuncts(node):
            values = _values(conjunct)
            if values is None and conjunct.keywords.get("type") == "null":
                values = [None]
            if values is None and depth:
                values = self._constants_of_union(conjunct, depth)
            if values is not None and len(values) <= MAX_CONSTANTS:
                containers = any(isinstance(value, dict | list) for value in values)
                return None if containers else values
        return None

    def _constants_of_union(self, node: SchemaNode, depth: int) -> list[Any] | None:
        branches = node.keywords.get("anyOf") or node.keywords.get("oneOf")
        if not branches or len(branches) > MAX_CONSTANTS:
            return None
        constants: list[Any] = []
        for branch in branches:
            values = self._constants(branch, depth - 1)
            if values is None:
                return None
            constants += values
        return constants


def _types_of_value(value: Any) -> set[str]:
    return {name for name in TYPES if has_type(value, name, _DRAFT)}


def _nodes_of(node: SchemaNode, keyword: str) -> list[SchemaNode]:
    value = node.keywords.get(keyword)
    values = value if isinstance(value, list) else [value]
    return [item for item in values if isinstance(item, SchemaNode)]


def _name_count(node: SchemaNode) -> int:
    return sum(len(node.keywords.get(keyword, ())) for keyword in ("required", "properties"))


def _values(node: SchemaNode) -> list[Any] | None:
    """Return the values in ``const`` or ``enum`` of *node* itself, or None."""
    if "const" in node.keywords:
        return [node.keywords["const"]]
    values = node.keywords.get("enum")
    return values if isinstance(values, list) else None


def _required(nodes: list[SchemaNode]) -> list[str]:
    return list(dict.fromkeys(name for node in nodes for name in node.keywords.get("required", ())))


def _allowed_names(nodes: list[SchemaNode]) -> list[str] | None:
    """Return all properties that objects can have, or None if they are unknown."""
    for node in nodes:
        others = node.keywords.get("additionalProperties")
        closed = isinstance(others, SchemaNode) and others.never
        if closed and not node.keywords.get("patternProperties"):
            return list(node.keywords.get("properties", ()))
    return None
