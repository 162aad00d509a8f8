"""Sibling keywords: removal of competing schemas for the form of one value.

A value has one form. If a union and the schema around it encoded or closed the value
differently, no value would be valid against both.
"""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.transforms.descriptions import describe_keyword, drop_keyword
from sidecheck_server.core.convert.transforms.rules import Rule, TransformContext
from sidecheck_server.core.convert.transforms.value_types import (
    ANNOTATIONS,
    APPLIES_TO,
    common_types,
    encodes,
    push_types,
    types_of,
)
from sidecheck_server.core.convert.types import Action, Effect
from sidecheck_server.core.limits import spend

__all__ = ["RULES"]

_COMBINATORS = ("$ref", "anyOf", "oneOf", "allOf")
"""Keywords whose subschemas can determine the form of the value, the preferred first."""
_IN_PLACE = (*_COMBINATORS, "then", "else", "if", "dependentSchemas")


def _resolve_siblings(node: SchemaNode, context: TransformContext) -> None:
    """Keep a single schema that determines the form of the value."""
    keywords = node.keywords
    combinators = [keyword for keyword in _COMBINATORS if keyword in keywords]
    conditional = "then" in keywords or "else" in keywords
    if not (combinators or conditional):
        return
    own = {keyword: value for keyword, value in keywords.items() if _is_assertion(keyword)}
    if any(APPLIES_TO.get(keyword) == "object" for keyword in own) or _has_several_objects(
        node, own
    ):
        _gather(node, context)
        _remove(node, context, [keyword for keyword in _IN_PLACE if keyword in keywords])
    elif not combinators:
        return
    elif not own:
        _remove(node, context, combinators[1:])
        _all_of_to_union(node, context)
    elif any(APPLIES_TO.get(keyword) == "array" for keyword in own):
        _remove(node, context, combinators)
    else:
        _remove(node, context, combinators[1:])
        _push_assertions(node, context, combinators[0], own)


def _is_assertion(keyword: str) -> bool:
    return keyword in ("type", "enum", "const") or (
        keyword in APPLIES_TO and keyword not in ANNOTATIONS and keyword != "dependentSchemas"
    )


def _has_several_objects(node: SchemaNode, own: dict[str, Any]) -> bool:
    """Return whether several schemas, all of them required, describe one object."""
    required = list(node.keywords.get("allOf", ()))
    required += [node.keywords["$ref"]] if "$ref" in node.keywords else []
    has_object = any(
        "object" in types_of(schema) or "properties" in schema.keywords for schema in required
    )
    return has_object and len(required) + bool(own.keys() - {"type"}) > 1


def _remove(node: SchemaNode, context: TransformContext, keywords: list[str]) -> None:
    """Remove the in-place *keywords* of *node*, and log the losses."""
    for keyword in keywords:
        value = node.keywords[keyword]
        if isinstance(value, SchemaNode) or keyword in ("allOf", "dependentSchemas"):
            message = "its properties are declared here; its other assertions are left out"
            drop_keyword(node, context.log, keyword, message, Effect.WIDENED)
        else:
            describe_keyword(node, context.log, keyword)


def _all_of_to_union(node: SchemaNode, context: TransformContext) -> None:
    """Rewrite ``allOf`` as a union of its first schema."""
    if "allOf" in node.keywords:
        first, *others = node.keywords["allOf"]
        effect = Effect.WIDENED if others else Effect.EQUIVALENT
        node.keywords = {
            ("anyOf" if keyword == "allOf" else keyword): [first] if keyword == "allOf" else value
            for keyword, value in node.keywords.items()
        }
        message = "the first of its schemas is kept"
        context.log.add(node, "allOf", Action.REWRITTEN, effect, message)


def _push_assertions(
    node: SchemaNode, context: TransformContext, combinator: str, own: dict[str, Any]
) -> None:
    """Move *own* assertions about scalars to the schemas of the *combinator*."""
    if combinator in ("anyOf", "oneOf"):
        if own.keys() == {"type"}:
            effect = push_types(node, types_of(node)) or Effect.EQUIVALENT
        else:
            effect = _distribute(node, combinator, own)
        message = f"moved to the branches of {combinator}"
        for keyword in own:
            context.log.add(node, keyword, Action.REWRITTEN, effect, message)
    elif combinator == "allOf":
        _remove(node, context, [combinator])
    else:
        target_types = types_of(node.keywords["$ref"])
        for keyword in own:
            redundant = (
                keyword == "type"
                and target_types
                and common_types(target_types, types_of(node)) == target_types
            )
            if redundant:
                node.keywords.pop(keyword)
            else:
                describe_keyword(node, context.log, keyword)


def _distribute(node: SchemaNode, combinator: str, own: dict[str, Any]) -> Effect:
    """Add the keywords *own* to each branch; keywords of the branch have precedence."""
    effect = Effect.EQUIVALENT
    branches: list[SchemaNode] = []
    for branch in node.keywords[combinator]:
        branch_keywords = branch.keywords
        if branch.never:
            continue
        if any(keyword in branch_keywords for keyword in _COMBINATORS):
            effect = Effect.WIDENED
            branches.append(branch)
            continue
        if any(
            keyword in branch_keywords and branch_keywords[keyword] != own[keyword]
            for keyword in own
        ):
            effect = Effect.WIDENED
        added = {keyword: own[keyword] for keyword in own if keyword not in branch_keywords}
        keywords = {**added, **branch_keywords}
        common = common_types(types_of(node), types_of(branch))
        if common:
            keywords["type"] = common[0] if len(common) == 1 else common
        branches.append(
            SchemaNode(branch.path, keywords, notes=list(branch.notes), name=branch.name)
        )
    node.keywords = {
        keyword: (branches or value) if keyword == combinator else value
        for keyword, value in node.keywords.items()
        if keyword not in own
    }
    return effect


RULES: tuple[Rule, ...] = (
    Rule(
        _resolve_siblings,
        lambda traits, subset: (
            encodes(subset) and not traits.isdisjoint((*_COMBINATORS, "then", "else"))
        ),
    ),
)

_VISIT = 80
"""Steps per visited node."""
_MAX_DEPTH = 64
"""Maximum depth of in-place schemas."""


def _gather(node: SchemaNode, context: TransformContext) -> None:
    """Declare in *node* the properties that in-place schemas declare for the object.

    Where the subset closes objects, properties that only some of them declare are included:
    otherwise the model could not send them.
    """
    declarations = _Declarations(context)
    declarations.collect(node, 0, required=True)
    own = node.keywords
    closed = "additionalProperties" in own and own["additionalProperties"].never
    properties: dict[str, SchemaNode] = dict(
        own.get("properties", {}) if closed else declarations.certain
    )
    if context.subset.closed and not closed:
        for name, schemas in declarations.possible.items():
            properties.setdefault(name, _union_of(schemas))
    if properties:
        own["properties"] = properties
    if declarations.required_names:
        own["required"] = list(declarations.required_names)
    if declarations.type is not None:
        own.setdefault("type", declarations.type)
    if declarations.others is not None:
        own.setdefault("additionalProperties", declarations.others)


class _Declarations:
    """Declarations of all schemas that apply to the same object."""

    def __init__(self, context: TransformContext) -> None:
        self.context = context
        self.seen: set[int] = set()
        #: Declarations of properties by name: by required schemas, and by other schemas.
        self.certain: dict[str, SchemaNode] = {}
        self.possible: dict[str, list[SchemaNode]] = {}
        self.required_names: dict[str, None] = {}
        self.type: str | list[str] | None = None
        self.others: SchemaNode | None = None

    def collect(self, node: SchemaNode, depth: int, *, required: bool) -> None:
        """Add the declarations of *node* and of its in-place schemas."""
        properties = node.keywords.get("properties", {})
        spend(self.context.log.budget, _VISIT + len(properties))
        if id(node) in self.seen or depth > _MAX_DEPTH:
            return
        self.seen.add(id(node))
        keywords = node.keywords
        for name, schema in properties.items():
            if required:
                self.certain.setdefault(name, schema)
            else:
                self.possible.setdefault(name, []).append(schema)
        if required:
            self.required_names.update(dict.fromkeys(keywords.get("required", ())))
            self.type = self.type or keywords.get("type")
        if self.others is None:
            others = _other_properties(keywords, own=depth == 0)
            # What a branch demands of undeclared properties holds for its own values only.
            self.others = others if required or others is None else SchemaNode(others.path)
        for child, child_required in _in_place(node):
            self.collect(child, depth + 1, required=required and child_required)


def _other_properties(keywords: dict[str, Any], *, own: bool) -> SchemaNode | None:
    """Return the schema of undeclared properties, unless it admits no value."""
    others: SchemaNode | None = keywords.get("additionalProperties")
    if own or (others is not None and not others.never):
        return others
    patterns = keywords.get("patternProperties")
    return SchemaNode(next(iter(patterns.values())).path) if patterns else None


def _in_place(node: SchemaNode) -> Iterator[tuple[SchemaNode, bool]]:
    """Yield the in-place schemas of *node*, and whether each must be valid."""
    keywords = node.keywords
    if "$ref" in keywords:
        yield keywords["$ref"], True
    for child in keywords.get("allOf", ()):
        yield child, True
    for keyword in ("anyOf", "oneOf"):
        for child in keywords.get(keyword, ()):
            yield child, False
    for keyword in ("then", "else"):
        if keyword in keywords:
            yield keywords[keyword], False
    for child in keywords.get("dependentSchemas", {}).values():
        yield child, False


def _union_of(schemas: list[SchemaNode]) -> SchemaNode:
    if len(schemas) == 1:
        return schemas[0]
    return SchemaNode(schemas[0].path, {"anyOf": list(schemas)})
