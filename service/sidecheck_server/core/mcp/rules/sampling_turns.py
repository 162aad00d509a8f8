"""Messages of sampling, read for the tools that they use and the results that they bring."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Path

__all__ = ["ToolResult", "ToolUse", "Turn", "read_turn", "turns_of"]

_MESSAGE = 60
_BLOCK = 20


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A block that asks to call a tool."""

    #: Where it stands in the message.
    path: Path
    #: Its id, or None if that is no string: of this the shape tells.
    id: str | None
    #: The block.
    block: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A block that brings the result of a call."""

    path: Path
    #: The id of the call, or None if that is no string.
    id: str | None
    #: Whether the call went wrong.
    is_error: bool


@dataclass(slots=True)
class Turn:
    """A message of a conversation."""

    #: Where it stands in the list of messages.
    index: int
    #: "user", "assistant", or anything at all.
    role: Any
    uses: list[ToolUse] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    #: How many blocks are something else.
    others: int = 0

    def at(self, path: Path) -> Path:
        """Return where *path* leads in the params of the request."""
        return ("messages", self.index, *path)


def turns_of(value: Any, context: Context) -> Iterator[Turn]:
    """Yield the messages of a request one by one, each paid for.

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    messages = value.get("messages") if isinstance(value, dict) else None
    if isinstance(messages, list):
        for index, message in enumerate(messages):
            yield read_turn(message, context, index)


def read_turn(message: Any, context: Context, index: int = 0) -> Turn:
    """Return *message* as a turn, whatever it is.

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    spend(context.budget, _MESSAGE)
    if not isinstance(message, dict):
        return Turn(index, None)
    turn = Turn(index, message.get("role"))
    content = message.get("content")
    if isinstance(content, list):
        spend(context.budget, _BLOCK * len(content))
        for position, block in enumerate(content):
            _take_in(turn, block, ("content", position))
    elif content is not None:
        _take_in(turn, content, ("content",))
    return turn


def _take_in(turn: Turn, block: Any, path: Path) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "tool_use":
        name = block.get("id")
        turn.uses.append(ToolUse(path, name if isinstance(name, str) else None, block))
    elif kind == "tool_result":
        name = block.get("toolUseId")
        is_error = block.get("isError") is True
        turn.results.append(ToolResult(path, name if isinstance(name, str) else None, is_error))
    else:
        turn.others += 1
