"""Sessions, which check messages in order, with rules that need state."""

from itertools import count
from typing import Any, Self

from sidecheck._async.streams import Stream
from sidecheck._transport.tasks import IsolatedStream, Lock
from sidecheck.errors import InvalidResponse, SidecheckError
from sidecheck.json_texts import protocol_text
from sidecheck.protocol import (
    CheckOutcome,
    CheckResult,
    ProtocolJson,
    ProtocolMessage,
    Sender,
    SessionMessage,
    SessionSummary,
)

__all__ = ["Session"]


class Session:
    """One MCP session, with the messages of both sides. Enter it with ``async with``.

    Messages are checked in the order of the calls of `check`, also against the rules that
    depend on earlier messages. Concurrent callers may share a session; cancelling one of them
    does not affect the others, and its message is checked nevertheless. A violation of many
    messages, such as the use of deprecated logging, is in the verdict on the first of them;
    `finish` returns the counts. Leaving the session cancels pending checks.
    """

    def __init__(self, stream: Stream[SessionMessage, CheckOutcome]) -> None:
        self._stream = stream
        self._messages = IsolatedStream(stream)
        self._read_lock = Lock()
        self._ids = count(1)
        #: Ids of the messages whose callers wait for an outcome.
        self._awaited: set[str] = set()
        #: Outcomes that a caller has read for another caller, by id.
        self._outcomes: dict[str, CheckOutcome] = {}

    async def check(
        self, message: ProtocolJson, *, sender: Sender = "", http_status: int = 0
    ) -> CheckResult:
        """Check the next message of the session.

        Pass *sender*, since without it requests of the two sides cannot be distinguished.
        *http_status* is the status of the HTTP response to the message, or 0. A message of the
        client that was rejected (400 or more) does not change the session.

        Raises:
            SidecheckError: This message could not be checked; the session continues.
            StreamClosed: The session has ended.
            TypeError: *message* is a ``str``; nothing was sent.
            ValueError: *message* contains a value that JSON cannot express; nothing was sent.
        """
        text = protocol_text(message, "message")
        item = SessionMessage(ProtocolMessage(text, sender), http_status)
        id_ = str(next(self._ids))
        self._awaited.add(id_)
        try:
            await self._messages.send(id_, item)
            async with self._read_lock:
                while (outcome := self._outcomes.pop(id_, None)) is None:
                    self._store_outcome(*await self._messages.read())
        finally:
            self._awaited.discard(id_)
            self._outcomes.pop(id_, None)
        if isinstance(outcome, SidecheckError):
            raise outcome
        return outcome

    async def finish(self) -> SessionSummary:
        """End the session, and return the violations that several of its messages have.

        Raises:
            StreamClosed: The session ended early.
        """
        await self._stream.finish()
        async with self._read_lock:
            try:
                while True:
                    self._store_outcome(*await self._messages.read())
            except StopAsyncIteration:
                pass
        if not isinstance(self._stream.summary, SessionSummary):
            raise InvalidResponse("the server sent no summary of the session")
        return self._stream.summary

    def _store_outcome(self, id_: str, outcome: CheckOutcome) -> None:
        if id_ in self._awaited:
            self._outcomes[id_] = outcome

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *exc_info: Any) -> None:
        await self._messages.cancel()
        await self._stream.__aexit__(*exc_info)
