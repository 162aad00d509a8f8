"""Ordinary requests of sampling: those of which the rules have nothing to tell, seen at once.

What is here is stricter than the rules. Whatever it does not know, it leaves to them.
"""

from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.sampling_turns import turns_of

__all__ = ["has_no_tools", "is_balanced", "is_ordinary_message", "is_ordinary_request"]

#: The first version in which no request of sampling is ordinary.
_DEPRECATED = "2026-07-28"

# In steps.
_TURN = 20
_USE = 10
_BLOCK = 10
_TOOL = 20


def is_ordinary_request(value: Any, context: Context) -> bool:
    """Return whether *value* asks for nothing but a message, with whatever it needs for that.

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    if type(value) is not dict or "includeContext" in value or context.version >= _DEPRECATED:
        return False
    most, messages, tools = value.get("maxTokens"), value.get("messages"), value.get("tools")
    if type(most) is not int or most <= 0 or type(messages) is not list or not messages:
        return False
    if tools is None:
        return "toolChoice" not in value
    return type(tools) is list and len(tools) > 0 and _have_names(tools, context)


def _have_names(tools: list[Any], context: Context) -> bool:
    """Return whether *tools* have names, each its own."""
    spend(context.budget, _TOOL * len(tools))
    names = set()
    for tool in tools:
        name = tool.get("name") if type(tool) is dict else None
        if type(name) is not str:
            return False
        names.add(name)
    return len(names) == len(tools)


def has_no_tools(value: Any, _context: Context) -> bool:
    """Return whether *value* says nothing of tools that a model could have used."""
    return type(value) is not dict or type(value.get("tools")) is not list


def is_balanced(value: Any, context: Context) -> bool:
    """Return whether the very next message brings the results of all tools that one uses.

    It brings nothing else, and every use has an id of its own.

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    turns = turns_of(value, context)
    spend(context.budget, _TURN * len(turns))
    waiting: set[str | None] = set()
    seen: set[str] = set()
    last = -1
    for turn in turns:
        if turn.results:
            if turn.index != last + 1 or turn.uses or turn.others:
                return False
            spend(context.budget, _USE * len(turn.results))
            if waiting != {result.id for result in turn.results}:
                return False
            waiting = set()
        elif waiting:
            return False
        else:
            spend(context.budget, _USE * len(turn.uses))
            for use in turn.uses:
                if use.id is None or use.id in seen:
                    return False
                seen.add(use.id)
                waiting.add(use.id)
            last = turn.index
    return not waiting


def is_ordinary_message(value: Any, context: Context) -> bool:
    """Return whether *value* uses one tool or brings one result at most, as its role allows.

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    content = value.get("content") if type(value) is dict else None
    if type(content) is list:
        spend(context.budget, _BLOCK * len(content))
        kinds = [block.get("type") for block in content if type(block) is dict]
    elif type(content) is dict:
        kinds = [content.get("type")]
    else:
        return False
    uses, results = kinds.count("tool_use"), kinds.count("tool_result")
    if not uses and not results:
        return True
    role = value.get("role")
    return (not uses or (uses == 1 and role != "user")) and (
        not results or (results == 1 and role != "assistant")
    )
