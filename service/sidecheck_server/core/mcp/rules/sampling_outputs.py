"""Structured content of tool results in sampling requests."""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, DeferredCheck, Group, Path, RuleSet
from sidecheck_server.core.mcp.rules.sampling_turns import messages_of, turns_of
from sidecheck_server.core.types import Severity

_CODE = "SAMPLING_TOOL_RESULT_OUTPUT"
_SINCE = "2025-11-25"
_STEPS = 200
"""Steps to defer a check."""


_OUTPUT_RULES = RuleSet(Group.SAMPLING_OUTPUTS, on="CreateMessageRequestParams")


@_OUTPUT_RULES.rule(
    _CODE,
    Severity.WARNING,
    Clause("schema", "toolresultcontent"),
    "The structured content of a tool result SHOULD conform to the output schema of "
    "its tool, if the request has that tool. Calls that failed are not checked.",
    since=_SINCE,
)
def _output(value: Any, context: Context) -> Iterator[DeferredCheck]:
    schemas = _output_schemas(value, context)
    if not schemas:
        return
    messages = messages_of(value)
    used: dict[str, Any] = {}
    for turn in turns_of(value, context):
        for result in turn.results:
            schema = schemas.get(used.get(result.id or "", ""))
            block = _block(messages[turn.index], result.path)
            if schema is None or result.is_error or "structuredContent" not in block:
                continue
            spend(context.budget, _STEPS)
            yield DeferredCheck(
                schema,
                schema_path=(),
                value=(block["structuredContent"],),
                value_path=turn.at((*result.path, "structuredContent")),
                silent=True,
                code=_CODE,
            )
        for use in turn.uses:
            name = use.block.get("name")
            if use.id and isinstance(name, str):
                used[use.id] = name


def _output_schemas(request: Any, context: Context) -> dict[str, dict[str, Any]]:
    """Return the output schemas of the tools of *request* by name; the first of each name."""
    tools = request.get("tools") if isinstance(request, dict) else None
    schemas: dict[str, dict[str, Any]] = {}
    if isinstance(tools, list):
        spend(context.budget, 20 * len(tools))
        for tool in tools:
            name = tool.get("name") if isinstance(tool, dict) else None
            if isinstance(name, str) and isinstance(tool.get("outputSchema"), dict):
                schemas.setdefault(name, tool["outputSchema"])
    return schemas


def _block(message: Any, path: Path) -> dict[str, Any]:
    """Return the block of *message* at *path*, as the turn has it."""
    block = message["content"] if len(path) == 1 else message["content"][path[1]]
    return block if isinstance(block, dict) else {}
