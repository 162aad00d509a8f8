"""Rules on tool definitions and results.

The rules on forms concern nulls in place of missing properties, names of properties, and roots
of output schemas. `core.mcp.tool_definitions` and `core.mcp.check` find the faults. If the author
submits a definition, for registration or on the command line, Sidecheck adapts the form and
reports a warning; in messages of the protocol the fault is an error.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.exact_numbers import ExactNumber
from sidecheck_server.core.json_values import json_equal
from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, RuleSet, type_clause
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.types import Severity

__all__ = [
    "NULL_PROPERTY",
    "NULL_PROPERTY_DROPPED",
    "OUTPUT_MISSING",
    "OUTPUT_SCHEMA_WRAPPED",
    "SNAKE_CASE_PROPERTY",
    "SNAKE_CASE_PROPERTY_RENAMED",
    "WRAP_MARKER_MISMATCH",
]

_DESCRIPTION_GUIDE = Clause(
    "https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools"
)
_DESCRIPTION_LENGTH = Clause(
    "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html"
)
_HINTS = Clause("schema", "toolannotations", before=(("2025-03-26", "server/tools", "tool"),))
_ANNOTATED = "2025-03-26"

_TOOL_RULES = RuleSet(Group.TOOLS)


@_TOOL_RULES.rule(
    "TOOL_DESCRIPTION_MISSING",
    Severity.INFO,
    _DESCRIPTION_GUIDE,
    "A tool should have a description, by which models choose tools.",
    on="Tool",
)
def _has_description(tool: Any, _context: Context) -> Iterable[Fault]:
    if isinstance(tool, dict) and "description" not in tool:
        return (Fault((), "the tool should have a description, by which models choose tools"),)
    return ()


@_TOOL_RULES.rule(
    "TOOL_DESCRIPTION_EMPTY",
    Severity.INFO,
    _DESCRIPTION_LENGTH,
    "The description of a tool should not be empty; some providers reject an empty one.",
    on="Tool",
)
def _description_not_empty(tool: Any, _context: Context) -> Iterable[Fault]:
    description = tool.get("description") if isinstance(tool, dict) else None
    if not isinstance(description, str) or description.strip():
        return ()
    message = (
        "the description should not be empty: models choose tools by it, and some "
        "providers reject it"
    )
    return (Fault(("description",), message),)


@_TOOL_RULES.rule(
    "TOOL_HINTS_CONTRADICT",
    Severity.WARNING,
    _HINTS,
    "A tool SHOULD NOT be declared both read-only and destructive.",
    on="ToolAnnotations",
    since=_ANNOTATED,
)
def _consistent_hints(hints: Any, _context: Context) -> Iterator[Fault]:
    if _is_read_only(hints) and hints.get("destructiveHint") is True:
        yield Fault(
            ("destructiveHint",),
            "destructiveHint contradicts readOnlyHint: a read-only tool changes nothing",
        )


@_TOOL_RULES.rule(
    "TOOL_HINT_WITHOUT_MEANING",
    Severity.INFO,
    _HINTS,
    "destructiveHint and idempotentHint should be set only for tools that are not read-only; "
    "for others they have no meaning.",
    on="ToolAnnotations",
    since=_ANNOTATED,
)
def _meaningful_hints(hints: Any, _context: Context) -> Iterator[Fault]:
    if not _is_read_only(hints):
        return
    # TOOL_HINTS_CONTRADICT reports true.
    if hints.get("destructiveHint") is False:
        yield Fault(("destructiveHint",), _MEANINGLESS.format("destructiveHint"))
    if isinstance(hints.get("idempotentHint"), bool):
        yield Fault(("idempotentHint",), _MEANINGLESS.format("idempotentHint"))


_MEANINGLESS = "{} has a meaning only if readOnlyHint is false, found true"


def _is_read_only(hints: Any) -> bool:
    return isinstance(hints, dict) and hints.get("readOnlyHint") is True


_ANY_OUTPUT_SINCE = "2026-07-28"

_MAX_DEPTH = 128
"""Largest nesting of JSON in a text block."""

# Steps per element.
_VALUE = 20
_ITEM = 20
_ATTEMPT = 800  # Decoding a text that is not JSON.
_CHARACTER = 1  # Decoding and comparing a character.

OUTPUT_MISSING = _TOOL_RULES.declare(
    "OUTPUT_MISSING",
    Severity.ERROR,
    Clause("server/tools", "output-schema"),
    "The result of a tool with an output schema MUST have structured content, "
    "unless it is an error.",
    on=("CallToolResult",),
    since="2025-06-18",
)


@_TOOL_RULES.rule(
    "STRUCTURED_CONTENT_WITHOUT_TEXT",
    Severity.WARNING,
    Clause("server/tools", "structured-content"),
    "A result with structured content SHOULD also have it as JSON in a text block, "
    "for clients that do not read structured content. The value of the only property suffices, "
    'such as X for {"result": X}.',
    on="CallToolResult",
    since="2025-06-18",
)
def _text_of_structured_content(value: Any, context: Context) -> Iterator[Fault]:
    if not isinstance(value, dict) or "structuredContent" not in value:
        return
    content = value["structuredContent"]
    if context.version < _ANY_OUTPUT_SINCE and not isinstance(content, dict):
        return
    blocks = value.get("content")
    if not isinstance(blocks, list):
        return
    if not (
        _has_json(blocks, content, context.budget) or _has_only_value(blocks, content, context)
    ):
        message = (
            "no text block has the structured content as JSON, for clients that read only texts"
        )
        yield Fault(("content",), message)


def _has_json(blocks: list[Any], content: Any, budget: Budget) -> bool:
    """Return whether one of *blocks* has the JSON of *content*."""
    min_length = _compute_min_length(content, budget)
    return any(_is_json_block(block, content, min_length, budget) for block in blocks)


def _has_only_value(blocks: list[Any], content: Any, context: Context) -> bool:
    """Return whether one of *blocks* is the only value in *content*, or its JSON.

    SDKs wrap a value that is not an object under one property, but the text is that of the
    value alone.
    """
    if not isinstance(content, dict) or len(content) != 1:
        return False
    (value,) = content.values()
    if isinstance(value, str) and any(
        isinstance(block, dict) and block.get("type") == "text" and block.get("text") == value
        for block in blocks
    ):
        return True
    return _has_json(blocks, value, context.budget)


def _is_json_block(block: Any, content: Any, min_length: int, budget: Budget) -> bool:
    """Return whether *block* is a text block with the JSON of *content*.

    *min_length* is the smallest length of that JSON. It avoids decoding most of the blocks, of
    which a result may have thousands, such as one for each row of a table.
    """
    spend(budget, _ITEM)
    if not isinstance(block, dict) or block.get("type") != "text":
        return False
    text = block.get("text")
    if not isinstance(text, str) or len(text) < min_length or not _BEGINNINGS[type(content)](text):
        return False
    spend(budget, _ATTEMPT + _CHARACTER * len(text))
    try:
        return json_equal(decode(text.encode(), max_depth=_MAX_DEPTH, max_violations=1), content)
    except (MalformedError, RequestError):
        return False


_BEGINNINGS: Mapping[type, Callable[[str], object]] = MappingProxyType(
    {
        dict: re.compile(r"[ \t\n\r]*\{").match,
        list: re.compile(r"[ \t\n\r]*\[").match,
        str: re.compile(r'[ \t\n\r]*"').match,
        int: re.compile(r"[ \t\n\r]*[-0-9]").match,
        float: re.compile(r"[ \t\n\r]*[-0-9]").match,
        ExactNumber: re.compile(r"[ \t\n\r]*[-0-9]").match,
        bool: re.compile(r"[ \t\n\r]*[tf]").match,
        type(None): re.compile(r"[ \t\n\r]*n").match,
    }
)
"""Matches the start of the JSON of a value, by Python type of the value."""


def _compute_min_length(value: Any, budget: Budget) -> int:
    """Return the smallest number of characters of the JSON of *value*."""
    spend(budget, _VALUE)
    if isinstance(value, str):
        return len(value) + 2
    if isinstance(value, list):
        return 2 + sum(_compute_min_length(item, budget) + 1 for item in value) - bool(value)
    if isinstance(value, dict):
        properties = sum(
            len(name) + 4 + _compute_min_length(item, budget) for name, item in value.items()
        )
        return 2 + properties - bool(value)
    return 1


_TOOL = type_clause("Tool")
_OUTPUT_SCHEMA = Clause("server/tools", "output-schema")
_FASTMCP = Clause("https://gofastmcp.com/servers/tools")

_FORM_RULES = RuleSet(Group.TOOL_FORMS, on="Tool")

NULL_PROPERTY = _FORM_RULES.declare(
    "NULL_PROPERTY",
    Severity.ERROR,
    _TOOL,
    "An optional property of a tool definition MUST be left out rather than null.",
)

NULL_PROPERTY_DROPPED = _FORM_RULES.declare(
    "NULL_PROPERTY_DROPPED",
    Severity.WARNING,
    _TOOL,
    "An optional property should be left out rather than null; Sidecheck drops the null from a "
    "submitted definition.",
    on=("Tool", "ListToolsResult"),
)

SNAKE_CASE_PROPERTY = _FORM_RULES.declare(
    "SNAKE_CASE_PROPERTY",
    Severity.ERROR,
    _TOOL,
    "The properties of a tool definition MUST have the names of the protocol, such as inputSchema.",
)

SNAKE_CASE_PROPERTY_RENAMED = _FORM_RULES.declare(
    "SNAKE_CASE_PROPERTY_RENAMED",
    Severity.WARNING,
    _TOOL,
    "The properties of a tool definition should have the names of the protocol; Sidecheck renames "
    "those of a submitted definition.",
    on=("Tool", "ListToolsResult"),
)

OUTPUT_SCHEMA_WRAPPED = _FORM_RULES.declare(
    "OUTPUT_SCHEMA_WRAPPED",
    Severity.WARNING,
    _OUTPUT_SCHEMA,
    "A server lists output schemas with the type object at the root; Sidecheck wraps an output "
    "schema of another type in an object.",
    since="2025-06-18",
    until="2025-11-25",
)

WRAP_MARKER_MISMATCH = _FORM_RULES.declare(
    "WRAP_MARKER_MISMATCH",
    Severity.ERROR,
    _FASTMCP,
    "An output schema that is marked as wrapped is an object with that property and no other.",
)
