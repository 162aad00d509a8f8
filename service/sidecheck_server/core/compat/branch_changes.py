"""Changes of choices and conjunctions: anyOf, oneOf, allOf, and references beside keywords."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sidecheck_server.core.compat.keyword_changes import KeywordChange, shorten
from sidecheck_server.core.compat.rules import upper_snake
from sidecheck_server.core.compat.schema_nodes import SILENT_KEYWORDS, SchemaNode
from sidecheck_server.core.compat.single_keywords import compare_keywords
from sidecheck_server.core.compat.walk import Sign, Walk
from sidecheck_server.core.explain.values import quote
from sidecheck_server.core.json_values import canonical_json

__all__ = ["compare_branches", "compare_wrapped"]


def compare_branches(walk: Walk, old: SchemaNode, new: SchemaNode, sign: Sign) -> None:
    """Add the changes of the branches, and of a reference that applies beside keywords."""
    _compare_beside(walk, old, new, sign)
    for keyword in ("allOf", "anyOf", "oneOf"):
        _compare_keyword(walk, old, new, keyword, sign)


def _compare_beside(walk: Walk, old: SchemaNode, new: SchemaNode, sign: Sign) -> None:
    if old.beside is not None and new.beside is not None:
        walk.compare(walk.old.beside(old), walk.new.beside(new), sign)
    elif old.beside is not new.beside:
        suffix, verb = ("ADDED", "added") if old.beside is None else ("REMOVED", "removed")
        change = KeywordChange(f"ALL_OF_BRANCH_{suffix}", f"a reference was {verb}")
        walk.add(change, (old, new), "$ref", sign)


def _compare_keyword(
    walk: Walk, old: SchemaNode, new: SchemaNode, keyword: str, sign: Sign
) -> None:
    before, after = (node.list(keyword) for node in (old, new))
    if not before and not after:
        return
    code = upper_snake(keyword)
    if not before or not after:
        suffix, verb = ("ADDED", "added") if after else ("REMOVED", "removed")
        change = KeywordChange(f"{code}_{suffix}", f"{keyword} was {verb}")
        walk.add(change, (old, new), keyword, sign)
        return
    below = Sign.UNKNOWN if keyword == "oneOf" else sign
    branches = (
        [tree.child(node, keyword, index) for index in range(len(values))]
        for tree, node, values in ((walk.old, old, before), (walk.new, new, after))
    )
    for left, right in _pair_branches((before, after), *branches):
        if left is not None and right is not None:
            walk.compare(
                walk.old.child(old, keyword, left), walk.new.child(new, keyword, right), below
            )
            continue
        index = left if right is None else right
        suffix, verb = ("REMOVED", "removed") if right is None else ("ADDED", "added")
        steps = (f"/{index}", "") if right is None else ("", f"/{index}")
        branch = (before if right is None else after)[index or 0]
        change = KeywordChange(
            f"{code}_BRANCH_{suffix}", f"the branch {_describe(branch)} of {keyword} was {verb}"
        )
        walk.add(change, (old, new), keyword, sign, steps=steps)


def compare_wrapped(walk: Walk, old: SchemaNode, new: SchemaNode, sign: Sign) -> bool:
    """Compare a schema with a choice that it is one branch of, if these are such."""
    keyword = _choice(new) if _choice(old) is None else _choice(old)
    if keyword is None or (_choice(old) is None) is (_choice(new) is None):
        return False
    wraps = _choice(new) is not None
    tree, choice, single = (walk.new, new, old) if wraps else (walk.old, old, new)
    asserted = _only(single, asserts=True)
    branches = [tree.child(choice, keyword, i) for i in range(len(choice.list(keyword)))]
    branch = _find_branch(asserted, branches)
    if branch is None:
        return False
    compare_keywords(walk, _only(old, asserts=False), _only(new, asserts=False), sign)
    below = Sign.UNKNOWN if keyword == "oneOf" else sign
    inner = branches[branch]
    walk.compare(*((asserted, inner) if wraps else (inner, asserted)), below)
    for index, value in enumerate(choice.list(keyword)):
        if index != branch:
            suffix, verb = ("ADDED", "added") if wraps else ("REMOVED", "removed")
            change = KeywordChange(
                f"{upper_snake(keyword)}_BRANCH_{suffix}",
                f"the alternative {_describe(value)} was {verb}",
            )
            steps = ("", f"/{index}") if wraps else (f"/{index}", "")
            walk.add(change, (old, new), keyword, sign, steps=steps)
    return True


def _find_branch(single: SchemaNode, branches: Sequence[SchemaNode]) -> int | None:
    """Return the index of the branch that *single* is, or that has its type."""
    if single.beside is not None:
        return None
    content = _content(None, single)
    for index, branch in enumerate(branches):
        if branch.beside is None and content == _content(None, _only(branch, asserts=True)):
            return index
    name = single.keywords.get("type")
    types = [branch.keywords.get("type") for branch in branches]
    return types.index(name) if name is not None and name in types else None


def _choice(node: SchemaNode) -> str | None:
    """Return ``anyOf`` or ``oneOf`` if that is all that *node* asserts."""
    asserted = [
        keyword
        for keyword in node.keywords
        if node.in_force(keyword) and keyword not in SILENT_KEYWORDS
    ]
    is_choice = asserted in (["anyOf"], ["oneOf"]) and node.beside is None
    return asserted[0] if is_choice else None


def _only(node: SchemaNode, *, asserts: bool) -> SchemaNode:
    """Return *node* with the keywords that assert something, or with the others."""
    keywords = {
        name: value
        for name, value in node.keywords.items()
        if (node.in_force(name) and name != "default") is asserts
    }
    return replace(
        node,
        keywords=keywords,
        identity=-node.identity,
        beside=node.beside if asserts else None,
    )


def _pair_branches(
    values: tuple[Sequence[Any], Sequence[Any]],
    before: Sequence[SchemaNode],
    after: Sequence[SchemaNode],
) -> Iterator[tuple[int | None, int | None]]:
    """Yield the indexes of the branches that belong together, and of those without another.

    *values* are those of the keyword, and *before* and *after* what they lead to.
    """
    sides = [
        {index: (value, node) for index, (value, node) in enumerate(zip(*side, strict=True))}
        for side in zip(values, (before, after), strict=True)
    ]
    left, right = sides
    for criterion in (_text, _reference, _content, _kind):
        candidates: dict[object, list[int]] = {}
        for index, branch in right.items():
            candidates.setdefault(criterion(*branch), []).append(index)
        for index, branch in list(left.items()):
            key = criterion(*branch)
            if key is not None and candidates.get(key):
                match = candidates[key].pop(0)
                del left[index], right[match]
                yield index, match
    yield from ((index, None) for index in left)
    yield from ((None, index) for index in right)


def _text(value: Any, _: SchemaNode) -> object:
    return canonical_json(value)


def _reference(value: Any, _: SchemaNode) -> object:
    return value.get("$ref") if isinstance(value, dict) else None


def _content(_: Any, node: SchemaNode) -> object:
    return node.never, canonical_json({**node.keywords})


def _kind(_: Any, node: SchemaNode) -> object:
    """Return what branches that belong together have in common."""
    tags = [
        (name, canonical_json(value["const"]))
        for name, value in node.map("properties").items()
        if isinstance(value, dict) and "const" in value
    ]
    return canonical_json(node.keywords.get("type")), tuple(tags), "const" in node.keywords


def _describe(branch: Any) -> str:
    if isinstance(branch, dict):
        for keyword in ("$ref", "const", "title", "type"):
            if keyword in branch:
                return f"{keyword} {shorten(branch[keyword])}"
        if branch:
            return f"with {' and '.join(quote(name)[1:-1] for name in [*branch][:3])}"
    return shorten(branch)
