"""Rules for objects: properties, maps, free-form values, and closed objects."""

from dataclasses import replace
from typing import Any

from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.schema_graph import (
    UNCHANGED,
    Entries,
    SchemaNode,
    collect_reachable,
)
from sidecheck_server.core.convert.transforms.arrays import describe_bounds
from sidecheck_server.core.convert.transforms.descriptions import (
    describe_keyword,
    drop_keyword,
    phrase,
    shorten,
)
from sidecheck_server.core.convert.transforms.nulls import require_all
from sidecheck_server.core.convert.transforms.root import WRAPPER
from sidecheck_server.core.convert.transforms.rules import (
    OBJECT,
    RENAMING,
    SEVERAL_TYPES,
    Rule,
    TransformContext,
    has,
)
from sidecheck_server.core.convert.transforms.static_checks import may_encode
from sidecheck_server.core.convert.transforms.value_types import (
    ANNOTATIONS,
    APPLIES_TO,
    types_of,
    with_null,
)
from sidecheck_server.core.convert.transforms.values import supports_pattern
from sidecheck_server.core.convert.types import Action, Effect
from sidecheck_server.core.limits import spend

__all__ = ["RULES", "encode_as_json_text", "restricts_nothing"]

_VISIT = 80
"""Steps per visited node."""


def _rename_properties(node: SchemaNode, context: TransformContext) -> None:
    """Give properties the names that the provider supports."""
    names, keywords = context.renamed, node.keywords
    if not names:
        return
    renamed = [name for name in _declared_names(node, context) if name in names]
    if not renamed:
        return
    originals = {names[name]: name for name in renamed}
    node.encoding = replace(node.encoding, renamed={**node.encoding.renamed, **originals})
    for name in renamed:
        keyword = "properties" if name in keywords.get("properties", ()) else "required"
        message = f"the property {shorten(name)} is renamed to {shorten(names[name])}"
        context.log.add(node, keyword, Action.ENCODED, Effect.EQUIVALENT, message)
    for keyword in ("properties", "dependentSchemas", "dependentRequired"):
        if keyword in keywords:
            items = keywords[keyword].items()
            keywords[keyword] = {names.get(name, name): value for name, value in items}
    _describe_names(keywords.get("properties", {}), originals)
    if "required" in keywords:
        keywords["required"] = [names.get(name, name) for name in keywords["required"]]
    if "dependentRequired" in keywords:
        keywords["dependentRequired"] = {
            name: [names.get(needed_name, needed_name) for needed_name in needed]
            for name, needed in keywords["dependentRequired"].items()
        }
    if "propertyNames" in keywords:
        # It applies to the original names.
        describe_keyword(node, context.log, "propertyNames")


def _describe_names(properties: dict[str, SchemaNode], originals: dict[str, str]) -> None:
    """State the original names of *properties* that are transliterated, or only numbers."""
    for name, original in originals.items():
        schema = properties.get(name)
        if schema is not None and not schema.never and not original.isascii():
            # A copy: other properties may have the same schema.
            note = f"original name: {shorten(original)}"
            properties[name] = replace(schema, notes=[*schema.notes, note])


def _declared_names(node: SchemaNode, context: TransformContext) -> dict[str, None]:
    """Return the names that *node* and its in-place schemas declare for one object.

    Unions and references of *node* itself are left out: the decoder leads to them.
    """
    names: dict[str, None] = {}
    seen: set[int] = set()
    pending = [(node, True)]
    while pending:
        current, own = pending.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        spend(context.log.budget, _VISIT)
        keywords = current.keywords
        for keyword in ("properties", "required", "dependentRequired", "dependentSchemas"):
            names.update(dict.fromkeys(keywords.get(keyword, ())))
        for needed in keywords.get("dependentRequired", {}).values():
            names.update(dict.fromkeys(needed))
        pending += [(child, False) for child in _in_place(keywords, own=own)]
    return names


def _in_place(keywords: dict[str, Any], *, own: bool) -> list[SchemaNode]:
    """Return the in-place schemas in *keywords*; with *own*, no unions and references."""
    lists = ["allOf"] if own else ["allOf", "anyOf", "oneOf"]
    singles = ["not", "if", "then", "else"] if own else ["not", "if", "then", "else", "$ref"]
    nodes = [child for keyword in lists for child in keywords.get(keyword, ())]
    nodes += [keywords[keyword] for keyword in singles if keyword in keywords]
    return [*nodes, *keywords.get("dependentSchemas", {}).values()]


def _drop_patterns(node: SchemaNode, context: TransformContext) -> None:
    """Rewrite unsupported patterns of names as a schema of all other properties."""
    keywords = node.keywords
    declared: dict[str, SchemaNode] = keywords.get("patternProperties", {})
    patterns = _unsupported_patterns(declared, node, context)
    if not patterns:
        return
    others: SchemaNode | None = keywords.get("additionalProperties")
    text = phrase("patternProperties", {"patternProperties": patterns})
    if others is not None and others.never:
        text += ", and other undeclared ones are rejected"
    describe_keyword(node, context.log, "patternProperties", text)
    if len(patterns) < len(declared):
        keywords["patternProperties"] = {
            pattern: schema for pattern, schema in declared.items() if pattern not in patterns
        }
    if others is None and not context.subset.closed:
        return
    if others is None:
        context.log.add_closing(node)
    schemas = [schema for schema in patterns.values() if not schema.never]
    if others is not None and not others.never:
        schemas.append(others)
    if len(schemas) > 1:
        keywords["additionalProperties"] = SchemaNode(node.path, {"anyOf": schemas})
    else:
        keywords["additionalProperties"] = (
            schemas[0] if schemas else SchemaNode(node.path, never=True)
        )


def _unsupported_patterns(
    patterns: dict[str, SchemaNode], node: SchemaNode, context: TransformContext
) -> dict[str, SchemaNode]:
    subset, budget = context.subset, context.log.budget
    # Patterns apply to the original names.
    if not context.supports("patternProperties") or subset.closed or node.encoding.renamed:
        return patterns
    return {
        pattern: schema
        for pattern, schema in patterns.items()
        if not supports_pattern(pattern, subset.patterns, budget) or _renames(schema, context)
    }


def _renames(schema: SchemaNode, context: TransformContext) -> bool:
    """Return whether values of *schema* need a decoder, which patterns of names cannot have."""
    if not context.renamed:
        return False
    return may_encode(schema, context) or any(
        node.encoding is not UNCHANGED for node in collect_reachable(schema)
    )


def _drop_impossible(node: SchemaNode, context: TransformContext) -> None:
    """Drop properties that admit no value where the subset has no boolean schemas."""
    keywords, subset = node.keywords, context.subset
    properties: dict[str, SchemaNode] = keywords.get("properties", {})
    impossible = [name for name, schema in properties.items() if schema.never]
    if not impossible:
        return
    keywords["properties"] = {
        name: schema for name, schema in properties.items() if not schema.never
    }
    others = keywords.get("additionalProperties")
    closed = subset.closed or (others is not None and others.never)
    for name in impossible:
        if name in keywords.get("required", ()):
            _describe_contradiction(node, context, name)
        elif closed:
            message = f"the property {shorten(name)}, which admits no value, is not declared"
            context.log.add(node, "properties", Action.REWRITTEN, Effect.EQUIVALENT, message)
        else:
            node.notes.append(f"never has {shorten(name)}")
            message = f"moved to the description: there is no property {shorten(name)}"
            context.log.add(node, "properties", Action.DESCRIBED, Effect.WIDENED, message)


def _describe_contradiction(node: SchemaNode, context: TransformContext, name: str) -> None:
    keywords = node.keywords
    keywords["required"] = [required for required in keywords["required"] if required != name]
    node.notes.append(f"never valid: {shorten(name)} is required, and rejected")
    message = f"{shorten(name)} is required and rejected, so that no value is valid here"
    context.log.add(node, "required", Action.DESCRIBED, Effect.WIDENED, message)


def _needs_declarations(subset: Subset) -> bool:
    """Return whether *subset* requires that a required property is declared."""
    return subset.closed or subset.typed or not subset.supports("additionalProperties")


def _declare_required(node: SchemaNode, context: TransformContext) -> None:
    """Declare required properties where only declared ones can be given."""
    keywords = node.keywords
    declared = keywords.get("properties", {})
    missing = [name for name in keywords["required"] if name not in declared]
    if not missing:
        return
    others: SchemaNode | None = keywords.get("additionalProperties")
    has_patterns = "patternProperties" in keywords
    for name in missing:
        if others is not None and others.never and not has_patterns:
            _describe_contradiction(node, context, name)
            continue
        unrestricted = others is None or others.never
        schema = SchemaNode(node.path) if unrestricted or others is None else others
        keywords["properties"] = {**keywords.get("properties", {}), name: schema}
        message = f"{shorten(name)}, which is required, is declared"
        context.log.add(node, "required", Action.REWRITTEN, Effect.EQUIVALENT, message)
    if not keywords["required"]:
        reason = "all its properties are rejected"
        drop_keyword(node, context.log, "required", reason, Effect.WIDENED)


def _is_unrestricted(node: SchemaNode) -> bool:
    """Return whether *node* admits every value."""
    return not node.never and not node.encoding.json_text and node.keywords.keys() <= ANNOTATIONS


def encode_as_json_text(node: SchemaNode, context: TransformContext, noun: str) -> None:
    """Encode values of *node*, which messages call *noun*, as JSON text.

    Keywords other than the type are described. Null stays null if it is admitted.
    """
    _describe_others(node, context, {"type"})
    node.keywords = {**node.keywords, "type": with_null("string", types_of(node))}
    node.encoding = replace(node.encoding, json_text=True)
    node.notes.append(f"{noun}, as JSON text")
    message = f"{noun} is supported only as a string that contains its JSON text"
    context.log.add(node, "", Action.ENCODED, Effect.EQUIVALENT, message)


def _describe_others(node: SchemaNode, context: TransformContext, kept_keywords: set[str]) -> None:
    """Describe the keywords, except *kept_keywords*, that apply to original values."""
    for keyword, value in list(node.keywords.items()):
        if keyword in kept_keywords or (keyword in ANNOTATIONS and keyword not in _FORM_DEPENDENT):
            continue
        if keyword not in node.keywords:
            continue  # Removed together with another keyword.
        effect = Effect.EQUIVALENT if keyword in ANNOTATIONS else Effect.WIDENED
        if restricts_nothing(keyword, value):
            drop_keyword(node, context.log, keyword, "it restricts nothing")
        else:
            describe_keyword(node, context.log, keyword, effect=effect)


_FORM_DEPENDENT = {"default", "examples", *APPLIES_TO}


_ALWAYS_RESTRICTIVE = ("not", "if", "contains")
"""Keywords that restrict values even if their subschema admits every value."""
_UNRESTRICTIVE_IF_ZERO = ("uniqueItems", "minLength", "minItems", "minProperties")
"""Keywords that restrict nothing if they are false or zero, unlike upper bounds."""


def restricts_nothing(keyword: str, value: object) -> bool:
    """Return whether *keyword* with *value* admits every value."""
    if isinstance(value, SchemaNode):
        return _is_unrestricted(value) and keyword not in _ALWAYS_RESTRICTIVE
    if keyword in _UNRESTRICTIVE_IF_ZERO:
        return not value
    return value in ({}, []) and keyword != "enum"


_BOUNDS_OF_ITEMS = {"minProperties": "minItems", "maxProperties": "maxItems"}


def _encode_map(node: SchemaNode, context: TransformContext) -> None:
    """Encode an object without declared properties where undeclared ones are rejected."""
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
    for node in collect_reachable(inner):
        if node.keywords.get("$ref") is root:
            node.keywords["$ref"] = inner
    root.keywords = {
        "type": "object",
        **texts,
        "properties": {WRAPPER: inner},
        "required": [WRAPPER],
    }
    if context.supports("additionalProperties"):
        # The wrapper contains the author's object, so closing the wrapper loses nothing.
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
    Rule(_rename_properties, has(RENAMING)),
    Rule(_drop_patterns, has("patternProperties")),
    Rule(
        _drop_impossible,
        lambda traits, subset: "properties" in traits and not subset.boolean_schemas,
    ),
    Rule(
        _declare_required,
        lambda traits, subset: "required" in traits and _needs_declarations(subset),
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
"""Order of the rules: declared properties, then undeclared ones, then required ones."""
