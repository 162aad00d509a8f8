"""Runs sessions with an MCP client, and writes what the client's caller gets.

Standard input is a JSON array of sessions: `server`, either `command`, `args` and `env`, or `url`,
and `steps`, each an operation with its arguments. Standard output is a JSON array with the
outcomes of each session's steps. The module needs only the standard library, because each client
runs in an environment of its own.
"""

import asyncio
import dataclasses
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

__all__ = ["SECONDS", "Connect", "Operations", "main"]

SECONDS = 300
"""For a response that never comes."""

#: The operations of a client by name. One that is absent is not offered by the client.
Operations = Mapping[str, Callable[..., Awaitable[Any]]]
Connect = Callable[[dict[str, Any]], AbstractAsyncContextManager[Operations]]


def as_json(value: Any) -> Any:
    """Return *value*, an object of the client, as JSON."""
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json", by_alias=True)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [as_json(item) for item in value]
    return value if isinstance(value, bool | int | float | None) else str(value)


def raised(failure: BaseException) -> dict[str, str]:
    """Return what a caller sees of *failure*; of a group, of its first exception."""
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return {"raised": type(failure).__name__, "text": str(failure)}


async def run_session(connect: Connect, session: dict[str, Any]) -> list[Any]:
    """Return the outcomes of the steps of *session*."""
    outcomes: list[Any] = []
    try:
        async with connect(session["server"]) as operations:
            for name, *arguments in session["steps"]:
                if name not in operations:
                    outcomes.append("not offered")
                    continue
                try:
                    outcomes.append(as_json(await operations[name](*arguments)))
                except Exception as failure:  # noqa: BLE001 - whatever the client raises
                    outcomes.append(raised(failure))
    except Exception as failure:  # noqa: BLE001 - as above
        outcomes.append({"session": raised(failure)})
    return outcomes


async def run_sessions(connect: Connect) -> None:
    """Run the sessions of standard input, one after the other."""
    documents = [await run_session(connect, session) for session in json.load(sys.stdin)]
    print(json.dumps(documents))


def main(connect: Connect) -> None:
    """Run the sessions of standard input with the client of *connect*."""
    asyncio.run(run_sessions(connect))
