"""Tools by their functions: what they are, and calls with the arguments of a request."""

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from sidecheck.inference.arguments import ValidArguments
from sidecheck.inference.configs import ToolConfig
from sidecheck.inference.function_tools import tool_of
from sidecheck.inference.injection import Resources

__all__ = [
    "acall_tool",
    "call_tool",
    "dump_result",
    "get_script_config",
    "tool_config",
    "tool_definition",
    "validate_arguments",
]


def tool_definition(function: Callable[..., Any]) -> dict[str, Any]:
    """Return a copy of the definition of a tool, its output schema in the natural form.

    Raises:
        TypeError: It is no tool.
    """
    return copy.deepcopy(tool_of(function).definition)


def tool_config(function: Callable[..., Any]) -> ToolConfig:
    """Return what a tool is and how it is called, a copy.

    Raises:
        TypeError: It is no tool.
    """
    config = tool_of(function).config
    parts = ("annotations", "input_schema", "output_schema")
    return replace(config, **{name: copy.deepcopy(getattr(config, name)) for name in parts})


def get_script_config(function: Callable[..., Any]) -> dict[str, Any]:
    """Return what `tool_config` does, as a dictionary.

    Raises:
        TypeError: It is no tool.
    """
    config = tool_config(function)
    return {one.name: getattr(config, one.name) for one in fields(config)}


def validate_arguments(
    function: Callable[..., Any], arguments: Mapping[str, Any]
) -> ValidArguments:
    """Return the Python values for a call's *arguments*, decoded JSON, and what was changed.

    Whether the tool was made with ``validate`` makes no difference.

    Raises:
        InvalidArguments: They are not what the tool takes.
        TypeError: It is no tool, or its input schema was given.
    """
    return tool_of(function).judged(arguments)


def dump_result(function: Callable[..., Any], result: Any) -> Any:
    """Return the *result* of a tool as JSON, by its output schema: aliases and all.

    Raises:
        InvalidResult: It is not what the schema says.
        TypeError: It is no tool, or has no output schema that was inferred.
    """
    tool = tool_of(function)
    if tool.outputs is None:
        raise TypeError(f"no output schema was inferred for {tool.config.name!r}")
    return tool.outputs.dump(result)


def call_tool(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    resources: Resources | None = None,
) -> Any:
    """Call a tool with the *arguments* of a request, decoded JSON, and return its result.

    They are judged if the tool was made with ``validate``, and handed over as they are if
    not. Arguments never reach a parameter that the server fills in: that comes from
    *resources*, from a provider given to `injectable`, or is the function's own default.

    Raises:
        InvalidArguments: The arguments are not what the tool takes.
        NotProvided: Nothing provides a parameter.
        TypeError: It is no tool, or a coroutine function.
    """
    tool = tool_of(function)
    if tool.is_async:
        raise TypeError(f"{tool.config.name!r} is a coroutine function: await acall_tool")
    return tool.run(*_bound_to(function), **tool.filled(arguments, resources))


async def acall_tool(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    resources: Resources | None = None,
) -> Any:
    """Call a tool as `call_tool` does, whether it is a coroutine function or not.

    One that is not runs in this task, and the loop waits for it.
    """
    tool = tool_of(function)
    result = tool.run(*_bound_to(function), **tool.filled(arguments, resources))
    return await result if tool.is_async else result


def _bound_to(function: Callable[..., Any]) -> tuple[Any, ...]:
    """Return the object that a method is bound to, if it is one."""
    return (function.__self__,) if inspect.ismethod(function) else ()
