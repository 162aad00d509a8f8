"""Reads the outcomes of streams with either kind of client."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing, closing
from typing import Any

from sidecheck import Arguments, BlockingClient, Client, Item, SidecheckError, StreamOutcome

__all__ = ["collect", "items", "read", "summarize"]


def items(*payloads: Any) -> list[tuple[str, Item]]:
    """Return an item for each payload, with its index as the id."""
    return [(str(index), Item(Arguments(payload))) for index, payload in enumerate(payloads)]


def summarize(outcomes: Iterable[StreamOutcome]) -> list[tuple[str, object]]:
    """Return the validity, or the reason of the error, with each id."""
    return [
        (id_, outcome.reason if isinstance(outcome, SidecheckError) else outcome.valid)
        for id_, outcome in outcomes
    ]


async def collect(outcomes: AsyncIterator[StreamOutcome], into: list[StreamOutcome]) -> None:
    """Append the outcomes to the list *into*, which has them if the stream fails."""
    async for outcome in outcomes:
        into.append(outcome)  # noqa: PERF401  (extend would lose them)


async def read(
    kind: str, address: str, pairs: Iterable[tuple[str, Item]], **settings: Any
) -> AsyncGenerator[StreamOutcome, None]:
    """Yield the outcomes of ids and items; a blocking client waits in a thread."""
    if kind == "blocking":
        with (
            BlockingClient(address, timeout=120) as blocking,
            closing(blocking.validate_stream(pairs, **settings)) as outcomes,
        ):
            while (outcome := await asyncio.to_thread(next, outcomes, None)) is not None:
                yield outcome
    else:
        async with (
            Client(address, timeout=120) as client,
            aclosing(client.validate_stream(pairs, **settings)) as stream,
        ):
            async for outcome in stream:
                yield outcome
