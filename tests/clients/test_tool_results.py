"""Results of tools are checked where they arrive, as the client of the Python SDK does."""

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
    """A server's list of tools, in pages of one; it counts how often a page was asked for."""

    def __init__(self, *tools: Any) -> None:
        self.tools = tools
        self.asked: list[str | None] = []

    def page(self, cursor: str | None) -> Any:
        """Return one page."""
        self.asked.append(cursor)
        at = int(cursor or 0)
        rest = {"nextCursor": str(at + 1)} if at + 1 < len(self.tools) else {}
        return {"tools": [*self.tools[at : at + 1]], **rest}

    async def awaited(self, cursor: str | None) -> Any:
        """Return one page, a moment later."""
        await asyncio.sleep(0)
        return self.page(cursor)


class Checking:
    """A checker of either face, with a real server behind it."""

    def __init__(self, face: str, address: str) -> None:
        self._face = face
        self._address = address

    async def __call__(
        self,
        tools: Tools,
        *results: tuple[str, Any],
        skip: Skip = (),
        version: str = "",
        **how: Any,
    ) -> None:
        """Check *results* in turn with one checker."""
        settings: Any = {"skip": skip, "options": Options(protocol_version=version)}
        if self._face == "blocking":
            with BlockingClient(self._address, timeout=120) as client:
                blocking = BlockingResultChecker(client, tools.page, **settings)
                for name, result in results:
                    await asyncio.to_thread(blocking.check, name, result, **how)
        else:
            async with Client(self._address, timeout=120) as aio:
                checker = ResultChecker(aio, tools.awaited, **settings)
                for name, result in results:
                    await checker.check(name, result, **how)


@pytest.fixture(params=["asynchronous", "blocking"])
def checking(request: pytest.FixtureRequest, shared_server: RunningServer) -> Checking:
    """Return a checker of each face in turn."""
    return Checking(request.param, shared_server.address)


@dataclass
class Result:
    """The result of a tool as an SDK has it."""

    structured_content: Any = None
    is_error: bool = False


@pytest.mark.parametrize(
    ("name", "result"),
    [
        pytest.param("get_forecast", GOOD, id="valid"),
        pytest.param("get_forecast", {**WRONG, "isError": True}, id="an error"),
        pytest.param("get_forecast", {**NONE, "isError": True}, id="an error without content"),
        pytest.param("get_tides", WRONG, id="no output schema"),
        pytest.param("get_tides", NONE, id="no output schema, no content"),
        pytest.param("get_forecast", Result({"celsius": 1}), id="an object"),
        pytest.param("get_forecast", Result(is_error=True), id="an object that is an error"),
        pytest.param(
            "get_forecast",
            mcp_types.CallToolResult(content=[], structured_content={"celsius": 1}),
            id="an object of the SDK",
        ),
        pytest.param(
            "get_forecast",
            mcp_types.CallToolResult(content=[], is_error=True),
            id="an object of the SDK that is an error",
        ),
    ],
)
async def test_nothing_is_said_of_what_fits(checking: Checking, name: str, result: Any) -> None:
    """Errors are not checked, nor results of tools without an output schema."""
    await checking(Tools(TIDES, FORECAST), (name, result))


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
            id="no content in an object of the SDK",
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
            id="null in an object of the SDK",
        ),
        pytest.param("Invalid schema for tool broken: ", "broken", GOOD, id="broken schema"),
        pytest.param(
            "Invalid schema for tool dangling: ", "dangling", GOOD, id="a reference to nothing"
        ),
    ],
)
async def test_what_does_not_fit_is_raised_as_the_sdk_does(
    checking: Checking, expected: str, name: str, result: Any
) -> None:
    """With its texts, in a `RuntimeError`."""
    with pytest.raises(RuntimeError) as raised:
        await checking(Tools(FORECAST, BROKEN, DANGLING), (name, result))
    assert str(raised.value).startswith(expected)
    assert isinstance(raised.value, InvalidToolResult)
    judged = expected.startswith(INVALID)
    assert (name, judged) == (raised.value.tool, raised.value.verdict is not None)


async def test_the_protocol_version_decides(checking: Checking) -> None:
    """Structured content may be other than an object since 2026-07-28."""
    listed = ("list", {**NONE, "structuredContent": [1]})
    await checking(Tools(LIST), listed, version="2026-07-28")
    with pytest.raises(InvalidToolResult, match="expected an object, found an array"):
        await checking(Tools(LIST), listed, version="2025-11-25")


async def test_a_tool_that_is_not_listed_is_told_of(
    checking: Checking, caplog: pytest.LogCaptureFixture
) -> None:
    """It cannot be checked; the list is asked for each time."""
    tools = Tools(TIDES)
    with caplog.at_level(logging.WARNING, logger="sidecheck.tool_results"):
        await checking(tools, ("get_forecast", WRONG), ("get_forecast", WRONG))
    told = "Tool get_forecast not listed by server, cannot validate any structured content"
    assert ([told, told], [None, None]) == (caplog.messages, tools.asked)


async def test_the_list_is_asked_for_once(checking: Checking) -> None:
    """All of its pages, when a tool is not known."""
    tools = Tools(TIDES, LIST, FORECAST)
    await checking(tools, ("get_forecast", GOOD), ("get_tides", NONE), ("get_forecast", GOOD))
    assert [None, "1", "2"] == tools.asked


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"skip": {"get_forecast"}}, id="by name"),
        pytest.param({"skip": lambda name: name.startswith("get_")}, id="by what says so"),
        pytest.param({"validate": False}, id="for one call"),
    ],
)
async def test_checking_can_be_switched_off(checking: Checking, settings: dict[str, Any]) -> None:
    """Then nobody is asked for anything."""
    tools = Tools(FORECAST)
    await checking(tools, ("get_forecast", WRONG), **settings)
    assert [] == tools.asked


async def test_others_are_checked_where_one_is_skipped(checking: Checking) -> None:
    """The switch is for the tool named."""
    with pytest.raises(InvalidToolResult):
        await checking(Tools(FORECAST), ("get_forecast", WRONG), skip={"get_tides"})


@pytest.mark.parametrize(
    "listing",
    [
        pytest.param({"tools": [FORECAST], "nextCursor": None}, id="decoded JSON"),
        pytest.param([FORECAST], id="a list of tools"),
        pytest.param({"tools": [{"name": 5}, {}, FORECAST]}, id="beside broken tools"),
        pytest.param(
            mcp_types.ListToolsResult.model_validate({"tools": [FORECAST]}, by_name=False),
            id="an object of the SDK",
        ),
    ],
)
async def test_lists_come_in_many_forms(listing: Any) -> None:
    """As a server says it, or as an SDK has it."""

    async def list_tools(cursor: str | None) -> Any:
        return listing

    fake = FakeValidator(invalid())
    with pytest.raises(InvalidToolResult):
        await ResultChecker(fake, list_tools).check("get_forecast", GOOD)
    (call,) = fake.calls
    assert (Schema(FORECAST["outputSchema"]), StructuredContent({"celsius": 12.5})) == (
        call.target,
        call.subject,
    )


async def test_a_list_without_end_ends() -> None:
    """A server that sends its cursors in a circle holds nobody up."""
    asked: list[str | None] = []

    async def list_tools(cursor: str | None) -> Any:
        asked.append(cursor)
        return {"tools": [], "nextCursor": "b" if cursor == "a" else "a"}

    await ResultChecker(FakeValidator(), list_tools).check("get_forecast", GOOD)
    assert [None, "a", "b"] == asked


async def test_tools_can_be_learned_and_forgotten() -> None:
    """From lists that were read for another reason, and when a list has changed."""
    tools = Tools(TIDES)
    fake = FakeValidator()
    checker = ResultChecker(fake, tools.awaited)
    checker.learn({"tools": [FORECAST]})
    await checker.check("get_forecast", GOOD)
    assert ([], 1) == (tools.asked, len(fake.calls))
    checker.forget()
    await checker.check("get_forecast", GOOD)
    assert ([None], 1) == (tools.asked, len(fake.calls))


async def test_who_misses_at_one_time_asks_once() -> None:
    """In tasks and in threads."""
    tools = Tools(FORECAST)
    checker = ResultChecker(FakeValidator(), tools.awaited)
    await asyncio.gather(*(checker.check("get_forecast", GOOD) for _ in range(20)))
    blocking_tools = Tools(FORECAST)

    def slowly(cursor: str | None) -> Any:
        time.sleep(0.1)  # Meanwhile the others come to miss the tool too.
        return blocking_tools.page(cursor)

    blocking = BlockingResultChecker(BlockingFakeValidator(), slowly)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: blocking.check("get_forecast", GOOD), range(8)))
    assert ([None], [None]) == (tools.asked, blocking_tools.asked)


async def test_other_refusals_are_raised_as_they_are() -> None:
    """Nothing is wrong with the schema, nor with the result."""
    refusal = SidecheckError("LIMIT_EXCEEDED", "too large")
    with pytest.raises(SidecheckError) as raised:
        await ResultChecker(FakeValidator(refusal), Tools(FORECAST).awaited).check(
            "get_forecast", GOOD
        )
    assert refusal is raised.value
