"""Calls of tools that return a ``CallToolResult`` even for errors of the call."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from sidecheck.inference.calls import bound_instance, check_is_sync
from sidecheck.inference.errors import InvalidArguments
from sidecheck.inference.injection import Resources
from sidecheck.inference.normalization import DEFAULT_VERSION
from sidecheck.inference.output_schema import InvalidResult
from sidecheck.inference.result_forms import ResultForm
from sidecheck.inference.schema_checks import BrokenSchema
from sidecheck.json_copies import MAX_VALUES
from sidecheck.protocol import ResultProfile
from sidecheck.values.verdict import Change

__all__ = ["acall_tool_result", "call_tool_result"]


def call_tool_result(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    protocol_version: str = DEFAULT_VERSION,
    profile: ResultProfile = "specification",
    resources: Resources | None = None,
    changes: list[Change] | None = None,
) -> dict[str, Any]:
    """Call a tool as `call_tool` does, and return its result as a ``CallToolResult``.

    The result is decoded JSON in the form of *protocol_version*, or with the profile "text" in
    the form of `sidecheck.text_contract`. The service's ``NormalizeToolResult`` returns the same
    for the same value. A return value is data, unless it is an object of an MCP SDK: content
    blocks or a ``CallToolResult``.

    Invalid arguments, an exception of the function, and a result that violates the output
    schema become results with ``isError`` and a text about the fault: for an exception its
    message, or the name of its class if it has none.

    Raises:
        NotProvided: nothing provides an injected parameter.
        TypeError: *function* is not a tool, or is a coroutine function.
        ValueError: *protocol_version* or *profile* is unknown, or a schema of the tool has a
            reference to a location outside of it.
    """
    form = ResultForm.of(function, protocol_version, profile)
    check_is_sync(form.tool, "acall_tool_result")
    instance = bound_instance(function)
    try:
        call = form.tool.read_call(arguments, resources, instance)
    except InvalidArguments as error:
        return form.invalid_arguments(error)
    if changes is not None:
        changes += call.changes
    try:
        return form.result(_collect(form.tool.run(*call.args, **call.kwargs)))
    except BrokenSchema:
        raise
    except Exception as error:  # noqa: BLE001  (any exception of the tool is its result)
        return form.failure(error)


async def acall_tool_result(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    protocol_version: str = DEFAULT_VERSION,
    profile: ResultProfile = "specification",
    resources: Resources | None = None,
    changes: list[Change] | None = None,
) -> dict[str, Any]:
    """Call a tool as `call_tool_result` does; it may be a coroutine function.

    Other functions run in the current task and block the event loop.
    """
    form = ResultForm.of(function, protocol_version, profile)
    instance = bound_instance(function)
    try:
        call = form.tool.read_call(arguments, resources, instance)
    except InvalidArguments as error:
        return form.invalid_arguments(error)
    if changes is not None:
        changes += call.changes
    try:
        value = form.tool.run(*call.args, **call.kwargs)
        if form.tool.is_async:
            value = await value
        if isinstance(value, AsyncIterator):
            value = await _collect_async(value)
        return form.result(_collect(value))
    except BrokenSchema:
        raise
    except Exception as error:  # noqa: BLE001  (any exception of the tool is its result)
        return form.failure(error)


def _collect(value: Any) -> Any:
    """Return the items of an iterator as a list; other values unchanged."""
    if isinstance(value, AsyncIterator):
        raise TypeError("the tool returns an asynchronous iterator; await acall_tool_result")
    if isinstance(value, Iterator):
        return _check_length(list(islice(value, MAX_VALUES + 1)))
    return value


async def _collect_async(values: AsyncIterator[Any]) -> list[Any]:
    items: list[Any] = []
    async for item in values:
        items.append(item)
        if len(items) > MAX_VALUES:
            break
    return _check_length(items)


def _check_length(items: list[Any]) -> list[Any]:
    """Return *items*; raise an `InvalidResult` if there are too many."""
    if len(items) > MAX_VALUES:
        raise InvalidResult(f"it exceeds the limit of {MAX_VALUES:,} values")
    return items
