"""Merging of schemas: one node that admits exactly what several admit together."""

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
    """No exact merge was found."""


def without_keywords(node: SchemaNode, *keywords: str) -> SchemaNode:
    """Return *node* without *keywords*, and without its notes."""
    rest = {name: value for name, value in node.keywords.items() if name not in keywords}
    return SchemaNode(node.path, rest, node.never, name=node.name)


def merge_nodes(nodes: Sequence[SchemaNode], budget: Budget) -> SchemaNode | None:
    """Return a node that admits exactly what all *nodes* admit together, or None.

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
        self.left = _MAX_MERGES

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
        """Add to *into* nodes without references and ``allOf`` that are equivalent to *top*."""
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
            own = without_keywords(node, "$ref", "allOf")
            own.notes = list(node.notes)
            into[id(node)] = own
            pending.extend(reversed(conjuncts))

    def count(self) -> None:
        spend(self.budget, _STEPS)
        self.left -= 1
        if self.left < 0:
            raise _InexactError

    def merge_children(self, mine: SchemaNode, theirs: SchemaNode, depth: int) -> SchemaNode:
        """Return the merge of two nodes that stand below those that are merged."""
        if mine is theirs or not (theirs.keywords or theirs.never):
            return mine
        if not (mine.keywords or mine.never):
            return theirs
        references = mine.keywords.keys() == theirs.keywords.keys() == {"$ref"}
        if references and mine.keywords["$ref"] is theirs.keywords["$ref"]:
            return mine
        return self.merge((mine, theirs), depth + 1)

    def join(self, into: SchemaNode, other: SchemaNode, depth: int) -> None:
        """Make *into* assert what *other* asserts too."""
        self.count()
        if into.encoding != other.encoding:
            raise _InexactError
        into.never = into.never or other.never
        into.notes += [note for note in other.notes if note not in into.notes]
        mine, theirs = into.keywords, other.keywords
        for first, *rest in _GROUPS:
            if first in mine and first in theirs:
                raise _InexactError
            for name in rest:
                if (name in mine and first in theirs) or (name in theirs and first in mine):
                    raise _InexactError
        self.join_objects(mine, theirs, depth)
        self.join_arrays(mine, theirs, depth)
        for name, value in theirs.items():
            if name in _OBJECT or name in _ARRAY or name in ("enum", "const"):
                continue
            if name not in mine:
                mine[name] = value
            elif name not in ANNOTATIONS or name == "format":
                mine[name] = self.join_keyword(name, mine[name], value)
        _join_values(into, theirs)
        into.never = into.never or mine.get("type") == []

    def join_keyword(self, name: str, mine: Any, theirs: Any) -> Any:
        join = _JOINS.get(name)
        if join is not None:
            return join(mine, theirs)
        if not _has_nodes(mine) and mine == theirs:
            return mine
        raise _InexactError

    def join_objects(self, mine: dict[str, Any], theirs: dict[str, Any], depth: int) -> None:
        if not any(name in theirs for name in _OBJECT):
            return
        if not any(name in mine for name in _OBJECT):
            mine.update({name: theirs[name] for name in _OBJECT if name in theirs})
            return
        if "patternProperties" in mine or "patternProperties" in theirs:
            raise _InexactError
        unrestricted = SchemaNode(())
        my_rest = mine.get("additionalProperties", unrestricted)
        their_rest = theirs.get("additionalProperties", unrestricted)
        my_properties, their_properties = mine.get("properties", {}), theirs.get("properties", {})
        spend(self.budget, len(my_properties) + _STEPS * len(their_properties))
        merged = dict(my_properties)
        names = their_properties
        if their_rest is not unrestricted:
            names = dict.fromkeys([*my_properties, *their_properties])
        for name in names:
            node = self.merge_properties(
                my_properties.get(name, my_rest), their_properties.get(name, their_rest), depth
            )
            merged[name] = node
            # A closed object needs no property that admits no value.
            if node.never and (my_rest.never or their_rest.never):
                del merged[name]
        if merged or my_properties or their_properties:
            mine["properties"] = merged
        if "additionalProperties" in mine or "additionalProperties" in theirs:
            mine["additionalProperties"] = self.merge_children(my_rest, their_rest, depth)

    def merge_properties(self, mine: SchemaNode, theirs: SchemaNode, depth: int) -> SchemaNode:
        if mine.never or theirs.never:
            return SchemaNode((mine if mine.never else theirs).path, never=True)
        return self.merge_children(mine, theirs, depth)

    def join_arrays(self, mine: dict[str, Any], theirs: dict[str, Any], depth: int) -> None:
        if not any(name in theirs for name in _ARRAY):
            return
        if not any(name in mine for name in _ARRAY):
            mine.update({name: theirs[name] for name in _ARRAY if name in theirs})
        elif "prefixItems" in mine or "prefixItems" in theirs:
            raise _InexactError
        else:
            mine["items"] = self.merge_children(mine["items"], theirs["items"], depth)


def _has_nodes(value: Any) -> bool:
    if isinstance(value, dict | list):
        items = value.values() if isinstance(value, dict) else value
        return any(isinstance(item, SchemaNode) for item in items)
    return isinstance(value, SchemaNode)


def _join_values(into: SchemaNode, their_keywords: Mapping[str, Any]) -> None:
    """Restrict *into* to values that ``enum`` and ``const`` of *their_keywords* admit."""
    values = _values(their_keywords)
    if values is None:
        return
    mine = into.keywords
    own = _values(mine)
    const = "const" in mine or "const" in their_keywords
    if own is not None:
        allowed = set(map(canonical_text, values))
        values = [value for value in own if canonical_text(value) in allowed]
    mine.pop("enum", None)
    mine.pop("const", None)
    mine["const" if const and values else "enum"] = values[0] if const and values else values
    into.never = into.never or not values


def _values(keywords: Mapping[str, Any]) -> list[Any] | None:
    """Return the values that ``enum`` and ``const`` admit; None if there is neither."""
    if "const" not in keywords:
        return keywords.get("enum")
    constant = keywords["const"]
    allowed = map(canonical_text, keywords.get("enum", [constant]))
    return [constant] if canonical_text(constant) in allowed else []


def _join_types(mine: Any, theirs: Any) -> Any:
    own = [mine] if isinstance(mine, str) else mine
    other = [theirs] if isinstance(theirs, str) else theirs
    common = [name for name in own if name in other or (name == "integer" and "number" in other)]
    narrows = "number" in own and "integer" in other and "number" not in other
    if narrows and "integer" not in common:
        common.append("integer")
    return common[0] if len(common) == 1 else common


def _join_multiples(mine: Any, theirs: Any) -> Any:
    if mine == theirs:
        return mine
    integers = isinstance(mine, int) and isinstance(theirs, int)
    if not integers or max(mine, theirs) > 2**53:
        raise _InexactError
    return lcm(mine, theirs)


def _join_lists(mine: list[str], theirs: list[str]) -> list[str]:
    return list(dict.fromkeys([*mine, *theirs]))


def _join_dependent_required(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _join_lists(mine.get(name, []), theirs.get(name, []))
        for name in dict.fromkeys([*mine, *theirs])
    }


def _join_disjoint(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    if mine.keys() & theirs.keys():
        raise _InexactError
    return {**mine, **theirs}


def _join_flags(mine: Any, theirs: Any) -> Any:
    return mine or theirs


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
