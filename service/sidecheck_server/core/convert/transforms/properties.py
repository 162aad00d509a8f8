"""Properties that an object declares, under names and in forms that a provider supports."""

from dataclasses import replace
from typing import Any

from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.transforms.context import TransformContext
from sidecheck_server.core.convert.transforms.descriptions import (
    describe_keyword,
    drop_keyword,
    phrase,
    shorten,
)
from sidecheck_server.core.convert.transforms.values import supports_pattern
from sidecheck_server.core.convert.types import Action, Effect
from sidecheck_server.core.limits import spend

__all__ = [
    "declare_required",
    "drop_impossible",
    "drop_patterns",
    "needs_declarations",
    "rename_properties",
]

_VISIT = 80
"""Steps of visiting one node."""


def rename_properties(node: SchemaNode, context: TransformContext) -> None:
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


def _declared_names(node: SchemaNode, context: TransformContext) -> dict[str, None]:
    """Return the names that *node* declares, or schemas in place at the same object.

    The decoder does not lead through the latter, except through unions and references.
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
    """Return the schemas of the same value; with *own*, without unions and references."""
    lists = ["allOf"] if own else ["allOf", "anyOf", "oneOf"]
    singles = ["not", "if", "then", "else"] if own else ["not", "if", "then", "else", "$ref"]
    nodes = [child for keyword in lists for child in keywords.get(keyword, ())]
    nodes += [keywords[keyword] for keyword in singles if keyword in keywords]
    return [*nodes, *keywords.get("dependentSchemas", {}).values()]


def drop_patterns(node: SchemaNode, context: TransformContext) -> None:
    """Rewrite unsupported patterns of names as a schema of all other properties."""
    keywords = node.keywords
    patterns: dict[str, SchemaNode] = keywords.get("patternProperties", {})
    if not patterns or _supports_patterns(patterns, node, context):
        return
    others: SchemaNode | None = keywords.get("additionalProperties")
    text = phrase("patternProperties", keywords)
    if others is not None and others.never:
        text += ", and other undeclared ones are rejected"
    describe_keyword(node, context.log, "patternProperties", text)
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


def _supports_patterns(
    patterns: dict[str, SchemaNode], node: SchemaNode, context: TransformContext
) -> bool:
    subset, budget = context.subset, context.log.budget
    return (
        context.supports("patternProperties")
        and not subset.closed
        # Patterns apply to the original names.
        and not node.encoding.renamed
        and all(supports_pattern(pattern, subset.patterns, budget) for pattern in patterns)
    )


def drop_impossible(node: SchemaNode, context: TransformContext) -> None:
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


def needs_declarations(subset: Subset) -> bool:
    """Return whether *subset* requires that a required property is declared."""
    return subset.closed or subset.typed or not subset.supports("additionalProperties")


def declare_required(node: SchemaNode, context: TransformContext) -> None:
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
