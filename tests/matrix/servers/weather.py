"""A server of FastMCP, of any of its major versions: over stdio, or on the port that is given."""

import sys
from typing import Any

from fastmcp import Context, FastMCP

server: FastMCP[Any] = FastMCP("weather", version="1.0.0", instructions="Ask by city.")


@server.tool
async def get_forecast(city: str, context: Context, days: int = 1) -> dict[str, Any]:
    """Forecast for a city."""
    await context.info(f"asked for {city}")
    await context.report_progress(1, 1)
    if city == "Atlantis":
        raise ValueError("Atlantis is lost")
    return {"city": city, "celsius": [10 + day for day in range(days)]}


@server.resource("weather://cities")
def cities() -> str:
    """Return the cities with a forecast."""
    return "Oslo\nÅrhus"


@server.resource("weather://cities/{city}")
def city(city: str) -> str:
    """Return the position of a city."""
    return f"{city}: 59.9 N, 10.8 E"


@server.prompt
def ask(city: str) -> str:
    """Ask for the weather in a city."""
    return f"How is the weather in {city}?"


if len(sys.argv) > 1:
    server.run(transport="http", port=int(sys.argv[1]), show_banner=False)
else:
    server.run(show_banner=False)
