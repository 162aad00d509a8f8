"""Changes of items, and of keywords with one subschema."""

from collections.abc import Sequence
from typing import Any

from sidecheck_server.core.compat.changes import Direction
from sidecheck_server.core.compat.keyword_changes import ABSENT, KeywordChange
from sidecheck_server.core.compat.rules import SUBSCHEMA_KEYWORDS, upper_snake
from sidecheck_server.core.compat.schema_nodes import SchemaNode
from sidecheck_server.core.compat.walk import Sign, Walk

__all__ = ["compare_subschemas"]


def compare_subschemas(walk: Walk, old: SchemaNode, new: SchemaNode, sign: Sign) -> None:
    """Add the changes of the keywords about items, and of those with one subschema."""
    _compare_items(walk, old, new, sign)
    for keyword, added in SUBSCHEMA_KEYWORDS.items():
        if not (keyword == "items" and _is_list(old, new)):
            _compare_subschema(walk, old, new, keyword, added, sign)


def _compare_items(walk: Walk, old: SchemaNode, new: SchemaNode, sign: Sign) -> None:
    (old_word, before), (new_word, after) = _prefix(old), _prefix(new)
    for index in range(max(len(before), len(after))):
        if index < len(before) and index < len(after):
            walk.compare(
                walk.old.child(old, old_word, index), walk.new.child(new, new_word, index), sign
            )
            continue
        added = index < len(after)
        verb = "added" if added else "removed"
        change = KeywordChange(
            f"PREFIX_ITEM_{verb.upper()}", f"the schema of the item {index} was {verb}"
        )
        steps = ("", f"/{index}") if added else (f"/{index}", "")
        walk.add(change, (old, new), new_word if added else old_word, sign, steps=steps)


def _compare_subschema(
    walk: Walk, old: SchemaNode, new: SchemaNode, keyword: str, added: Direction, sign: Sign
) -> None:
    before, after = (node.subschema(keyword) for node in (old, new))
    if isinstance(before, list) or isinstance(after, list):
        return
    if before is not ABSENT and after is not ABSENT:
        below = sign.negated if keyword == "not" else sign
        if added is Direction.UNKNOWN and keyword in ("if", "contains"):
            below = Sign.UNKNOWN if keyword == "if" or _counts(old, new) else sign
        walk.compare(walk.old.child(old, keyword), walk.new.child(new, keyword), below)
    elif before is not after:
        suffix, verb = ("ADDED", "added") if before is ABSENT else ("REMOVED", "removed")
        change = KeywordChange(f"{upper_snake(keyword)}_{suffix}", f"{keyword} was {verb}")
        walk.add(change, (old, new), keyword, sign)


def _is_list(old: SchemaNode, new: SchemaNode) -> bool:
    return any(isinstance(node.keywords.get("items"), list) for node in (old, new))


def _prefix(node: SchemaNode) -> tuple[str, Sequence[Any]]:
    items = node.keywords.get("items")
    if isinstance(items, list):
        return "items", items
    return "prefixItems", node.list("prefixItems")


def _counts(old: SchemaNode, new: SchemaNode) -> bool:
    return any("maxContains" in node.keywords for node in (old, new))
