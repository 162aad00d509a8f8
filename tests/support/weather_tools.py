"""Tools for the tests of the Python client."""

from typing import Any

from sidecheck import Action, Client, RegisteredTool

__all__ = ["ALERTS", "FORECAST", "INPUT", "REGISTERED", "register"]

INPUT = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
OUTPUT = {"type": "object", "required": ["celsius"]}
FORECAST = {"name": "get_forecast", "inputSchema": INPUT}
ALERTS = {"name": "get_alerts", "inputSchema": {"type": "object"}, "outputSchema": OUTPUT}

#: The registered forecast tool.
REGISTERED = RegisteredTool("weather", "get_forecast")


async def register(client: Client, *definitions: dict[str, Any], **settings: Any) -> list[Action]:
    """Register the definitions for the server "weather" and return the actions."""
    registration = await client.register("weather", definitions, on_rejected="return", **settings)
    return [outcome.action for outcome in registration.outcomes]
