# Generated from sidecheck/_async by generate_blocking.py. Do not edit.
"""Sessions: the messages of a connection, checked in order with the rules that need state."""

from itertools import count
from typing import Any, Self

from sidecheck._blocking.streams import BlockingStream
from sidecheck._transport.threads import IsolatedStream, Lock
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

__all__ = ["BlockingSession"]


class BlockingSession:
    """One MCP session, with the messages of both sides. Enter it with ``with``.

    Messages are checked in the order of the calls of `check`, also against the rules that
    depend on earlier messages. A session may be shared; cancelling one of its callers does
    not affect the others, and the message is checked all the same. What is true of many
    messages, such as that logging is deprecated, is in the verdict on the first of them;
    `finish` counts the others. Leaving the session cancels what is pending.
    """

    def __init__(self, stream: BlockingStream[SessionMessage, CheckOutcome]) -> None:
        self._stream = stream
        self._messages = IsolatedStream(stream)
        self._read_lock = Lock()
        self._ids = count(1)
        #: Ids of the messages for whose outcomes callers wait.
        self._awaited: set[str] = set()
        #: Outcomes that one caller has read for another, by id.
        self._outcomes: dict[str, CheckOutcome] = {}

    def check(
        self, message: ProtocolJson, *, sender: Sender = "", http_status: int = 0
    ) -> CheckResult:
        """Check the next message of the session.

        Give *sender*: without it, requests of the two sides cannot be told apart.
        *http_status* is that of the HTTP response to the message, if there is one: a message
        of the client that was rejected (400 or more) takes no part in the session.

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
            self._messages.send(id_, item)
            with self._read_lock:
                while (outcome := self._outcomes.pop(id_, None)) is None:
                    self._keep(*self._messages.read())
        finally:
            self._awaited.discard(id_)
            self._outcomes.pop(id_, None)
        if isinstance(outcome, SidecheckError):
            raise outcome
        return outcome

    def finish(self) -> SessionSummary:
        """End the session, and return what several of its messages have in common.

        Raises:
            StreamClosed: The session ended early.
        """
        self._stream.finish()
        with self._read_lock:
            try:
                while True:
                    self._keep(*self._messages.read())
            except StopIteration:
                pass
        if not isinstance(self._stream.summary, SessionSummary):
            raise InvalidResponse("the server sent no summary of the session")
        return self._stream.summary

    def _keep(self, id_: str, outcome: CheckOutcome) -> None:
        if id_ in self._awaited:
            self._outcomes[id_] = outcome

    def __enter__(self) -> Self:
        self._stream.__enter__()
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self._messages.cancel()
        self._stream.__exit__(*exc_info)
