"""Changes of keywords whose values are no schemas, and of annotations."""

from typing import Any

from sidecheck_server.core.compat.keyword_changes import (
    ABSENT,
    KEYWORD_COMPARERS,
    KeywordChange,
    are_equal,
    shorten,
)
from sidecheck_server.core.compat.schema_nodes import SILENT_KEYWORDS, SchemaNode
from sidecheck_server.core.compat.walk import Sign, Walk
from sidecheck_server.core.explain.values import quote

__all__ = ["compare_keywords"]

_TEXTS = {"title": "SCHEMA_TITLE_CHANGED", "description": "SCHEMA_DESCRIPTION_CHANGED"}
_HEADER = "x-mcp-header"


def compare_keywords(walk: Walk, old: SchemaNode, new: SchemaNode, sign: Sign) -> None:
    """Add the changes of keywords that have no subschemas."""
    for keyword in dict.fromkeys((*old.keywords, *new.keywords)):
        before, after = (node.keywords.get(keyword, ABSENT) for node in (old, new))
        compare = KEYWORD_COMPARERS.get(keyword)
        asserts = old.in_force(keyword) or new.in_force(keyword)
        if compare is not None and (asserts or keyword == "default"):
            for change in compare(keyword, before, after):
                walk.add(change, (old, new), keyword, sign)
        elif keyword not in SILENT_KEYWORDS and not asserts and not are_equal(before, after):
            walk.add(_annotation(keyword, before, after), (old, new), keyword, sign)


def _annotation(keyword: str, before: Any, after: Any) -> KeywordChange:
    code = _TEXTS.get(keyword, "HEADER_CHANGED" if keyword == _HEADER else "ANNOTATION_CHANGED")
    verb = "added" if before is ABSENT else "removed" if after is ABSENT else "changed"
    values = ("", "") if keyword in _TEXTS else (shorten(before), shorten(after))
    return KeywordChange(code, f"{quote(keyword)[1:-1]} was {verb}", *values)
