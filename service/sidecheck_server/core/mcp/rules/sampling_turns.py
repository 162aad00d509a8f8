"""Reads the tool uses and tool results of sampling messages.

A history may have thousands of messages; most have neither and are skipped.
"""

from dataclasses import dataclass, field
from typing import Any, cast

from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Path

__all__ = [
    "ToolResult",
    "ToolUse",
    "Turn",
    "messages_of",
    "read_adjacent_turn",
    "read_turn",
    "turns_of",
]

# Steps per element.
_SCAN = 15
_SCAN_BLOCK = 5
_MESSAGE = 80
_BLOCK = 40

_KINDS = ("tool_use", "tool_result")


# The dataclasses are not frozen, since frozen dataclasses take far longer to create.


@dataclass(slots=True)
class ToolUse:
    """A content block that calls a tool."""

    #: Path in the message.
    path: Path
    #: Its id, or None if it is not a string. The schema of the type reports that.
    id: str | None
    #: The decoded block.
    block: dict[str, Any]


@dataclass(slots=True)
class ToolResult:
    """A content block with the result of a call."""

    path: Path
    #: Id of the call, or None if it is not a string.
    id: str | None
    #: Whether the call failed.
    is_error: bool


@dataclass(slots=True)
class Turn:
    """A message with its tool uses and tool results."""

    #: Index in the list of messages.
    index: int
    #: "user", "assistant", or any JSON value.
    role: Any
    uses: list[ToolUse] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    #: Number of other blocks.
    other_count: int = 0

    def at(self, path: Path) -> Path:
        """Return the path in the params of the request for *path* in the message."""
        return ("messages", self.index, *path)


def messages_of(value: Any) -> list[Any]:
    """Return the messages of the params *value*, or [] if it has none."""
    messages = value.get("messages") if isinstance(value, dict) else None
    return messages if isinstance(messages, list) else []


def turns_of(value: Any, context: Context) -> list[Turn]:
    """Return the messages of the params *value* that have tool uses or tool results.

    All rules share the result of the first call.

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    memo = context.memo.get(("turns", id(value)))
    if memo is not None:
        # Charge for the caller's iteration over the turns.
        spend(context.budget, _SCAN + _SCAN_BLOCK * len(memo[1]))
        return cast("list[Turn]", memo[1])
    messages = messages_of(value)
    spend(context.budget, _SCAN * (1 + len(messages)))
    turns = []
    for index, message in enumerate(messages):
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            spend(context.budget, _SCAN_BLOCK * len(content))
            is_turn = _any_uses_tools(content)
        else:
            is_turn = isinstance(content, dict) and _uses_tools(content)
        if is_turn:
            turns.append(_read(message, context, index))
    context.memo["turns", id(value)] = (value, turns)
    return turns


def read_adjacent_turn(
    value: Any, turns: list[Turn], position: int, context: Context, step: int
) -> Turn | None:
    """Return the message after (*step* 1) or before (*step* -1) a turn, or None.

    *turns* are the turns of the params *value*, and *position* is the index of the turn in them.

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    index = turns[position].index + step
    position += step
    if 0 <= position < len(turns) and turns[position].index == index:
        return turns[position]
    messages = messages_of(value)
    return _read(messages[index], context, index) if 0 <= index < len(messages) else None


def read_turn(message: Any, context: Context) -> Turn:
    """Return *message*, of a request or alone, as a turn.

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, dict) and not _uses_tools(content):
        spend(context.budget, _SCAN)
        return Turn(0, message.get("role"), other_count=1)
    return _read(message, context, any_index=True)


def _any_uses_tools(content: list[Any]) -> bool:
    for block in content:  # noqa: SIM110  (`any` takes three times as long)
        if isinstance(block, dict) and block.get("type") in _KINDS:
            return True
    return False


def _uses_tools(block: dict[str, Any]) -> bool:
    return block.get("type") in _KINDS


def _read(message: Any, context: Context, index: int = 0, *, any_index: bool = False) -> Turn:
    memo = context.memo.get(("turn", id(message)))
    if memo is not None and (any_index or memo[1].index == index):
        spend(context.budget, _SCAN)
        return cast("Turn", memo[1])
    spend(context.budget, _MESSAGE)
    if not isinstance(message, dict):
        return Turn(index, None)
    turn = Turn(index, message.get("role"))
    content = message.get("content")
    if isinstance(content, list):
        spend(context.budget, _BLOCK * len(content))
        for position, block in enumerate(content):
            _add_block(turn, block, ("content", position))
    elif content is not None:
        _add_block(turn, content, ("content",))
    context.memo["turn", id(message)] = (message, turn)
    return turn


def _add_block(turn: Turn, block: Any, path: Path) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "tool_use":
        id_ = block.get("id")
        turn.uses.append(ToolUse(path, id_ if isinstance(id_, str) else None, block))
    elif kind == "tool_result":
        id_ = block.get("toolUseId")
        is_error = block.get("isError") is True
        turn.results.append(ToolResult(path, id_ if isinstance(id_, str) else None, is_error))
    else:
        turn.other_count += 1
