"""Arrays and bounds: items, tuples, and bounds of numbers, strings and arrays.

`unsupported_keywords` handles bounds of objects, since a map that is encoded as a list keeps
them as bounds of the list.
"""

import math
from typing import Any

from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.transforms.descriptions import (
    describe_keyword,
    drop_keyword,
    phrase,
)
from sidecheck_server.core.convert.transforms.rules import (
    ARRAY,
    SEVERAL_TYPES,
    Rule,
    Traits,
    TransformContext,
    lacks_support,
)
from sidecheck_server.core.convert.transforms.value_types import types_of
from sidecheck_server.core.convert.types import Action, Effect

__all__ = ["BOUND_RULES", "RULES", "describe_bounds"]

_BOUNDS = (
    "minimum",
    "maximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
)
_NO_RESTRICTION = {"minLength": 0, "minItems": 0, "uniqueItems": False}

_MAX_TUPLE = 20
"""Maximum number of items of a tuple in a description."""
_MAX_TITLE = 40
"""Maximum characters of a title or description that labels an item."""


def describe_bounds(node: SchemaNode, context: TransformContext) -> None:
    """Describe the bounds that the subset lacks."""
    keywords = node.keywords
    for keyword in [name for name in _BOUNDS if name in keywords]:
        value = keywords[keyword]
        if _supports_bound(keyword, value, context):
            continue
        if keyword in _NO_RESTRICTION and value == _NO_RESTRICTION[keyword]:
            drop_keyword(node, context.log, keyword, "it restricts nothing")
        else:
            describe_keyword(node, context.log, keyword)


def _supports_bound(keyword: str, value: Any, context: TransformContext) -> bool:
    allowed = context.subset.min_items
    outside = keyword == "minItems" and allowed is not None and value not in allowed
    return context.supports(keyword) and not outside


def _rewrite_exclusive_bounds(node: SchemaNode, context: TransformContext) -> None:
    """Rewrite exclusive bounds as inclusive ones where the subset has none."""
    _make_inclusive(node, context, "exclusiveMinimum", "minimum")
    _make_inclusive(node, context, "exclusiveMaximum", "maximum")


def _make_inclusive(
    node: SchemaNode, context: TransformContext, exclusive: str, inclusive: str
) -> None:
    keywords = node.keywords
    if exclusive not in keywords or context.supports(exclusive):
        return
    limit, is_lower = keywords[exclusive], inclusive == "minimum"
    tighter = max if is_lower else min
    integral = set(types_of(node)) - {"null"} == {"integer"}
    if not context.supports(inclusive):
        describe_keyword(node, context.log, exclusive)
        return
    nearest = limit
    if integral:
        nearest = math.floor(limit) + 1 if is_lower else math.ceil(limit) - 1
    exact = integral or (inclusive in keywords and tighter(keywords[inclusive], limit) != limit)
    bound = tighter(keywords[inclusive], nearest) if inclusive in keywords else nearest
    node.keywords = {
        (inclusive if keyword == exclusive else keyword): value
        for keyword, value in keywords.items()
        if keyword != inclusive
    }
    node.keywords[inclusive] = bound
    if exact:
        message = f"rewritten as {inclusive}"
        context.log.add(node, exclusive, Action.REWRITTEN, Effect.EQUIVALENT, message)
    else:
        describe_keyword(node, context.log, exclusive, phrase(exclusive, keywords))


_lacks_bound = lacks_support(*_BOUNDS)


def _may_lack_bound(traits: Traits, subset: Subset) -> bool:
    limited = subset.min_items is not None and "minItems" in traits
    return limited or _lacks_bound(traits, subset)


BOUND_RULES: tuple[Rule, ...] = (
    Rule(_rewrite_exclusive_bounds, lacks_support("exclusiveMinimum", "exclusiveMaximum")),
    Rule(describe_bounds, _may_lack_bound),
)


def _rewrite_tuple(node: SchemaNode, context: TransformContext) -> None:
    """Rewrite a tuple as an array of any of its items where the subset has no tuples."""
    keywords = node.keywords
    prefix: list[SchemaNode] = keywords["prefixItems"]
    rest: SchemaNode | None = keywords.get("items")
    if rest is not None and rest.never:
        # Items beyond the tuple are rejected; a bound has the same effect without the tuple.
        keywords["maxItems"] = min(len(prefix), keywords.get("maxItems", len(prefix)))
    elif keywords.get("maxItems", len(prefix) + 1) > len(prefix):
        prefix = [*prefix, SchemaNode(node.path) if rest is None else rest]
    branches = [schema for schema in prefix if not schema.never]
    keywords["items"] = _union_of(node, branches)
    text = _describe_order(keywords["prefixItems"])
    describe_keyword(node, context.log, "prefixItems", text)
    describe_bounds(node, context)


def _union_of(node: SchemaNode, branches: list[SchemaNode]) -> SchemaNode:
    unrestricted = next(
        (branch for branch in branches if not branch.keywords and not branch.never), None
    )
    if unrestricted is not None or not branches:
        # A branch that admits everything makes the others redundant.
        return unrestricted or SchemaNode(node.path, never=True)
    distinct: list[SchemaNode] = []
    for branch in branches:
        if not any(branch is other or _is_same(branch, other) for other in distinct):
            distinct.append(branch)
    return distinct[0] if len(distinct) == 1 else SchemaNode(node.path, {"anyOf": distinct})


def _is_same(node: SchemaNode, other: SchemaNode) -> bool:
    return not node.children() and node.keywords == other.keywords and node.notes == other.notes


def _describe_order(prefix: list[SchemaNode]) -> str:
    return f"items in order: {', '.join(_label(schema) for schema in prefix[:_MAX_TUPLE])}"


def _label(node: SchemaNode) -> str:
    for keyword in ("title", "description"):
        text = node.keywords.get(keyword)
        if isinstance(text, str) and len(text) <= _MAX_TITLE:
            return text
    return " or ".join(types_of(node)) or "any value"


def _require_items(node: SchemaNode, context: TransformContext) -> None:
    """Give every array items where the subset requires them."""
    keywords = node.keywords
    items = keywords.get("items")
    if items is not None and items.never and not context.subset.boolean_schemas:
        maximum = len(keywords.get("prefixItems", ()))
        del keywords["items"]
        keywords["maxItems"] = min(maximum, keywords.get("maxItems", maximum))
        message = "rewritten as maxItems"
        context.log.add(node, "items", Action.REWRITTEN, Effect.EQUIVALENT, message)
        describe_bounds(node, context)
    if context.subset.items and "items" not in keywords and "array" in types_of(node):
        keywords["items"] = SchemaNode(node.path)
        message = "items that may be anything are declared"
        context.log.add(node, "items", Action.REWRITTEN, Effect.EQUIVALENT, message)


def _may_need_items(traits: Traits, subset: Subset) -> bool:
    if "items" in traits:
        return not subset.boolean_schemas
    return subset.items and not traits.isdisjoint((ARRAY, SEVERAL_TYPES))


RULES: tuple[Rule, ...] = (
    Rule(_rewrite_tuple, lacks_support("prefixItems")),
    Rule(_require_items, _may_need_items),
)
