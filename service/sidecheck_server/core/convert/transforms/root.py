"""Transform of the root: unsupported keywords are merged, described or wrapped."""

from sidecheck_server.core.convert.providers.subset import References, Subset
from sidecheck_server.core.convert.schema_graph import (
    ANNOTATIONS,
    Encoding,
    SchemaNode,
    collect_reachable,
)
from sidecheck_server.core.convert.transforms.combinators import replace_node
from sidecheck_server.core.convert.transforms.descriptions import (
    KEYWORD_GROUPS,
    add_note,
    describe_keyword,
    drop_unevaluated,
    outline,
)
from sidecheck_server.core.convert.transforms.merging import merge_nodes, without_keywords
from sidecheck_server.core.convert.types import Action, Effect, LossLog
from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = ["WRAPPER", "transform_root"]

WRAPPER = "input"
"""Name of the property that contains wrapped arguments."""

_ROOT_NAME = "root"
"""Name of the definition of the original root, if references lead to it."""

_CONDITIONAL = frozenset(
    {"required", "dependentRequired", "dependentSchemas", "minProperties", "maxProperties"}
)
"""Assertions about objects whose properties are declared elsewhere."""

_DEPENDENT = frozenset(name for group in KEYWORD_GROUPS.values() for name in group[1:])
"""Keywords that are removed together with the first one of their group."""

_UNSUPPORTED = "the provider does not support it at the root"


def transform_root(root: SchemaNode, subset: Subset, log: LossLog) -> SchemaNode:
    """Return a root that has only keywords that *subset* supports at the root.

    An unsupported keyword is merged into the root if the merge is exact, or described if it
    only relates properties to each other. Otherwise the arguments are wrapped in an object
    with one property.

    Raises:
        RequestError: NOT_CONVERTIBLE if the schema admits no object.
        Exhausted: the budget of *log* is spent.
    """
    root = _detach(root, subset)
    _merge(root, subset, log)
    wraps = False
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in root.keywords and _is_unsupported(keyword, subset):
            wraps = not _remove_combinator(root, keyword, subset, log) or wraps
    result = _wrap(root, subset, log) if wraps else root
    for keyword in [name for name in result.keywords if name in subset.not_at_root]:
        if keyword in result.keywords and keyword not in _DEPENDENT:
            _remove(result, keyword, log)
    _require_object(root, log)
    if subset.properties_at_root:
        result.keywords.setdefault("properties", {})
    return result


def _detach(root: SchemaNode, subset: Subset) -> SchemaNode:
    """Return *root*, or a copy to change if references lead to *root*."""
    unchanged = root.keywords.get("type") == "object" and subset.not_at_root.isdisjoint(
        root.keywords
    )
    if unchanged or not any(
        keyword == "$ref" and child is root
        for node in collect_reachable(root)
        for keyword, child in node.children_by_keyword()
    ):
        return root
    root.name = root.name or _ROOT_NAME
    return SchemaNode(root.path, dict(root.keywords), root.never, list(root.notes))


def _is_unsupported(keyword: str, subset: Subset) -> bool:
    """Return whether *keyword* is not supported at the root."""
    if keyword in subset.not_at_root:
        return True
    # Where they are not supported, oneOf becomes anyOf, and allOf is merged, with its anyOf.
    may_become_any_of = keyword in {"allOf", "oneOf"} and not subset.supports(keyword)
    return may_become_any_of and "anyOf" in subset.not_at_root


def _merge(root: SchemaNode, subset: Subset, log: LossLog) -> None:
    """Merge unsupported ``$ref`` and ``allOf`` into the root."""
    refers = "$ref" in root.keywords and (
        bool(subset.not_at_root)
        or subset.properties_at_root
        or subset.references is not References.ANYWHERE
    )
    combines = "allOf" in root.keywords and _is_unsupported("allOf", subset)
    if not refers and not combines:
        return
    # `unevaluated*` depends on what all branches evaluate, merged or not.
    unevaluated = _unevaluated(root)
    merged = merge_nodes([without_keywords(root, *unevaluated)], log.budget)
    if merged is not None:
        replace_node(root, merged)
        root.keywords.update(unevaluated)
        name = "$ref" if refers else "allOf"
        message = "merged into the root"
        log.add(root, name, Action.REWRITTEN, Effect.EQUIVALENT, message)
    elif refers:
        # The root must not keep a reference; allOf is removed next.
        target = root.keywords.pop("$ref")
        root.keywords["allOf"] = [target, *root.keywords.get("allOf", ())]
        message = "rewritten as a branch of allOf: it is not supported at the root"
        log.add(root, "$ref", Action.REWRITTEN, Effect.EQUIVALENT, message)


def _unevaluated(node: SchemaNode) -> dict[str, SchemaNode]:
    return {name: value for name, value in node.keywords.items() if name.startswith("unevaluated")}


def _remove_combinator(root: SchemaNode, keyword: str, subset: Subset, log: LossLog) -> bool:
    """Remove *keyword* from the root; return False if the root must be wrapped."""
    branches = root.keywords[keyword]
    if len(branches) == 1:
        merged = merge_nodes([without_keywords(root, keyword), *branches], log.budget)
        if merged is not None:
            replace_node(root, merged)
            message = "its only branch is merged into the root"
            log.add(root, keyword, Action.REWRITTEN, Effect.EQUIVALENT, message)
            return True
    if keyword == "allOf":
        return _remove_all_of(root, branches, subset, log)
    return _remove_union(root, keyword, subset, log)


def _remove_union(root: SchemaNode, keyword: str, subset: Subset, log: LossLog) -> bool:
    if subset.supports("anyOf") and not all(map(_is_conditional, root.keywords[keyword])):
        return False
    describe_keyword(root, log, keyword, reason=_UNSUPPORTED)
    return True


def _remove_all_of(
    root: SchemaNode, branches: list[SchemaNode], subset: Subset, log: LossLog
) -> bool:
    """Merge the *branches* where possible, and describe conditions among the others."""
    unmerged: list[SchemaNode] = []
    merged = without_keywords(root, "allOf", "unevaluatedProperties", "unevaluatedItems")
    merged.notes = list(root.notes)
    for branch in branches:
        result = merge_nodes([merged, branch], log.budget)
        if result is None:
            unmerged.append(branch)
        else:
            merged = result
    if subset.supports("allOf") and not all(map(_is_conditional, unmerged)):
        return False
    if unmerged:
        drop_unevaluated(root, log)
    unevaluated = _unevaluated(root)
    replace_node(root, merged)
    root.keywords.update(unevaluated)
    for branch in unmerged:
        text = f"also like {outline(branch)}"
        add_note(root, text)
        message = (
            f"{_UNSUPPORTED}, and it cannot be merged exactly; moved to the description: {text}"
        )
        log.add(branch, "allOf", Action.DESCRIBED, Effect.WIDENED, message)
    return True


def _is_conditional(branch: SchemaNode) -> bool:
    """Return whether *branch* only relates properties to each other."""
    asserted = branch.keywords.keys() - ANNOTATIONS.keys()
    if branch.keywords.get("type") == "object":
        asserted -= {"type"}
    nested = [
        node
        for name, value in branch.keywords.items()
        if name in ("not", "if", "then", "else", "anyOf", "oneOf", "allOf")
        for node in (value if isinstance(value, list) else [value])
    ]
    asserted -= {"not", "if", "then", "else", "anyOf", "oneOf", "allOf"}
    return asserted <= _CONDITIONAL and all(map(_is_conditional, nested))


def _wrap(root: SchemaNode, subset: Subset, log: LossLog) -> SchemaNode:
    root.name = root.name or _ROOT_NAME
    wrapper = SchemaNode(root.path, {"type": "object"}, encoding=Encoding(wrapped=WRAPPER))
    wrapper.keywords["properties"] = {WRAPPER: root}
    wrapper.keywords["required"] = [WRAPPER]
    if subset.closed:
        # The wrapper contains the author's object, so closing the wrapper loses nothing.
        wrapper.keywords["additionalProperties"] = SchemaNode(root.path, never=True)
    message = (
        f"the arguments are wrapped under the property {WRAPPER!r}: the provider supports no "
        "union at the root"
    )
    log.add(wrapper, "", Action.ENCODED, Effect.EQUIVALENT, message)
    return wrapper


def _remove(root: SchemaNode, keyword: str, log: LossLog) -> None:
    if keyword in ANNOTATIONS:
        del root.keywords[keyword]
        log.add(root, keyword, Action.DROPPED, Effect.EQUIVALENT, _UNSUPPORTED)
    else:
        describe_keyword(root, log, keyword, reason=_UNSUPPORTED)


def _require_object(root: SchemaNode, log: LossLog) -> None:
    """State the type of arguments, which are always an object (MCP 2025-11-25, tools)."""
    types = root.keywords.get("type", "object")
    if root.never or "object" not in ([types] if isinstance(types, str) else types):
        message = "the input schema admits no object, so that the tool cannot be called"
        raise RequestError(ErrorReason.NOT_CONVERTIBLE, message, {"pointer": root.pointer})
    if root.keywords.get("type") != "object":
        rest = {name: value for name, value in root.keywords.items() if name != "type"}
        root.keywords = {"type": "object", **rest}
        message = "arguments are always an object"
        log.add(root, "type", Action.REWRITTEN, Effect.EQUIVALENT, message)
