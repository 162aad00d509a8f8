"""Messages of sampling, read for the tools that they use and the results that they bring.

Most messages do neither, and are passed over: a history may have thousands of them.
"""

from dataclasses import dataclass, field
from typing import Any, cast

from sidecheck_server.core.budget import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Path

__all__ = ["ToolResult", "ToolUse", "Turn", "messages_of", "next_turn", "read_turn", "turns_of"]

# In steps.
_LOOK = 15
_LOOK_BLOCK = 5
_MESSAGE = 80
_BLOCK = 40

_KINDS = ("tool_use", "tool_result")


# None of these is frozen, since making a frozen one takes far longer.


@dataclass(slots=True)
class ToolUse:
    """A block that asks to call a tool."""

    #: Where it stands in the message.
    path: Path
    #: Its id, or None if that is no string: of this the shape tells.
    id: str | None
    #: The block.
    block: dict[str, Any]


@dataclass(slots=True)
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


def messages_of(value: Any) -> list[Any]:
    """Return the messages of the request *value*, or none if it is no request."""
    messages = value.get("messages") if isinstance(value, dict) else None
    return messages if isinstance(messages, list) else []


def turns_of(value: Any, context: Context) -> list[Turn]:
    """Return those messages of the request *value* that use tools or bring results.

    They are read once, however many rules ask.

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    known = context.readings.get(("turns", id(value)))
    if known is not None:
        # A rule goes through all of them.
        spend(context.budget, _LOOK + _LOOK_BLOCK * len(known[1]))
        return cast("list[Turn]", known[1])
    messages = messages_of(value)
    spend(context.budget, _LOOK * (1 + len(messages)))
    found = []
    for index, message in enumerate(messages):
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            spend(context.budget, _LOOK_BLOCK * len(content))
            bears = _any_bears(content)
        else:
            bears = isinstance(content, dict) and _bears(content)
        if bears:
            found.append(_read(message, context, index))
    context.readings["turns", id(value)] = (value, found)
    return found


def next_turn(value: Any, turn: Turn, context: Context, step: int = 1) -> Turn | None:
    """Return the message *step* messages after *turn*, or None if there is none.

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    messages = messages_of(value)
    index = turn.index + step
    return _read(messages[index], context, index) if 0 <= index < len(messages) else None


def read_turn(message: Any, context: Context) -> Turn:
    """Return *message*, alone or one of a request, as a turn.

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, dict) and not _bears(content):
        spend(context.budget, _LOOK)
        return Turn(0, message.get("role"), others=1)
    return _read(message, context, anywhere=True)


def _any_bears(content: list[Any]) -> bool:
    for block in content:  # noqa: SIM110  (`any` takes three times as long)
        if isinstance(block, dict) and block.get("type") in _KINDS:
            return True
    return False


def _bears(block: dict[str, Any]) -> bool:
    return block.get("type") in _KINDS


def _read(message: Any, context: Context, index: int = 0, *, anywhere: bool = False) -> Turn:
    known = context.readings.get(("turn", id(message)))
    if known is not None and (anywhere or known[1].index == index):
        spend(context.budget, _LOOK)
        return cast("Turn", known[1])
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
    context.readings["turn", id(message)] = (message, turn)
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
