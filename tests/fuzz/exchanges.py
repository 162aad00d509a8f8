"""Exchanges: what is sent in one call, and what comes of it.

Everything is sent and read as bytes, so that what is no message can be sent too, and
what was sent can be written down whole.
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
"""How long a call may take, in seconds; compiling and judging may take 120 each."""

_OPEN_SECONDS = 0.05
"""How long a stream stays open that the caller does not end in order."""

_MOST_RESPONSES = 256


class Ending(StrEnum):
    """How the caller ends a call."""

    #: It says that it has sent all, and reads to the end.
    CLOSED = "closed"
    #: It sends nothing more, does not say so, and cancels after a while.
    HELD = "held"
    #: It cancels at once.
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Exchange:
    """What is sent in one call."""

    serial: int
    path: str
    messages: tuple[bytes, ...]
    ending: Ending = Ending.CLOSED


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call."""

    code: grpc.StatusCode
    details: str
    #: A `google.rpc.Status`, if there was one.
    status: bytes
    responses: tuple[bytes, ...]

    def response(self, path: str) -> Any:
        """Return the first response of the method *path*.

        Without the revision of the registry, which other calls may change meanwhile.
        """
        message: Any = GetMessageClass(rpc_named(path).response).FromString(self.responses[0])
        if "registry_revision" in message.DESCRIPTOR.fields_by_name:
            message.ClearField("registry_revision")
        return message


class Caller:
    """Makes calls of a server."""

    def __init__(self, address: str) -> None:
        self._channel = grpc.insecure_channel(
            address,
            [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)],
        )

    def close(self) -> None:
        """Let the server go."""
        self._channel.close()

    def send(self, exchange: Exchange) -> Outcome:
        """Make the call and return what came of it, at the deadline at the latest."""
        rpc = rpc_named(exchange.path)
        over = threading.Event()
        sent: Any = _sending(exchange, over) if rpc.many_requests else exchange.messages[0]
        kind = f"{_many(rpc.many_requests)}_{_many(rpc.many_responses)}"
        method = getattr(self._channel, kind)(exchange.path, None, None)
        call = method.future(sent, timeout=DEADLINE) if kind == "unary_unary" else None
        call = call or method(sent, timeout=DEADLINE)
        if exchange.ending is Ending.CANCELLED:
            call.cancel()
        # A watcher of health is told of changes, and never let go.
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
    """Write what was sent to a file, a line for each call, its messages in hexadecimal."""
    lines = [
        json.dumps(
            {**asdict(exchange), "messages": [message.hex() for message in exchange.messages]}
        )
        for exchange in exchanges
    ]
    path.write_text("".join(f"{line}\n" for line in lines))


def read_exchanges(path: Path) -> list[Exchange]:
    """Read what `write_exchanges` wrote."""
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
