"""Types of a node, and their distribution to the branches of a union."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.schema_graph import Encoding, SchemaNode
from sidecheck_server.core.convert.transforms.descriptions import describe_keyword, phrase
from sidecheck_server.core.convert.transforms.rules import (
    SEVERAL_TYPES,
    Rule,
    Traits,
    TransformContext,
    has,
)
from sidecheck_server.core.convert.types import Action, Effect

__all__ = [
    "ANNOTATIONS",
    "APPLIES_TO",
    "RULES",
    "common_types",
    "encodes",
    "has_any_type",
    "has_type",
    "is_untyped",
    "push_types",
    "types_of",
    "types_of_values",
    "with_null",
]

_KEYWORDS_BY_TYPE = {
    "string": "minLength maxLength pattern format contentEncoding contentMediaType contentSchema",
    "number": "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
    "array": "items prefixItems minItems maxItems uniqueItems contains minContains maxContains"
    " unevaluatedItems",
    "object": "properties patternProperties additionalProperties propertyNames required"
    " minProperties maxProperties dependentRequired dependentSchemas unevaluatedProperties",
}

APPLIES_TO: Mapping[str, str] = MappingProxyType(
    {keyword: type_ for type_, names in _KEYWORDS_BY_TYPE.items() for keyword in names.split()}
)
"""The type to which a keyword applies; values of other types are valid against it."""

ANNOTATIONS = frozenset(
    {
        *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"),
        *("$comment", "format", "contentEncoding", "contentMediaType", "contentSchema"),
    }
)
"""Keywords that assert nothing (2020-12 Validation, sections 7.2.1, 8 and 9)."""

_TYPING = frozenset({"type", "anyOf", "oneOf", "allOf", "enum", "const", "$ref"})
_OTHER_VALUES = "any other JSON value, as JSON text"


def encodes(subset: Subset) -> bool:
    """Return whether payloads may have another form in *subset* than in the original."""
    return subset.closed or subset.typed or not subset.empty_objects


def has_any_type(node: SchemaNode) -> bool:
    """Return whether *node* itself does not restrict the types of values."""
    return not node.never and _TYPING.isdisjoint(node.keywords)


def is_untyped(traits: Traits, subset: Subset) -> bool:
    """Return whether a node of *traits* lacks a type that *subset* requires."""
    return (subset.typed or subset.closed) and _TYPING.isdisjoint(traits)


def types_of(node: SchemaNode) -> list[str]:
    """Return the types in ``type`` of *node* itself, or none."""
    type_value = node.keywords.get("type", [])
    return [type_value] if isinstance(type_value, str) else list(type_value)


def has_type(value: Any, type_: str) -> bool:
    """Return whether *value* is of *type_* (2020-12 Validation, section 6.1.1)."""
    if isinstance(value, bool):
        return type_ == "boolean"
    if isinstance(value, (int, float)):
        is_integer = isinstance(value, int) or value.is_integer()
        return type_ == "number" or (type_ == "integer" and is_integer)
    actual = {str: "string", list: "array", dict: "object", type(None): "null"}[type(value)]
    return type_ == actual


def types_of_values(node: SchemaNode) -> list[str]:
    """Return the types of the values in ``enum`` or ``const``, or none."""
    keywords = node.keywords
    values = keywords.get("enum", [keywords["const"]] if "const" in keywords else [])
    types = list(dict.fromkeys(_type_of_value(value) for value in values))
    if "number" in types and "integer" in types:
        types.remove("integer")
    return types


def with_null(type_: str, types: list[str]) -> str | list[str]:
    """Return *type_*, and null if it is one of *types*."""
    return [type_, "null"] if "null" in types else type_


def _type_of_value(value: Any) -> str:
    names = ("boolean", "integer", "number", "string", "array", "object", "null")
    return next(name for name in names if has_type(value, name))


def _infer_type(node: SchemaNode, _context: TransformContext) -> None:
    """State the types of the values in ``enum`` and ``const`` where types are needed."""
    types = types_of_values(node)
    if types:
        node.keywords = {"type": types[0] if len(types) == 1 else types, **node.keywords}


def _split_types(node: SchemaNode, context: TransformContext) -> None:
    """Give each type of a list its own branch where the subset requires it."""
    types, subset = node.keywords["type"], context.subset
    if len(types) == 1:
        node.keywords["type"] = types[0]
    elif _must_split(node, types, subset):
        effect, message = push_types(node, types), "moved to the branches of the union"
        if effect is None:
            branches = [_build_branch(node, group) for group in _group_types(types, subset)]
            _distribute(node, _satisfiable(branches))
            effect, message = Effect.EQUIVALENT, "each type has a branch of a union"
        context.log.add(node, "type", Action.REWRITTEN, effect, message)


def _satisfiable(branches: list[SchemaNode]) -> list[SchemaNode]:
    """Return the *branches* whose enum is not empty, or all if every enum is empty."""
    return [branch for branch in branches if branch.keywords.get("enum") != []] or branches


def _must_split(node: SchemaNode, types: list[str], subset: Subset) -> bool:
    others = [type_ for type_ in types if type_ != "null"]
    if len(others) == 1:
        return not (subset.type_lists or subset.nullable)
    structured = "object" in others or "array" in others
    listed = subset.enum_of_strings and "enum" in node.keywords
    return not subset.type_lists or listed or (encodes(subset) and structured)


def _group_types(types: list[str], subset: Subset) -> list[list[str]]:
    """Return the types of each branch; a null that is only a flag joins each of them."""
    if not subset.nullable or "null" not in types:
        return [[type_] for type_ in types]
    return [[type_, "null"] for type_ in types if type_ != "null"]


def _build_branch(node: SchemaNode, types: list[str]) -> SchemaNode:
    """Return a branch with the assertions of *node* about values of *types*."""
    keywords: dict[str, Any] = {"type": types[0] if len(types) == 1 else types}
    for keyword, value in node.keywords.items():
        if APPLIES_TO.get(keyword) in _widen_integer(types):
            keywords[keyword] = value
        elif keyword == "enum":
            keywords["enum"] = [
                item for item in value if any(has_type(item, type_) for type_ in types)
            ]
        elif keyword == "const":
            fits = any(has_type(value, type_) for type_ in types)
            keywords["const" if fits else "enum"] = value if fits else []
    return SchemaNode(node.path, keywords)


def _widen_integer(types: Iterable[str]) -> set[str]:
    return {"number" if type_ == "integer" else type_ for type_ in types}


def _distribute(node: SchemaNode, branches: list[SchemaNode]) -> None:
    """Keep in *node* the keywords for all types, and use *branches* for the rest."""
    kept_keywords = {
        keyword: value
        for keyword, value in node.keywords.items()
        if keyword not in APPLIES_TO and keyword not in ("type", "enum", "const")
    }
    if len(branches) == 1:
        kept_keywords.update(branches[0].keywords)
    else:
        kept_keywords["anyOf"] = branches
    node.keywords = kept_keywords


def push_types(node: SchemaNode, types: list[str]) -> Effect | None:
    """Move *types* to the branches of the union in *node*; return the effect.

    Branches with a reference stay unchanged. Returns None if there is no union.
    """
    union = next((keyword for keyword in ("anyOf", "oneOf") if keyword in node.keywords), None)
    if union is None:
        return None
    typed = [_restrict_branch(branch, types) for branch in node.keywords[union]]
    satisfiable = [branch for branch in typed if not branch.never]
    node.keywords[union] = satisfiable or node.keywords[union]
    del node.keywords["type"]
    widened = not satisfiable or any("$ref" in branch.keywords for branch in satisfiable)
    return Effect.WIDENED if widened else Effect.EQUIVALENT


def _restrict_branch(branch: SchemaNode, types: list[str]) -> SchemaNode:
    """Return *branch* restricted to *types*; a reference stays unchanged."""
    if branch.never or "$ref" in branch.keywords:
        return branch
    own = types_of(branch)
    common = common_types(own, types) if own else types
    if not common:
        return SchemaNode(branch.path, never=True)
    type_value = common[0] if len(common) == 1 else list(common)
    keywords = {"type": type_value, **branch.keywords}
    keywords["type"] = type_value
    return SchemaNode(branch.path, keywords, notes=list(branch.notes), name=branch.name)


def common_types(types: list[str], others: list[str]) -> list[str]:
    """Return the types that are in both lists; an integer is a number too."""
    common = [
        type_ for type_ in types if type_ in others or (type_ == "integer" and "number" in others)
    ]
    if "number" in types and "integer" in others and "integer" not in common:
        common.append("integer")
    return common


def _state_types(node: SchemaNode, context: TransformContext) -> None:
    """Give an untyped node a branch for each type that its keywords apply to."""
    if node.never or node is context.root:
        return
    types = list(
        dict.fromkeys(APPLIES_TO[keyword] for keyword in node.keywords if keyword in APPLIES_TO)
    )
    if "string" in types:
        # A string would be ambiguous: the value, or the JSON text of another value.
        types.remove("string")
        for keyword in [name for name in node.keywords if APPLIES_TO.get(name) == "string"]:
            text = f"if it is a string: {phrase(keyword, node.keywords)}"
            effect = Effect.EQUIVALENT if keyword in ANNOTATIONS else Effect.WIDENED
            describe_keyword(node, context.log, keyword, text, effect=effect)
    if types:
        encoding = Encoding(json_text=True)
        rest = SchemaNode(node.path, {"type": "string"}, notes=[_OTHER_VALUES], encoding=encoding)
        _distribute(node, [*(_build_branch(node, [type_]) for type_ in types), rest])
        message = "values of types without keywords are given as JSON text"
        context.log.add(node, "type", Action.ENCODED, Effect.EQUIVALENT, message)


RULES: tuple[Rule, ...] = (
    Rule(
        _infer_type,
        lambda traits, subset: (
            "type" not in traits
            and ("enum" in traits or "const" in traits)
            and (encodes(subset) or subset.enum_of_strings)
        ),
    ),
    Rule(_split_types, has(SEVERAL_TYPES)),
    Rule(_state_types, is_untyped),
)
