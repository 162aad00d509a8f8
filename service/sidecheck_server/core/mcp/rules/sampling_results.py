"""Sampling results and tool uses of models."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.explain.values import Values, join_phrase, quote
from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import (
    Clause,
    DeferredCheck,
    Fault,
    Finding,
    Group,
    Path,
    Rule,
    RuleSet,
)
from sidecheck_server.core.mcp.rules.sampling_turns import ToolUse, read_turn, turns_of
from sidecheck_server.core.types import Severity

__all__ = ["REQUEST_RULES"]

_SINCE = "2025-11-25"
_RESULT = "CreateMessageResult"
_CHOICE = Clause("client/sampling", "tool-choice-modes")
_ROLES = Clause("client/sampling", "message-roles")

_UNKNOWN = 400
_DEFERRED = 200
"""Steps to defer a check, beside those to encode the input."""


class _Tools:
    """Tools of a request by name; the first of each name."""

    def __init__(self, request: dict[str, Any], context: Context) -> None:
        self._schemas: dict[str, Any] = {}
        self._context = context
        tools = request.get("tools")
        #: Whether the request has tools.
        self.known = isinstance(tools, list)
        if isinstance(tools, list):
            spend(context.budget, 20 * len(tools))
            for tool in tools:
                if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                    self._schemas.setdefault(tool["name"], tool.get("inputSchema"))

    def check(self, use: ToolUse, path: Path) -> Iterator[Finding]:
        """Yield the findings of *use*, at *path*."""
        name = use.block.get("name")
        if not isinstance(name, str):
            return
        if name not in self._schemas:
            yield self._unknown(name, path)
            return
        schema = self._schemas[name]
        if isinstance(schema, dict) and isinstance(use.block.get("input"), dict):
            yield self._deferred_input(schema, use, path)

    def _unknown(self, name: str, path: Path) -> Fault:
        spend(self._context.budget, _UNKNOWN + 100 * min(len(self._schemas), 200))
        if self._context.hide_values:
            return Fault((*path, "name"), "the request has no tool of this name")
        known = join_phrase([quote(tool) for tool in list(self._schemas)[:8]]) or "none"
        return Fault(
            (*path, "name"),
            f"unknown tool {quote(name)}; the request has {known}",
            find_nearest(name, self._schemas),
        )

    def _deferred_input(self, schema: dict[str, Any], use: ToolUse, path: Path) -> DeferredCheck:
        spend(self._context.budget, _DEFERRED)
        _spend_encoding(use.block["input"], self._context.budget)
        return DeferredCheck(
            schema,
            schema_path=(),
            value=(use.block["input"],),
            value_path=(*path, "input"),
            # The schemas are checked with the tools.
            silent=True,
        )


def _spend_encoding(value: Any, budget: Budget) -> None:
    """Spend the steps that encoding *value* as JSON takes.

    Raises:
        Exhausted: *budget* is spent.
    """
    pending: list[tuple[Any, ...]] = [(value,)]
    while pending:
        items = pending.pop()
        spend(budget, 4 * len(items))
        for item in items:
            if isinstance(item, str):
                if len(item) > 15:
                    spend(budget, len(item) // 16)
            elif isinstance(item, dict):
                spend(budget, 4 * len(item) + sum(map(len, item)) // 16)
                pending.append(tuple(item.values()))
            elif isinstance(item, list):
                spend(budget, 2 * len(item))
                pending.append(tuple(item))


_RESULT_RULES = RuleSet(Group.SAMPLING_RESULTS, on="CreateMessageResult", since=_SINCE)


@_RESULT_RULES.rule(
    "SAMPLING_TOOL_UNKNOWN",
    Severity.WARNING,
    Clause("schema", "toolusecontent"),
    "A tool use SHOULD name a tool of the request; its input is validated against the input "
    "schema of that tool. Other tools may have been offered earlier, so an unknown name is "
    "no error. Calls that failed are not checked.",
    on="CreateMessageRequestParams",
)
def _tool_unknown(value: Any, context: Context) -> Iterator[Finding]:
    if not isinstance(value, dict):
        return
    tools = _Tools(value, context)
    if not tools.known:
        return
    turns = turns_of(value, context)
    for turn, following in zip_longest(turns, turns[1:]):
        if not turn.uses:
            continue
        failed_ids = set()
        if following is not None and following.index == turn.index + 1:
            failed_ids = {result.id for result in following.results if result.is_error}
        for use in turn.uses:
            if use.id is None or use.id not in failed_ids:
                yield from tools.check(use, turn.at(use.path))


def _request(context: Context) -> dict[str, Any] | None:
    """Return the params of the sampling request of a result, if known."""
    request = context.request
    if isinstance(request, dict) and isinstance(request.get("messages"), list):
        return request
    return None


@_RESULT_RULES.rule(
    "SAMPLING_RESULT_TOOL_UNKNOWN",
    Severity.WARNING,
    Clause("schema", "toolusecontent"),
    "The model SHOULD use only tools of the request; the input is validated against "
    "their "
    "input schemas.",
)
def _result_tool_unknown(value: Any, context: Context) -> Iterator[Finding]:
    request = _request(context)
    if request is None:
        return
    tools = _Tools(request, context)
    for use in read_turn(value, context).uses:
        yield from tools.check(use, use.path)


@_RESULT_RULES.rule(
    "SAMPLING_RESULT_TOOL_CHOICE",
    Severity.ERROR,
    _CHOICE,
    'The model MUST follow "toolChoice": with "none" it uses no tool, and with '
    '"required" '
    "at least one.",
)
def _result_tool_choice(value: Any, context: Context) -> Iterator[Fault]:
    request = _request(context)
    choice = None if request is None else request.get("toolChoice")
    mode = choice.get("mode") if isinstance(choice, dict) else None
    if mode not in ("none", "required") or not isinstance(value, dict):
        return
    turn = read_turn(value, context)
    if mode == "none" and turn.uses:
        yield Fault(turn.uses[0].path, 'the model must use no tool: "toolChoice" says "none"')
    # A response that ended early may lack tool uses, and earlier ones count.
    if mode == "required" and not turn.uses and value.get("stopReason", "endTurn") == "endTurn":
        has_content = turn.others or turn.results
        if has_content and not any(earlier.uses for earlier in turns_of(request, context)):
            yield Fault(("content",), 'the model must use a tool: "toolChoice" says "required"')


@_RESULT_RULES.rule(
    "SAMPLING_RESULT_BRINGS_TOOL_RESULT",
    Severity.WARNING,
    _ROLES,
    "A sampling result SHOULD NOT have tool results; they belong to messages of the "
    "user. The published schema accepts them.",
)
def _result_brings_result(value: Any, context: Context) -> Iterator[Fault]:
    for result in read_turn(value, context).results:
        spend(context.budget, 40)
        yield Fault(result.path, "a sampling result should have no tool_result")


@_RESULT_RULES.rule(
    "SAMPLING_RESULT_ROLE",
    Severity.WARNING,
    _ROLES,
    'A sampling result SHOULD have the role "assistant".',
)
def _result_role(value: Any, context: Context) -> Iterator[Fault]:
    turn = read_turn(value, context)
    # Tool uses and results of a user have their own rules.
    if turn.role == "user" and not turn.uses and not turn.results:
        yield Fault(("role",), 'a sampling result should have the role "assistant", found "user"')


@_RESULT_RULES.rule(
    "SAMPLING_RESULT_STOP_REASON",
    Severity.WARNING,
    Clause("schema", "createmessageresult"),
    '"stopReason" SHOULD be "toolUse" if and only if the model uses tools.',
)
def _result_stop_reason(value: Any, context: Context) -> Iterator[Fault]:
    reason = value.get("stopReason") if isinstance(value, dict) else None
    if reason not in ("toolUse", "endTurn"):
        return
    turn = read_turn(value, context)
    if reason == "toolUse" and not turn.uses:
        yield Fault(("stopReason",), '"stopReason" is "toolUse", but the model uses no tool')
    if reason == "endTurn" and turn.uses:
        found = Values(hidden=context.hide_values).format("endTurn")
        yield Fault(("stopReason",), f'"stopReason" should be "toolUse", found {found}', "toolUse")


REQUEST_RULES: tuple[Rule, ...] = (_result_tool_unknown, _result_tool_choice)
"""Rules that compare a result with its request."""
