"""Checks of tool results in a client, with the behaviour of the Python SDK."""

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import mcp_types
import pytest
from sidecheck import BlockingClient, Client, Options, Schema, SidecheckError, StructuredContent
from sidecheck.testing import BlockingFakeValidator, FakeValidator, invalid
from sidecheck.tool_results import BlockingResultChecker, InvalidToolResult, ResultChecker, Skip
from support.running import RunningServer

FORECAST: dict[str, Any] = {
    "name": "get_forecast",
    "inputSchema": {"type": "object"},
    "outputSchema": {
        "type": "object",
        "properties": {"celsius": {"type": "number"}},
        "required": ["celsius"],
    },
}
TIDES = {"name": "get_tides", "inputSchema": {"type": "object"}}
BROKEN = {**TIDES, "name": "broken", "outputSchema": {"type": "objekt"}}
DANGLING = {**TIDES, "name": "dangling", "outputSchema": {"$ref": "#/$defs/none"}}
LIST = {**TIDES, "name": "list", "outputSchema": {"type": "array"}}

GOOD = {"content": [], "structuredContent": {"celsius": 12.5}}
WRONG = {"content": [], "structuredContent": {"celsius": "12"}}
NONE: dict[str, Any] = {"content": []}


class Tools:
    """Tools list with a single tool per page, which records the requested cursors."""

    def __init__(self, *tools: Any) -> None:
        self.tools = tools
        self.cursors: list[str | None] = []

    def page(self, cursor: str | None) -> Any:
        """Return a page."""
        self.cursors.append(cursor)
        index = int(cursor or 0)
        rest = {"nextCursor": str(index + 1)} if index + 1 < len(self.tools) else {}
        return {"tools": [*self.tools[index : index + 1]], **rest}

    async def async_page(self, cursor: str | None) -> Any:
        """Return a page asynchronously."""
        await asyncio.sleep(0)
        return self.page(cursor)


class CheckerRunner:
    """A checker of either kind, with a real server."""

    def __init__(self, kind: str, address: str) -> None:
        self._kind = kind
        self._address = address

    async def __call__(
        self,
        tools: Tools,
        *results: tuple[str, Any],
        skip: Skip = (),
        version: str = "",
        **options: Any,
    ) -> None:
        """Check *results* in order with the same checker."""
        settings: Any = {"skip": skip, "options": Options(protocol_version=version)}
        if self._kind == "blocking":
            with BlockingClient(self._address, timeout=120) as client:
                blocking = BlockingResultChecker(client, tools.page, **settings)
                for name, result in results:
                    await asyncio.to_thread(blocking.check, name, result, **options)
        else:
            async with Client(self._address, timeout=120) as aio:
                checker = ResultChecker(aio, tools.async_page, **settings)
                for name, result in results:
                    await checker.check(name, result, **options)


@pytest.fixture(params=["asynchronous", "blocking"])
def run_checker(request: pytest.FixtureRequest, shared_server: RunningServer) -> CheckerRunner:
    """Return a runner for a kind of checker."""
    return CheckerRunner(request.param, shared_server.address)


@dataclass
class Result:
    """Tool result with the attributes of the SDK."""

    structured_content: Any = None
    is_error: bool = False


@pytest.mark.parametrize(
    ("name", "result"),
    [
        pytest.param("get_forecast", GOOD, id="valid"),
        pytest.param("get_forecast", {**WRONG, "isError": True}, id="error"),
        pytest.param("get_forecast", {**NONE, "isError": True}, id="error without content"),
        pytest.param("get_tides", WRONG, id="no output schema"),
        pytest.param("get_tides", NONE, id="no output schema, no content"),
        pytest.param("get_forecast", Result({"celsius": 1}), id="object"),
        pytest.param("get_forecast", Result(is_error=True), id="error object"),
        pytest.param(
            "get_forecast",
            mcp_types.CallToolResult(content=[], structured_content={"celsius": 1}),
            id="SDK object",
        ),
        pytest.param(
            "get_forecast",
            mcp_types.CallToolResult(content=[], is_error=True),
            id="SDK error object",
        ),
    ],
)
async def test_valid_results_pass(run_checker: CheckerRunner, name: str, result: Any) -> None:
    """Error results and results of tools without an output schema are not checked."""
    await run_checker(Tools(TIDES, FORECAST), (name, result))


MISSING = "Tool get_forecast has an output schema but did not return structured content"
INVALID = "Invalid structured content returned by tool get_forecast: "


@pytest.mark.parametrize(
    ("expected", "name", "result"),
    [
        pytest.param(MISSING, "get_forecast", NONE, id="no content"),
        pytest.param(MISSING, "get_forecast", Result(), id="no content in an object"),
        pytest.param(
            MISSING,
            "get_forecast",
            mcp_types.CallToolResult(content=[]),
            id="no content in an SDK object",
        ),
        pytest.param(
            INVALID + '/celsius: expected a number, found the string "12"',
            "get_forecast",
            WRONG,
            id="wrong content",
        ),
        pytest.param(
            INVALID + "expected an object, found null",
            "get_forecast",
            {**NONE, "structuredContent": None},
            id="null",
        ),
        pytest.param(
            INVALID + "expected an object, found null",
            "get_forecast",
            mcp_types.CallToolResult(content=[], structured_content=None),
            id="null in an SDK object",
        ),
        pytest.param("Invalid schema for tool broken: ", "broken", GOOD, id="broken schema"),
        pytest.param(
            "Invalid schema for tool dangling: ", "dangling", GOOD, id="dangling reference"
        ),
    ],
)
async def test_invalid_results_raise_the_errors_of_the_sdk(
    run_checker: CheckerRunner, expected: str, name: str, result: Any
) -> None:
    """The error is a `RuntimeError` with the message of the SDK."""
    with pytest.raises(RuntimeError) as raised:
        await run_checker(Tools(FORECAST, BROKEN, DANGLING), (name, result))
    assert str(raised.value).startswith(expected)
    assert isinstance(raised.value, InvalidToolResult)
    has_verdict = expected.startswith(INVALID)
    assert (name, has_verdict) == (raised.value.tool, raised.value.verdict is not None)


async def test_the_protocol_version_determines_the_result(run_checker: CheckerRunner) -> None:
    """Structured content of other types than object is valid since 2026-07-28."""
    named_result = ("list", {**NONE, "structuredContent": [1]})
    await run_checker(Tools(LIST), named_result, version="2026-07-28")
    with pytest.raises(InvalidToolResult, match="expected an object, found an array"):
        await run_checker(Tools(LIST), named_result, version="2025-11-25")


async def test_a_tool_that_is_not_listed_is_logged(
    run_checker: CheckerRunner, caplog: pytest.LogCaptureFixture
) -> None:
    """Its results are not checked; the list is requested each time."""
    tools = Tools(TIDES)
    with caplog.at_level(logging.WARNING, logger="sidecheck.tool_results"):
        await run_checker(tools, ("get_forecast", WRONG), ("get_forecast", WRONG))
    message = "Tool get_forecast not listed by server, cannot validate any structured content"
    assert ([message, message], [None, None]) == (caplog.messages, tools.cursors)


async def test_the_list_is_requested_once(run_checker: CheckerRunner) -> None:
    """All pages are requested when a tool is not known."""
    tools = Tools(TIDES, LIST, FORECAST)
    await run_checker(tools, ("get_forecast", GOOD), ("get_tides", NONE), ("get_forecast", GOOD))
    assert [None, "1", "2"] == tools.cursors


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"skip": {"get_forecast"}}, id="by name"),
        pytest.param({"skip": lambda name: name.startswith("get_")}, id="by predicate"),
        pytest.param({"validate": False}, id="for one call"),
    ],
)
async def test_checks_can_be_disabled(run_checker: CheckerRunner, settings: dict[str, Any]) -> None:
    """Without checks, the list is not requested."""
    tools = Tools(FORECAST)
    await run_checker(tools, ("get_forecast", WRONG), **settings)
    assert [] == tools.cursors


async def test_tools_that_are_not_skipped_are_checked(run_checker: CheckerRunner) -> None:
    """`skip` applies only to the tools that it names."""
    with pytest.raises(InvalidToolResult):
        await run_checker(Tools(FORECAST), ("get_forecast", WRONG), skip={"get_tides"})


@pytest.mark.parametrize(
    "tools_list",
    [
        pytest.param({"tools": [FORECAST], "nextCursor": None}, id="decoded JSON"),
        pytest.param([FORECAST], id="list of tools"),
        pytest.param({"tools": [{"name": 5}, {}, FORECAST]}, id="list with invalid tools"),
        pytest.param(
            mcp_types.ListToolsResult.model_validate({"tools": [FORECAST]}, by_name=False),
            id="SDK object",
        ),
    ],
)
async def test_tools_lists_may_have_many_forms(tools_list: Any) -> None:
    """Decoded JSON, plain lists and SDK objects are accepted."""

    async def list_tools(cursor: str | None) -> Any:
        return tools_list

    fake = FakeValidator(invalid())
    with pytest.raises(InvalidToolResult):
        await ResultChecker(fake, list_tools).check("get_forecast", GOOD)
    (call,) = fake.calls
    assert (Schema(FORECAST["outputSchema"]), StructuredContent({"celsius": 12.5})) == (
        call.target,
        call.subject,
    )


async def test_cyclic_cursors_end_the_list() -> None:
    """A cursor that was already used is not requested again."""
    cursors: list[str | None] = []

    async def list_tools(cursor: str | None) -> Any:
        cursors.append(cursor)
        return {"tools": [], "nextCursor": "b" if cursor == "a" else "a"}

    await ResultChecker(FakeValidator(), list_tools).check("get_forecast", GOOD)
    assert [None, "a", "b"] == cursors


async def test_tools_can_be_learned_and_forgotten() -> None:
    """`learn` adds the tools of a list, and `forget` removes all tools."""
    tools = Tools(TIDES)
    fake = FakeValidator()
    checker = ResultChecker(fake, tools.async_page)
    checker.learn({"tools": [FORECAST]})
    await checker.check("get_forecast", GOOD)
    assert ([], 1) == (tools.cursors, len(fake.calls))
    checker.forget()
    await checker.check("get_forecast", GOOD)
    assert ([None], 1) == (tools.cursors, len(fake.calls))


async def test_concurrent_checks_request_the_list_once() -> None:
    """This applies to tasks and threads."""
    tools = Tools(FORECAST)
    checker = ResultChecker(FakeValidator(), tools.async_page)
    await asyncio.gather(*(checker.check("get_forecast", GOOD) for _ in range(20)))
    blocking_tools = Tools(FORECAST)

    def slow_page(cursor: str | None) -> Any:
        time.sleep(0.1)  # Gives the other threads time to start their checks.
        return blocking_tools.page(cursor)

    blocking = BlockingResultChecker(BlockingFakeValidator(), slow_page)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: blocking.check("get_forecast", GOOD), range(8)))
    assert ([None], [None]) == (tools.cursors, blocking_tools.cursors)


async def test_other_errors_are_raised_unchanged() -> None:
    """Errors of the validator are not converted to `InvalidToolResult`."""
    error = SidecheckError("LIMIT_EXCEEDED", "too large")
    with pytest.raises(SidecheckError) as raised:
        await ResultChecker(FakeValidator(error), Tools(FORECAST).async_page).check(
            "get_forecast", GOOD
        )
    assert error is raised.value
