"""Rules on the tool uses and tool results in the history of a sampling request.

Tool uses and their results must match in the whole history. The Python SDK checks only the
last two messages; for faults that it also finds, the message begins with the SDK's message.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from sidecheck_server.core.explain.values import Values, count_noun, quote
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, DeferredCheck, Fault, Group, Path, RuleSet
from sidecheck_server.core.mcp.rules.sampling_turns import (
    Turn,
    messages_of,
    read_adjacent_turn,
    read_turn,
    turns_of,
)
from sidecheck_server.core.types import Severity

_SINCE = "2025-11-25"
_REQUEST = "CreateMessageRequestParams"
_MESSAGE = ("SamplingMessage", "CreateMessageResult")
_ROLES = Clause("client/sampling", "message-roles")
_RESULTS = Clause("client/sampling", "tool-result-messages")
_BALANCE = Clause("client/sampling", "tool-use-and-result-balance")

_MIXED = "The last message must contain only tool_result content if any is present"
_NO_PREVIOUS = "tool_result requires a previous message containing tool_use"
_NO_MATCH = "tool_result blocks do not match any tool_use in the previous message"
_IDS_DIFFER = "ids of tool_result blocks and tool_use blocks from previous message do not match"

_FAULT = 120  # steps


def _name_block(block: str, id_: str, context: Context) -> str:
    return block if context.hide_values else f"{block} with the id {quote(id_)}"


_HISTORY_RULES = RuleSet(Group.SAMPLING_HISTORY, since=_SINCE)


@_HISTORY_RULES.rule(
    "SAMPLING_TOOL_USE_ROLE",
    Severity.WARNING,
    _ROLES,
    "A message of the user SHOULD NOT have tool uses, which the assistant sends.",
    on=_MESSAGE,
)
def _tool_use_role(value: Any, context: Context) -> Iterable[Fault]:
    turn = read_turn(value, context)
    if turn.role != "user" or not turn.uses:
        return ()
    spend(context.budget, _FAULT * len(turn.uses))
    message = 'tool_use should be in a message of the role "assistant", found "user"'
    return [Fault(use.path, message) for use in turn.uses]


@_HISTORY_RULES.rule(
    "SAMPLING_TOOL_RESULT_ROLE",
    Severity.ERROR,
    _ROLES,
    "A message of the assistant MUST NOT have tool results.",
    on="SamplingMessage",
)
def _tool_result_role(value: Any, context: Context) -> Iterable[Fault]:
    turn = read_turn(value, context)
    if turn.role != "assistant" or not turn.results:
        return ()
    spend(context.budget, _FAULT * len(turn.results))
    message = 'tool_result must be in a message of the role "user", found "assistant"'
    return [Fault(result.path, message) for result in turn.results]


@_HISTORY_RULES.rule(
    "SAMPLING_TOOL_RESULT_MIXED",
    Severity.ERROR,
    _RESULTS,
    "A message of the user with tool results MUST have nothing else; clients of 2025-11-25 respond "
    "with -32602 (Invalid params).",
    on=_REQUEST,
)
def _tool_result_mixed(value: Any, context: Context) -> Iterator[Fault]:
    last_index = len(messages_of(value)) - 1
    for turn in turns_of(value, context):
        other_count = turn.other_count + len(turn.uses)
        # SAMPLING_TOOL_RESULT_ROLE reports tool results of the assistant.
        if turn.role != "assistant" and turn.results and other_count:
            description = f"found {count_noun(other_count, 'block')} of other types"
            text = (
                _MIXED
                if turn.index == last_index
                else "a message with tool_result must have nothing else"
            )
            yield Fault(turn.at(("content",)), f"{text}; {description}")


@_HISTORY_RULES.rule(
    "SAMPLING_TOOL_USE_UNANSWERED",
    Severity.ERROR,
    _BALANCE,
    "Every tool use MUST have its result in the next message, also at the end of the history; "
    "clients of 2025-11-25 respond with -32602 (Invalid params).",
    on=_REQUEST,
)
def _tool_use_unanswered(value: Any, context: Context) -> Iterator[Fault]:
    turns = turns_of(value, context)
    for position, turn in enumerate(turns):
        if not turn.uses or turn.role == "user":
            continue
        following = read_adjacent_turn(value, turns, position, context, 1)
        is_last = turn.index == len(messages_of(value)) - 2
        answered_ids = {result.id for result in following.results} if following else set()
        for use in turn.uses:
            if use.id is None or use.id in answered_ids:
                continue
            spend(context.budget, _FAULT)
            block = _name_block("tool_use", use.id, context)
            if following is None:
                text = f"the {block} needs a tool_result in a next message, found none"
            else:
                text = f"the {block} has no tool_result in the next message"
            yield Fault(turn.at(use.path), f"{_IDS_DIFFER}: {text}" if is_last else text)


@_HISTORY_RULES.rule(
    "SAMPLING_TOOL_RESULT_ORPHAN",
    Severity.ERROR,
    _BALANCE,
    "Every tool result MUST belong to a tool use of the previous message.",
    on=_REQUEST,
)
def _tool_result_orphan(value: Any, context: Context) -> Iterator[Fault]:
    last_index = len(messages_of(value)) - 1
    turns = turns_of(value, context)
    for position, turn in enumerate(turns):
        if turn.results:
            previous_turn = read_adjacent_turn(value, turns, position, context, -1)
            yield from _find_orphans(turn, previous_turn, context, is_last=turn.index == last_index)


def _find_orphans(
    turn: Turn, previous: Turn | None, context: Context, *, is_last: bool
) -> Iterator[Fault]:
    if previous is None:
        yield Fault(turn.at(()), f"{_NO_PREVIOUS}, found the first message")
        return
    if not previous.uses:
        yield Fault(turn.at(()), f"{_NO_MATCH}, which has none")
        return
    use_ids = {use.id for use in previous.uses}
    for result in turn.results:
        if result.id is not None and result.id not in use_ids:
            spend(context.budget, _FAULT)
            block = _name_block("tool_result", result.id, context)
            text = f"the {block} has no tool_use in the previous message"
            yield Fault(
                turn.at((*result.path, "toolUseId")), f"{_IDS_DIFFER}: {text}" if is_last else text
            )


@_HISTORY_RULES.rule(
    "SAMPLING_TOOL_USE_ID_REPEATED",
    Severity.WARNING,
    _BALANCE,
    "The tool uses of a message SHOULD have unique ids, by which results are matched.",
    on=_MESSAGE,
)
def _tool_use_id_repeated(value: Any, context: Context) -> Iterable[Fault]:
    turn = read_turn(value, context)
    return _find_repeated_use_ids(turn, context) if len(turn.uses) > 1 else ()


def _find_repeated_use_ids(turn: Turn, context: Context) -> Iterator[Fault]:
    seen_ids: set[str] = set()
    for use in turn.uses:
        if use.id is not None and use.id in seen_ids:
            spend(context.budget, _FAULT)
            description = Values(hidden=context.hide_values).describe(use.id)
            yield Fault(
                (*use.path, "id"), f"ids of tool_use should be unique, found {description} again"
            )
        elif use.id is not None:
            seen_ids.add(use.id)


@_HISTORY_RULES.rule(
    "SAMPLING_TOOL_USE_ID_REUSED",
    Severity.WARNING,
    Clause("schema", "toolusecontent"),
    "The id of a tool use SHOULD be unique in the history. In different messages the pairs remain "
    "clear, so this is not an error.",
    on=_REQUEST,
)
def _tool_use_id_reused(value: Any, context: Context) -> Iterator[Fault]:
    first_indexes: dict[str, int] = {}
    for turn in turns_of(value, context):
        for use in turn.uses:
            if use.id is not None and first_indexes.setdefault(use.id, turn.index) != turn.index:
                spend(context.budget, _FAULT)
                description = Values(hidden=context.hide_values).describe(use.id)
                yield Fault(
                    turn.at((*use.path, "id")),
                    f"the id of a tool_use should be unique, found {description} also in message "
                    f"{first_indexes[use.id]}",
                )


@_HISTORY_RULES.rule(
    "SAMPLING_TOOL_RESULT_REPEATED",
    Severity.WARNING,
    _BALANCE,
    "A tool use SHOULD have only one result.",
    on="SamplingMessage",
)
def _tool_result_repeated(value: Any, context: Context) -> Iterable[Fault]:
    turn = read_turn(value, context)
    return _find_repeated_results(turn, context) if len(turn.results) > 1 else ()


def _find_repeated_results(turn: Turn, context: Context) -> Iterator[Fault]:
    seen_ids: set[str] = set()
    for result in turn.results:
        if result.id is not None and result.id in seen_ids:
            spend(context.budget, _FAULT)
            block = _name_block("tool_use", result.id, context)
            yield Fault((*result.path, "toolUseId"), f"the {block} already has a tool_result")
        elif result.id is not None:
            seen_ids.add(result.id)


_CODE = "SAMPLING_TOOL_RESULT_OUTPUT"
_STEPS = 200
"""Steps to defer a check."""

_OUTPUT_RULES = RuleSet(Group.SAMPLING_OUTPUTS, on=_REQUEST)


@_OUTPUT_RULES.rule(
    _CODE,
    Severity.WARNING,
    Clause("schema", "toolresultcontent"),
    "The structured content of a tool result SHOULD conform to the output schema of "
    "its tool, if the request has that tool. Calls that failed are not checked.",
    since=_SINCE,
)
def _tool_result_output(value: Any, context: Context) -> Iterator[DeferredCheck]:
    schemas = _read_output_schemas(value, context)
    if not schemas:
        return
    messages = messages_of(value)
    names_by_id: dict[str, Any] = {}
    for turn in turns_of(value, context):
        for result in turn.results:
            schema = schemas.get(names_by_id.get(result.id or "", ""))
            block = _get_block(messages[turn.index], result.path)
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
                names_by_id[use.id] = name


def _read_output_schemas(request: Any, context: Context) -> dict[str, dict[str, Any]]:
    """Return the output schemas of the tools of *request*, by name.

    The first tool of a name counts.
    """
    tools = request.get("tools") if isinstance(request, dict) else None
    schemas: dict[str, dict[str, Any]] = {}
    if isinstance(tools, list):
        spend(context.budget, 20 * len(tools))
        for tool in tools:
            name = tool.get("name") if isinstance(tool, dict) else None
            if isinstance(name, str) and isinstance(tool.get("outputSchema"), dict):
                schemas.setdefault(name, tool["outputSchema"])
    return schemas


def _get_block(message: Any, path: Path) -> dict[str, Any]:
    """Return the block of *message* at *path*, which a turn has."""
    block = message["content"] if len(path) == 1 else message["content"][path[1]]
    return block if isinstance(block, dict) else {}
