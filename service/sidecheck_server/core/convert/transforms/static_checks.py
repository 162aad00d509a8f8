"""Conservative static checks of exact conversion and of exclusive branches.

A check may return False although the property holds, and never True where it does not.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from sidecheck_server.core.convert.providers.subset import References
from sidecheck_server.core.convert.schema_graph import ANNOTATIONS, SchemaNode, collect_reachable
from sidecheck_server.core.convert.transforms.merging import canonical_text
from sidecheck_server.core.convert.transforms.rules import TransformContext
from sidecheck_server.core.limits import spend
from sidecheck_server.core.types import JsonValue

__all__ = ["OBJECT_KEYWORDS", "is_exact", "is_exclusive", "may_encode"]

_STEPS = 100
"""Steps per checked node."""

OBJECT_KEYWORDS = frozenset(
    {
        "properties",
        "patternProperties",
        "additionalProperties",
        "propertyNames",
        "required",
        "minProperties",
        "maxProperties",
        "dependentRequired",
        "dependentSchemas",
        "unevaluatedProperties",
    }
)
"""The keywords that apply to objects only."""

# Groups and escapes whose support differs between engines.
_UNPORTABLE = re.compile(r"\(\?|\\[^dswDSWbntr.\\/^$|()\[\]{}*+?-]")


def is_exact(node: SchemaNode, context: TransformContext) -> bool:
    """Return whether the subset certainly keeps *node* and its descendants unchanged.

    A node with notes counts as widened.

    Raises:
        Exhausted: the budget is spent.
    """
    # Decision 0032: below `not`, `if` and `oneOf`, widening a part would narrow the whole.
    nodes = collect_reachable(node)
    spend(context.log.budget, _STEPS * len(nodes))
    return all(_is_kept(child, context) for child in nodes)


def may_encode(node: SchemaNode, context: TransformContext) -> bool:
    """Return whether payloads at *node* or below may take another form.

    Raises:
        Exhausted: the budget is spent.
    """
    subset = context.subset
    if subset.closed or subset.all_required or subset.typed or not subset.empty_objects:
        return True
    if not context.renamed:
        return False
    nodes = collect_reachable(node)
    spend(context.log.budget, _STEPS * len(nodes))
    return any(_is_renamed(child, context) for child in nodes)


def _is_renamed(node: SchemaNode, context: TransformContext) -> bool:
    keywords = ("properties", "required", "dependentRequired", "dependentSchemas")
    return any(
        name in context.renamed for keyword in keywords for name in node.keywords.get(keyword, ())
    )


def _is_kept(node: SchemaNode, context: TransformContext) -> bool:
    subset = context.subset
    if node.notes or _is_renamed(node, context):
        return False
    if node.never:
        return subset.boolean_schemas or context.supports("not")
    asserted = node.keywords.keys() - ANNOTATIONS.keys() - {"contentSchema"}
    if subset.closed or subset.all_required:
        types = node.keywords.get("type", "object")
        if "object" in types or not OBJECT_KEYWORDS.isdisjoint(asserted):
            return False
    empty = "object" in node.keywords.get("type", ()) and not node.keywords.get("properties")
    if empty and not subset.empty_objects:
        return False
    if subset.typed and asserted.isdisjoint(("type", "anyOf", "enum", "$ref")):
        return False
    if "$ref" in asserted and subset.references is References.ALONE and len(asserted) > 1:
        return False
    if not all(keyword == "$ref" or _supports(keyword, context) for keyword in asserted):
        return False
    return all(_keeps_value(keyword, node.keywords[keyword], context) for keyword in asserted)


def _supports(keyword: str, context: TransformContext) -> bool:
    return context.supports(keyword) or (keyword == "const" and context.supports("enum"))


def _keeps_value(keyword: str, value: Any, context: TransformContext) -> bool:
    """Return whether the subset keeps *keyword* with that *value*."""
    subset = context.subset
    if keyword == "type":
        listed = isinstance(value, list)
        has_array = value == "array" or (listed and "array" in value)
        return (subset.type_lists or not listed) and not (subset.items and has_array)
    if keyword in ("enum", "const") and subset.enum_of_strings:
        return all(isinstance(item, str) for item in (value if keyword == "enum" else [value]))
    if keyword == "minItems":
        return subset.min_items is None or value in subset.min_items
    if keyword in ("pattern", "patternProperties"):
        return not any(map(_UNPORTABLE.search, [value] if isinstance(value, str) else value))
    return True


_SIBLINGS = ("type", "required")
_MAX_NODES = 30
"""Maximum number of nodes that are examined for one branch."""


@dataclass(slots=True)
class _Bounds:
    """Superset of the values that a node admits."""

    #: Possible types, with integers as numbers; None if any type is possible.
    types: set[str] | None = None
    #: Canonical texts of the values; None if any value is possible.
    values: set[str] | None = None
    required: set[str] = field(default_factory=set)
    #: Canonical texts of the possible values of a property.
    constants: dict[str, set[str]] = field(default_factory=dict)
    #: All properties that an object may have; None for an open object.
    declared: set[str] | None = None

    def restrict_types(self, types: Iterable[str]) -> None:
        allowed = {"number" if name == "integer" else name for name in types}
        self.types = allowed if self.types is None else self.types & allowed


def is_exclusive(branches: Sequence[SchemaNode], union: SchemaNode) -> bool:
    """Return whether certainly no value is admitted by two of *branches*.

    Of the sibling keywords in *union*, the types and the required properties count. Branches
    exclude each other if their types differ, or their values, or the values of a property
    that all require, or if of any two objects one requires a property that the other rejects.
    """
    siblings = {name: union.keywords[name] for name in _SIBLINGS if name in union.keywords}
    bounds = [
        _bounds(SchemaNode(branch.path, {**siblings, "allOf": [branch]}))
        for branch in branches
        if not branch.never
    ]
    if any(bound.types is None for bound in bounds):
        return False
    for type_ in {type_ for bound in bounds for type_ in bound.types or ()}:
        group = [bound for bound in bounds if type_ in (bound.types or ())]
        if len(group) > 1 and not (
            _differ_by_value(group)
            or _differ_by_property(type_, group)
            or _differ_by_names(type_, group)
        ):
            return False
    return True


def _differ_by_value(group: Sequence[_Bounds]) -> bool:
    return _are_disjoint([bound.values for bound in group])


def _differ_by_property(type_: str, group: Sequence[_Bounds]) -> bool:
    names = set.intersection(*(bound.required & bound.constants.keys() for bound in group))
    return type_ == "object" and any(
        _are_disjoint([bound.constants[name] for bound in group]) for name in names
    )


def _differ_by_names(type_: str, group: Sequence[_Bounds]) -> bool:
    if type_ != "object" or len(group) > _MAX_NODES:
        return False
    return all(
        _rejects_required(bound, other) or _rejects_required(other, bound)
        for bound, other in combinations(group, 2)
    )


def _rejects_required(bound: _Bounds, other: _Bounds) -> bool:
    """Return whether *other* requires a property that *bound* rejects."""
    return bound.declared is not None and not other.required <= bound.declared


def _are_disjoint(sets: Sequence[set[str] | None]) -> bool:
    seen: set[str] = set()
    for values in sets:
        if values is None or seen & values:
            return False
        seen |= values
    return True


def _bounds(branch: SchemaNode) -> _Bounds:
    bounds = _Bounds()
    for node in _conjuncts(branch):
        keywords = node.keywords
        if "type" in keywords:
            types = keywords["type"]
            bounds.restrict_types([types] if isinstance(types, str) else types)
        values = _values(node)
        if values is not None:
            bounds.restrict_types(map(_type_of, values))
            texts = set(map(canonical_text, values))
            bounds.values = texts if bounds.values is None else bounds.values & texts
        bounds.required.update(keywords.get("required", ()))
        others: SchemaNode | None = keywords.get("additionalProperties")
        if others is not None and others.never and "patternProperties" not in keywords:
            bounds.declared = set(keywords.get("properties", ()))
        for name, schema in keywords.get("properties", {}).items():
            constants = _values(schema)
            if constants is not None:
                bounds.constants[name] = set(map(canonical_text, constants))
    return bounds


def _conjuncts(branch: SchemaNode) -> Iterable[SchemaNode]:
    """Yield *branch* and the nodes that ``$ref`` and ``allOf`` require, up to a limit."""
    pending = [branch]
    for _ in range(_MAX_NODES):
        if not pending:
            return
        node = pending.pop()
        yield node
        pending.extend(node.keywords.get("allOf", ()))
        if "$ref" in node.keywords:
            pending.append(node.keywords["$ref"])


def _values(node: SchemaNode) -> list[Any] | None:
    for _ in range(_MAX_NODES):
        if "const" in node.keywords:
            return [node.keywords["const"]]
        if "enum" in node.keywords:
            return list(node.keywords["enum"])
        if "$ref" not in node.keywords:
            return None
        node = node.keywords["$ref"]
    return None


def _type_of(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    names: dict[type, str] = {str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null")
