"""State of a stream, without I/O: pending items, and conversion of its messages."""

import threading
from collections import deque
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeAlias, TypeVar

from google.protobuf.message import Message

from sidecheck.errors import (
    InvalidResponse,
    SidecheckError,
    StreamClosed,
    StreamUnavailable,
    Unavailable,
)
from sidecheck.protocol import CheckResult, SessionMessage
from sidecheck.validation import Item, ValidateOutcome, fill_item_version
from sidecheck.values.info import Limits
from sidecheck.values.verdict import Verdict
from sidecheck.wire import protocol, validation
from sidecheck.wire.errors import not_encodable, too_large

__all__ = [
    "OUTSTANDING",
    "SESSION",
    "PendingItems",
    "StreamCodec",
    "StreamKind",
    "StreamOutcome",
    "validation_kind",
]

ItemT = TypeVar("ItemT")
OutcomeT = TypeVar("OutcomeT")

#: The id of an item, and the verdict on it or its error.
StreamOutcome: TypeAlias = tuple[str, ValidateOutcome]

#: Default maximum of items whose outcomes have not been read.
OUTSTANDING: Final = 64

ENDED_EARLY: Final = InvalidResponse("the server ended the stream early")
OUT_OF_ORDER: Final = InvalidResponse("the server responded out of order")
STREAM_LEFT: Final = SidecheckError("CANCELLED", "the stream was left")


class PendingItems(Generic[OutcomeT]):
    """The ids of the items of a stream without an outcome, in order.

    Raises:
        ValueError: *outstanding* is not positive.
    """

    def __init__(self, outstanding: int) -> None:
        if outstanding < 1:
            raise ValueError(f"outstanding must be positive, not {outstanding}")
        self._pending: deque[str] = deque()
        # Ensures that an id is either listed in the error, or not admitted after it.
        self._state_lock = threading.Lock()
        self._entered = self._finished = False
        self._error: StreamClosed | None = None

    @property
    def error(self) -> StreamClosed | None:
        """The error that ended the stream early, if any."""
        return self._error

    def _admit(self, id_: str) -> None:
        if not isinstance(id_, str):
            raise TypeError(f"the id of an item must be a str, not {type(id_).__name__}")
        with self._state_lock:
            self._raise_for_error()
            if self._finished:
                raise ValueError("the stream is finished and accepts no more items")
            self._pending.append(id_)

    def _raise_for_error(self) -> None:
        if not self._entered:
            raise RuntimeError("the stream is not open; enter it using with first")
        if self._error is not None:
            # A copy, because raising an exception adds to its traceback.
            raise copy(self._error)

    def _match_response(self, response: tuple[str, OutcomeT] | None) -> tuple[str, OutcomeT] | None:
        """Take the item of *response* from those pending; return None at the end of the stream."""
        if response is None:
            if self._finished and not self._pending:
                return None
            raise self._fail(ENDED_EARLY)
        id_, outcome = response
        # Outcomes come in order; the id is "" if the server could not read it.
        if not self._pending or id_ not in {"", self._pending[0]}:
            raise self._fail(OUT_OF_ORDER)
        return self._pending.popleft(), outcome

    def _fail(self, error: SidecheckError) -> StreamClosed:
        """Store and return the error that the stream raises because of *error*."""
        with self._state_lock:
            self._error = self._close_error(error)
        return copy(self._error)

    def _close_error(self, error: SidecheckError) -> StreamClosed:
        """Return the `StreamClosed` for *error*, with all items pending."""
        kind = StreamUnavailable if isinstance(error, Unavailable) else StreamClosed
        return kind(
            error.reason,
            error.message,
            error.metadata,
            error.status,
            self._pending,
            error.retry_after,
        )


@dataclass(frozen=True, slots=True)
class StreamKind(Generic[ItemT, OutcomeT]):
    """A kind of stream, with the functions that translate its items and responses."""

    #: Returns the message for an id and an item, or for an id alone.
    encode: Callable[[str, ItemT | None], Message]
    #: Returns the id and the outcome in a response.
    decode: Callable[[Any], tuple[str, OutcomeT | SidecheckError]]
    #: Returns the summary of the stream in a response, or None for a response to an item.
    decode_summary: Callable[[Any], object] = lambda _response: None


def validation_kind(protocol_version: str) -> StreamKind[Item, Verdict]:
    """Return the kind of streams of payloads to validate.

    *protocol_version* applies to items whose options name none.
    """

    def encode(id_: str, item: Item | None) -> Message:
        if item is not None:
            item = fill_item_version(item, protocol_version)
        return validation.encode_stream_item(id_, item)

    return StreamKind(encode, validation.decode_stream_response)


#: Streams of the messages of a session.
SESSION: Final[StreamKind[SessionMessage, CheckResult]] = StreamKind(
    protocol.encode_session_item,
    protocol.decode_session_response,
    protocol.decode_session_summary,
)


class StreamCodec(Generic[ItemT, OutcomeT]):
    """Translates the items and responses of one stream.

    For an item that cannot be sent, only its id is sent, and the local error replaces the
    outcome in the response. So each item has one response, and responses stay in order.
    """

    def __init__(self, kind: StreamKind[ItemT, OutcomeT], opening: Message, limits: Limits) -> None:
        self._kind = kind
        self._opening = opening
        self._limits = limits
        #: The local error of each pending item, if it has one.
        self._errors: deque[SidecheckError | None] = deque()

    def opening(self) -> Message:
        """Return the first message of the stream.

        Raises:
            SidecheckError: It is larger than the server accepts.
        """
        if self._opening.ByteSize() > self._limits.message_bytes:
            raise too_large(self._opening.ByteSize(), self._limits)
        return self._opening

    def encode(self, id_: str, item: ItemT) -> Message:
        """Return the message for one item."""
        error: SidecheckError | None = None
        try:
            message = self._kind.encode(id_, item)
        except (TypeError, ValueError) as failure:
            message, error = self._kind.encode(id_, None), not_encodable(failure)
        if (size := message.ByteSize()) > self._limits.message_bytes:
            message, error = self._kind.encode(id_, None), too_large(size, self._limits)
        self._errors.append(error)
        return message

    def decode(self, response: Any) -> tuple[str, OutcomeT | SidecheckError]:
        """Return the id of the next item, "" if unreadable, and its outcome."""
        id_, outcome = self._kind.decode(response)
        error = self._errors.popleft() if self._errors else None
        return id_, error or outcome
