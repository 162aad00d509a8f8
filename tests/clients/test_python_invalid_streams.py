"""Responses that the API does not define, in streams and sessions."""

from typing import Any

import pytest
from sidecheck import StreamClosed
from sidecheck.v1.info_service_pb2 import GetServerInfoRequest
from sidecheck.v1.protocol_service_pb2 import (
    CheckOutcome,
    CheckResult,
    CheckSessionRequest,
    CheckSessionResponse,
)
from sidecheck.v1.validation_service_pb2 import (
    ValidateOutcome,
    ValidateStreamRequest,
    ValidateStreamResponse,
)
from sidecheck.v1.verdict_pb2 import Verdict
from support.clients import CLIENT_KINDS, connect
from support.raw_servers import Responder, serving_messages
from support.scripted_calls import smallest_response
from support.stream_readers import collect, items, read

INFO = smallest_response(GetServerInfoRequest()).SerializeToString()
VALID = ValidateOutcome(verdict=Verdict(valid=True))
CHECKED = CheckOutcome(result=CheckResult(verdict=Verdict(valid=True)))


def respond_once(request_class: Any, id_: str, response: bytes | None) -> Responder:
    """Return what answers the item *id_* with *response*, or ends the call for None."""

    async def respond(path: str, data: bytes, context: Any) -> list[bytes] | None:
        if path.endswith("/GetServerInfo"):
            return [INFO]
        if request_class.FromString(data).item.id != id_:
            return []
        return None if response is None else [response]

    return respond


@pytest.mark.parametrize("kind", CLIENT_KINDS)
@pytest.mark.parametrize(
    ("text", "response"),
    [
        pytest.param("ended the stream early", None, id="no message"),
        pytest.param("of 3 bytes, does not decode", b"\xff\xff\xff", id="garbage"),
        pytest.param("neither a result nor an error", b"", id="an empty message"),
        pytest.param("out of order", ValidateStreamResponse(id="7", outcome=VALID), id="other id"),
        pytest.param(
            "neither a result nor an error", ValidateStreamResponse(id="0"), id="no outcome"
        ),
    ],
)
async def test_an_invalid_response_ends_a_stream(kind: str, text: str, response: Any) -> None:
    """The items without a verdict are listed."""
    data = response.SerializeToString() if hasattr(response, "DESCRIPTOR") else response
    async with serving_messages(respond_once(ValidateStreamRequest, "1", data)) as address:
        with pytest.raises(StreamClosed, match=f"INVALID_RESPONSE: .*{text}") as raised:
            await collect(read(kind, address, items(1, 2)), [])
    assert (StreamClosed, ("0", "1")) == (type(raised.value), raised.value.unanswered)


@pytest.mark.parametrize(
    ("text", "response"),
    [
        pytest.param("ended the stream early", None, id="no message"),
        pytest.param("of 3 bytes, does not decode", b"\xff\xff\xff", id="garbage"),
        pytest.param("neither a result nor an error", b"", id="an empty message"),
        pytest.param("out of order", CheckSessionResponse(id="7", outcome=CHECKED), id="other id"),
        pytest.param(
            "CheckResult.verdict is missing",
            CheckSessionResponse(id="1", outcome=CheckOutcome(result=CheckResult())),
            id="no verdict",
        ),
    ],
)
async def test_an_invalid_response_ends_a_session(text: str, response: Any) -> None:
    """The caller that waits for the message gets the error."""
    data = response.SerializeToString() if hasattr(response, "DESCRIPTOR") else response
    async with (
        serving_messages(respond_once(CheckSessionRequest, "1", data)) as address,
        connect("asynchronous", address, timeout=120) as client,
        client.protocol.session() as session,
    ):
        with pytest.raises(StreamClosed, match=f"INVALID_RESPONSE: .*{text}"):
            await session.check(b"{}")
