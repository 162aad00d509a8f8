"""Registration of functions that are tools with a real server."""

import pytest
from pydantic import BaseModel
from sidecheck import Action, Client, RegisteredTool
from sidecheck.inference import tool, tool_config
from support.clients import CLIENT_KINDS, connect
from support.running import RunningServer
from support.weather_tools import FORECAST


class Report(BaseModel):
    """A weather report."""

    celsius: float


@tool
def read_report(city: str, days: int = 1) -> Report:
    """Read a report."""
    return Report(celsius=len(city) * days)


@tool(name="drop_report", destructive=True)
async def drop(city: str) -> None:
    """Drop a report."""


@pytest.fixture(params=CLIENT_KINDS)
async def client(request: pytest.FixtureRequest, shared_server: RunningServer) -> Client:
    return connect(request.param, shared_server.address, timeout=120)


async def test_functions_are_registered_beside_definitions(client: Client) -> None:
    """Functions may be list items or arguments; their digests are the fingerprints."""
    async with client:
        try:
            mixed = await client.register("functions", [FORECAST, read_report], drop)
            alone = await client.register("functions", read_report, drop)
            assert [Action.CREATED] * 3 == [outcome.action for outcome in mixed.outcomes]
            assert [Action.UNCHANGED] * 2 == [outcome.action for outcome in alone.outcomes]
            registered = {item.name: item async for item in client.list("functions")}
            assert {
                "read_report": tool_config(read_report).fingerprint,
                "drop_report": tool_config(drop).fingerprint,
            } == {
                name: item.definition_digest
                for name, item in registered.items()
                if name != "get_forecast"
            }
            verdict = await client.validate(
                RegisteredTool("functions", "read_report"), {"city": 5, "week": 1}
            )
            assert ["/city", "/week"] == [
                violation.instance_location for violation in verdict.violations
            ]
        finally:
            await client.delete_all("functions")


async def test_a_function_without_a_tool_is_an_error(client: Client) -> None:
    async with client:
        with pytest.raises(TypeError, match=r"function helper is not a tool"):
            await client.register("functions", [read_report, helper])


def helper() -> None:
    """Return nothing; not a tool."""
