"""Objects: maps, values of any form, and closed objects."""

from dataclasses import replace
from typing import Any

from sidecheck_server.core.convert.schema_graph import Entries, SchemaNode, reachable
from sidecheck_server.core.convert.transforms.arrays import describe_bounds
from sidecheck_server.core.convert.transforms.context import Rule, TransformContext, has
from sidecheck_server.core.convert.transforms.descriptions import describe_keyword, drop_keyword
from sidecheck_server.core.convert.transforms.nulls import require_all
from sidecheck_server.core.convert.transforms.properties import (
    declare_required,
    drop_impossible,
    drop_patterns,
    needs_declarations,
    rename_properties,
)
from sidecheck_server.core.convert.transforms.root import WRAPPER
from sidecheck_server.core.convert.transforms.traits import OBJECT, RENAMING, SEVERAL_TYPES
from sidecheck_server.core.convert.transforms.value_types import (
    ANNOTATIONS,
    APPLIES_TO,
    types_of,
    with_null,
)
from sidecheck_server.core.convert.types import Action, Effect

__all__ = ["RULES", "encode_as_json_text", "restricts_nothing"]


def _is_unrestricted(node: SchemaNode) -> bool:
    """Return whether *node* admits everything."""
    return not node.never and not node.encoding.json_text and node.keywords.keys() <= ANNOTATIONS


def encode_as_json_text(node: SchemaNode, context: TransformContext, noun: str) -> None:
    """Encode values of *node*, which are *noun* in words, as JSON text.

    Keywords other than the type are described. Null stays null if it is admitted.
    """
    _describe_others(node, context, {"type"})
    node.keywords = {**node.keywords, "type": with_null("string", types_of(node))}
    node.encoding = replace(node.encoding, json_text=True)
    node.notes.append(f"{noun}, as JSON text")
    message = f"{noun} is supported only as a string that contains its JSON text"
    context.log.add(node, "", Action.ENCODED, Effect.EQUIVALENT, message)


def _describe_others(node: SchemaNode, context: TransformContext, kept: set[str]) -> None:
    """Describe all keywords about values in their original form, except those in *kept*."""
    for keyword, value in list(node.keywords.items()):
        if keyword in kept or (keyword in ANNOTATIONS and keyword not in _FORM_DEPENDENT):
            continue
        if keyword not in node.keywords:
            continue  # Removed together with another one.
        effect = Effect.EQUIVALENT if keyword in ANNOTATIONS else Effect.WIDENED
        if restricts_nothing(keyword, value):
            drop_keyword(node, context.log, keyword, "it restricts nothing")
        else:
            describe_keyword(node, context.log, keyword, effect=effect)


_FORM_DEPENDENT = {"default", "examples", *APPLIES_TO}


_RESTRICTS_IF_UNRESTRICTED = ("not", "if", "contains")
"""Keywords that restrict values even if their schema admits everything."""
_UNRESTRICTED_IF_ZERO = ("uniqueItems", "minLength", "minItems", "minProperties")
"""Keywords that restrict nothing if they are false or zero; upper bounds do."""


def restricts_nothing(keyword: str, value: object) -> bool:
    """Return whether *keyword* with that *value* admits everything."""
    if isinstance(value, SchemaNode):
        return _is_unrestricted(value) and keyword not in _RESTRICTS_IF_UNRESTRICTED
    if keyword in _UNRESTRICTED_IF_ZERO:
        return not value
    return value in ({}, []) and keyword != "enum"


_BOUNDS_OF_ITEMS = {"minProperties": "minItems", "maxProperties": "maxItems"}


def _encode_map(node: SchemaNode, context: TransformContext) -> None:
    """Encode an object that declares no properties where only declared ones can be given."""
    subset, keywords = context.subset, node.keywords
    if "object" not in types_of(node) or keywords.get("properties"):
        return
    others: SchemaNode | None = keywords.get("additionalProperties")
    if node is context.root:
        if others is not None and not others.never:
            _wrap_root(node, context)
    elif others is None or _is_unrestricted(others):
        encode_as_json_text(node, context, "any JSON object")
    elif not others.never:
        _encode_as_entries(node, context, others)
    elif not subset.empty_objects:
        encode_as_json_text(node, context, "an empty JSON object")


def _encode_as_entries(node: SchemaNode, context: TransformContext, values: SchemaNode) -> None:
    """Encode a map as a list of names and values."""
    keywords, entries = node.keywords, Entries()
    properties = {entries.name: SchemaNode(node.path, {"type": "string"}), entries.value: values}
    entry = SchemaNode(
        node.path, {"type": "object", "properties": properties, "required": list(properties)}
    )
    if context.supports("additionalProperties"):
        entry.keywords["additionalProperties"] = SchemaNode(node.path, never=True)
    for name in ("additionalProperties", "properties"):
        keywords.pop(name, None)
    for name, bound_of_items in _BOUNDS_OF_ITEMS.items():
        if name in keywords:
            keywords[bound_of_items] = keywords.pop(name)
    _describe_others(node, context, {"type", *_BOUNDS_OF_ITEMS.values()})
    node.keywords = {**keywords, "type": with_null("array", types_of(node)), "items": entry}
    node.encoding = replace(node.encoding, entries=entries)
    node.notes.append("a list of properties, each with its name and its value; no name twice")
    message = "a map is given as a list of names and values"
    context.log.add(node, "additionalProperties", Action.ENCODED, Effect.EQUIVALENT, message)
    describe_bounds(node, context)


def _wrap_root(root: SchemaNode, context: TransformContext) -> None:
    """Wrap the arguments in an object with one property."""
    texts: dict[str, Any] = {
        keyword: root.keywords.pop(keyword)
        for keyword in ("title", "description")
        if keyword in root.keywords
    }
    inner = SchemaNode(root.path, root.keywords, notes=root.notes)
    for node in reachable(inner):
        if node.keywords.get("$ref") is root:
            node.keywords["$ref"] = inner
    root.keywords = {
        "type": "object",
        **texts,
        "properties": {WRAPPER: inner},
        "required": [WRAPPER],
    }
    if context.supports("additionalProperties"):
        # The author's object is inside: closing the wrapper loses nothing.
        root.keywords["additionalProperties"] = SchemaNode(root.path, never=True)
    root.notes = []
    root.encoding = replace(root.encoding, wrapped=WRAPPER)
    message = (
        f"the arguments are wrapped under the property {WRAPPER}: only declared properties are "
        "supported at the root"
    )
    context.log.add(root, "", Action.ENCODED, Effect.EQUIVALENT, message)


def _close(node: SchemaNode, context: TransformContext) -> None:
    """Reject undeclared properties where the subset requires it."""
    keywords = node.keywords
    others: SchemaNode | None = keywords.get("additionalProperties")
    if not context.subset.closed:
        if context.subset.typed and others is not None and _is_unrestricted(others):
            drop_keyword(node, context.log, "additionalProperties", "it restricts nothing")
        return
    if "object" not in types_of(node):
        return
    keywords.setdefault("properties", {})
    if others is None:
        context.log.add_closing(node)
    elif not others.never:
        message = "undeclared properties are allowed, but cannot be given in strict mode"
        context.log.add(node, "additionalProperties", Action.REWRITTEN, Effect.NARROWED, message)
    if others is None or not others.never:
        keywords["additionalProperties"] = SchemaNode(node.path, never=True)


_OBJECTS = frozenset({OBJECT, SEVERAL_TYPES})

RULES: tuple[Rule, ...] = (
    Rule(rename_properties, has(RENAMING)),
    Rule(drop_patterns, has("patternProperties")),
    Rule(
        drop_impossible,
        lambda traits, subset: "properties" in traits and not subset.boolean_schemas,
    ),
    Rule(
        declare_required,
        lambda traits, subset: "required" in traits and needs_declarations(subset),
    ),
    Rule(
        _encode_map,
        lambda traits, subset: (
            not traits.isdisjoint(_OBJECTS) and (subset.closed or not subset.empty_objects)
        ),
    ),
    Rule(
        _close,
        lambda traits, subset: (
            (subset.closed and not traits.isdisjoint(_OBJECTS))
            or (subset.typed and "additionalProperties" in traits)
        ),
    ),
    Rule(require_all, lambda traits, subset: subset.all_required and "properties" in traits),
)
"""In order: which properties there are, whether others are allowed, and which are required."""
