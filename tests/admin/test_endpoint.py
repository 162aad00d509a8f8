"""An endpoint of the HTTP API: admission, arrival of bodies, and unexpected errors."""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sidecheck.v1 import validation_service_pb2
from sidecheck.v1.validation_service_pb2 import ValidateResponse
from sidecheck_server.access.authorizer import Authorizer
from sidecheck_server.access.tokens import TokensFile
from sidecheck_server.admin.access import Access
from sidecheck_server.admin.http_methods import MethodEndpoint
from sidecheck_server.config.transport_limits import TransportLimits
from sidecheck_server.rpc.admission import Admission
from sidecheck_server.rpc.call_metrics import CallMetrics
from sidecheck_server.rpc.calls import Call
from sidecheck_server.rpc.method_table import Method, methods_of
from sidecheck_server.workers import CALLER

_SERVICE = validation_service_pb2.DESCRIPTOR.services_by_name["ValidationService"]
_HEADERS = {"content-type": "application/json", "host": "localhost"}


async def _valid(_request: Any, _call: Call) -> ValidateResponse:
    return ValidateResponse(verdict={"valid": True})


class _Servicer:
    Validate = ValidateBatch = ValidateStream = staticmethod(_valid)


def _method(handler: Callable[[Any, Any], Awaitable[Any]] = _valid) -> Method:
    method = next(iter(methods_of([(_SERVICE, _Servicer())])))
    return replace(method, handler=handler)


class _Client:
    """Sends requests to an endpoint, as a server of ASGI does."""

    def __init__(
        self,
        handler: Callable[[Any, Any], Awaitable[Any]] = _valid,
        limits: TransportLimits | None = None,
        access: Access | None = None,
    ) -> None:
        self.admission = Admission(limits or TransportLimits())
        self.metrics = CallMetrics()
        method = _method(handler)
        self.endpoint = MethodEndpoint(
            method,
            self.admission,
            self.metrics.of(method),
            access or Access("127.0.0.1:0", Authorizer()),
            message_bytes=1 << 20,
            reading=asyncio.Lock(),
        )

    async def post(
        self,
        *events: Mapping[str, Any],
        headers: Mapping[str, str] = _HEADERS,
        peer: tuple[str, int] = ("127.0.0.1", 1),
    ) -> tuple[int, dict[str, str], bytes]:
        """Return the response to a request whose body arrives with *events*, or never."""
        waiting = list(events)
        sent: list[dict[str, Any]] = []

        async def receive() -> Any:
            return waiting.pop(0) if waiting else await asyncio.Event().wait()

        async def send(event: Any) -> None:
            sent.append(event)

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/v1/validate",
            "client": peer,
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
        await self.endpoint(scope, receive, send)
        if not sent:
            return 0, {}, b""
        fields = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return sent[0]["status"], fields, b"".join(event["body"] for event in sent[1:])


def _body(text: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": text, "more_body": more}


async def test_a_body_arrives_in_parts() -> None:
    """The number of parts is arbitrary."""
    status, headers, body = await _Client().post(_body(b"{", more=True), _body(b"}"))

    assert (200, str(len(body))) == (status, headers["content-length"])
    assert json.loads(body)["verdict"]["valid"]


@pytest.mark.parametrize(
    ("peer", "name"),
    [(("127.0.0.1", 7), "ipv4:127.0.0.1:7"), (("::1", 7), "ipv6:[::1]:7")],
)
async def test_a_call_has_its_caller(peer: tuple[str, int], name: str) -> None:
    """Workers divide their time among callers."""
    calls: list[Any] = []

    async def handler(_request: Any, call: Call) -> ValidateResponse:
        calls.append((CALLER.get(), call.peer, call.metadata["host"], call.time_remaining()))
        return ValidateResponse()

    await _Client(handler).post(_body(b"{}"), peer=peer)

    assert [(name, name, "localhost", None)] == calls


async def test_calls_beyond_the_bound_are_shed() -> None:
    """They are shed before their bodies are read, with a retry delay."""
    begun = asyncio.Event()

    async def handler(_request: Any, _call: Call) -> Any:
        begun.set()
        await asyncio.Event().wait()

    client = _Client(handler, limits=TransportLimits(calls=1))
    first = asyncio.create_task(client.post(_body(b"{}")))
    await begun.wait()
    status, headers, body = await client.post()
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)

    assert (429, "1", "OVERLOADED") == (status, headers["retry-after"], json.loads(body)["reason"])
    assert 0 == client.admission.active


async def test_an_incomplete_body_times_out() -> None:
    """The connection is closed."""
    client = _Client(limits=TransportLimits(message_seconds=1))
    client.admission.start()
    status, headers, body = await client.post(_body(b"{", more=True))
    client.admission.stop()

    assert (408, "close") == (status, headers["connection"])
    assert "message_seconds" == json.loads(body)["metadata"]["bound"]


async def test_a_disconnected_client_cancels_its_call() -> None:
    """The call releases its admission."""
    client = _Client()

    assert (0, {}, b"") == await client.post({"type": "http.disconnect"})
    assert 0 == client.admission.active


async def test_large_bodies_count_until_the_response_is_sent() -> None:
    """The bytes count as those of large gRPC messages."""
    samples: list[Mapping[str, int]] = []

    async def handler(_request: Any, _call: Call) -> ValidateResponse:
        samples.append(client.admission.bytes_held)
        return ValidateResponse(verdict={"tool_error_text": "a" * 300_000})

    client = _Client(handler)
    request = b'{"arguments": "' + b"a" * 300_000 + b'"}'
    status, _, body = await client.post(_body(request))

    assert 200 == status
    assert len(body) > 300_000
    assert [{"requests": len(request), "responses": 0}] == samples
    assert {"requests": 0, "responses": 0} == client.admission.bytes_held


async def test_an_unexpected_error_is_an_opaque_problem() -> None:
    """The response has neither the class nor the text of the exception."""

    async def handler(_request: Any, _call: Call) -> Any:
        raise ZeroDivisionError("secret")

    status, _, body = await _Client(handler).post(_body(b"{}"))

    problem = json.loads(body)
    assert (500, "INTERNAL") == (status, problem["reason"])
    assert problem["metadata"]["error_id"] in problem["detail"]
    assert b"secret" not in body
    assert b"ZeroDivision" not in body


async def test_calls_that_outlast_the_grace_period_end_with_an_error() -> None:
    """Clients may retry it elsewhere."""
    begun = asyncio.Event()

    async def handler(_request: Any, _call: Call) -> Any:
        begun.set()
        await asyncio.Event().wait()

    client = _Client(handler)
    call = asyncio.create_task(client.post(_body(b"{}")))
    await begun.wait()
    client.admission.gate.end_calls()
    status, _, body = await call

    assert (503, "SHUTTING_DOWN") == (status, json.loads(body)["reason"])
    await client.admission.gate.drain()


@pytest.mark.parametrize(
    ("authorization", "status", "reason"),
    [
        ({}, 401, "UNAUTHENTICATED"),
        ({"authorization": "Bearer unknown"}, 401, "UNAUTHENTICATED"),
        ({"authorization": "Bearer registers"}, 403, "PERMISSION_DENIED"),
    ],
)
async def test_permission_is_checked_before_the_body_is_read(
    tmp_path: Path, authorization: dict[str, str], status: int, reason: str
) -> None:
    """The token decides, as over gRPC."""
    digest = hashlib.sha256(b"registers").hexdigest()
    file = tmp_path / "tokens.toml"
    file.write_text(f'[[tokens]]\nname = "ci"\nsha256 = "{digest}"\nroles = ["register"]\n')
    tokens = TokensFile(file, print)
    tokens.load()
    client = _Client(access=Access("127.0.0.1:0", Authorizer(tokens)))
    got, _, body = await client.post(headers={**_HEADERS, **authorization})

    assert (status, reason) == (got, json.loads(body)["reason"])
    errors = client.metrics.registry.get_sample_value(
        "sidecheck_errors_total", {"method": "Validate", "reason": reason}
    )
    assert 1 == errors


@pytest.mark.parametrize(
    ("address", "is_open", "status"),
    [
        ("127.0.0.1:1", False, 200),
        ("[::1]:1", False, 200),
        ("localhost:1", False, 200),
        ("0.0.0.0:1", False, 403),
        ("[::]:1", False, 403),
        ("sidecheck.example:1", False, 403),
        ("0.0.0.0:1", True, 200),
    ],
)
async def test_beyond_loopback_methods_need_a_setting(
    address: str, is_open: bool, status: int
) -> None:
    """The setting is admin_open."""
    client = _Client(access=Access(address, Authorizer(), is_open=is_open))

    assert status == (await client.post(_body(b"{}")))[0]
