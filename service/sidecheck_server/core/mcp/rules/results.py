"""Results of tools."""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.equality import json_equal
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.refusals import Refusal
from sidecheck_server.core.words import Severity

__all__ = ["OUTPUT_MISSING", "RULES"]

_OF_ANY_TYPE_SINCE = "2026-07-28"

_DEEPEST = 128
"""How deep the JSON in a text may nest to be looked into."""

# In steps.
_TRY = 100
_CHARACTER = 1  # to decode it, and to compare what it is a part of

OUTPUT_MISSING = Rule(
    code="OUTPUT_MISSING",
    severity=Severity.ERROR,
    clause=Clause("server/tools", "output-schema"),
    sentence="The result of a tool with an output schema must have structured content, "
    "unless it is an error.",
    subjects=("CallToolResult",),
    since="2025-06-18",
)


@rule(
    "STRUCTURED_CONTENT_WITHOUT_TEXT",
    severity=Severity.WARNING,
    clause=Clause("server/tools", "structured-content"),
    sentence="A result with structured content should also have it as JSON in a text item, "
    "for clients that know no structured content.",
    on="CallToolResult",
    since="2025-06-18",
)
def _without_text(value: Any, context: Context) -> Iterator[Fault]:
    if not isinstance(value, dict) or "structuredContent" not in value:
        return
    content = value["structuredContent"]
    if context.version < _OF_ANY_TYPE_SINCE and not isinstance(content, dict):
        return
    items = value.get("content")
    if not isinstance(items, list):
        return
    if not any(_holds(item, content, context) for item in items):
        said = "no text item holds the structured content as JSON, for clients that know only texts"
        yield Fault(("content",), said)


def _holds(item: Any, content: Any, context: Context) -> bool:
    """Return whether *item* is a text item whose text is the JSON of *content*."""
    spend(context.budget, _TRY)
    if not isinstance(item, dict) or item.get("type") != "text":
        return False
    text = item.get("text")
    if not isinstance(text, str) or not _may_hold(text, content):
        return False
    spend(context.budget, _CHARACTER * len(text))
    try:
        return json_equal(decode(text.encode(), max_depth=_DEEPEST, most=1), content)
    except (MalformedError, Refusal):
        return False


def _may_hold(text: str, content: Any) -> bool:
    """Return whether *text* begins as the JSON of *content* would."""
    first = text.lstrip(" \t\n\r")[:1]
    if isinstance(content, dict):
        return first == "{"
    if isinstance(content, list):
        return first == "["
    return first != "" and first not in "{["


RULES: tuple[Rule, ...] = (OUTPUT_MISSING, _without_text)
