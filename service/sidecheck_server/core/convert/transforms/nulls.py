"""Nulls that stand for absent properties, and nullable schemas of OpenAPI 3.0."""

from dataclasses import replace
from enum import Enum
from typing import Any

from sidecheck_server.core.convert.schema_graph import UNCHANGED, SchemaNode
from sidecheck_server.core.convert.transforms.descriptions import shorten
from sidecheck_server.core.convert.transforms.rules import Rule, TransformContext
from sidecheck_server.core.convert.transforms.value_types import (
    ANNOTATIONS,
    APPLIES_TO,
    has_any_type,
    types_of,
    types_of_values,
)
from sidecheck_server.core.convert.types import Action, Effect
from sidecheck_server.core.limits import spend

__all__ = ["DISTRIBUTE_NULL", "RULES", "Answer", "admits_null", "require_all"]

_VISIT = 80
"""Steps per visited node."""
_MAX_DEPTH = 64
"""Maximum depth of nested unions and references."""
_COMBINATORS = frozenset({"$ref", "anyOf", "oneOf", "allOf"})
_CONDITIONS = frozenset({"not", "if", "then", "else"})


class Answer(Enum):
    """Answer that may be unknown."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


def require_all(node: SchemaNode, context: TransformContext) -> None:
    """Require every property; null stands for an absent optional property."""
    keywords = node.keywords
    properties: dict[str, SchemaNode] = keywords["properties"]
    if not properties:
        return
    required = frozenset(keywords.get("required", ()))
    transformed = {
        name: schema if name in required else _require_optional(node, name, schema, context)
        for name, schema in properties.items()
    }
    nulls = tuple(name for name in properties if transformed[name] is not properties[name])
    if nulls:
        node.encoding = replace(node.encoding, nulls=nulls)
    keywords["properties"] = transformed
    keywords["required"] = list(transformed)


def _require_optional(
    node: SchemaNode, name: str, schema: SchemaNode, context: TransformContext
) -> SchemaNode:
    """Return the *schema* of the optional property *name* for a required property.

    *name* is the name at the provider. If null stands for an absent property, the result is a
    new node.
    """
    original = shorten(node.encoding.renamed.get(name, name))
    answer = admits_null(schema, context)
    if answer is Answer.NO:
        message = f"the optional property {original} must be given; null stands for its absence"
        context.log.add(node, "required", Action.ENCODED, Effect.EQUIVALENT, message)
        return _add_null(schema, context)
    if answer is Answer.YES and schema.keywords.get("default", 0) is None:
        message = f"the optional property {original} must be given; null is its default"
        context.log.add(node, "required", Action.REWRITTEN, Effect.EQUIVALENT, message)
        return schema
    message = f"the optional property {original} must be given: null has a meaning of its own there"
    context.log.add(node, "required", Action.REWRITTEN, Effect.NARROWED, message)
    return schema


def _add_null(schema: SchemaNode, context: TransformContext) -> SchemaNode:
    """Return a new node that admits null and the values of *schema*."""
    keywords, types = schema.keywords, types_of(schema) or types_of_values(schema)
    null = SchemaNode(schema.path, {"type": "null"})
    if schema.encoding is UNCHANGED:
        simple = len(types) == 1 and types[0] not in ("object", "array")
        if simple and context.subset.type_lists and not _is_structured(schema):
            widened = {**keywords, "type": [*types, "null"]}
            if "enum" in widened:
                widened["enum"] = [*widened["enum"], None]
            if "const" in widened:
                widened = {
                    ("enum" if keyword == "const" else keyword): value
                    for keyword, value in widened.items()
                }
                widened["enum"] = [keywords["const"], None]
            return SchemaNode(schema.path, widened, notes=list(schema.notes))
        if "anyOf" in keywords and keywords.keys() - ANNOTATIONS == {"anyOf"}:
            widened = {**keywords, "anyOf": [*keywords["anyOf"], null]}
            return SchemaNode(schema.path, widened, notes=list(schema.notes))
    return SchemaNode(schema.path, {"anyOf": [schema, null]})


def _is_structured(node: SchemaNode) -> bool:
    """Return whether keywords other than a type and bounds restrict values of *node*."""
    keywords = node.keywords
    if keywords.keys() & (_COMBINATORS | _CONDITIONS):
        return True
    if "enum" in keywords and "const" in keywords:
        return True
    return any(isinstance(value, (dict, list)) for value in _values(node) or ())


def _values(node: SchemaNode) -> list[object] | None:
    keywords = node.keywords
    return [keywords["const"]] if "const" in keywords else keywords.get("enum")


def admits_null(node: SchemaNode, context: TransformContext) -> Answer:
    """Return whether *node* of the transformed schema admits null.

    The answer is NO where null, like any value, is encoded as JSON text.
    """
    return _Nullability(context).evaluate(node, 0, unrestricted=True)


class _Nullability:
    """Evaluation of nullability, through references and unions."""

    def __init__(self, context: TransformContext) -> None:
        self.budget = context.log.budget
        #: Nodes on the path to the current one.
        self.path: set[int] = set()

    def evaluate(self, node: SchemaNode, depth: int, *, unrestricted: bool) -> Answer:
        """Return the answer for *node*, which is *unrestricted* by sibling keywords."""
        spend(self.budget, _VISIT)
        if node.never:
            return Answer.NO
        if unrestricted and has_any_type(node):
            # Values of any form are given as JSON text.
            return Answer.NO
        if id(node) in self.path or depth > _MAX_DEPTH:
            return Answer.UNKNOWN
        self.path.add(id(node))
        answer = _all_of(self._answers(node, depth))
        self.path.discard(id(node))
        return answer

    def _answers(self, node: SchemaNode, depth: int) -> list[Answer]:
        """Return the answer for each keyword of *node*."""
        keywords, types, values = node.keywords, types_of(node), _values(node)
        answers = []
        if types:
            answers.append(_certain("null" in types))
        if values is not None:
            containers = any(isinstance(value, (dict, list)) for value in values)
            answers.append(_certain(None in values and not containers))
        if "$ref" in keywords:
            unrestricted = not types and values is None
            answers.append(self.evaluate(keywords["$ref"], depth + 1, unrestricted=unrestricted))
        answers += [
            self.evaluate(branch, depth + 1, unrestricted=False)
            for branch in keywords.get("allOf", ())
        ]
        unrestricted = not answers
        for keyword in ("anyOf", "oneOf"):
            if keyword in keywords:
                branches = [
                    self.evaluate(branch, depth + 1, unrestricted=unrestricted)
                    for branch in keywords[keyword]
                ]
                answers.append(_any_of(branches, once=keyword == "oneOf"))
        if keywords.keys() & _CONDITIONS:
            answers.append(Answer.UNKNOWN)
        return answers


def _certain(holds: bool) -> Answer:  # noqa: FBT001
    return Answer.YES if holds else Answer.NO


def _all_of(answers: list[Answer]) -> Answer:
    if Answer.NO in answers:
        return Answer.NO
    return Answer.UNKNOWN if Answer.UNKNOWN in answers else Answer.YES


def _any_of(answers: list[Answer], *, once: bool) -> Answer:
    if all(answer is Answer.NO for answer in answers):
        return Answer.NO
    if once:
        certain = answers.count(Answer.YES) == 1 and Answer.UNKNOWN not in answers
        return Answer.YES if certain else Answer.UNKNOWN
    return Answer.YES if Answer.YES in answers else Answer.UNKNOWN


_TYPE_INDEPENDENT = frozenset({"title", "description", "default", "examples", "deprecated"})
_TEXTS = ("title", "description")
"""Keywords that the union and its branch may both have: they are joined, or not sent."""


def _merge_nullable(node: SchemaNode, _context: TransformContext) -> None:
    """Rewrite a union of null and one other schema as that schema, with the type null.

    Most optional properties are declared as such unions. The result has no union.
    """
    branches = node.keywords.get("anyOf", [])
    others = [branch for branch in branches if branch.keywords != {"type": "null"} or branch.never]
    if len(others) != 1 or len(branches) == 1:
        return
    schema_branch, siblings = others[0], node.keywords.keys() - {"anyOf"}
    if not siblings <= _TYPE_INDEPENDENT or not _can_add_null(schema_branch):
        return
    if siblings & schema_branch.keywords.keys() - set(_TEXTS):
        return
    texts = [source.keywords.get("description", "") for source in (node, schema_branch)]
    description = " ".join(text for text in texts if text)
    outer = {name: value for name, value in node.keywords.items() if name != "anyOf"}
    node.keywords = {**_with_null_type(schema_branch.keywords), **outer}
    if description:
        node.keywords["description"] = description
    node.notes = list(dict.fromkeys([*node.notes, *schema_branch.notes]))


def _can_add_null(node: SchemaNode) -> bool:
    """Return whether one more type is enough for *node* to admit null."""
    simple = all(keyword in APPLIES_TO or keyword in _SIMPLE for keyword in node.keywords)
    both = "enum" in node.keywords and "const" in node.keywords
    return not node.never and bool(types_of(node)) and simple and not both


_SIMPLE = _TYPE_INDEPENDENT | {"type", "enum", "const", "readOnly", "writeOnly"}


def _with_null_type(keywords: dict[str, Any]) -> dict[str, Any]:
    widened = dict(keywords)
    types = keywords["type"] if isinstance(keywords["type"], list) else [keywords["type"]]
    widened["type"] = list(dict.fromkeys([*types, "null"]))
    if "const" in widened:
        widened["enum"] = [widened.pop("const")]
    if "enum" in widened and None not in widened["enum"]:
        widened["enum"] = [*widened["enum"], None]
    return widened


RULES: tuple[Rule, ...] = (
    Rule(_merge_nullable, lambda traits, subset: subset.nullable and "anyOf" in traits),
)

_NULL = {"type": "null"}


def _distribute_null(node: SchemaNode, _context: TransformContext) -> None:
    """Let each branch of a union admit null, in place of a branch for null.

    The flag ``nullable`` may not stand beside a union. A single branch replaces the union.
    """
    while "anyOf" in node.keywords:
        branches: list[SchemaNode] = node.keywords["anyOf"]
        others = [branch for branch in branches if branch.never or branch.keywords != _NULL]
        refers = any("$ref" in branch.keywords for branch in others)
        if not others or len(others) == len(branches) or refers:
            return
        nullable = {id(branch): _admit_null(branch) for branch in others}
        node.keywords = {**node.keywords, "anyOf": [nullable[id(branch)] for branch in others]}
        if len(nullable) > 1 or len(node.keywords) > 1 or node.encoding is not UNCHANGED:
            return
        [single] = nullable.values()
        node.keywords, node.encoding = single.keywords, single.encoding
        node.notes = list(dict.fromkeys([*node.notes, *single.notes]))


def _admit_null(branch: SchemaNode) -> SchemaNode:
    """Return a copy of *branch* that admits null, or *branch* if it admits any type."""
    keywords = branch.keywords
    if "anyOf" in keywords:
        # The union below is visited after the one around it.
        null = SchemaNode(branch.path, dict(_NULL))
        return replace(branch, keywords={**keywords, "anyOf": [*keywords["anyOf"], null]})
    if not types_of(branch):
        return branch
    return replace(branch, keywords=_with_null_type(keywords))


DISTRIBUTE_NULL: tuple[Rule, ...] = (
    Rule(
        _distribute_null,
        lambda traits, subset: subset.nullable and "anyOf" in traits,
    ),
)
