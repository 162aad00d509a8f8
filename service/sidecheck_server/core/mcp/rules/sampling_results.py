"""Tools that a model uses while sampling, and the results of sampling."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.explain.nearest import nearest
from sidecheck_server.core.explain.values import Values, listed, quoted
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import (
    Clause,
    DeferredCheck,
    Fault,
    Found,
    Path,
    Rule,
    rule,
    sparing,
)
from sidecheck_server.core.mcp.rules.sampling_ordinary import has_no_tools
from sidecheck_server.core.mcp.rules.sampling_turns import ToolUse, read_turn, turns_of
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]

_SINCE = "2025-11-25"
_RESULT = "CreateMessageResult"
_CHOICE = Clause("client/sampling", "tool-choice-modes")
_ROLES = Clause("client/sampling", "message-roles")

_UNKNOWN = 400
_QUESTION = 200
"""The steps of asking, beside those of writing the input."""


class _Tools:
    """The tools of a request by name; of several of one name, the first."""

    def __init__(self, request: dict[str, Any], context: Context) -> None:
        self._schemas: dict[str, Any] = {}
        self._context = context
        tools = request.get("tools")
        #: Whether they are told.
        self.known = isinstance(tools, list)
        if isinstance(tools, list):
            spend(context.budget, 20 * len(tools))
            for tool in tools:
                if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                    self._schemas.setdefault(tool["name"], tool.get("inputSchema"))

    def judge(self, use: ToolUse, path: Path) -> Iterator[Found]:
        """Yield what there is to say, and to ask, of *use*, which stands at *path*."""
        name = use.block.get("name")
        if not isinstance(name, str):
            return
        if name not in self._schemas:
            yield self._unknown(name, path)
            return
        schema = self._schemas[name]
        if isinstance(schema, dict) and isinstance(use.block.get("input"), dict):
            yield self._matching(schema, use, path)

    def _unknown(self, name: str, path: Path) -> Fault:
        spend(self._context.budget, _UNKNOWN + 100 * min(len(self._schemas), 200))
        if self._context.hide_values:
            return Fault((*path, "name"), "the request has no tool of that name")
        known = listed([quoted(each) for each in list(self._schemas)[:8]]) or "none at all"
        return Fault(
            (*path, "name"),
            f"the request has no tool {quoted(name)}; it has {known}",
            nearest(name, self._schemas),
        )

    def _matching(self, schema: dict[str, Any], use: ToolUse, path: Path) -> DeferredCheck:
        spend(self._context.budget, _QUESTION)
        _spend_writing(use.block["input"], self._context.budget)
        return DeferredCheck(
            schema,
            schema_path=(),
            value=(use.block["input"],),
            value_path=(*path, "input"),
            # The tools are checked where they stand.
            silent=True,
        )


def _spend_writing(value: Any, budget: Budget) -> None:
    """Take the steps from *budget* that writing *value* as JSON takes.

    Raises:
        Exhausted: it had fewer.
    """
    waiting: list[tuple[Any, ...]] = [(value,)]
    while waiting:
        some = waiting.pop()
        spend(budget, 4 * len(some))
        for one in some:
            if isinstance(one, str):
                if len(one) > 15:
                    spend(budget, len(one) // 16)
            elif isinstance(one, dict):
                spend(budget, 4 * len(one) + sum(map(len, one)) // 16)
                waiting.append(tuple(one.values()))
            elif isinstance(one, list):
                spend(budget, 2 * len(one))
                waiting.append(tuple(one))


@rule(
    "SAMPLING_TOOL_UNKNOWN",
    severity=Severity.WARNING,
    clause=Clause("schema", "toolusecontent"),
    sentence=(
        "A tool_use names a tool of the request, and its input conforms to the input schema of "
        "that tool, which is judged as such. Other tools may have been offered earlier, so an "
        "unknown name is no error; and what failed, and was answered so, is no news."
    ),
    on="CreateMessageRequestParams",
    since=_SINCE,
)
def _tool_unknown(value: Any, context: Context) -> Iterator[Found]:
    if not isinstance(value, dict):
        return
    tools = _Tools(value, context)
    if not tools.known:
        return
    turns = turns_of(value, context)
    for turn, following in zip_longest(turns, turns[1:]):
        if not turn.uses:
            continue
        failed = set()
        if following is not None and following.index == turn.index + 1:
            failed = {each.id for each in following.results if each.is_error}
        for use in turn.uses:
            if use.id is None or use.id not in failed:
                yield from tools.judge(use, turn.at(use.path))


def _request(context: Context) -> dict[str, Any] | None:
    """Return the params of the sampling request that is answered, if they are known."""
    request = context.request
    if isinstance(request, dict) and isinstance(request.get("messages"), list):
        return request
    return None


@rule(
    "SAMPLING_RESULT_TOOL_UNKNOWN",
    severity=Severity.WARNING,
    clause=Clause("schema", "toolusecontent"),
    sentence="The model uses only tools of the request, with input that conforms to their "
    "input schemas, which is judged as such.",
    on=_RESULT,
    since=_SINCE,
)
def _result_tool_unknown(value: Any, context: Context) -> Iterator[Found]:
    request = _request(context)
    if request is None:
        return
    tools = _Tools(request, context)
    for use in read_turn(value, context).uses:
        yield from tools.judge(use, use.path)


@rule(
    "SAMPLING_RESULT_TOOL_CHOICE",
    severity=Severity.ERROR,
    clause=_CHOICE,
    sentence='The model keeps to "toolChoice": it uses no tool under "none", and at least one '
    'before it is done under "required".',
    on=_RESULT,
    since=_SINCE,
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
    # What ended early may not have come to it, and what was used before counts.
    if mode == "required" and not turn.uses and value.get("stopReason", "endTurn") == "endTurn":
        spoken = turn.others or turn.results
        if spoken and not any(each.uses for each in turns_of(request, context)):
            yield Fault(("content",), 'the model must use a tool: "toolChoice" says "required"')


@rule(
    "SAMPLING_RESULT_BRINGS_TOOL_RESULT",
    severity=Severity.ERROR,
    clause=_ROLES,
    sentence="A model brings no results of tools: they are sent back to it in messages of the "
    "user.",
    on=_RESULT,
    since=_SINCE,
)
def _result_brings_result(value: Any, context: Context) -> Iterator[Fault]:
    for result in read_turn(value, context).results:
        spend(context.budget, 40)
        yield Fault(result.path, "the result of sampling must hold no tool_result")


@rule(
    "SAMPLING_RESULT_ROLE",
    severity=Severity.WARNING,
    clause=_ROLES,
    sentence='What a model says has the role "assistant".',
    on=_RESULT,
    since=_SINCE,
)
def _result_role(value: Any, context: Context) -> Iterator[Fault]:
    turn = read_turn(value, context)
    # Of tools that a user uses, or brings the results of, other rules tell.
    if turn.role == "user" and not turn.uses and not turn.results:
        yield Fault(("role",), 'what a model says should have the role "assistant", found "user"')


@rule(
    "SAMPLING_RESULT_STOP_REASON",
    severity=Severity.WARNING,
    clause=Clause("schema", "createmessageresult"),
    sentence='"stopReason" is "toolUse" if the model wants to use tools, and not otherwise.',
    on=_RESULT,
    since=_SINCE,
)
def _result_stop_reason(value: Any, context: Context) -> Iterator[Fault]:
    reason = value.get("stopReason") if isinstance(value, dict) else None
    if reason not in ("toolUse", "endTurn"):
        return
    turn = read_turn(value, context)
    if reason == "toolUse" and not turn.uses:
        yield Fault(("stopReason",), 'the model stopped for "toolUse", and uses no tool')
    if reason == "endTurn" and turn.uses:
        found = Values(hidden=context.hide_values).plain("endTurn")
        yield Fault(("stopReason",), f'"stopReason" should be "toolUse", found {found}', "toolUse")


RULES: tuple[Rule, ...] = (
    *sparing(has_no_tools, (_tool_unknown,)),
    _result_tool_unknown,
    _result_tool_choice,
    _result_brings_result,
    _result_role,
    _result_stop_reason,
)
