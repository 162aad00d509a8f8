"""Transport for threads: sends, reads and waits in the thread of the caller.

`sidecheck._transport.tasks` has the same interface with ``await``.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from queue import SimpleQueue as Queue
from threading import Lock, Semaphore, Thread
from time import sleep
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

from google.protobuf.message import Message

from sidecheck._transport.thread_calls import Channel, StreamCall
from sidecheck._transport.tokens import Token
from sidecheck.errors import SidecheckError, StreamClosed
from sidecheck.wire.rpcs import Rpc

__all__ = [
    "Channel",
    "Coalescer",
    "Feed",
    "IsolatedStream",
    "ItemSource",
    "Lock",
    "Queue",
    "Semaphore",
    "StreamCall",
    "Token",
    "Transport",
    "TransportStream",
    "sleep",
]

ItemT = TypeVar("ItemT")
SentT_contra = TypeVar("SentT_contra", contravariant=True)
ReadT_co = TypeVar("ReadT_co", covariant=True)
OutcomeT = TypeVar("OutcomeT")

#: Items of a stream with their ids.
ItemSource: TypeAlias = Iterable[tuple[str, ItemT]]


class TransportStream(Protocol):
    """One call of a stream, as `StreamCall`."""

    def write(self, message: Message) -> None: ...
    def finish(self) -> None: ...
    def read(self) -> Any: ...
    def notify(self, callback: Callable[[], None]) -> None: ...
    def failure(self) -> SidecheckError | None: ...
    def cancel(self) -> None: ...


@runtime_checkable
class Transport(Protocol):
    """Carrier of the calls of a client, such as `Channel` for the network."""

    def call(self, request: Message, timeout: float) -> Any: ...
    def stream(self, rpc: Rpc, timeout: float | None) -> TransportStream: ...
    def close(self) -> None: ...


class Sender(Protocol[SentT_contra]):
    """The sending half of a stream."""

    @property
    def error(self) -> StreamClosed | None: ...
    def send(self, id_: str, item: SentT_contra) -> None: ...
    def finish(self) -> None: ...


class Duplex(Sender[SentT_contra], Protocol[SentT_contra, ReadT_co]):
    """A stream of items and outcomes."""

    def __next__(self) -> tuple[str, ReadT_co]: ...


class Coalescer:
    """Not available for threads.

    Without an event loop, each batch would need a thread that owns its timers and hands
    outcomes to the threads that wait.

    Raises:
        ValueError: Always.
    """

    def __init__(self, *_calls: Any) -> None:
        raise ValueError(
            "coalesce is not available in BlockingClient; use Client(..., coalesce=True),"
            " or validate_batch"
        )

    def validate(self, request: Any, timeout: float) -> Any:
        """Never called."""
        raise NotImplementedError

    def close(self) -> None:
        """Never called."""


class Feed:
    """A thread that sends items to a stream and finishes it.

    If *items* raises, the stream is finished nevertheless, because the items sent so far still
    get their outcomes.
    """

    def __init__(self, stream: Sender[ItemT], items: ItemSource[ItemT]) -> None:
        self._done: Future[None] = Future()
        feeding = Thread(target=self._run, args=(stream, items), name="sidecheck-feed", daemon=True)
        feeding.start()

    def result(self) -> None:
        """Wait for the end, and raise the exception of the items, if any."""
        self._done.result()

    def cancel(self) -> None:
        """Return at once: the thread ends when it next has an item to send."""

    def _run(self, stream: Sender[Any], items: ItemSource[Any]) -> None:
        try:
            send_all(stream, items)
        except BaseException as error:  # noqa: BLE001  (`result` raises it)
            self._done.set_exception(error)
        else:
            self._done.set_result(None)


def send_all(stream: Sender[ItemT], items: ItemSource[ItemT]) -> None:
    """Send all *items* to *stream* and finish it."""
    try:
        for id_, item in items:
            stream.send(id_, item)
    except StreamClosed:
        # The reader of this stream gets its error. Any other error is of *items*, which may come
        # from another stream.
        if stream.error is None:
            raise
    finally:
        stream.finish()


class IsolatedStream(Generic[ItemT, OutcomeT]):
    """Sends to and reads from a stream in the thread of the caller."""

    def __init__(self, stream: Duplex[ItemT, OutcomeT]) -> None:
        self._stream = stream

    def send(self, id_: str, item: ItemT) -> None:
        """Send one item."""
        self._stream.send(id_, item)

    def read(self) -> tuple[str, OutcomeT]:
        """Return the next id and outcome. Only one caller may read at a time."""
        return next(self._stream)

    def cancel(self) -> None:
        """Return at once: leaving the stream ends all callers."""
