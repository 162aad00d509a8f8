"""Results of tools."""

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.equality import json_equal
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.types import Severity

__all__ = ["OUTPUT_MISSING", "RULES"]

_OF_ANY_TYPE_SINCE = "2026-07-28"

_DEEPEST = 128
"""How deep the JSON in a text may nest to be looked into."""

# In steps.
_VALUE = 20
_ITEM = 20
_TRY = 800  # to decode a text that is not JSON, and say so
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
    least = _least_length(content, context.budget)
    if not any(_holds(item, content, least, context.budget) for item in items):
        said = "no text item holds the structured content as JSON, for clients that know only texts"
        yield Fault(("content",), said)


def _holds(item: Any, content: Any, least: int, budget: Budget) -> bool:
    """Return whether *item* is a text item whose text is the JSON of *content*.

    That has *least* characters: a tool may give thousands of items, each a row of it.
    """
    spend(budget, _ITEM)
    if not isinstance(item, dict) or item.get("type") != "text":
        return False
    text = item.get("text")
    if not isinstance(text, str) or len(text) < least or not _BEGINNINGS[type(content)](text):
        return False
    spend(budget, _TRY + _CHARACTER * len(text))
    try:
        return json_equal(decode(text.encode(), max_depth=_DEEPEST, most=1), content)
    except (MalformedError, RequestError):
        return False


_BEGINNINGS: Mapping[type, Callable[[str], object]] = MappingProxyType(
    {
        dict: re.compile(r"[ \t\n\r]*\{").match,
        list: re.compile(r"[ \t\n\r]*\[").match,
        str: re.compile(r'[ \t\n\r]*"').match,
        int: re.compile(r"[ \t\n\r]*[-0-9]").match,
        float: re.compile(r"[ \t\n\r]*[-0-9]").match,
        bool: re.compile(r"[ \t\n\r]*[tf]").match,
        type(None): re.compile(r"[ \t\n\r]*n").match,
    }
)
"""By the type of a value, what its JSON begins with."""


def _least_length(value: Any, budget: Budget) -> int:
    """Return how many characters the JSON of *value* has at the least."""
    spend(budget, _VALUE)
    if isinstance(value, str):
        return len(value) + 2
    if isinstance(value, list):
        return 2 + sum(_least_length(each, budget) + 1 for each in value) - bool(value)
    if isinstance(value, dict):
        members = sum(len(name) + 4 + _least_length(each, budget) for name, each in value.items())
        return 2 + members - bool(value)
    return 1


RULES: tuple[Rule, ...] = (OUTPUT_MISSING, _without_text)
