"""The MCP servers of the clients' examples, called by a real MCP client over stdio."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp
import pytest
from conformance.languages import LANGUAGES, Language
from mcp.shared.exceptions import MCPError
from support.running import RunningServer
from support.shared_material import REPOSITORY, unavailable

_ATTEMPTS = 10

_NAMES = [name for name, language in LANGUAGES.items() if language.example]


@pytest.fixture(params=_NAMES)
def language(request: pytest.FixtureRequest) -> Language:
    """Return a language whose example is built."""
    language = LANGUAGES[request.param]
    if missing := language.missing_programs():
        unavailable(f"{', '.join(missing)} not on PATH: no {request.param} server is started")
    language.make()
    return language


@asynccontextmanager
async def weather_client(language: Language, address: str) -> AsyncIterator[mcp.Client]:
    """Yield a client of the language's example server."""
    assert language.example is not None
    server = mcp.StdioServerParameters(
        command=language.example[0],
        args=list(language.example[1:]),
        cwd=language.folder,
        env={
            "PATH": os.environ["PATH"],
            "HOME": os.environ.get("HOME", ""),
            "PYTHONPATH": str(REPOSITORY / "clients" / "python"),
            "SIDECHECK_ADDRESS": address,
        },
    )
    async with mcp.Client(server, read_timeout_seconds=300) as client:
        yield client


async def call_forecast(weather: mcp.Client, **arguments: Any) -> Any:
    """Call the tool; again while the deadline of the example, 2 s, is too short for the machine."""
    for _ in range(_ATTEMPTS):
        try:
            return await weather.call_tool("get_forecast", arguments)
        except MCPError as error:
            if "unavailable" not in str(error):
                raise
    return await weather.call_tool("get_forecast", arguments)


async def test_calls_and_results_are_validated(language: Language, server: RunningServer) -> None:
    """Good calls pass; bad arguments, a bad output and an unknown tool do not."""
    async with weather_client(language, server.address) as weather:
        tools = await weather.list_tools()
        good = await call_forecast(weather, city="Oslo", days=2)
        bad = await call_forecast(weather, city="Oslo", days="2")
        misspelt = await call_forecast(weather, town="Oslo")
        stopped = await call_forecast(weather, city="Atlantis")
        with pytest.raises(MCPError) as unknown:
            await weather.call_tool("get_tides", {})

    assert ["get_forecast"] == [tool.name for tool in tools.tools]
    days = [{"day": 1, "celsius": 11}, {"day": 2, "celsius": 12}]
    assert (False, {"city": "Oslo", "days": days}) == (bool(good.is_error), good.structured_content)
    assert bad.is_error
    assert "days: expected an integer" in bad.content[0].text
    assert misspelt.is_error
    assert '"city" is required and missing' in misspelt.content[0].text
    assert stopped.is_error
    assert "Output validation error" in stopped.content[0].text
    assert -32602 == unknown.value.code


async def test_sidecheck_starts_after_the_server(language: Language, tmp_path: Path) -> None:
    """Tools are listed, and a call is an error; it passes as soon as Sidecheck is there."""
    async with weather_client(language, f"unix:{tmp_path}/sidecheck.sock") as weather:
        tools = await weather.list_tools()
        with pytest.raises(MCPError, match=r"UNAVAILABLE|DEADLINE_EXCEEDED") as failed:
            await weather.call_tool("get_forecast", {"city": "Oslo"})
        sidecheck = RunningServer(tmp_path)
        try:
            result = await call_forecast(weather, city="Oslo")
        finally:
            sidecheck.close()

    assert ["get_forecast"] == [tool.name for tool in tools.tools]
    assert -32603 == failed.value.code
    assert {"city": "Oslo", "days": [{"day": 1, "celsius": 11}]} == result.structured_content
