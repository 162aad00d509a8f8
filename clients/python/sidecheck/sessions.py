"""Sessions: the messages of two peers are checked as they come, also by what was said before."""

import asyncio
import threading
from itertools import count
from typing import Any, Self

from sidecheck.checks import ProtocolJson, ProtocolMessage, Sender
from sidecheck.findings import CheckAnswer, CheckOutcome
from sidecheck.refusals import Refused
from sidecheck.streams import BlockingStream, Stream
from sidecheck.wire.protocol_requests import protocol_text

__all__ = ["BlockingSession", "Session"]


class Arrivals:
    """Answers of a stream that more than one caller waits for.

    Whoever reads keeps what came for the others.
    """

    def __init__(self) -> None:
        self._ids = count(1)
        self._awaited: set[str] = set()
        self._arrived: dict[str, CheckOutcome] = {}

    def expect(self) -> str:
        """Return the id of an item whose answer will be waited for."""
        id_ = str(next(self._ids))
        self._awaited.add(id_)
        return id_

    def take(self, id_: str) -> CheckOutcome | None:
        """Return the answer to *id_* if another caller has read it."""
        return self._arrived.pop(id_, None)

    def keep(self, id_: str, outcome: CheckOutcome) -> None:
        """Keep *outcome* for who waits for it, if anybody still does."""
        if id_ in self._awaited:
            self._arrived[id_] = outcome

    def forget(self, id_: str) -> None:
        """Wait for the answer to *id_* no more."""
        self._awaited.discard(id_)
        self._arrived.pop(id_, None)


def said(outcome: CheckOutcome) -> CheckAnswer:
    """Return the answer.

    Raises:
        Refused: It is none.
    """
    if isinstance(outcome, Refused):
        raise outcome
    return outcome


class Session:
    """One session of the protocol, both directions of it; entered once, with ``async with``.

    Messages are checked in the order in which `check` was called, also by the rules
    that need memory. Any number of tasks may share the session. Leaving it cancels
    what is under way, and so does cancelling a task that sends or reads.
    """

    def __init__(self, stream: Stream[ProtocolMessage, CheckOutcome]) -> None:
        self._stream = stream
        self._arrivals = Arrivals()
        self._sending = asyncio.Lock()
        self._reading = asyncio.Lock()

    async def check(self, message: ProtocolJson, *, sender: Sender = "") -> CheckAnswer:
        """Check the next message of the session.

        *sender* should be said: without it, requests of the two sides cannot be told
        apart.

        Raises:
            Refused: This message could not be checked; the session goes on.
            StreamEnded: The session has ended.
            TypeError: *message* holds what JSON cannot express; nothing was sent.
            ValueError: *message* holds NaN, an infinity or a lone surrogate; nothing
                was sent.
        """
        item = ProtocolMessage(protocol_text(message), sender)
        async with self._sending:
            id_ = self._arrivals.expect()
            try:
                await self._stream.send(id_, item)
            except BaseException:
                self._arrivals.forget(id_)
                raise
        try:
            async with self._reading:
                while (outcome := self._arrivals.take(id_)) is None:
                    self._arrivals.keep(*await anext(self._stream))
        finally:
            self._arrivals.forget(id_)
        return said(outcome)

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *exc_info: Any) -> None:
        await self._stream.__aexit__(*exc_info)


class BlockingSession:
    """One session of the protocol, with ``with``; in all else a `Session`.

    Any number of threads may share it.
    """

    def __init__(self, stream: BlockingStream[ProtocolMessage, CheckOutcome]) -> None:
        self._stream = stream
        self._arrivals = Arrivals()
        self._sending = threading.Lock()
        self._reading = threading.Lock()

    def check(self, message: ProtocolJson, *, sender: Sender = "") -> CheckAnswer:
        """Check the next message of the session; see `Session.check`."""
        item = ProtocolMessage(protocol_text(message), sender)
        with self._sending:
            id_ = self._arrivals.expect()
            try:
                self._stream.send(id_, item)
            except BaseException:
                self._arrivals.forget(id_)
                raise
        try:
            with self._reading:
                while (outcome := self._arrivals.take(id_)) is None:
                    self._arrivals.keep(*next(self._stream))
        finally:
            self._arrivals.forget(id_)
        return said(outcome)

    def __enter__(self) -> Self:
        self._stream.__enter__()
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self._stream.__exit__(*exc_info)
