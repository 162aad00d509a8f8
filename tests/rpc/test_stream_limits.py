"""Streams beyond the limits of a real server."""

from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import grpc
import pytest
from google.rpc.status_pb2 import Status
from sidecheck.v1.protocol_service_pb2 import CheckSessionRequest, SessionItem
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceStub
from sidecheck.v1.validation_service_pb2 import StreamItem, ValidateStreamRequest
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from support.running import RunningServer
from support.wire import info_of


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    """Server that admits three streams, of which one is a session."""
    server = RunningServer(
        tmp_path, SIDECHECK_TRANSPORT__STREAMS="3", SIDECHECK_TRANSPORT__SESSIONS="1"
    )
    yield server
    server.close()


class Stream:
    """A stream of *kind* with one request written.

    Of the blocking API, since that of asyncio may put a status of its own in place of the
    server's if the stream ends while a request is written (grpc/grpc#36066).
    """

    def __init__(self, channel: grpc.Channel, kind: str) -> None:
        self._requests: SimpleQueue[Any] = SimpleQueue()
        self._call: Any
        requests = iter(self._requests.get, None)
        if kind == "sessions":
            self._requests.put(CheckSessionRequest(item=SessionItem()))
            self._call = ProtocolServiceStub(channel).CheckSession(requests)
        else:
            self._requests.put(ValidateStreamRequest(item=StreamItem()))
            self._call = ValidationServiceStub(channel).ValidateStream(requests)

    def outcome(self) -> str:
        """Return "open" if the request has a response, and otherwise the bound of its error."""
        try:
            next(self._call)
        except grpc.RpcError as error:
            self._requests.put(None)
            trailers: dict[str, Any] = dict(error.trailing_metadata())  # type: ignore[arg-type]
            info = info_of(Status.FromString(trailers["grpc-status-details-bin"]))
            return f"{info.reason} {info.metadata['bound']}"
        return "open"

    def end(self) -> None:
        """End the requests, and wait until the server has ended the stream."""
        self._requests.put(None)
        assert not any(response.HasField("outcome") for response in self._call)


def test_streams_beyond_a_limit_are_shed_until_others_end(server: RunningServer) -> None:
    """Sessions have a limit of their own; a stream that is shed takes no place."""
    kinds = ("sessions", "sessions", "streams", "streams", "streams", "streams")
    with grpc.insecure_channel(server.address) as channel:
        opened, outcomes, later = [], [], []
        for kind in kinds:
            opened.append(Stream(channel, kind))
            outcomes.append(opened[-1].outcome())
        opened[0].end()
        opened[2].end()
        for kind in kinds[:4]:
            opened.append(Stream(channel, kind))
            later.append(opened[-1].outcome())
        for index in (3, 6, 8):
            opened[index].end()
    shed = server.wait_for("overload.shed")

    assert [
        "open",
        "OVERLOADED sessions",
        "open",
        "open",
        "OVERLOADED streams",
        "OVERLOADED streams",
    ] == outcomes
    assert ["open", "OVERLOADED sessions", "open", "OVERLOADED streams"] == later
    assert "sessions" in shed["calls"]
