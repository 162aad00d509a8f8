"""Exchange: the messages of one call and its outcome.

Messages are sent and received as bytes, so that a call may have malformed messages, and a
file may hold the exact messages.
"""

import json
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import grpc
from fuzz.rpcs import rpc_named
from google.protobuf.message_factory import GetMessageClass

__all__ = ["Caller", "Ending", "Exchange", "Outcome", "read_exchanges", "write_exchanges"]

DEADLINE = 300.0
"""Maximum seconds of a call; compilation and evaluation may take 120 each."""

_OPEN_SECONDS = 0.05
"""Seconds until the caller cancels a stream that it does not end."""

_MOST_RESPONSES = 256


class Ending(StrEnum):
    """End of a call by the caller."""

    #: It closes its side, and reads to the end.
    CLOSED = "closed"
    #: It sends no more messages, does not close its side, and cancels after a while.
    HELD = "held"
    #: It cancels at once.
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Exchange:
    """Messages of one call, and its end."""

    serial: int
    path: str
    messages: tuple[bytes, ...]
    ending: Ending = Ending.CLOSED


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a call."""

    code: grpc.StatusCode
    details: str
    #: The serialized `google.rpc.Status`, or empty.
    status: bytes
    responses: tuple[bytes, ...]

    def response(self, path: str) -> Any:
        """Return the first response of the method *path*.

        It lacks the revision of the registry, which concurrent calls may change.
        """
        message: Any = GetMessageClass(rpc_named(path).response).FromString(self.responses[0])
        if "registry_revision" in message.DESCRIPTOR.fields_by_name:
            message.ClearField("registry_revision")
        return message


class Caller:
    """Makes calls to a server."""

    def __init__(self, address: str) -> None:
        self._channel = grpc.insecure_channel(
            address,
            [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)],
        )

    def close(self) -> None:
        """Close the channel."""
        self._channel.close()

    def send(self, exchange: Exchange) -> Outcome:
        """Make the call and return its outcome, at the deadline at the latest."""
        rpc = rpc_named(exchange.path)
        over = threading.Event()
        sent: Any = _sending(exchange, over) if rpc.many_requests else exchange.messages[0]
        kind = f"{_many(rpc.many_requests)}_{_many(rpc.many_responses)}"
        method = getattr(self._channel, kind)(exchange.path, None, None)
        call = method.future(sent, timeout=DEADLINE) if kind == "unary_unary" else None
        call = call or method(sent, timeout=DEADLINE)
        if exchange.ending is Ending.CANCELLED:
            call.cancel()
        # The server never ends a watch of the health.
        endless = rpc.many_responses and not rpc.many_requests
        if exchange.ending is Ending.HELD or endless:
            threading.Timer(_OPEN_SECONDS, call.cancel).start()
        try:
            return _outcome(call, tuple(_read(call, unary=not rpc.many_responses)))
        finally:
            over.set()


def _many(many: bool) -> str:
    return "stream" if many else "unary"


def _sending(exchange: Exchange, over: threading.Event) -> Iterator[bytes]:
    yield from exchange.messages
    if exchange.ending is Ending.HELD:
        over.wait(DEADLINE)


def _read(call: Any, *, unary: bool) -> Iterator[bytes]:
    try:
        if unary:
            yield call.result()
            return
        for count, response in enumerate(call):
            yield response
            if count == _MOST_RESPONSES:
                call.cancel()
    except (grpc.RpcError, grpc.FutureCancelledError):
        return


def _outcome(call: Any, responses: tuple[bytes, ...]) -> Outcome:
    trailers = dict(call.trailing_metadata() or ())
    return Outcome(
        call.code(), call.details() or "", trailers.get("grpc-status-details-bin", b""), responses
    )


def write_exchanges(path: Path, exchanges: list[Exchange]) -> None:
    """Write *exchanges* to a file, a line for each call, with messages in hexadecimal."""
    lines = [
        json.dumps(
            {**asdict(exchange), "messages": [message.hex() for message in exchange.messages]}
        )
        for exchange in exchanges
    ]
    path.write_text("".join(f"{line}\n" for line in lines))


def read_exchanges(path: Path) -> list[Exchange]:
    """Read the exchanges of a file that `write_exchanges` wrote."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    return [
        Exchange(
            record["serial"],
            record["path"],
            tuple(bytes.fromhex(message) for message in record["messages"]),
            Ending(record["ending"]),
        )
        for record in records
    ]
