"""Changes between two schemas, found by a walk over both, keyword by keyword.

Subschemas are paired by location, those of ``anyOf``, ``oneOf`` and ``allOf`` by equal
text first and then by position. References are followed, so moving a subschema into
``$defs`` is no change. A change has the direction that it determines by itself;
`core.compat.verdicts` decides whether it breaks callers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sidecheck_server.core.compat.changes import Direction, PerReading
from sidecheck_server.core.compat.keyword_changes import (
    ABSENT,
    KEYWORD_COMPARERS,
    KeywordChange,
    are_equal,
    shorten,
)
from sidecheck_server.core.compat.rules import CHANGE_RULES, SUBSCHEMA_KEYWORDS, upper_snake
from sidecheck_server.core.compat.walk import (
    SILENT_KEYWORDS,
    SchemaChange,
    SchemaNode,
    SchemaTree,
    Sign,
    Walk,
    as_step,
)
from sidecheck_server.core.compiler.admission import AdmittedSchema
from sidecheck_server.core.explain.values import quote
from sidecheck_server.core.json_values import canonical_json
from sidecheck_server.core.limits import Budget

__all__ = ["find_schema_changes"]


def find_schema_changes(
    old: AdmittedSchema,
    new: AdmittedSchema,
    location: str,
    budget: Budget,
    *,
    of_arguments: bool = False,
) -> list[SchemaChange]:
    """Return the changes from *old* to *new*, at *location* of their definitions.

    *of_arguments* is as for `core.compat.compare.compare_schemas`.

    Raises:
        Exhausted: *budget* is spent.
    """
    trees = SchemaTree(old, location), SchemaTree(new, location)
    walk = Walk(*trees, (_compare,), budget, of_arguments=of_arguments)
    roots = walk.old.root, walk.new.root
    names = [schema.context.dialect.name for schema in (old, new)]
    if old.context.dialect.uri != new.context.dialect.uri:
        message = f"the dialect changed from {names[0]} to {names[1]}"
        walk.add(KeywordChange("DIALECT_CHANGED", message, *names), roots, "$schema", Sign.SAME)
    walk.compare(*roots, Sign.SAME)
    return walk.changes


def _compare(walk: Walk, old: SchemaNode, new: SchemaNode, sign: Sign) -> None:
    if _compare_wrapped(walk, old, new, sign):
        return
    for compare in (_compare_keywords, _compare_objects, _compare_subschemas, _compare_branches):
        compare(walk, old, new, sign)


_TEXTS = {"title": "SCHEMA_TITLE_CHANGED", "description": "SCHEMA_DESCRIPTION_CHANGED"}
_HEADER = "x-mcp-header"


def _compare_keywords(walk: Walk, old: SchemaNode, new: SchemaNode, sign: Sign) -> None:
    """Add the changes of keywords that have no subschemas."""
    for keyword in dict.fromkeys((*old.keywords, *new.keywords)):
        before, after = (node.keywords.get(keyword, ABSENT) for node in (old, new))
        compare = KEYWORD_COMPARERS.get(keyword)
        asserts = old.is_in_force(keyword) or new.is_in_force(keyword)
        if compare is not None and (asserts or keyword == "default"):
            for change in compare(keyword, before, after):
                walk.add(change, (old, new), keyword, sign)
        elif keyword not in SILENT_KEYWORDS and not asserts and not are_equal(before, after):
            walk.add(_annotation_change(keyword, before, after), (old, new), keyword, sign)


def _annotation_change(keyword: str, before: Any, after: Any) -> KeywordChange:
    code = _TEXTS.get(keyword, "HEADER_CHANGED" if keyword == _HEADER else "ANNOTATION_CHANGED")
    verb = "added" if before is ABSENT else "removed" if after is ABSENT else "changed"
    values = ("", "") if keyword in _TEXTS else (shorten(before), shorten(after))
    return KeywordChange(code, f"{quote(keyword)[1:-1]} was {verb}", *values)


def _compare_subschemas(walk: Walk, old: SchemaNode, new: SchemaNode, sign: Sign) -> None:
    """Add the changes of the keywords about items, and of those with one subschema."""
    _compare_items(walk, old, new, sign)
    for keyword, added in SUBSCHEMA_KEYWORDS.items():
        if not (keyword == "items" and _has_tuple(old, new)):
            _compare_subschema(walk, old, new, keyword, added, sign)


def _compare_items(walk: Walk, old: SchemaNode, new: SchemaNode, sign: Sign) -> None:
    (old_keyword, before), (new_keyword, after) = _prefix_items(old), _prefix_items(new)
    for index in range(max(len(before), len(after))):
        if index < len(before) and index < len(after):
            walk.compare(
                walk.old.child(old, old_keyword, index),
                walk.new.child(new, new_keyword, index),
                sign,
            )
            continue
        added = index < len(after)
        verb = "added" if added else "removed"
        change = KeywordChange(
            f"PREFIX_ITEM_{verb.upper()}", f"the schema of the item {index} was {verb}"
        )
        steps = ("", f"/{index}") if added else (f"/{index}", "")
        walk.add(change, (old, new), new_keyword if added else old_keyword, sign, steps=steps)


def _compare_subschema(
    walk: Walk, old: SchemaNode, new: SchemaNode, keyword: str, added: Direction, sign: Sign
) -> None:
    before, after = (node.subschema_at(keyword) for node in (old, new))
    if isinstance(before, list) or isinstance(after, list):
        return
    if before is not ABSENT and after is not ABSENT:
        inner_sign = sign.negated if keyword == "not" else sign
        if added is Direction.UNKNOWN and keyword in ("if", "contains"):
            inner_sign = Sign.UNKNOWN if keyword == "if" or _has_max_contains(old, new) else sign
        walk.compare(walk.old.child(old, keyword), walk.new.child(new, keyword), inner_sign)
    elif before is not after:
        suffix, verb = ("ADDED", "added") if before is ABSENT else ("REMOVED", "removed")
        change = KeywordChange(f"{upper_snake(keyword)}_{suffix}", f"{keyword} was {verb}")
        walk.add(change, (old, new), keyword, sign)


def _has_tuple(old: SchemaNode, new: SchemaNode) -> bool:
    return any(isinstance(node.keywords.get("items"), list) for node in (old, new))


def _prefix_items(node: SchemaNode) -> tuple[str, Sequence[Any]]:
    items = node.keywords.get("items")
    if isinstance(items, list):
        return "items", items
    return "prefixItems", node.array_at("prefixItems")


def _has_max_contains(old: SchemaNode, new: SchemaNode) -> bool:
    return any("maxContains" in node.keywords for node in (old, new))


def _compare_objects(walk: Walk, old: SchemaNode, new: SchemaNode, sign: Sign) -> None:
    """Add the changes of the keywords about properties."""
    _compare_required(walk, old, new, sign)
    _compare_properties(walk, old, new, sign)
    for keyword in _CLOSING:
        _compare_other_properties(walk, old, new, keyword, sign)
    for keyword in ("patternProperties", "dependentSchemas"):
        _compare_maps(walk, old, new, keyword, sign)
    for keyword in ("dependentRequired", "dependencies"):
        _compare_dependencies(walk, old, new, keyword, sign)


_CLOSING = ("additionalProperties", "unevaluatedProperties")
_MAP_CODES = {
    "patternProperties": "PATTERN_PROPERTY",
    "dependentSchemas": "DEPENDENT_SCHEMA",
    "dependentRequired": "DEPENDENT_REQUIRED",
    "dependencies": "DEPENDENCY",
}


def _compare_required(walk: Walk, old: SchemaNode, new: SchemaNode, sign: Sign) -> None:
    before, after = (dict.fromkeys(node.array_at("required")) for node in (old, new))
    declared = [node.object_at("properties") for node in (old, new)]
    for name in (*after, *(name for name in before if name not in after)):
        if name in before and name in after:
            continue
        # `_compare_properties` reports a property that was added or removed.
        if name in declared[0] or name not in declared[1] or name in before:
            if name in before and name in declared[0] and name not in declared[1]:
                continue
            verb, code = ("became", "ADDED") if name in after else ("is no longer", "REMOVED")
            change = KeywordChange(
                f"REQUIRED_{code}", f"the property {quote(name)} {verb} required"
            )
            walk.add(change, (old, new), "required", sign, name=name)


def _compare_properties(walk: Walk, old: SchemaNode, new: SchemaNode, sign: Sign) -> None:
    before, after = (node.object_at("properties") for node in (old, new))
    for name in dict.fromkeys((*before, *after)):
        if name in before and name in after:
            walk.compare(
                walk.old.child(old, "properties", name),
                walk.new.child(new, "properties", name),
                sign,
            )
            continue
        added = name in after
        required = name in (new if added else old).array_at("required")
        code = f"{'REQUIRED_' if required else ''}PROPERTY_{'ADDED' if added else 'REMOVED'}"
        kind = "required" if required else "optional"
        change = KeywordChange(
            code, f"the {kind} property {quote(name)} was {'added' if added else 'removed'}"
        )
        walk.add(
            change,
            (old, new),
            "properties",
            sign,
            steps=("", as_step(name)) if added else (as_step(name), ""),
            directions=_directions_of_property(walk, old, new, added=added, required=required),
            name=name,
        )


def _compare_other_properties(
    walk: Walk, old: SchemaNode, new: SchemaNode, keyword: str, sign: Sign
) -> None:
    before, after = (node.subschema_at(keyword) for node in (old, new))
    if are_equal(before, after) and not isinstance(before, dict):
        return
    code, change = upper_snake(keyword), None
    nodes = old, new
    none, narrower, wider = Direction.NONE, Direction.NARROWER, Direction.WIDER
    if after is False:
        change = KeywordChange(f"{code}_CLOSED", "undeclared properties are not allowed")
        closed_direction = none if before is ABSENT else narrower
        walk.add(change, nodes, keyword, sign, directions=PerReading(narrower, closed_direction))
    elif before is False:
        change = KeywordChange(f"{code}_OPENED", "undeclared properties are allowed")
        opened_direction = none if after is ABSENT else wider
        walk.add(change, nodes, keyword, sign, directions=PerReading(wider, opened_direction))
    elif isinstance(before, dict) and isinstance(after, dict):
        walk.compare(walk.old.child(old, keyword), walk.new.child(new, keyword), sign)
    else:
        change = KeywordChange(
            f"{code}_CHANGED",
            f"{keyword} was {'added' if before is ABSENT else 'removed or changed'}",
            shorten(before),
            shorten(after),
        )
        walk.add(change, nodes, keyword, sign, directions=_directions_of_others(before, after))


def _compare_maps(walk: Walk, old: SchemaNode, new: SchemaNode, keyword: str, sign: Sign) -> None:
    before, after = (node.object_at(keyword) for node in (old, new))
    code = _MAP_CODES[keyword]
    for name in dict.fromkeys((*before, *after)):
        if name in before and name in after:
            pair = walk.old.child(old, keyword, name), walk.new.child(new, keyword, name)
            walk.compare(*pair, sign)
        else:
            _add_entry(walk, old, new, keyword, name, code, sign)


def _add_entry(
    walk: Walk, old: SchemaNode, new: SchemaNode, keyword: str, name: str, code: str, sign: Sign
) -> None:
    added = name in new.object_at(keyword)
    verb = "added" if added else "removed"
    change = KeywordChange(
        f"{code}_{verb.upper()}", f"the entry {quote(name)} of {keyword} was {verb}"
    )
    steps = ("", as_step(name)) if added else (as_step(name), "")
    # An entry also declares names of properties, which the closed reading admits.
    direction = CHANGE_RULES[change.code].direction
    directions = PerReading(direction, direction if added else Direction.UNKNOWN)
    walk.add(change, (old, new), keyword, sign, steps=steps, directions=directions)


def _compare_dependencies(
    walk: Walk, old: SchemaNode, new: SchemaNode, keyword: str, sign: Sign
) -> None:
    before, after = (node.object_at(keyword) for node in (old, new))
    for name in dict.fromkeys((*before, *after)):
        pair = before.get(name, ABSENT), after.get(name, ABSENT)
        if all(isinstance(item, dict) for item in pair):
            nodes = walk.old.child(old, keyword, name), walk.new.child(new, keyword, name)
            walk.compare(*nodes, sign)
        elif not are_equal(*pair):
            code = _MAP_CODES[keyword]
            if ABSENT in pair:
                _add_entry(walk, old, new, keyword, name, code, sign)
                continue
            lists = [set(item) if isinstance(item, list) else set() for item in pair]
            suffix = "REMOVED" if lists[1] < lists[0] else "ADDED"
            change = KeywordChange(
                f"{code}_{suffix}",
                f"the entry {quote(name)} of {keyword} changed",
                *map(shorten, pair),
            )
            step = as_step(name)
            is_ordered = lists[0] < lists[1] or lists[1] < lists[0]
            unknown = PerReading(Direction.UNKNOWN, Direction.UNKNOWN)
            walk.add(
                change,
                (old, new),
                keyword,
                sign,
                steps=(step, step),
                directions=None if is_ordered else unknown,
            )


def _directions_of_property(
    walk: Walk, old: SchemaNode, new: SchemaNode, *, added: bool, required: bool
) -> PerReading[Direction]:
    """Return the directions of adding or removing the declaration of a property."""
    without = old if added else new
    is_closed = any(without.subschema_at(keyword) is False for keyword in _CLOSING)
    is_explicit = any(without.subschema_at(keyword) is not ABSENT for keyword in _CLOSING)
    # A closed object gains the property's values; an open one loses values of other types.
    gains = Direction.BOTH if required else Direction.WIDER
    as_written = gains if is_closed else Direction.NARROWER
    assumed = as_written if is_explicit else gains
    has_no_arguments = walk.of_arguments and not without.path and _asserts_only_type(without)
    if not is_explicit and not has_no_arguments and "properties" not in without.keywords:
        assumed = Direction.UNKNOWN  # The first declaration closes the object.
    pair = PerReading(as_written, assumed)
    return pair if added else PerReading(pair.as_written.reversed, pair.assume_closed.reversed)


def _asserts_only_type(node: SchemaNode) -> bool:
    """Return whether *node* has no keyword in force but ``type``."""
    return node.unmerged_target is None and all(
        keyword == "type" or keyword in SILENT_KEYWORDS
        for keyword in node.keywords
        if node.is_in_force(keyword)
    )


def _directions_of_others(before: Any, after: Any) -> PerReading[Direction]:
    """Return the directions of a change of ``additionalProperties`` or its equivalent."""
    opened = [True if value is ABSENT else value for value in (before, after)]
    if opened == [True, True]:
        written = Direction.NONE
    elif opened[0] is True:
        written = Direction.NARROWER
    else:
        written = Direction.WIDER if opened[1] is True else Direction.UNKNOWN
    if before is ABSENT:
        return PerReading(written, Direction.WIDER)
    return PerReading(written, Direction.NARROWER if after is ABSENT else written)


def _compare_branches(walk: Walk, old: SchemaNode, new: SchemaNode, sign: Sign) -> None:
    """Add the changes of combinators, and of references that are not merged."""
    _compare_references(walk, old, new, sign)
    for keyword in ("allOf", "anyOf", "oneOf"):
        _compare_combinator(walk, old, new, keyword, sign)


def _compare_references(walk: Walk, old: SchemaNode, new: SchemaNode, sign: Sign) -> None:
    if old.unmerged_target is not None and new.unmerged_target is not None:
        walk.compare(walk.old.unmerged_node(old), walk.new.unmerged_node(new), sign)
    elif old.unmerged_target is not new.unmerged_target:
        suffix, verb = ("ADDED", "added") if old.unmerged_target is None else ("REMOVED", "removed")
        change = KeywordChange(f"ALL_OF_BRANCH_{suffix}", f"a reference was {verb}")
        walk.add(change, (old, new), "$ref", sign)


def _compare_combinator(
    walk: Walk, old: SchemaNode, new: SchemaNode, keyword: str, sign: Sign
) -> None:
    before, after = (node.array_at(keyword) for node in (old, new))
    if not before and not after:
        return
    code = upper_snake(keyword)
    if not before or not after:
        suffix, verb = ("ADDED", "added") if after else ("REMOVED", "removed")
        change = KeywordChange(f"{code}_{suffix}", f"{keyword} was {verb}")
        walk.add(change, (old, new), keyword, sign)
        return
    inner_sign = Sign.UNKNOWN if keyword == "oneOf" else sign
    branches = (
        [tree.child(node, keyword, index) for index in range(len(values))]
        for tree, node, values in ((walk.old, old, before), (walk.new, new, after))
    )
    for left, right in _pair_branches((before, after), *branches):
        if left is not None and right is not None:
            walk.compare(
                walk.old.child(old, keyword, left), walk.new.child(new, keyword, right), inner_sign
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


def _compare_wrapped(walk: Walk, old: SchemaNode, new: SchemaNode, sign: Sign) -> bool:
    """Compare a schema with a union of which it is a branch; return whether it is."""
    keyword = _find_union(new) if _find_union(old) is None else _find_union(old)
    if keyword is None or (_find_union(old) is None) is (_find_union(new) is None):
        return False
    wraps = _find_union(new) is not None
    tree, choice, single = (walk.new, new, old) if wraps else (walk.old, old, new)
    asserted = _select_keywords(single, asserts=True)
    branches = [tree.child(choice, keyword, i) for i in range(len(choice.array_at(keyword)))]
    branch = _find_branch(asserted, branches)
    if branch is None:
        return False
    _compare_keywords(
        walk, _select_keywords(old, asserts=False), _select_keywords(new, asserts=False), sign
    )
    inner_sign = Sign.UNKNOWN if keyword == "oneOf" else sign
    inner = branches[branch]
    walk.compare(*((asserted, inner) if wraps else (inner, asserted)), inner_sign)
    for index, value in enumerate(choice.array_at(keyword)):
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
    """Return the index of the branch that equals *single*, or else has its type."""
    if single.unmerged_target is not None:
        return None
    content = _content_key(None, single)
    for index, branch in enumerate(branches):
        if branch.unmerged_target is None and content == _content_key(
            None, _select_keywords(branch, asserts=True)
        ):
            return index
    name = single.keywords.get("type")
    types = [branch.keywords.get("type") for branch in branches]
    return types.index(name) if name is not None and name in types else None


def _find_union(node: SchemaNode) -> str | None:
    """Return ``anyOf`` or ``oneOf`` if *node* asserts nothing else."""
    asserted = [
        keyword
        for keyword in node.keywords
        if node.is_in_force(keyword) and keyword not in SILENT_KEYWORDS
    ]
    is_choice = asserted in (["anyOf"], ["oneOf"]) and node.unmerged_target is None
    return asserted[0] if is_choice else None


def _select_keywords(node: SchemaNode, *, asserts: bool) -> SchemaNode:
    """Return *node* with the keywords that assert something, or with the others."""
    keywords = {
        name: value
        for name, value in node.keywords.items()
        if (node.is_in_force(name) and name != "default") is asserts
    }
    return replace(
        node,
        keywords=keywords,
        identity=-node.identity,
        unmerged_target=node.unmerged_target if asserts else None,
    )


def _pair_branches(
    values: tuple[Sequence[Any], Sequence[Any]],
    before: Sequence[SchemaNode],
    after: Sequence[SchemaNode],
) -> Iterator[tuple[int | None, int | None]]:
    """Yield the indexes of paired branches, and of branches without a counterpart.

    *values* are the values of the keyword; *before* and *after* are their nodes.
    """
    sides = [
        {index: (value, node) for index, (value, node) in enumerate(zip(*side, strict=True))}
        for side in zip(values, (before, after), strict=True)
    ]
    left, right = sides
    for criterion in (_text_key, _reference_key, _content_key, _kind_key):
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


def _text_key(value: Any, _node: SchemaNode) -> object:
    return canonical_json(value)


def _reference_key(value: Any, _node: SchemaNode) -> object:
    return value.get("$ref") if isinstance(value, dict) else None


def _content_key(_value: Any, node: SchemaNode) -> object:
    return node.never, canonical_json({**node.keywords})


def _kind_key(_value: Any, node: SchemaNode) -> object:
    """Return the type and the constant properties, which paired branches share."""
    tags = [
        (name, canonical_json(value["const"]))
        for name, value in node.object_at("properties").items()
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
