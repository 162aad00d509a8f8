"""Removal of keywords that a provider lacks, and of stray keywords.

A stray keyword applies only to types that the schema does not admit, for example ``required``
beside ``"type": "array"``. It has no effect: values of other types than its own are valid
against it (2020-12 validation, sections 6.2 to 6.5; core, section 10.3), and ``type``,
``enum`` or ``const`` rejects values of its own types. The other transforms would take such a
keyword for the description of an object or an array, and Gemini rejects it
(https://github.com/goruck/home-generative-agent/pull/525 quotes the error).
"""

from dataclasses import replace
from typing import Any

from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.schema_graph import NODE_KEYWORDS, SchemaNode
from sidecheck_server.core.convert.transforms.descriptions import (
    add_note,
    describe_keyword,
    drop_keyword,
)
from sidecheck_server.core.convert.transforms.objects import encode_as_json_text, restricts_nothing
from sidecheck_server.core.convert.transforms.rules import (
    NO_KEYWORDS,
    TYPE_TRAITS,
    Kind,
    Rule,
    Traits,
    TransformContext,
    Visit,
    kind_of,
)
from sidecheck_server.core.convert.transforms.value_types import (
    ANNOTATIONS,
    APPLIES_TO,
    is_untyped,
    types_of,
    types_of_values,
)
from sidecheck_server.core.convert.types import Action, Effect
from sidecheck_server.core.limits import Budget, spend

__all__ = ["RULES", "STRAY_RULES", "drop_stray_keywords"]


def _remove_never_schemas(node: SchemaNode, context: TransformContext) -> None:
    """Remove never schemas below *node* where the subset cannot express them."""
    _remove_never_properties(node, context)
    _remove_never_branches(node, context)
    for keyword, child in list(node.children_by_keyword()):
        # `additionalProperties: false` is supported everywhere.
        if child.never and keyword != "additionalProperties":
            _widen_never(node, keyword, child, context)


def _remove_never_properties(node: SchemaNode, context: TransformContext) -> None:
    """Remove the declarations of never-valid properties from a closed object."""
    others = node.keywords.get("additionalProperties")
    if others is None or not others.never or "patternProperties" in node.keywords:
        return
    properties = node.keywords.get("properties", {})
    possible = {name: schema for name, schema in properties.items() if not schema.never}
    if len(possible) < len(properties):
        node.keywords["properties"] = possible
        message = "properties that must not be given are not declared"
        context.log.add(node, "properties", Action.REWRITTEN, Effect.EQUIVALENT, message)


def _remove_never_branches(node: SchemaNode, context: TransformContext) -> None:
    branches = node.keywords.get("anyOf", [])
    possible = [branch for branch in branches if not branch.never]
    if possible and len(possible) < len(branches):
        node.keywords["anyOf"] = possible
        message = "branches that admit no value are left out"
        context.log.add(node, "anyOf", Action.REWRITTEN, Effect.EQUIVALENT, message)


def _widen_never(
    node: SchemaNode, keyword: str, child: SchemaNode, context: TransformContext
) -> None:
    # A new node: the child may occur elsewhere too.
    widened = SchemaNode(child.path)
    add_note(widened, "no value is valid here")
    value: Any = node.keywords[keyword]
    if isinstance(value, list):
        node.keywords[keyword] = [widened if item is child else item for item in value]
    elif isinstance(value, dict):
        node.keywords[keyword] = {
            name: widened if item is child else item for name, item in value.items()
        }
    else:
        node.keywords[keyword] = widened
    message = (
        "the provider supports no schema that admits no value; moved to the description: no "
        "value is valid here"
    )
    context.log.add(widened, "", Action.DESCRIBED, Effect.WIDENED, message)


_ASSERTIONS = frozenset(
    {
        *(keyword for keyword in APPLIES_TO if keyword not in ANNOTATIONS),
        *("type", "enum", "const", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"),
    }
)
_DESCRIBED_ANNOTATIONS = ("contentEncoding", "contentMediaType")
"""Annotations that tell a model the required content of a string."""
_DECLARING = ("properties", "patternProperties")
_REFERENCE = "$ref"
_DEPENDS_ON = {"then": "if", "else": "if", "minContains": "contains", "maxContains": "contains"}
"""Keywords that have no effect without another one."""


def _remove_unsupported_keywords(node: SchemaNode, context: TransformContext) -> None:
    """Remove unsupported keywords; describe assertions."""
    subset = context.subset
    for keyword in [name for name in node.keywords if not _is_supported(name, subset)]:
        if keyword not in node.keywords:
            continue  # Removed together with another keyword.
        value = node.keywords[keyword]
        if keyword in _DESCRIBED_ANNOTATIONS:
            describe_keyword(node, context.log, keyword, effect=Effect.EQUIVALENT)
        elif keyword not in _ASSERTIONS:
            drop_keyword(node, context.log, keyword, "the provider does not support it")
        elif _has_no_effect(node, keyword, value):
            drop_keyword(node, context.log, keyword, "it restricts nothing")
        else:
            describe_keyword(node, context.log, keyword, _special_phrase(node, keyword, value))


def _special_phrase(node: SchemaNode, keyword: str, value: Any) -> str:
    """Return the description of *keyword* if it is not the usual one, or ""."""
    closed = keyword == "additionalProperties" and value.never
    empty = closed and not any(node.keywords.get(name) for name in _DECLARING)
    return "no properties" if empty else ""


def _is_supported(keyword: str, subset: Subset) -> bool:
    known = keyword in _ASSERTIONS or keyword in ANNOTATIONS
    return keyword == _REFERENCE or (known and subset.supports(keyword))


def _has_no_effect(node: SchemaNode, keyword: str, value: Any) -> bool:
    needed = _DEPENDS_ON.get(keyword, keyword)
    return restricts_nothing(keyword, value) or needed not in node.keywords


def _encode_untyped(node: SchemaNode, context: TransformContext) -> None:
    """Encode a value of any type as JSON text where every schema must have a type."""
    if not node.never and node is not context.root:
        encode_as_json_text(node, context, "any JSON value")


_NO_SIBLINGS = "a union may have no other keyword"


def _isolate_union(node: SchemaNode, context: TransformContext) -> None:
    """Move the description of a union that may have no siblings to its first branch.

    A default becomes a part of it. A null branch is skipped, since ``nullable`` replaces it.
    """
    if "default" in node.keywords:
        describe_keyword(
            node, context.log, "default", reason=_NO_SIBLINGS, effect=Effect.EQUIVALENT
        )
    if "title" in node.keywords:
        drop_keyword(node, context.log, "title", _NO_SIBLINGS)
    keywords = node.keywords
    branches: list[SchemaNode] = keywords["anyOf"]
    first = next(
        (branch for branch in branches if branch.keywords != {"type": "null"}), branches[0]
    )
    description = keywords.pop("description", "")
    if not (description or node.notes) or first.never:
        return
    own = first.keywords.get("description", "")
    texts = {"description": f"{description} {own}".strip()} if description or own else {}
    copy = replace(first, keywords={**first.keywords, **texts}, notes=[*node.notes, *first.notes])
    node.keywords = {
        **keywords,
        "anyOf": [copy if branch is first else branch for branch in branches],
    }
    node.notes = []
    message = "moved to the first branch of the union"
    context.log.add(node, "description", Action.REWRITTEN, Effect.EQUIVALENT, message)


RULES: tuple[Rule, ...] = (
    Rule(
        _remove_never_schemas,
        lambda traits, subset: (
            not (subset.boolean_schemas or subset.supports("not"))
            and not traits.isdisjoint(NODE_KEYWORDS)
        ),
    ),
    Rule(
        _remove_unsupported_keywords,
        lambda traits, subset: any(
            not _is_supported(keyword, subset) for keyword in traits - NO_KEYWORDS
        ),
    ),
    Rule(_encode_untyped, is_untyped),
    Rule(_isolate_union, lambda traits, subset: subset.any_of_alone and "anyOf" in traits),
)


# Steps per visited node.
_NODE = 30

_TYPE_STATING = frozenset({"type", "enum", "const"})
"""Keywords that state types, or values."""

_TYPE_INDEPENDENT = frozenset({"format"})
"""Keywords that may also describe other types, such as the format ``int32``.

2020-12 validation, section 7.1; OpenAPI 3.0.3, "Data Types".
"""


_TYPE_SPECIFIC = frozenset(APPLIES_TO) - _TYPE_INDEPENDENT
"""Keywords that apply to the values of one type only."""


def drop_stray_keywords(root: SchemaNode, budget: Budget) -> Visit | None:
    """Drop the stray keywords of *root* and of every node below it, without loss.

    Returns None if a keyword was dropped, since nodes below it may have become unreachable.

    Raises:
        Exhausted: *budget* is spent.
    """
    seen: set[SchemaNode] = set()
    kinds: set[Kind] = set()
    dropped = False
    pending = [root]
    while pending:
        node = pending.pop()
        if node not in seen:
            spend(budget, _NODE + len(node.keywords))
            seen.add(node)
            pending += node.children()
            kinds.add(kind_of(node.keywords))
            dropped = _drop_stray(node) or dropped
    return None if dropped else Visit(len(seen), kinds)


def _drop_stray(node: SchemaNode) -> bool:
    """Drop the stray keywords of *node*; return whether there are any."""
    if _TYPE_SPECIFIC.isdisjoint(node.keywords):
        return False
    types = types_of(node) or types_of_values(node)
    if not types:
        return False
    allowed = {"number" if type_ == "integer" else type_ for type_ in types}
    stray = [
        name for name in _TYPE_SPECIFIC & node.keywords.keys() if APPLIES_TO[name] not in allowed
    ]
    for keyword in stray:
        del node.keywords[keyword]
    return bool(stray)


def _drop_where_types_changed(node: SchemaNode, _context: TransformContext) -> None:
    """Drop the stray keywords of a node whose types have changed since reading."""
    _drop_stray(node)


def _may_have_stray(traits: Traits) -> bool:
    """Return whether a node of *traits* may have stray keywords."""
    return not traits.isdisjoint(_TYPE_STATING) and any(
        TYPE_TRAITS[APPLIES_TO[keyword]] not in traits
        and not (APPLIES_TO[keyword] == "number" and TYPE_TRAITS["integer"] in traits)
        for keyword in traits & _TYPE_SPECIFIC
    )


STRAY_RULES: tuple[Rule, ...] = (
    Rule(_drop_where_types_changed, lambda traits, _subset: _may_have_stray(traits)),
)
