"""Merging of nodes into one that admits exactly the values that all admit."""

from collections.abc import Callable, Mapping, Sequence
from math import lcm
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.convert.schema_graph import ANNOTATIONS, SchemaNode
from sidecheck_server.core.json_values import number_text
from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.types import JsonValue

__all__ = ["canonical_text", "merge_nodes", "without_keywords"]

_MAX_DEPTH = 16
_MAX_MERGES = 500
"""Maximum number of merges of two nodes in one merge."""
_STEPS = 50
"""Steps per merge or visit of a node."""

_UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
_OBJECT = ("properties", "patternProperties", "additionalProperties")
_ARRAY = ("prefixItems", "items")
_GROUPS = (("contains", "minContains", "maxContains"), ("if", "then", "else"))


def canonical_text(value: JsonValue) -> str:
    """Return a text that two values share if and only if they are the same JSON value.

    The depth of *value* must be bounded.
    """
    if isinstance(value, dict):
        items = sorted((f"{name!r}:{canonical_text(item)}" for name, item in value.items()))
        return "{" + ",".join(items) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical_text, value)) + "]"
    if value is None or isinstance(value, bool | str):
        return repr(value)
    return number_text(value)


class _InexactError(Exception):
    """No exact merge exists, or none within the limits."""


def without_keywords(node: SchemaNode, *keywords: str) -> SchemaNode:
    """Return *node* without *keywords*, and without its notes."""
    rest = {name: value for name, value in node.keywords.items() if name not in keywords}
    return SchemaNode(node.path, rest, node.never, name=node.name)


def merge_nodes(nodes: Sequence[SchemaNode], budget: Budget) -> SchemaNode | None:
    """Return a node that admits exactly the values that all *nodes* admit, or None.

    References and ``allOf`` are followed. The first of several annotations is kept. The nodes
    do not change; the nodes below them are shared.

    Raises:
        Exhausted: *budget* is spent.
    """
    try:
        return _Merger(budget).merge(nodes, 0)
    except _InexactError:
        return None


class _Merger:
    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.remaining_merges = _MAX_MERGES

    def merge(self, nodes: Sequence[SchemaNode], depth: int) -> SchemaNode:
        if depth > _MAX_DEPTH:
            raise _InexactError
        flat: dict[int, SchemaNode] = {}
        for node in nodes:
            self.flatten(node, flat)
        first, *others = flat.values()
        result = SchemaNode(first.path, dict(first.keywords), first.never, list(first.notes))
        result.name = nodes[0].name
        for other in others:
            if any(name in node.keywords for name in _UNEVALUATED for node in (result, other)):
                raise _InexactError
            self.join(result, other, depth)
        if result.never:
            result.keywords = {
                name: value for name, value in result.keywords.items() if name in ANNOTATIONS
            }
        return result

    def flatten(self, top: SchemaNode, into: dict[int, SchemaNode]) -> None:
        """Add to *into* equivalents of *top* without references and ``allOf``."""
        pending = [top]
        while pending:
            node = pending.pop()
            if id(node) in into:
                continue
            self.count()
            conjuncts = [*node.keywords.get("allOf", ())]
            if "$ref" in node.keywords:
                conjuncts.insert(0, node.keywords["$ref"])
            if not conjuncts:
                into[id(node)] = node
                continue
            if any(name in node.keywords for name in _UNEVALUATED):
                raise _InexactError
            rest = without_keywords(node, "$ref", "allOf")
            rest.notes = list(node.notes)
            into[id(node)] = rest
            pending.extend(reversed(conjuncts))

    def count(self) -> None:
        spend(self.budget, _STEPS)
        self.remaining_merges -= 1
        if self.remaining_merges < 0:
            raise _InexactError

    def merge_children(self, left: SchemaNode, right: SchemaNode, depth: int) -> SchemaNode:
        """Return the merge of two nodes that are children of merged nodes."""
        if left is right or not (right.keywords or right.never):
            return left
        if not (left.keywords or left.never):
            return right
        references = left.keywords.keys() == right.keywords.keys() == {"$ref"}
        if references and left.keywords["$ref"] is right.keywords["$ref"]:
            return left
        return self.merge((left, right), depth + 1)

    def join(self, into: SchemaNode, other: SchemaNode, depth: int) -> None:
        """Add the assertions of *other* to *into*."""
        self.count()
        if into.encoding != other.encoding:
            raise _InexactError
        into.never = into.never or other.never
        into.notes += [note for note in other.notes if note not in into.notes]
        left, right = into.keywords, other.keywords
        for first, *rest in _GROUPS:
            if first in left and first in right:
                raise _InexactError
            for name in rest:
                if (name in left and first in right) or (name in right and first in left):
                    raise _InexactError
        self.join_objects(left, right, depth)
        self.join_arrays(left, right, depth)
        for name, value in right.items():
            if name in _OBJECT or name in _ARRAY or name in ("enum", "const"):
                continue
            if name not in left:
                left[name] = value
            elif name not in ANNOTATIONS or name == "format":
                left[name] = self.join_keyword(name, left[name], value)
        _join_values(into, right)
        into.never = into.never or left.get("type") == []

    def join_keyword(self, name: str, left: Any, right: Any) -> Any:
        join = _JOINS.get(name)
        if join is not None:
            return join(left, right)
        if not _has_nodes(left) and left == right:
            return left
        raise _InexactError

    def join_objects(self, left: dict[str, Any], right: dict[str, Any], depth: int) -> None:
        if not any(name in right for name in _OBJECT):
            return
        if not any(name in left for name in _OBJECT):
            left.update({name: right[name] for name in _OBJECT if name in right})
            return
        if "patternProperties" in left or "patternProperties" in right:
            raise _InexactError
        unrestricted = SchemaNode(())
        left_rest = left.get("additionalProperties", unrestricted)
        right_rest = right.get("additionalProperties", unrestricted)
        left_properties, right_properties = left.get("properties", {}), right.get("properties", {})
        spend(self.budget, len(left_properties) + _STEPS * len(right_properties))
        merged = dict(left_properties)
        names = right_properties
        if right_rest is not unrestricted:
            names = dict.fromkeys([*left_properties, *right_properties])
        for name in names:
            node = self.merge_properties(
                left_properties.get(name, left_rest), right_properties.get(name, right_rest), depth
            )
            merged[name] = node
            # A closed object need not declare a property that admits no value.
            if node.never and (left_rest.never or right_rest.never):
                del merged[name]
        if merged or left_properties or right_properties:
            left["properties"] = merged
        if "additionalProperties" in left or "additionalProperties" in right:
            left["additionalProperties"] = self.merge_children(left_rest, right_rest, depth)

    def merge_properties(self, left: SchemaNode, right: SchemaNode, depth: int) -> SchemaNode:
        if left.never or right.never:
            return SchemaNode((left if left.never else right).path, never=True)
        return self.merge_children(left, right, depth)

    def join_arrays(self, left: dict[str, Any], right: dict[str, Any], depth: int) -> None:
        if not any(name in right for name in _ARRAY):
            return
        if not any(name in left for name in _ARRAY):
            left.update({name: right[name] for name in _ARRAY if name in right})
        elif "prefixItems" in left or "prefixItems" in right:
            raise _InexactError
        else:
            left["items"] = self.merge_children(left["items"], right["items"], depth)


def _has_nodes(value: Any) -> bool:
    if isinstance(value, dict | list):
        items = value.values() if isinstance(value, dict) else value
        return any(isinstance(item, SchemaNode) for item in items)
    return isinstance(value, SchemaNode)


def _join_values(into: SchemaNode, right_keywords: Mapping[str, Any]) -> None:
    """Restrict *into* to values that ``enum`` and ``const`` of *right_keywords* admit."""
    values = _values(right_keywords)
    if values is None:
        return
    left = into.keywords
    own = _values(left)
    const = "const" in left or "const" in right_keywords
    if own is not None:
        allowed = set(map(canonical_text, values))
        values = [value for value in own if canonical_text(value) in allowed]
    left.pop("enum", None)
    left.pop("const", None)
    left["const" if const and values else "enum"] = values[0] if const and values else values
    into.never = into.never or not values


def _values(keywords: Mapping[str, Any]) -> list[Any] | None:
    """Return the values that ``enum`` and ``const`` admit; None without both."""
    if "const" not in keywords:
        return keywords.get("enum")
    constant = keywords["const"]
    allowed = map(canonical_text, keywords.get("enum", [constant]))
    return [constant] if canonical_text(constant) in allowed else []


def _join_types(left: Any, right: Any) -> Any:
    own = [left] if isinstance(left, str) else left
    other = [right] if isinstance(right, str) else right
    common = [name for name in own if name in other or (name == "integer" and "number" in other)]
    narrows = "number" in own and "integer" in other and "number" not in other
    if narrows and "integer" not in common:
        common.append("integer")
    return common[0] if len(common) == 1 else common


def _join_multiples(left: Any, right: Any) -> Any:
    if left == right:
        return left
    integers = isinstance(left, int) and isinstance(right, int)
    if not integers or max(left, right) > 2**53:
        raise _InexactError
    return lcm(left, right)


def _join_lists(left: list[str], right: list[str]) -> list[str]:
    return list(dict.fromkeys([*left, *right]))


def _join_dependent_required(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _join_lists(left.get(name, []), right.get(name, []))
        for name in dict.fromkeys([*left, *right])
    }


def _join_disjoint(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    if left.keys() & right.keys():
        raise _InexactError
    return {**left, **right}


def _join_flags(left: Any, right: Any) -> Any:
    return left or right


_JOINS: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        "type": _join_types,
        **dict.fromkeys(
            ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max
        ),
        **dict.fromkeys(
            ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min
        ),
        "multipleOf": _join_multiples,
        "uniqueItems": _join_flags,
        "required": _join_lists,
        "dependentRequired": _join_dependent_required,
        "dependentSchemas": _join_disjoint,
    }
)
