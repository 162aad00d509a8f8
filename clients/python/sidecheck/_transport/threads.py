"""Transport for threads that wait, on `grpc`.

`sidecheck._transport.tasks` has the same interface with ``await``.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue as Queue
from threading import Lock, Semaphore, Thread
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import grpc
from google.protobuf.message import Message

from sidecheck._transport.channels import channel_options, channel_target
from sidecheck.errors import SidecheckError, StreamClosed
from sidecheck.wire.errors import client_closed, decode_call_error, decode_message
from sidecheck.wire.rpcs import Rpc, find_rpc

__all__ = [
    "Channel",
    "Feed",
    "IsolatedStream",
    "ItemSource",
    "Lock",
    "Queue",
    "Semaphore",
    "StreamCall",
]

ItemT = TypeVar("ItemT")
SentT_contra = TypeVar("SentT_contra", contravariant=True)
ReadT_co = TypeVar("ReadT_co", covariant=True)
OutcomeT = TypeVar("OutcomeT")

#: Items of a stream with their ids.
ItemSource: TypeAlias = Iterable[tuple[str, ItemT]]


class Channel:
    """A channel for any number of threads. It must not be opened before a fork.

    Raises:
        ValueError: *address* is invalid.
    """

    def __init__(self, address: str) -> None:
        target = channel_target(address)
        self._channel = grpc.insecure_channel(target, options=channel_options(target))
        self._closed = False

    def call(self, request: Message, timeout: float) -> Any:
        """Return the response to *request*.

        Raises:
            SidecheckError: The call failed.
        """
        rpc = find_rpc(type(request))
        # Without a deserializer: `decode_message` says what is wrong with a response.
        send = self._channel.unary_unary(rpc.path, rpc.request.SerializeToString)
        with self._usable():
            try:
                response = send(request, timeout=timeout)
            except grpc.RpcError as error:
                raise self.decode_error(error) from None
        return decode_message(response, rpc.response)

    def stream(self, rpc: Rpc, timeout: float | None) -> "StreamCall":
        """Start a stream.

        Raises:
            SidecheckError: The channel is closed.
        """
        start = self._channel.stream_stream(rpc.path, rpc.request.SerializeToString)
        with self._usable():
            return StreamCall(self, rpc, partial(start, timeout=timeout))

    def close(self) -> None:
        """Close the channel; pending calls fail."""
        self._closed = True
        self._channel.close()

    def decode_error(self, error: grpc.RpcError) -> SidecheckError:
        """Return the error of a failed call."""
        if self._closed and error.code() is grpc.StatusCode.CANCELLED:
            return client_closed()
        return decode_call_error(error)

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except ValueError:
            # What gRPC raises for a closed channel; a payload that cannot be encoded is
            # an error before the channel is used.
            if self._closed:
                raise client_closed() from None
            raise


class StreamCall:
    """The call of a stream. A thread of gRPC sends the messages."""

    def __init__(self, channel: Channel, rpc: Rpc, start: Callable[[Iterator[Any]], Any]) -> None:
        self._channel = channel
        self._rpc = rpc
        #: Messages to send; None ends them.
        self._messages: Queue[Message | None] = Queue()
        self._cancelled = False
        self._call = start(iter(self._messages.get, None))

    def write(self, message: Message) -> None:
        """Send *message*. If the call has ended, `read` raises the error."""
        self._messages.put(message)

    def finish(self) -> None:
        """Half-close the call: no more messages follow."""
        self._messages.put(None)

    def read(self) -> Any:
        """Return the next response, None after the last.

        Raises:
            SidecheckError: The call failed or was cancelled.
        """
        try:
            response = next(self._call)
        except StopIteration:
            return None
        except grpc.RpcError as error:
            raise self._decode_error(error) from None
        return decode_message(response, self._rpc.response)

    def notify(self, callback: Callable[[], None]) -> None:
        """Call *callback* when the call ends, in a thread of gRPC."""
        self._call.add_done_callback(lambda _: callback())

    def failure(self) -> SidecheckError | None:
        """Return why the call ended, None if the server ended it without an error."""
        ended_well = self._call.code() is grpc.StatusCode.OK
        return None if ended_well else self._decode_error(self._call)

    def _decode_error(self, error: grpc.RpcError) -> SidecheckError:
        if self._cancelled and error.code() is grpc.StatusCode.CANCELLED:
            return SidecheckError("CANCELLED", "the stream was cancelled")
        return self._channel.decode_error(error)

    def cancel(self) -> None:
        """Cancel the call."""
        self._cancelled = True
        self._call.cancel()
        self._messages.put(None)


class Sender(Protocol[SentT_contra]):
    """The sending half of a stream."""

    @property
    def error(self) -> StreamClosed | None: ...
    def send(self, id_: str, item: SentT_contra) -> None: ...
    def finish(self) -> None: ...


class Duplex(Sender[SentT_contra], Protocol[SentT_contra, ReadT_co]):
    """A stream of items and outcomes."""

    def __next__(self) -> tuple[str, ReadT_co]: ...


class Feed:
    """A thread that sends items to a stream and finishes it.

    If taking an item fails, the stream is finished all the same, because the items sent
    so far still get their outcomes.
    """

    def __init__(self, stream: Sender[ItemT], items: ItemSource[ItemT]) -> None:
        self._done: Future[None] = Future()
        feeding = Thread(target=self._run, args=(stream, items), name="sidecheck-feed", daemon=True)
        feeding.start()

    def result(self) -> None:
        """Wait for the end, and raise what taking the items raised."""
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
        # The reader of this stream gets its error; but *items* may come from a stream too.
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
