"""Access to tools by their functions: definition, configuration and calls."""

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from sidecheck.inference.arguments import ValidArguments
from sidecheck.inference.config import ToolConfig
from sidecheck.inference.function_tools import FunctionTool, tool_of
from sidecheck.inference.injection import Resources
from sidecheck.values.verdict import Change

__all__ = [
    "acall_tool",
    "bound_instance",
    "call_tool",
    "check_is_sync",
    "dump_result",
    "get_script_config",
    "tool_config",
    "tool_definition",
    "validate_arguments",
]


def tool_definition(function: Callable[..., Any]) -> dict[str, Any]:
    """Return a copy of the canonical definition of a tool.

    Raises:
        TypeError: *function* is not a tool.
    """
    return copy.deepcopy(tool_of(function).definition)


def tool_config(function: Callable[..., Any]) -> ToolConfig:
    """Return a copy of the configuration of a tool.

    Raises:
        TypeError: *function* is not a tool.
    """
    config = tool_of(function).config
    mutable = ("annotations", "input_schema", "output_schema")
    return replace(config, **{name: copy.deepcopy(getattr(config, name)) for name in mutable})


def get_script_config(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the configuration of a tool, as by `tool_config`, as a dictionary.

    Raises:
        TypeError: *function* is not a tool.
    """
    config = tool_config(function)
    return {field.name: getattr(config, field.name) for field in fields(config)}


def validate_arguments(
    function: Callable[..., Any], arguments: Mapping[str, Any]
) -> ValidArguments:
    """Return the Python values of *arguments*, decoded JSON, and the changes.

    The tool's option ``validate`` has no effect on this. With the option ``input_schema``, the
    values are the decoded JSON.

    Raises:
        InvalidArguments: the arguments violate the input schema.
        TypeError: *function* is not a tool.
    """
    return tool_of(function).validate(arguments)


def dump_result(function: Callable[..., Any], result: Any) -> Any:
    """Return the *result* of a tool as JSON by its output schema, with its aliases.

    Raises:
        InvalidResult: *result* violates the schema.
        TypeError: *function* is not a tool, or no output schema was inferred.
    """
    tool = tool_of(function)
    if tool.output_model is None:
        raise TypeError(f"no output schema was inferred for {tool.config.name!r}")
    return tool.output_model.dump(result)


def call_tool(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    resources: Resources | None = None,
    changes: list[Change] | None = None,
) -> Any:
    """Call a tool with *arguments*, decoded JSON, and return its result.

    Arguments are validated and converted as by `validate_arguments`, unless the tool has the
    option ``validate=False``, and the changes are appended to *changes*. Arguments never set an
    injected parameter: its value comes from *resources*, from a provider passed to
    `injectable`, or from the parameter's default.

    Raises:
        InvalidArguments: the arguments violate the input schema.
        NotProvided: nothing provides an injected parameter.
        TypeError: *function* is not a tool, or is a coroutine function.
    """
    tool = tool_of(function)
    check_is_sync(tool, "acall_tool")
    call = tool.read_call(arguments, resources, bound_instance(function))
    if changes is not None:
        changes += call.changes
    return tool.run(*call.args, **call.kwargs)


async def acall_tool(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    resources: Resources | None = None,
    changes: list[Change] | None = None,
) -> Any:
    """Call a tool as `call_tool` does; it may be a coroutine function.

    Other functions run in the current task and block the event loop.
    """
    tool = tool_of(function)
    call = tool.read_call(arguments, resources, bound_instance(function))
    if changes is not None:
        changes += call.changes
    result = tool.run(*call.args, **call.kwargs)
    return await result if tool.is_async else result


def check_is_sync(tool: FunctionTool, alternative: str) -> None:
    """Check that the function of *tool* is not a coroutine function.

    Raises:
        TypeError: it is one; the message recommends *alternative*.
    """
    if tool.is_async:
        raise TypeError(f"{tool.config.name!r} is a coroutine function: await {alternative}")


def bound_instance(function: Callable[..., Any]) -> tuple[Any, ...]:
    """Return the instance of a bound method, or ()."""
    return (function.__self__,) if inspect.ismethod(function) else ()
