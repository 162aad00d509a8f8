"""One tool: what it says of itself."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.equality import json_equal
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.types import Severity

__all__ = ["OUTPUT_MISSING", "RULES", "RULES_FROM_results"]

_DESCRIBE = Clause("https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools")
_DESCRIBED = Clause(
    "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html"
)
_HINTS = Clause("schema", "toolannotations", before=(("2025-03-26", "server/tools", "tool"),))
_ANNOTATED = "2025-03-26"


@rule(
    "TOOL_DESCRIPTION_MISSING",
    severity=Severity.INFO,
    clause=_DESCRIBE,
    sentence="A tool has a description: models choose tools by it.",
    on="Tool",
)
def _described(tool: Any, _context: Context) -> Iterable[Fault]:
    if isinstance(tool, dict) and "description" not in tool:
        return (Fault((), "the tool has no description, by which models choose tools"),)
    return ()


@rule(
    "TOOL_DESCRIPTION_EMPTY",
    severity=Severity.INFO,
    clause=_DESCRIBED,
    sentence="The description of a tool says something; some providers refuse an empty one.",
    on="Tool",
)
def _not_empty(tool: Any, _context: Context) -> Iterable[Fault]:
    described = tool.get("description") if isinstance(tool, dict) else None
    if not isinstance(described, str) or described.strip():
        return ()
    said = "the description is empty, though models choose tools by it; some providers refuse it"
    return (Fault(("description",), said),)


@rule(
    "TOOL_HINTS_CONTRADICT",
    severity=Severity.WARNING,
    clause=_HINTS,
    sentence="A tool is not said to be read-only and destructive.",
    on="ToolAnnotations",
    since=_ANNOTATED,
)
def _agreeing(hints: Any, _context: Context) -> Iterator[Fault]:
    if _is_read_only(hints) and hints.get("destructiveHint") is True:
        yield Fault(
            ("destructiveHint",),
            "destructiveHint says that the tool may destroy, readOnlyHint that it changes nothing",
        )


@rule(
    "TOOL_HINT_WITHOUT_MEANING",
    severity=Severity.INFO,
    clause=_HINTS,
    sentence=(
        "destructiveHint and idempotentHint are given only of tools that are not read-only: "
        "of others they mean nothing."
    ),
    on="ToolAnnotations",
    since=_ANNOTATED,
)
def _meaningful(hints: Any, _context: Context) -> Iterator[Fault]:
    if not _is_read_only(hints):
        return
    # A destructive one contradicts, which has a rule of its own.
    if hints.get("destructiveHint") is False:
        yield Fault(("destructiveHint",), _MEANINGLESS.format("destructiveHint"))
    if isinstance(hints.get("idempotentHint"), bool):
        yield Fault(("idempotentHint",), _MEANINGLESS.format("idempotentHint"))


_MEANINGLESS = "{} means something only if readOnlyHint is false; here it is true"


def _is_read_only(hints: Any) -> bool:
    return isinstance(hints, dict) and hints.get("readOnlyHint") is True


RULES: tuple[Rule, ...] = (_described, _not_empty, _agreeing, _meaningful)


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


RULES_FROM_results: tuple[Rule, ...] = (OUTPUT_MISSING, _without_text)
