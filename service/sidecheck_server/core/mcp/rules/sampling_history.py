"""The history of a sampling request: who uses tools, who brings results, and which to which.

The Python SDK looks at the last two messages. Where it finds the fault too, the message
begins with its very text, and the detail follows.
"""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.explain.values import Values, counted, quoted
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule, sparing
from sidecheck_server.core.mcp.rules.sampling_ordinary import is_balanced, is_ordinary_message
from sidecheck_server.core.mcp.rules.sampling_turns import (
    Turn,
    messages_of,
    next_turn,
    read_turn,
    turns_of,
)
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]

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

_FAULT = 120


def _named(what: str, id_: str, context: Context) -> str:
    return what if context.hide_values else f"{what} with the id {quoted(id_)}"


@rule(
    "SAMPLING_TOOL_USE_ROLE",
    severity=Severity.ERROR,
    clause=_ROLES,
    sentence="Only the assistant uses tools.",
    on=_MESSAGE,
    since=_SINCE,
)
def _tool_use_role(value: Any, context: Context) -> Iterator[Fault]:
    turn = read_turn(value, context)
    if turn.role == "user":
        for use in turn.uses:
            spend(context.budget, _FAULT)
            yield Fault(use.path, 'tool_use must stand in a message of "assistant", found "user"')


@rule(
    "SAMPLING_TOOL_RESULT_ROLE",
    severity=Severity.ERROR,
    clause=_ROLES,
    sentence="Only the user brings results of tools.",
    on="SamplingMessage",
    since=_SINCE,
)
def _tool_result_role(value: Any, context: Context) -> Iterator[Fault]:
    turn = read_turn(value, context)
    if turn.role == "assistant":
        for result in turn.results:
            spend(context.budget, _FAULT)
            yield Fault(
                result.path, 'tool_result must stand in a message of "user", found "assistant"'
            )


@rule(
    "SAMPLING_TOOL_RESULT_MIXED",
    severity=Severity.ERROR,
    clause=_RESULTS,
    sentence="A message of the user that holds results of tools holds nothing else; clients "
    "of 2025-11-25 answer with -32602 (Invalid params).",
    on=_REQUEST,
    since=_SINCE,
)
def _mixed(value: Any, context: Context) -> Iterator[Fault]:
    last = len(messages_of(value)) - 1
    for turn in turns_of(value, context):
        others = turn.others + len(turn.uses)
        # Results that the assistant brings are wrong by themselves.
        if turn.role != "assistant" and turn.results and others:
            found = f"found {counted(others, 'block')} of other types"
            text = _MIXED if turn.index == last else "a message with tool_result holds nothing else"
            yield Fault(turn.at(("content",)), f"{text}; {found}")


@rule(
    "SAMPLING_TOOL_USE_UNANSWERED",
    severity=Severity.ERROR,
    clause=_BALANCE,
    sentence=(
        "Every tool that the assistant uses has its result in the very next message, also at "
        "the end of the history; clients of 2025-11-25 answer with -32602 (Invalid params)."
    ),
    on=_REQUEST,
    since=_SINCE,
)
def _unanswered(value: Any, context: Context) -> Iterator[Fault]:
    for turn in turns_of(value, context):
        if not turn.uses or turn.role == "user":
            continue
        following = next_turn(value, turn, context)
        last = turn.index == len(messages_of(value)) - 2
        answered = {result.id for result in following.results} if following else set()
        for use in turn.uses:
            if use.id is None or use.id in answered:
                continue
            spend(context.budget, _FAULT)
            what = _named("tool_use", use.id, context)
            if following is None:
                text = f"the {what} must be answered by a next message, found none"
            else:
                text = f"the {what} has no tool_result in the next message"
            yield Fault(turn.at(use.path), f"{_IDS_DIFFER}: {text}" if last else text)


@rule(
    "SAMPLING_TOOL_RESULT_ORPHAN",
    severity=Severity.ERROR,
    clause=_BALANCE,
    sentence="Every result of a tool belongs to a tool_use of the message before.",
    on=_REQUEST,
    since=_SINCE,
)
def _orphan(value: Any, context: Context) -> Iterator[Fault]:
    last = len(messages_of(value)) - 1
    for turn in turns_of(value, context):
        if turn.results:
            previous = next_turn(value, turn, context, -1)
            yield from _orphans(turn, previous, context, is_last=turn.index == last)


def _orphans(
    turn: Turn, previous: Turn | None, context: Context, *, is_last: bool
) -> Iterator[Fault]:
    if previous is None:
        yield Fault(turn.at(()), f"{_NO_PREVIOUS}, found the first message")
        return
    if not previous.uses:
        yield Fault(turn.at(()), f"{_NO_MATCH}, which has none")
        return
    known = {use.id for use in previous.uses}
    for result in turn.results:
        if result.id is not None and result.id not in known:
            spend(context.budget, _FAULT)
            what = _named("tool_result", result.id, context)
            text = f"the {what} has no tool_use in the message before"
            yield Fault(
                turn.at((*result.path, "toolUseId")), f"{_IDS_DIFFER}: {text}" if is_last else text
            )


@rule(
    "SAMPLING_TOOL_USE_ID_REPEATED",
    severity=Severity.ERROR,
    clause=_BALANCE,
    sentence="The tools used in one message have different ids: results are matched by them.",
    on=_MESSAGE,
    since=_SINCE,
)
def _use_id_repeated(value: Any, context: Context) -> Iterator[Fault]:
    seen: set[str] = set()
    for use in read_turn(value, context).uses:
        if use.id is not None and use.id in seen:
            spend(context.budget, _FAULT)
            found = Values(hidden=context.hide_values).found(use.id)
            yield Fault((*use.path, "id"), f"ids of tool_use must differ, found {found} again")
        elif use.id is not None:
            seen.add(use.id)


@rule(
    "SAMPLING_TOOL_USE_ID_REUSED",
    severity=Severity.WARNING,
    clause=Clause("schema", "toolusecontent"),
    sentence=(
        "An id is that of one tool_use in the whole history: it is a unique identifier. Across "
        "messages pairs can still be told, so this is no error."
    ),
    on=_REQUEST,
    since=_SINCE,
)
def _use_id_reused(value: Any, context: Context) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for turn in turns_of(value, context):
        for use in turn.uses:
            if use.id is not None and first.setdefault(use.id, turn.index) != turn.index:
                spend(context.budget, _FAULT)
                found = Values(hidden=context.hide_values).found(use.id)
                yield Fault(
                    turn.at((*use.path, "id")),
                    f"the id of a tool_use should be unique, found {found} in message "
                    f"{first[use.id]} too",
                )


@rule(
    "SAMPLING_TOOL_RESULT_REPEATED",
    severity=Severity.ERROR,
    clause=_BALANCE,
    sentence="A tool_use has one result.",
    on="SamplingMessage",
    since=_SINCE,
)
def _result_repeated(value: Any, context: Context) -> Iterator[Fault]:
    seen: set[str] = set()
    for result in read_turn(value, context).results:
        if result.id is not None and result.id in seen:
            spend(context.budget, _FAULT)
            what = _named("tool_use", result.id, context)
            yield Fault((*result.path, "toolUseId"), f"the {what} has a tool_result already")
        elif result.id is not None:
            seen.add(result.id)


RULES: tuple[Rule, ...] = (
    *sparing(is_ordinary_message, (_tool_use_role, _tool_result_role)),
    *sparing(is_balanced, (_mixed, _unanswered, _orphan)),
    *sparing(is_ordinary_message, (_use_id_repeated,)),
    *sparing(is_balanced, (_use_id_reused,)),
    *sparing(is_ordinary_message, (_result_repeated,)),
)
