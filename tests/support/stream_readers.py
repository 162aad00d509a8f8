"""Takes the answers of a stream with either face of the Python client."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing, closing
from typing import Any

from sidecheck import Arguments, BlockingClient, Client, Item, SidecheckError
from sidecheck.streams import Answer

__all__ = ["collect", "items", "take", "told"]


def items(*payloads: Any) -> list[tuple[str, Item]]:
    """Return an item for each payload, called by its position."""
    return [(str(at), Item(Arguments(payload))) for at, payload in enumerate(payloads)]


def told(answers: Iterable[Answer]) -> list[tuple[str, object]]:
    """Return what was answered: valid or not, or the reason of a refusal."""
    return [
        (id_, outcome.reason if isinstance(outcome, SidecheckError) else outcome.valid)
        for id_, outcome in answers
    ]


async def collect(answers: AsyncIterator[Answer], into: list[Answer]) -> None:
    """Put the answers *into* a list that keeps them if the stream ends early."""
    async for answer in answers:
        into.append(answer)  # noqa: PERF401  (extend would lose them)


async def take(
    face: str, address: str, given: Iterable[tuple[str, Item]], **settings: Any
) -> AsyncGenerator[Answer, None]:
    """Yield the answers to the items *given*; a blocking client waits in a thread."""
    if face == "blocking":
        with (
            BlockingClient(address, timeout=120) as client,
            closing(client.validate_stream(given, **settings)) as answers,
        ):
            while (answer := await asyncio.to_thread(next, answers, None)) is not None:
                yield answer
    else:
        async with (
            Client(address, timeout=120) as aio,
            aclosing(aio.validate_stream(given, **settings)) as coming,
        ):
            async for answer in coming:
                yield answer
