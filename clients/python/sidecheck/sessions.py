"""Sessions: the messages of two peers are checked as they come, also by what was said before."""

import asyncio
import threading
from itertools import count
from typing import Any, Self

from sidecheck.checks import ProtocolJson, ProtocolMessage, Sender
from sidecheck.errors import SidecheckError
from sidecheck.findings import CheckOutcome, CheckResult
from sidecheck.streams import Answered, BlockingStream, Stream
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


def said(outcome: CheckOutcome) -> CheckResult:
    """Return the answer.

    Raises:
        Refused: It is none.
    """
    if isinstance(outcome, SidecheckError):
        raise outcome
    return outcome


class Session:
    """One session of the protocol, both directions of it; entered once, with ``async with``.

    Messages are checked in the order in which `check` was called, also by the rules
    that need memory. Any number of tasks may share the session. To cancel one of them
    costs the others nothing, and its message is checked all the same. Leaving the
    session cancels what is under way.
    """

    def __init__(self, stream: Stream[ProtocolMessage, CheckOutcome]) -> None:
        self._stream = stream
        self._arrivals = Arrivals()
        self._turn = asyncio.Lock()
        self._sending: set[asyncio.Task[None]] = set()
        self._reading: asyncio.Task[Answered[CheckOutcome]] | None = None

    async def check(self, message: ProtocolJson, *, sender: Sender = "") -> CheckResult:
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
        id_ = self._arrivals.expect()
        try:
            await self._send(id_, item)
            async with self._turn:
                while (outcome := self._arrivals.take(id_)) is None:
                    self._arrivals.keep(*await self._read())
        finally:
            self._arrivals.forget(id_)
        return said(outcome)

    # To cancel a task that writes to a stream of gRPC, or reads from it, is to cancel the
    # stream. So tasks of the session's own do both, and those of the caller wait for them.

    async def _send(self, id_: str, item: ProtocolMessage) -> None:
        sending = asyncio.create_task(self._stream.send(id_, item))
        self._sending.add(sending)
        sending.add_done_callback(self._sent)
        await asyncio.shield(sending)

    def _sent(self, sending: "asyncio.Task[None]") -> None:
        self._sending.discard(sending)
        # What ended the session is told to whoever reads, also if nobody waits here.
        _ = sending.cancelled() or sending.exception()

    async def _read(self) -> Answered[CheckOutcome]:
        reading = self._reading or asyncio.create_task(self._stream.__anext__())
        self._reading = reading
        try:
            answer = await asyncio.shield(reading)
        except SidecheckError:
            self._reading = None
            raise
        # Not so for who was cancelled: the next one takes what was read.
        self._reading = None
        return answer

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *exc_info: Any) -> None:
        under_way = [*self._sending, *([self._reading] if self._reading else [])]
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
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

    def check(self, message: ProtocolJson, *, sender: Sender = "") -> CheckResult:
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
