"""Rules for combinators, conditions and dependencies, and for discriminators.

A discriminator is a first property that tells the objects of a union apart.
"""

from itertools import islice
from typing import TypeAlias

from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.schema_graph import ANNOTATIONS, SchemaNode
from sidecheck_server.core.convert.transforms.descriptions import (
    add_note,
    describe_keyword,
    drop_unevaluated,
    outline,
)
from sidecheck_server.core.convert.transforms.merging import (
    canonical_text,
    merge_nodes,
    without_keywords,
)
from sidecheck_server.core.convert.transforms.rules import Rule, Traits, TransformContext, has
from sidecheck_server.core.convert.transforms.static_checks import (
    OBJECT_KEYWORDS,
    is_exact,
    is_exclusive,
    may_encode,
)
from sidecheck_server.core.convert.types import Action, Effect
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import spend

__all__ = ["ARRANGE_DISCRIMINATORS", "CHECK_DISCRIMINATORS", "RULES", "replace_node"]

_UNSUPPORTED = "the provider does not support it"
_INEXACT = "its subschemas cannot be kept exactly, which would change its meaning"
_UNEVALUATED = {"unevaluatedProperties": "additionalProperties", "unevaluatedItems": "items"}
_CONDITIONS = ("not", "if", "contains", "propertyNames", "dependentSchemas")
_IN_PLACE = ("allOf", "anyOf", "oneOf", "if", "dependentSchemas", "$ref", "contains")


def replace_node(node: SchemaNode, other: SchemaNode) -> None:
    """Replace the keywords of *node* by the keywords of *other*, in place."""
    node.keywords = dict(other.keywords)
    node.never = other.never
    node.notes = list(dict.fromkeys([*node.notes, *other.notes]))


def _merge_all_of(node: SchemaNode, context: TransformContext) -> None:
    """Merge ``allOf`` into *node* where it cannot stay, if that can be done exactly."""
    keywords = node.keywords
    unsupported = [name for name in _UNEVALUATED if name in keywords and not context.supports(name)]
    refers = "$ref" in keywords and bool(unsupported)
    if not refers and ("allOf" not in keywords or _keeps_all_of(node, context)):
        return
    # `unevaluated*` depends on what all branches evaluate, merged or not.
    unevaluated = {name: keywords[name] for name in _UNEVALUATED if name in keywords}
    merged = merge_nodes([without_keywords(node, *unevaluated)], context.log.budget)
    if merged is None:
        return
    replace_node(node, merged)
    node.keywords.update(unevaluated if not node.never else {})
    name = "allOf" if "allOf" in keywords else "$ref"
    message = "merged into the schema around it"
    context.log.add(node, name, Action.REWRITTEN, Effect.EQUIVALENT, message)


def _keeps_all_of(node: SchemaNode, context: TransformContext) -> bool:
    return context.supports("allOf") and not any(
        may_encode(branch, context) and not is_exact(branch, context)
        for branch in node.keywords["allOf"]
    )


def _rewrite_unevaluated(node: SchemaNode, context: TransformContext) -> None:
    log = context.log
    for keyword, plain in _UNEVALUATED.items():
        if keyword not in node.keywords:
            continue
        if plain in node.keywords:
            del node.keywords[keyword]
            message = f"has no effect beside {plain}"
            log.add(node, keyword, Action.DROPPED, Effect.EQUIVALENT, message)
        elif context.supports(keyword) and is_exact(node, context):
            continue
        elif any(name in node.keywords for name in _IN_PLACE):
            reason = _INEXACT if context.supports(keyword) else _UNSUPPORTED
            describe_keyword(node, log, keyword, reason=reason)
        else:
            node.keywords[plain] = node.keywords.pop(keyword)
            message = f"rewritten as {plain}"
            log.add(node, keyword, Action.REWRITTEN, Effect.EQUIVALENT, message)


def _rewrite_one_of(node: SchemaNode, context: TransformContext) -> None:
    branches = node.keywords.get("oneOf")
    if branches is None:
        return
    if context.supports("oneOf") and all(is_exact(branch, context) for branch in branches):
        return
    if "anyOf" in node.keywords or not context.supports("anyOf"):
        describe_keyword(node, context.log, "oneOf", reason=_UNSUPPORTED)
        return
    equivalent = len(branches) == 1 or is_exclusive(branches, node)
    node.keywords = {
        "anyOf" if keyword == "oneOf" else keyword: value
        for keyword, value in node.keywords.items()
    }
    if equivalent:
        message = "rewritten as anyOf, which is equivalent: its branches exclude each other"
        context.log.add(node, "oneOf", Action.REWRITTEN, Effect.EQUIVALENT, message)
    else:
        add_note(node, "only one of the alternatives")
        message = "rewritten as anyOf, which admits values of several branches too"
        context.log.add(node, "oneOf", Action.REWRITTEN, Effect.WIDENED, message)


def _rewrite_any_of(node: SchemaNode, context: TransformContext) -> None:
    branches = node.keywords.get("anyOf")
    if branches is None:
        return
    subset = context.subset
    if not context.supports("anyOf"):
        merged = merge_nodes([without_keywords(node, "anyOf"), *branches], context.log.budget)
        if len(branches) == 1 and merged is not None:
            replace_node(node, merged)
            message = "its only branch is merged into the schema around it"
            context.log.add(node, "anyOf", Action.REWRITTEN, Effect.EQUIVALENT, message)
        else:
            describe_keyword(node, context.log, "anyOf", reason=_UNSUPPORTED)
    elif _restricts_siblings(subset):
        _merge_siblings(node, branches, context)


def _restricts_siblings(subset: Subset) -> bool:
    return subset.closed or subset.all_required or subset.any_of_alone


def _merge_siblings(
    node: SchemaNode, branches: list[SchemaNode], context: TransformContext
) -> None:
    """Merge the sibling keywords of a union into each of its *branches*.

    Objects will be closed in each branch, or the union may have no siblings.
    """
    asserted = node.keywords.keys() - ANNOTATIONS.keys() - {"anyOf", "contentSchema"}
    about_objects = not asserted.isdisjoint(OBJECT_KEYWORDS) or any(
        not OBJECT_KEYWORDS.isdisjoint(branch.keywords) for branch in branches
    )
    if not asserted or not about_objects:
        return
    declares = any(
        "properties" in branch.keywords or "$ref" in branch.keywords for branch in branches
    )
    siblings = without_keywords(node, "anyOf", *ANNOTATIONS)
    budget = context.log.budget
    results = [merge_nodes([siblings, branch], budget) for branch in branches] if declares else []
    merged = [result for result in results if result is not None]
    if not merged or len(merged) < len(branches):
        if context.subset.any_of_alone:
            return  # The rules for sibling keywords choose the keyword to keep.
        reason = "it cannot be combined with its sibling keywords"
        describe_keyword(node, context.log, "anyOf", reason=reason)
        return
    for branch, result in zip(branches, merged, strict=True):
        result.path = branch.path
    annotations = {name: value for name, value in node.keywords.items() if name in ANNOTATIONS}
    node.keywords = {**annotations, "anyOf": merged}
    message = "sibling keywords are merged into each of its branches"
    context.log.add(node, "anyOf", Action.REWRITTEN, Effect.EQUIVALENT, message)


def _remove_all_of(node: SchemaNode, context: TransformContext) -> None:
    """Merge the branches of an unsupported ``allOf``, or describe them."""
    if "allOf" not in node.keywords or _keeps_all_of(node, context):
        return
    branches = node.keywords.pop("allOf")
    drop_unevaluated(node, context.log)
    kept_branches = []
    for branch in branches:
        merged = merge_nodes([node, branch], context.log.budget)
        if merged is not None:
            replace_node(node, merged)
        elif context.supports("allOf") and is_exact(branch, context):
            kept_branches.append(branch)
        else:
            text = f"also like {outline(branch)}"
            add_note(node, text)
            message = f"cannot be merged exactly; moved to the description: {text}"
            context.log.add(branch, "allOf", Action.DESCRIBED, Effect.WIDENED, message)
    if kept_branches:
        node.keywords["allOf"] = kept_branches


def _describe_conditions(node: SchemaNode, context: TransformContext) -> None:
    """Describe conditions whose subschemas cannot be kept exactly."""
    for keyword in _CONDITIONS:
        if keyword not in node.keywords:
            continue
        if not context.supports(keyword):
            describe_keyword(node, context.log, keyword, reason=_UNSUPPORTED)
        elif not _keeps_condition(node, keyword, context):
            describe_keyword(node, context.log, keyword, reason=_INEXACT)


def _keeps_condition(node: SchemaNode, keyword: str, context: TransformContext) -> bool:
    value = node.keywords[keyword]
    if keyword == "if":
        cases = [name for name in ("if", "then", "else") if name in node.keywords]
        return all(
            context.supports(name) and is_exact(node.keywords[name], context) for name in cases
        )
    if keyword == "contains":
        bounds = [name for name in ("minContains", "maxContains") if name in node.keywords]
        return all(map(context.supports, bounds)) and is_exact(value, context)
    if keyword == "propertyNames":
        return not context.renamed and is_exact(value, context)
    if keyword == "dependentSchemas":
        return _keeps_names(value, context) and all(
            is_exact(schema, context) for schema in value.values()
        )
    return is_exact(value, context)


def _keeps_names(names: dict[str, object], context: TransformContext) -> bool:
    """Return whether the properties *names* keep their names and may stay absent."""
    return not context.subset.all_required and not names.keys() & context.renamed.keys()


def _describe_dependent_required(node: SchemaNode, context: TransformContext) -> None:
    needs = node.keywords.get("dependentRequired")
    if needs is None:
        return
    names = {**needs, **dict.fromkeys(name for needed in needs.values() for name in needed)}
    if not any(needs.values()):
        del node.keywords["dependentRequired"]
    elif not context.supports("dependentRequired"):
        describe_keyword(node, context.log, "dependentRequired", reason=_UNSUPPORTED)
    elif not _keeps_names(names, context):
        describe_keyword(node, context.log, "dependentRequired", reason=_INEXACT)


RULES: tuple[Rule, ...] = (
    Rule(_merge_all_of, has("allOf", *_UNEVALUATED)),
    Rule(_rewrite_unevaluated, has(*_UNEVALUATED)),
    Rule(_remove_all_of, has("allOf")),
    Rule(_rewrite_one_of, has("oneOf")),
    Rule(
        _rewrite_any_of,
        lambda traits, subset: (
            "anyOf" in traits and (_restricts_siblings(subset) or not subset.supports("anyOf"))
        ),
    ),
    Rule(_describe_conditions, has(*_CONDITIONS)),
    Rule(_describe_dependent_required, has("dependentRequired")),
)


#: Name of a property, and the canonical text of its value if it can have only one, or "".
_Discriminator: TypeAlias = tuple[str, str]

_MAX_REFERENCES = 30
"""Number of references that are followed from one branch."""

_PROPERTY = 10
"""Steps of one property."""


def _arrange_first_properties(node: SchemaNode, context: TransformContext) -> None:
    """Let each object of a union begin with a property that no other begins with."""
    objects = _find_objects(node)
    if not _collide(objects):
        return
    used_discriminators: set[_Discriminator] = set()
    for branch in objects:
        properties: dict[str, SchemaNode] = branch.keywords["properties"]
        spend(context.log.budget, _PROPERTY * len(properties))
        # A property that can have only one value discriminates best.
        candidates = sorted(
            (_find_discriminator(name, schema) for name, schema in properties.items()),
            key=_has_no_value,
        )
        discriminator = next(
            (candidate for candidate in candidates if candidate not in used_discriminators), None
        )
        if discriminator is None:
            continue
        used_discriminators.add(discriminator)
        name = discriminator[0]
        if next(iter(properties)) != name:
            branch.keywords["properties"] = {name: properties[name], **properties}
            message = f"the property {name!r} is moved first, to discriminate the union"
            log = context.log
            log.add(branch, "properties", Action.REWRITTEN, Effect.EQUIVALENT, message)


def _reject_collisions(node: SchemaNode, _context: TransformContext) -> None:
    """Reject a union whose objects begin alike, since another union may share them."""
    if _collide(_find_objects(node)):
        message = (
            "the provider supports no union of objects that begin with the same property, and "
            f"these have no property to tell them apart (at {node.pointer})"
        )
        raise RequestError(ErrorReason.NOT_CONVERTIBLE, message, {"pointer": node.pointer[:256]})


def _find_objects(node: SchemaNode) -> list[SchemaNode]:
    """Return the branches of a union that declare properties."""
    targets = map(_resolve, node.keywords["anyOf"])
    return list({id(node): node for node in targets if node.keywords.get("properties")}.values())


def _resolve(node: SchemaNode) -> SchemaNode:
    for _ in range(_MAX_REFERENCES):
        if "$ref" not in node.keywords:
            break
        node = node.keywords["$ref"]
    return node


def _collide(objects: list[SchemaNode]) -> bool:
    first = [
        _find_discriminator(*next(iter(node.keywords["properties"].items()))) for node in objects
    ]
    return len(set(first)) < len(first)


def _find_discriminator(name: str, schema: SchemaNode) -> _Discriminator:
    keywords = _resolve(schema).keywords
    values = [keywords["const"]] if "const" in keywords else keywords.get("enum", ())
    first_two = list(islice(values, 2))
    return (name, canonical_text(first_two[0]) if len(first_two) == 1 else "")


def _has_no_value(discriminator: _Discriminator) -> bool:
    return not discriminator[1]


def _may_discriminate(traits: Traits, subset: Subset) -> bool:
    return subset.distinct_first_properties and "anyOf" in traits


ARRANGE_DISCRIMINATORS: tuple[Rule, ...] = (Rule(_arrange_first_properties, _may_discriminate),)
CHECK_DISCRIMINATORS: tuple[Rule, ...] = (Rule(_reject_collisions, _may_discriminate),)
