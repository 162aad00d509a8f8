"""Rules on sampling requests and results, and on tool uses of models."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any

from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.explain.values import Values, join_phrase, quote
from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.capabilities import find_client_capabilities
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

_TOOLS = "2025-11-25"
_REQUEST = "CreateMessageRequestParams"
_CAPABILITIES = Clause("client/sampling", "capabilities")
_SAMPLING_TOOLS = Clause("client/sampling", "tools-in-sampling")
_CHOICE = Clause("client/sampling", "tool-choice-modes")

_WITH_CONTEXT = ("thisServer", "allServers")


def _get_declared_sampling(context: Context) -> Any:
    """Return the sampling capability that the client declared, or None."""
    declared = find_client_capabilities(context)
    sampling = None if declared is None else declared.get("sampling")
    return sampling if isinstance(sampling, dict) else None


def _includes_context(value: Any) -> bool:
    return isinstance(value, dict) and value.get("includeContext") in _WITH_CONTEXT


_REQUEST_RULES = RuleSet(Group.SAMPLING_REQUESTS, on=_REQUEST)


@_REQUEST_RULES.rule(
    "SAMPLING_TOOLS_NOT_DECLARED",
    Severity.ERROR,
    _SAMPLING_TOOLS,
    "A server MUST NOT send tools or a tool choice to a client that did not declare "
    "sampling.tools; clients of 2025-11-25 respond with -32602 (Invalid params).",
    since=_TOOLS,
)
def _tools_not_declared(value: Any, context: Context) -> Iterable[Fault]:
    if find_client_capabilities(context) is None or not isinstance(value, dict):
        return ()
    name = next((name for name in ("tools", "toolChoice") if value.get(name) is not None), "")
    if name and (_get_declared_sampling(context) or {}).get("tools") is None:
        # Message of the Python SDK, word for word.
        return (Fault((name,), "Client does not support sampling tools capability"),)
    return ()


@_REQUEST_RULES.rule(
    "SAMPLING_CONTEXT_NOT_DECLARED",
    Severity.WARNING,
    _CAPABILITIES,
    "A server SHOULD request context only from a client that declared sampling.context.",
    since=_TOOLS,
)
def _context_not_declared(value: Any, context: Context) -> Iterator[Fault]:
    if _includes_context(value) and _lacks_context(context):
        yield Fault(
            ("includeContext",),
            f'"includeContext" should be "none", found "{value["includeContext"]}": the client '
            "did not declare the capability sampling.context",
            "none",
        )


def _lacks_context(context: Context) -> bool:
    # CAPABILITY_UNDECLARED reports a client that did not declare sampling at all.
    declared = _get_declared_sampling(context)
    return declared is not None and declared.get("context") is None


@_REQUEST_RULES.rule(
    "SAMPLING_CONTEXT_DEPRECATED",
    Severity.WARNING,
    _CAPABILITIES,
    '"includeContext" SHOULD be omitted or "none"; the other values are deprecated.',
    since=_TOOLS,
)
def _context_deprecated(value: Any, context: Context) -> Iterator[Fault]:
    # SAMPLING_CONTEXT_NOT_DECLARED reports a client without the capability.
    if _includes_context(value) and not _lacks_context(context):
        yield Fault(
            ("includeContext",),
            f'"includeContext" should be omitted: "{value["includeContext"]}" is deprecated',
            "none",
        )


@_REQUEST_RULES.rule(
    "SAMPLING_DEPRECATED",
    Severity.WARNING,
    Clause("deprecated"),
    "Sampling is deprecated: new implementations SHOULD NOT adopt it, and servers SHOULD call a "
    "model provider directly.",
    since="2026-07-28",
)
def _deprecated(_value: Any, _context: Context) -> Iterator[Fault]:
    yield Fault((), "sampling is deprecated since 2026-07-28 (SEP-2577)")


@_REQUEST_RULES.rule(
    "SAMPLING_TOOL_CHOICE_WITHOUT_TOOLS",
    Severity.WARNING,
    _SAMPLING_TOOLS,
    '"toolChoice" SHOULD come with tools to choose from.',
    since=_TOOLS,
)
def _choice_without_tools(value: Any, _context: Context) -> Iterator[Fault]:
    if _lacks_tools(value) and value["toolChoice"].get("mode") != "required":
        yield Fault(("toolChoice",), '"toolChoice" should come with "tools", found none')


@_REQUEST_RULES.rule(
    "SAMPLING_TOOL_REQUIRED_WITHOUT_TOOLS",
    Severity.WARNING,
    _CHOICE,
    "A tool use SHOULD NOT be required without tools: the model could use none.",
    since=_TOOLS,
)
def _required_without_tools(value: Any, _context: Context) -> Iterator[Fault]:
    if _lacks_tools(value) and value["toolChoice"].get("mode") == "required":
        yield Fault(
            ("toolChoice", "mode"),
            'the mode "required" should come with tools, found none',
        )


def _lacks_tools(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("toolChoice"), dict)
        and value.get("tools", []) == []
    )


@_REQUEST_RULES.rule(
    "SAMPLING_TOOL_NAME_REPEATED",
    Severity.WARNING,
    Clause("server/tools", "tool-names"),
    "The tools of a request SHOULD have unique names: a call selects its tool by name.",
    since=_TOOLS,
)
def _tool_name_repeated(value: Any, context: Context) -> Iterator[Fault]:
    tools = value.get("tools") if isinstance(value, dict) else None
    if not isinstance(tools, list):
        return
    spend(context.budget, 20 * len(tools))
    first_indexes: dict[str, int] = {}
    for index, tool in enumerate(tools):
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(name, str):
            continue
        first_index = first_indexes.setdefault(name, index)
        if first_index != index:
            spend(context.budget, 120)
            description = Values(hidden=context.hide_values).describe(name)
            yield Fault(
                ("tools", index, "name"),
                f"names of tools should be unique, found {description} at the indexes "
                f"{first_index} and {index}",
            )


@_REQUEST_RULES.rule(
    "SAMPLING_MAX_TOKENS",
    Severity.WARNING,
    Clause("client/sampling", "creating-messages"),
    '"maxTokens" SHOULD be positive: a message needs tokens. The specification sets no minimum.',
)
def _max_tokens(value: Any, context: Context) -> Iterator[Fault]:
    limit = value.get("maxTokens") if isinstance(value, dict) else None
    # The schema of the type rejects other values.
    is_whole_float = isinstance(limit, float) and limit.is_integer()
    if (isinstance(limit, int) and not isinstance(limit, bool)) or is_whole_float:
        assert isinstance(limit, int | float)
        if limit <= 0:
            description = Values(hidden=context.hide_values).describe(limit)
            yield Fault(("maxTokens",), f'"maxTokens" should be positive, found {description}')


@_REQUEST_RULES.rule(
    "SAMPLING_NO_MESSAGES",
    Severity.INFO,
    Clause("https://platform.claude.com/docs/en/api/messages"),
    "A request should have at least one message. The specification does not require any, but model "
    "providers do.",
)
def _no_messages(value: Any, _context: Context) -> Iterator[Fault]:
    if isinstance(value, dict) and value.get("messages") == []:
        yield Fault(("messages",), "model providers need at least one message, found none")


_SINCE = "2025-11-25"
_RESULT = "CreateMessageResult"
_ROLES = Clause("client/sampling", "message-roles")

_UNKNOWN = 400
_DEFERRED = 200
"""Steps to defer a check, without the steps to encode the input."""


class _Tools:
    """Input schemas of the tools of a request; the first tool of a name counts."""

    def __init__(self, request: dict[str, Any], context: Context) -> None:
        self._schemas: dict[str, Any] = {}
        self._context = context
        tools = request.get("tools")
        #: Whether the request has a list of tools.
        self.is_list = isinstance(tools, list)
        if isinstance(tools, list):
            spend(context.budget, 20 * len(tools))
            for tool in tools:
                if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                    self._schemas.setdefault(tool["name"], tool.get("inputSchema"))

    def check(self, use: ToolUse, path: Path) -> Iterator[Finding]:
        """Yield the findings of the tool use *use* at *path*."""
        name = use.block.get("name")
        if not isinstance(name, str):
            return
        if name not in self._schemas:
            yield self._build_unknown_fault(name, path)
            return
        schema = self._schemas[name]
        if isinstance(schema, dict) and isinstance(use.block.get("input"), dict):
            yield self._defer_input(schema, use, path)

    def _build_unknown_fault(self, name: str, path: Path) -> Fault:
        spend(self._context.budget, _UNKNOWN + 100 * min(len(self._schemas), 200))
        if self._context.hide_values:
            return Fault((*path, "name"), "the request has no tool of this name")
        names = join_phrase([quote(tool) for tool in list(self._schemas)[:8]]) or "none"
        return Fault(
            (*path, "name"),
            f"unknown tool {quote(name)}; the request has {names}",
            find_nearest(name, self._schemas),
        )

    def _defer_input(self, schema: dict[str, Any], use: ToolUse, path: Path) -> DeferredCheck:
        spend(self._context.budget, _DEFERRED)
        _spend_encoding(use.block["input"], self._context.budget)
        return DeferredCheck(
            schema,
            schema_path=(),
            value=(use.block["input"],),
            value_path=(*path, "input"),
            # The check of the tools reports faults of the schemas.
            silent=True,
        )


def _spend_encoding(value: Any, budget: Budget) -> None:
    """Spend the steps of encoding *value* as JSON.

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


_RESULT_RULES = RuleSet(Group.SAMPLING_RESULTS, on=_RESULT, since=_SINCE)


@_RESULT_RULES.rule(
    "SAMPLING_TOOL_UNKNOWN",
    Severity.WARNING,
    Clause("schema", "toolusecontent"),
    "A tool use SHOULD name a tool of the request; its input is validated against the input "
    "schema of that tool. Earlier requests may have had other tools, so an unknown name is not "
    "an error. Calls that failed are not checked.",
    on=_REQUEST,
)
def _tool_unknown(value: Any, context: Context) -> Iterator[Finding]:
    if not isinstance(value, dict):
        return
    tools = _Tools(value, context)
    if not tools.is_list:
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


def _get_request(context: Context) -> dict[str, Any] | None:
    """Return the params of the sampling request of a result, if known."""
    request = context.request
    if isinstance(request, dict) and isinstance(request.get("messages"), list):
        return request
    return None


@_RESULT_RULES.rule(
    "SAMPLING_RESULT_TOOL_UNKNOWN",
    Severity.WARNING,
    Clause("schema", "toolusecontent"),
    "The model SHOULD use only tools of the request; the input is validated against their input "
    "schemas.",
)
def _result_tool_unknown(value: Any, context: Context) -> Iterator[Finding]:
    request = _get_request(context)
    if request is None:
        return
    tools = _Tools(request, context)
    for use in read_turn(value, context).uses:
        yield from tools.check(use, use.path)


@_RESULT_RULES.rule(
    "SAMPLING_RESULT_TOOL_CHOICE",
    Severity.ERROR,
    _CHOICE,
    'The model MUST follow "toolChoice": with "none" it uses no tool, and with "required" at least '
    "one.",
)
def _result_tool_choice(value: Any, context: Context) -> Iterator[Fault]:
    request = _get_request(context)
    choice = None if request is None else request.get("toolChoice")
    mode = choice.get("mode") if isinstance(choice, dict) else None
    if mode not in ("none", "required") or not isinstance(value, dict):
        return
    turn = read_turn(value, context)
    if mode == "none" and turn.uses:
        yield Fault(turn.uses[0].path, 'the model must use no tool: "toolChoice" says "none"')
    # A response that ended early may lack tool uses, and earlier tool uses count.
    if mode == "required" and not turn.uses and value.get("stopReason", "endTurn") == "endTurn":
        has_content = turn.other_count or turn.results
        if has_content and not any(
            earlier_turn.uses for earlier_turn in turns_of(request, context)
        ):
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
    # Other rules report tool uses and tool results of a user.
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
        description = Values(hidden=context.hide_values).format("endTurn")
        yield Fault(
            ("stopReason",), f'"stopReason" should be "toolUse", found {description}', "toolUse"
        )


REQUEST_RULES: tuple[Rule, ...] = (_result_tool_unknown, _result_tool_choice)
"""Rules that compare a result with its request."""
