"""Parts of exchanges beyond the bytes that the server may hold of large requests."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import grpc
import pytest
from sidecheck_server.gateways.generated.external_processor_pb2 import ProcessingRequest
from support.ext_proc_exchange import Exchange, headers, part, request_body, response_body
from support.gateway import ENFORCE, ext_proc_settings
from support.running import RunningServer

#: Half of the smallest budget is the share of a connection.
CAPACITY = 1 << 20
LARGE = b"x" * 300_000
ERROR = (
    b'{"jsonrpc":"2.0","id":%d,"error":{"code":-32603,"message":"not validated by Sidecheck: '
    b'OVERLOADED; try again later"}}'
)
UNANSWERED = (
    b'data: {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the server does not '
    b'respond"}}\n\n'
)


def response_headers(kind: str) -> ProcessingRequest:
    return part("response_headers", (":status", "200"), ("content-type", kind))


POST = headers("request_headers", _method="POST")
GET = headers("request_headers", _method="GET")
EVENTS, JSON = response_headers("text/event-stream"), response_headers("application/json")


def ping(id_: int, padding: bytes = b"") -> bytes:
    return b'{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"a":"%s"}}' % (id_, padding)


def pong(padding: bytes = b"") -> bytes:
    return b'{"jsonrpc":"2.0","id":1,"result":{"a":"%s"}}' % padding


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    settings = ext_proc_settings()
    settings["SIDECHECK_TRANSPORT__BYTES_IN_FLIGHT"] = str(CAPACITY)
    running = RunningServer(tmp_path_factory.mktemp("held"), **settings)
    yield running
    running.close()


@contextmanager
def exchanges(
    server: RunningServer, policies: dict[str, str]
) -> Iterator[tuple[Exchange, Exchange]]:
    """Yield two exchanges of one connection."""
    metadata = [("sidecheck-server", "held")]
    metadata += [(f"sidecheck-{name}", policy) for name, policy in policies.items()]
    with (
        grpc.insecure_channel(server.address, [("grpc.use_local_subchannel_pool", 1)]) as channel,
        closing(Exchange(channel, metadata)) as first,
        closing(Exchange(channel, metadata)) as second,
    ):
        yield first, second


#: What one exchange keeps: an event that has not ended, the body of a request, its headers.
KEPT = {
    "an event": [GET, EVENTS, response_body(b"data: " + LARGE)],
    "an event in small parts": [GET, EVENTS, *[response_body(LARGE[:15_000])] * 20],
    "a request": [POST, request_body(ping(1, LARGE))],
    "headers": [headers("request_headers", _method="GET", x=LARGE.decode())],
}

#: The parts of another, and what comes of the last: the status and the body.
SHED: dict[str, tuple[list[ProcessingRequest], int, bytes]] = {
    "headers": ([headers("request_headers", _method="POST", x=LARGE.decode())], 503, b""),
    "a request": ([POST, request_body(ping(7, LARGE))], 503, ERROR % 7),
    "a batch": (
        [POST, request_body(b"[%s,%s]" % (ping(7, LARGE), ping(8)))],
        503,
        b"[%s,%s]" % (ERROR % 7, ERROR % 8),
    ),
    "a notification": (
        [POST, request_body(b'{"jsonrpc":"2.0","method":"%s"}' % LARGE)],
        503,
        b"",
    ),
    "a response": ([POST, request_body(ping(1)), JSON, response_body(pong(LARGE))], 503, ERROR % 1),
    "events": (
        [POST, request_body(ping(1)), EVENTS, response_body(b"data: " + LARGE)],
        0,
        UNANSWERED,
    ),
}


@pytest.mark.parametrize("event", KEPT)
def test_buffered_bytes_count_until_the_exchange_ends(server: RunningServer, event: str) -> None:
    """Meanwhile a large request of another exchange does not fit; small ones do."""
    with exchanges(server, ENFORCE) as (first, second):
        first.send(*KEPT[event])
        small = second.send(POST, request_body(ping(1)))
        with exchanges(server, ENFORCE) as (elsewhere, _):
            apart = elsewhere.send(POST, request_body(ping(1, LARGE)))
    with exchanges(server, ENFORCE) as (first, second):
        again = second.send(POST, request_body(ping(1, LARGE)))

    assert ["request_body"] * 3 == [
        response.WhichOneof("response") for response in (small, apart, again)
    ]


@pytest.mark.parametrize("event", KEPT)
@pytest.mark.parametrize("shed", SHED)
def test_the_bytes_limit_under_enforcement(server: RunningServer, event: str, shed: str) -> None:
    """Each request has an error, and no unread bytes pass."""
    parts, status, body = SHED[shed]
    with exchanges(server, ENFORCE) as (first, second):
        first.send(*KEPT[event])
        answer = second.send(*parts)

    metadata: Any = answer.dynamic_metadata["sidecheck"]
    assert ("rejected", "OVERLOADED") == (metadata["verdict"], metadata["code"])
    if status:
        assert status == answer.immediate_response.status.code
        assert body == answer.immediate_response.body
    else:
        assert body == answer.response_body.response.body_mutation.body


@pytest.mark.parametrize("shed", SHED)
def test_the_bytes_limit_in_audit(server: RunningServer, shed: str) -> None:
    """The part and the rest pass unchanged, and the log says that they were not validated."""
    parts, _, _ = SHED[shed]
    with exchanges(server, {}) as (first, second):
        first.send(*KEPT["an event"])
        answer = second.send(*parts)
        rest = second.send(response_body(b"data: 1\n\n"))

    metadata: Any = answer.dynamic_metadata["sidecheck"]
    assert ("unvalidated", "OVERLOADED") == (metadata["verdict"], metadata["code"])
    part: Any = getattr(answer, str(answer.WhichOneof("response")))
    assert not part.response.HasField("body_mutation")
    assert not rest.response_body.response.HasField("body_mutation")
    assert "immediate_response" != answer.WhichOneof("response")


def test_buffered_events_pass_in_audit(server: RunningServer) -> None:
    """They pass with the part beyond the limit."""
    with exchanges(server, {}) as (first, second):
        second.send(GET, EVENTS, response_body(b"data: 1"))
        first.send(*KEPT["an event"])
        answer = second.send(response_body(LARGE))

    assert b"data: 1" + LARGE == answer.response_body.response.body_mutation.body
