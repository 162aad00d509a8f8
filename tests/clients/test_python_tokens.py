"""Tokens of the Python client, against a server that records the metadata of calls."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from sidecheck import BlockingClient, Client, SidecheckError, Tls, Unavailable
from sidecheck.v1 import info_service_pb2
from support.clients import CLIENT_KINDS, connect

INFO = info_service_pb2.GetServerInfoResponse(version="9.9.9", limits={"message_bytes": 1 << 20})
TOKEN = "sct_" + "t" * 43


class Recorder:
    """A server that accepts one token, and records the header of each call."""

    def __init__(self) -> None:
        self.headers: list[str | None] = []
        self._server = grpc.server(ThreadPoolExecutor(2))
        methods: dict[str, Any] = {
            "sidecheck.v1.InfoService": {
                "GetServerInfo": grpc.unary_unary_rpc_method_handler(self._respond)
            },
            "sidecheck.v1.ValidationService": {
                "ValidateStream": grpc.stream_stream_rpc_method_handler(self._stream)
            },
        }
        self._server.add_generic_rpc_handlers(
            [grpc.method_handlers_generic_handler(*service) for service in methods.items()]
        )
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        self._server.start()

    def _respond(self, _request: bytes, context: Any) -> bytes:
        self._record(context)
        return INFO.SerializeToString()

    def _stream(self, _requests: Any, context: Any) -> Iterator[bytes]:
        self._record(context)
        yield from ()

    def _record(self, context: Any) -> None:
        header = dict(context.invocation_metadata()).get("authorization")
        self.headers.append(header)
        if header != f"Bearer {TOKEN}":
            detail = AnyMessage()
            detail.Pack(ErrorInfo(reason="UNAUTHENTICATED", domain="sidecheck"))
            code = grpc.StatusCode.UNAUTHENTICATED
            status = Status(code=code.value[0], message="unknown", details=[detail])
            trailers = (("grpc-status-details-bin", status.SerializeToString()),)
            context.set_trailing_metadata(trailers)
            context.abort(code, "unknown")

    def stop(self) -> None:
        self._server.stop(None).wait()


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    recorder = Recorder()
    yield recorder
    recorder.stop()


async def test_calls_and_streams_carry_the_token(recorder: Recorder) -> None:
    """It is a bearer token; a stream requests the limits of the server first."""
    address = f"127.0.0.1:{recorder.port}"
    client = Client(address, timeout=120, token=TOKEN)
    async with client, client.stream() as stream:
        await stream.finish()
        assert [] == [outcome async for outcome in stream]

    assert [f"Bearer {TOKEN}"] * 2 == recorder.headers


def test_blocking_calls_and_streams_carry_the_token(recorder: Recorder) -> None:
    """The blocking client has no event loop."""
    client = BlockingClient(f"127.0.0.1:{recorder.port}", timeout=120, token=TOKEN)
    with client, client.stream() as stream:
        stream.finish()
        assert [] == list(stream)

    assert [f"Bearer {TOKEN}"] * 2 == recorder.headers


@pytest.mark.parametrize("kind", CLIENT_KINDS)
async def test_a_function_gives_the_token_of_each_call(recorder: Recorder, kind: str) -> None:
    """A token may be replaced while the client is in use."""
    tokens = iter(["old", TOKEN, "bad token"])
    address = f"127.0.0.1:{recorder.port}"
    async with connect(kind, address, timeout=120, token=lambda: next(tokens)) as client:
        with pytest.raises(SidecheckError, match="UNAUTHENTICATED"):
            await client.info()
        assert "9.9.9" == (await client.info()).version
        with pytest.raises(ValueError, match="visible ASCII"):
            await client.info()

    assert ["Bearer old", f"Bearer {TOKEN}"] == recorder.headers


@pytest.mark.parametrize("kind", CLIENT_KINDS)
async def test_a_wrong_token_is_an_error_that_is_not_retried(recorder: Recorder, kind: str) -> None:
    """It is not Unavailable, so the policy does not admit payloads."""
    address = f"127.0.0.1:{recorder.port}"
    async with connect(kind, address, timeout=120, on_unavailable="allow") as client:
        with pytest.raises(SidecheckError) as raised:
            await client.info()

    assert "UNAUTHENTICATED" == raised.value.reason
    assert not isinstance(raised.value, Unavailable)
    assert [None] == recorder.headers


@pytest.mark.parametrize("kind", CLIENT_KINDS)
@pytest.mark.parametrize(
    ("address", "tls", "allowed"),
    [
        ("127.0.0.1:1", None, True),
        ("127.8.8.8:1", None, True),
        ("[::1]:1", None, True),
        ("localhost:1", None, True),
        ("dns:///localhost:1", None, True),
        ("unix:/run/sidecheck.sock", None, True),
        ("sidecheck:1", Tls(), True),
        ("sidecheck:1", None, False),
        ("dns:///sidecheck:1", None, False),
        ("localhost.example:1", None, False),
        ("192.0.2.1:1", None, False),
        ("[2001:db8::1]:1", None, False),
        ("0.0.0.0:1", None, False),
    ],
)
async def test_a_token_needs_tls_beyond_this_machine(
    kind: str, address: str, tls: Tls | None, *, allowed: bool
) -> None:
    """An option permits plain text."""
    if not allowed:
        with pytest.raises(ValueError, match="in plain text") as raised:
            connect(kind, address, tls=tls, token=TOKEN)
        assert TOKEN not in str(raised.value)
    client = connect(kind, address, tls=tls, token=TOKEN, token_without_tls=not allowed)
    await client.close()


@pytest.mark.parametrize("token", ["", "a b", "a\n", "é", TOKEN + " "])
def test_a_malformed_token_is_rejected_without_its_text(token: str) -> None:
    """A line break at the end of a file is the usual case."""
    with pytest.raises(ValueError, match="visible ASCII") as raised:
        Client("localhost:1", token=token)

    assert not token.strip() or token.strip() not in str(raised.value).split()


async def test_a_token_of_another_type_is_rejected() -> None:
    """The error is that of other arguments."""
    token: Any = b"sct_"

    with pytest.raises(TypeError, match="not bytes"):
        Client("localhost:1", token=token)


async def test_a_token_is_in_no_repr() -> None:
    """The client, its connection, its transport and their attributes are tested."""
    async with Client("localhost:1", token=TOKEN) as client:
        connection = vars(client)["_connection"]
        transport = next(
            part for part in vars(connection).values() if type(part).__name__ == "Channel"
        )

        for part in (client, connection, transport):
            assert TOKEN not in repr(part)
            assert TOKEN not in repr(vars(part))
