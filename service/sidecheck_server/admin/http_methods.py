"""HTTP API: the unary methods of the API, and whole sessions, as JSON over HTTP.

Adapts the method table to HTTP. The path of a method is ``/v1/`` and its name in kebab case.
The limits of calls over gRPC apply.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from http import HTTPMethod, HTTPStatus
from typing import Any, Final

import msgspec
from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from sidecheck_server.admin.access import Access
from sidecheck_server.admin.json_requests import read_request
from sidecheck_server.admin.json_shapes import (
    Form,
    Path,
    Property,
    is_alternative,
    kebab_case,
    shape_of,
    words_of,
)
from sidecheck_server.admin.problems import PROBLEM_TYPE, HttpError, http_error_of, problem_of
from sidecheck_server.admin.whole_sessions import is_session, whole_session_method
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.rpc.admission import Admission
from sidecheck_server.rpc.bytes_in_flight import SMALL
from sidecheck_server.rpc.call_metrics import CallMetrics, MethodMetrics
from sidecheck_server.rpc.handler import failed_call_status
from sidecheck_server.rpc.method_table import Kind, Method, message_of
from sidecheck_server.workers import CALLER

__all__ = [
    "ClientGoneError",
    "Exchange",
    "MethodEndpoint",
    "create_endpoints",
    "path_of",
    "write_response",
]

_encode: Final = msgspec.json.Encoder().encode


def write_response(message: Message) -> bytes:
    """Return the JSON form of *message*, with a line feed at the end."""
    return _encode_object(message) + b"\n"


def _encode_object(message: Message) -> bytes:
    members = []
    for property_ in shape_of(message.DESCRIPTOR).properties.values():
        if property_.form is Form.JSON_TEXT:
            continue
        owner, field = _resolve_path(message, property_.paths[0])
        if field.has_presence and not owner.HasField(field.name):
            if not is_alternative(field):
                members.append(b'"%s":null' % property_.name.encode())
            continue
        value = getattr(owner, field.name)
        members.append(b'"%s":%s' % (property_.name.encode(), _encode_value(property_, value)))
    return b"{%s}" % b",".join(members)


def _resolve_path(message: Any, path: Path) -> tuple[Any, FieldDescriptor]:
    """Return the message that has the last field of *path*, and that field."""
    *parents, field = path
    for parent in parents:
        message = getattr(message, parent.name)
    return message, field


def _encode_value(property_: Property, value: Any) -> bytes:
    if property_.is_repeated:
        return b"[%s]" % b",".join(_encode_element(property_, element) for element in value)
    return _encode_element(property_, value)


def _encode_element(property_: Property, value: Any) -> bytes:
    match property_.form:
        case Form.JSON:
            return value or b"null"
        case Form.OBJECT:
            return _encode_object(value)
        case Form.WORD:
            return _encode(_words_by_number(property_.field.enum_type)[value])
        case Form.PROBLEM:
            return _encode(problem_of(value))
        case _:
            return _encode(value)


@cache
def _words_by_number(enum: EnumDescriptor) -> Mapping[int, str | None]:
    return {0: None, **{number: word for word, number in words_of(enum).items()}}


class ClientGoneError(Exception):
    """The client closed the connection before the response."""


class Exchange:
    """One HTTP request, whose body has at most *max_bytes*, and its response.

    Implements the methods of a gRPC call that `Admission` uses.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send, max_bytes: int) -> None:
        self._receive = receive
        self._send = send
        self._max_bytes = max_bytes
        self._callbacks: list[Callable[[Any], None]] = []
        self.headers: Mapping[str, str] = Headers(scope=scope)
        host, port = scope.get("client") or ("", 0)
        #: Address of the client, in the form of gRPC.
        self.peer = f"ipv6:[{host}]:{port}" if ":" in host else f"ipv4:{host}:{port}"

    def time_remaining(self) -> None:
        """Return None: HTTP has no deadlines."""

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        """Call *callback* when the exchange ends, whether or not a response was sent."""
        self._callbacks.append(callback)

    async def read(self) -> bytes:
        """Return the body of the request.

        Raises:
            RequestError: LIMIT_EXCEEDED as soon as its size exceeds the limit.
            ClientGoneError: the client closed the connection.
        """
        announced = self.headers.get("content-length", "")
        if announced.isdecimal():
            self._check_size(int(announced))
        body = bytearray()
        while True:
            event = await self._receive()
            if event["type"] == "http.disconnect":
                raise ClientGoneError
            body += event.get("body", b"")
            self._check_size(len(body))
            if not event.get("more_body", False):
                return bytes(body)

    async def respond(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """Send a response; return when most of it is written to the network."""
        fields = {**headers, "content-length": str(len(body)), "cache-control": "no-store"}
        encoded = [(name.encode(), value.encode()) for name, value in fields.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": encoded})
        # The second send waits until the write buffer drains.
        await self._send({"type": "http.response.body", "body": body, "more_body": True})
        await self._send({"type": "http.response.body", "body": b""})

    def end(self) -> None:
        """Call the callbacks."""
        for callback in self._callbacks:
            callback(self)

    def _check_size(self, size: int) -> None:
        if size > self._max_bytes:
            raise limit_exceeded_error("message_bytes", self._max_bytes, "the body", size)


_LARGE: Final = 32 << 10
"""Bytes from which reading or writing JSON takes milliseconds, so that a thread does it."""

_ARRIVAL_STATUSES: Final[Mapping[str, HTTPStatus]] = {
    "message_bytes": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "message_seconds": HTTPStatus.REQUEST_TIMEOUT,
}
"""HTTP statuses by limit, for bodies that exceed it while they arrive."""


def create_endpoints(
    methods: Iterable[Method],
    admission: Admission,
    metrics: CallMetrics,
    access: Access,
    limits: Limits,
) -> dict[str, "MethodEndpoint"]:
    """Return endpoints by path, for the unary *methods* and for whole sessions."""
    reading = asyncio.Lock()
    # Decision 0062: one method table serves every transport.
    http_methods = (
        whole_session_method(method, limits) if is_session(method) else method for method in methods
    )
    return {
        path_of(method): MethodEndpoint(
            method, admission, metrics.of(method), access, limits.message_bytes, reading
        )
        for method in http_methods
        if method.kind is Kind.UNARY
    }


def path_of(method: Method) -> str:
    """Return the path of *method*."""
    return f"/v1/{kebab_case(method.name)}"


class _HttpCall:
    """Context of a call over HTTP, which has no deadline."""

    __slots__ = ("metadata", "observe", "observe_error", "peer")

    def __init__(self, exchange: Exchange, metrics: MethodMetrics) -> None:
        self.peer = exchange.peer
        self.metadata = exchange.headers
        self.observe = metrics.observe
        self.observe_error = metrics.observe_error

    def time_remaining(self) -> None:
        """Return None."""


class MethodEndpoint:
    """ASGI application of one method.

    The lock *reading* serializes the parsing of large bodies: an array of small elements
    temporarily takes some thirty times its size in memory.
    """

    def __init__(
        self,
        method: Method,
        admission: Admission,
        metrics: MethodMetrics,
        access: Access,
        message_bytes: int,
        reading: asyncio.Lock,
    ) -> None:
        self.method = method
        self._properties = shape_of(method.request_type.DESCRIPTOR).properties
        self._admission = admission
        self._metrics = metrics
        self._access = access
        self._message_bytes = message_bytes
        self._reading = reading

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        exchange = Exchange(scope, receive, send, self._message_bytes)
        CALLER.set(exchange.peer)
        try:
            if scope["method"] != HTTPMethod.POST:
                reply: bytes | HttpError = HttpError.plain(
                    HTTPStatus.METHOD_NOT_ALLOWED,
                    f"expected the method POST, found {scope['method']}",
                    {"allow": "POST"},
                )
            else:
                reply = await self._respond(exchange)
            if isinstance(reply, HttpError):
                headers = {**reply.headers, "content-type": PROBLEM_TYPE}
                await exchange.respond(reply.status, reply.body, headers)
            else:
                await exchange.respond(HTTPStatus.OK, reply, {"content-type": "application/json"})
        except ClientGoneError:
            pass
        finally:
            exchange.end()

    async def _respond(self, exchange: Exchange) -> bytes | HttpError:
        """Return the body of the response, or the error."""
        try:
            fault = self._access.check(exchange.headers, self.method)
            return fault or await self._call(exchange)
        except ClientGoneError:
            raise
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  (nothing unexpected may reach the client)
            return self._error_of(error)

    async def _call(self, exchange: Exchange) -> bytes | HttpError:
        """Call the method; return its response as JSON, or the error of a broken body.

        Raises:
            CallFailed: the method failed.
            RequestError: the call is not admitted, or its body is not a valid request.
        """
        admission: Any = self._admission
        with admission.gate.admit():
            admission.begin(exchange)
            try:
                try:
                    body = await admission.receive(exchange)
                except RequestError as error:
                    return self._arrival_error(error)
                request = await self._read(body)
                del body
                call = _HttpCall(exchange, self._metrics)
                response = message_of(await self.method.handler(request, call))
            finally:
                admission.end()
            text = await _write(response)
            if len(text) > SMALL:
                await admission.wait_for_room(exchange, len(text))
        return text

    async def _read(self, body: bytes) -> Message:
        request_type = self.method.request_type
        if len(body) < _LARGE:
            return read_request(request_type, body)
        async with self._reading:
            return await asyncio.to_thread(read_request, request_type, body)

    def _arrival_error(self, error: RequestError) -> HttpError:
        """Return the error of an incomplete body, which makes the connection unusable."""
        status = None
        if error.reason is ErrorReason.LIMIT_EXCEEDED:
            status = _ARRIVAL_STATUSES.get(error.metadata["bound"])
        response = self._error_of(error, status)
        return HttpError(
            response.status, response.problem, {**response.headers, "connection": "close"}
        )

    def _error_of(self, error: BaseException, status: HTTPStatus | None = None) -> HttpError:
        """Return the response to a call that failed with *error*; see `failed_call_status`."""
        failure = failed_call_status(
            error, self.method.name, self._metrics.observe_error, self._admission.gate
        )
        return http_error_of(failure, status, self._properties)


async def _write(response: Message) -> bytes:
    if response.ByteSize() < _LARGE:
        return write_response(response)
    return await asyncio.to_thread(write_response, response)
