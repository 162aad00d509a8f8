"""Envoy's external processor: validates MCP over HTTP on its way through Envoy.

Each gRPC stream is one HTTP request and its response. Envoy must be configured to send headers,
and bodies as BUFFERED. For server-sent events, ``mode_override`` requests the body in chunks, so
that each event passes as soon as it arrives.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal, TypeAlias

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.gateways.ext_proc_messages import (
    BUFFERED,
    NOT_SENT,
    STREAMED,
    UNCHANGED,
    body_response,
    headers_response,
    immediate_response,
    read_headers,
    read_metadata,
    set_metadata,
    trailers_response,
    unread_response,
)
from sidecheck_server.gateways.generated import external_processor_pb2
from sidecheck_server.gateways.generated.external_processor_pb2 import (
    ProcessingMode,
    ProcessingRequest,
    ProcessingResponse,
)
from sidecheck_server.gateways.outcomes import GatewayFindings
from sidecheck_server.gateways.routes import Routes, record_failure
from sidecheck_server.proxy.checks import NotCheckedError
from sidecheck_server.proxy.http.headers import is_lookalike
from sidecheck_server.proxy.http.messages import BodyKind, HttpMessages, Reply
from sidecheck_server.proxy.http.sse import EventReader, EventTooLongError
from sidecheck_server.proxy.messages import (
    Direction,
    Message,
    error_response,
    has_result,
    join_array,
    read_message,
)
from sidecheck_server.proxy.report import Action, Finding
from sidecheck_server.proxy.rulings.ruling import unvalidated_reason
from sidecheck_server.rpc.admission import Admission, HeldRequests
from sidecheck_server.rpc.calls import Call, CallFailed
from sidecheck_server.rpc.method_table import raise_if_unreadable
from sidecheck_server.rpc.status import status_from_error
from sidecheck_server.rpc.streams import OpenStreams

__all__ = ["EXT_PROC", "ExternalProcessor"]

EXT_PROC = external_processor_pb2.DESCRIPTOR.services_by_name["ExternalProcessor"]

_METADATA = "sidecheck-"
"""Prefix of the metadata of a call that select the route."""

_OK, _ACCEPTED, _FIRST_REDIRECT = 200, 202, 300
_FIRST_ERROR, _BAD_REQUEST, _NOT_ALLOWED, _UNSUPPORTED = 400, 400, 405, 415
_BAD_GATEWAY, _OVERLOADED = 502, 503
_STATUS = re.compile("[1-9][0-9]{2}")

_METHODS = frozenset({"GET", "POST", "DELETE", "HEAD", "OPTIONS"})
"""HTTP methods of Streamable HTTP and of CORS preflight requests."""

_BodyKind: TypeAlias = BodyKind | Literal["error"]
"""Kind of a body. "error": that of a redirection or HTTP error, which must not have a result."""

_MODES: Mapping[_BodyKind, ProcessingMode.BodySendMode] = {
    "error": BUFFERED,
    "message": BUFFERED,
    "events": STREAMED,
    "other": NOT_SENT,
}

_OVERLOAD = unvalidated_reason(NotCheckedError(ErrorReason.OVERLOADED.value, is_unavailable=True))


class ExternalProcessor:
    """Servicer of ExternalProcessor; *max_bytes* is the maximum size of an event."""

    def __init__(
        self,
        routes: Routes,
        findings: GatewayFindings,
        streams: OpenStreams,
        admission: Admission,
        max_bytes: int,
    ) -> None:
        self._routes = routes
        self._findings = findings
        self._streams = streams
        self._admission = admission
        self._max_bytes = max_bytes

    async def Process(  # noqa: N802
        self, requests: AsyncIterator[Any], call: Call
    ) -> AsyncIterator[ProcessingResponse]:
        """Respond to the parts of one exchange, in order."""
        outcome = self._findings.begin()
        held_requests = self._admission.hold_requests()
        exchange = _Exchange(self._routes, self._findings, held_requests, self._max_bytes)
        try:
            with self._streams.admit("gateway_streams"):
                # Decision 0019: when the server stops, the stream ends after the current part.
                async for request in self._streams.until_stopped(requests):
                    raise_if_unreadable(request)
                    response = await exchange.respond(request, call)
                    del request
                    set_metadata(response, outcome.metadata())
                    async with self._admission.room(response.ByteSize()):
                        yield response
                    del response
                    exchange.drop_part()
        except asyncio.CancelledError:
            stop_error = self._streams.gate.cancelled_call_error()
            if stop_error is None:
                raise
            outcome.fail(stop_error)
            raise CallFailed(status_from_error(stop_error)) from None
        except Exception as error:  # noqa: BLE001  (nothing unexpected may reach the gateway)
            raise record_failure(error, "Process", call, outcome) from None
        finally:
            await exchange.release()
            held_requests.resize()
            outcome.finish("ext_proc")


class _Exchange:
    """One HTTP request and its response, in the parts that Envoy sends.

    *held_requests* counts the parts that the exchange keeps, and the current part. A part beyond
    that budget gets an error if a policy enforces; else it passes unread, with all that follow.
    """

    def __init__(
        self, routes: Routes, findings: GatewayFindings, held_requests: HeldRequests, max_bytes: int
    ) -> None:
        self._routes = routes
        self._findings = findings
        self._held_requests = held_requests
        self._max_bytes = max_bytes
        #: Sizes in bytes of the kept parts: headers and body of the request.
        self._kept_sizes: list[int] = []
        #: Whether the remaining parts pass without being read.
        self._passes_unread = False
        self._method = ""
        self._messages: HttpMessages | None = None
        self._is_encoded = False
        #: Whether the body of the request has arrived.
        self._has_body = False
        #: Whether unreadable content is rejected.
        self._enforces = False
        #: Kind of the body of the response; None before its headers.
        self._body: _BodyKind | None = None
        self._reader = EventReader(max_bytes)
        self._is_resumable = False
        #: Whether a chunk of the events has arrived.
        self._has_begun = False
        #: Whether the remaining events are dropped.
        self._drops_events = False

    async def respond(self, request: ProcessingRequest, call: Call) -> ProcessingResponse:
        """Return the response to one part.

        Raises:
            RequestError: INVALID_REQUEST if the configuration of Envoy is unsuitable.
            LockFileError: the lock file of pinned tools cannot be used.
        """
        name = request.WhichOneof("request")
        match name:
            case "request_trailers" | "response_trailers":
                return trailers_response(name)
            case str() if self._passes_unread:
                return unread_response(name)
            case "request_headers":
                return await self._begin(request, call)
            case "request_body":
                return await self._admit(request)
            case "response_headers":
                return await self._begin_response(request)
            case "response_body":
                return await self._rule_response(request)
        raise _invalid("the message has no part of a request or response")

    def drop_part(self) -> None:
        """Release the current part, which has its response, except what is kept of it."""
        self._held_requests.resize(*self._kept_sizes, self._reader.buffered_bytes)

    async def release(self) -> None:
        """End the session if it belongs to this exchange alone."""
        if self._messages is not None:
            await self._messages.release()

    async def _begin(self, request: ProcessingRequest, call: Call) -> ProcessingResponse:
        if self._messages is not None:
            raise _invalid("the headers of the request were sent before")
        _check_modes(request)
        options = {**_call_metadata(call), **read_metadata(request)}
        route = await self._routes.find(options.get("server", ""), options)
        policies = route.policies
        self._enforces = policies.enforces_any or route.tools.uses_pins
        headers = read_headers(request.request_headers.headers)
        self._method = headers.get(":method", "")
        self._is_encoded = _is_encoded(headers)
        if self._enforces and self._method not in _METHODS:
            # Some servers read a message from the body of any method.
            return self._reject_unread(_NOT_ALLOWED, "METHOD_NOT_ALLOWED")
        if self._enforces and any(is_lookalike(name.encode()) for name in headers):
            return self._reject_unread(_BAD_REQUEST, "NOT_VALIDATED")
        if not self._reserve_bytes(request, "client"):
            return self._shed("request_headers", b"", "client")
        self._kept_sizes.append(request.ByteSize())
        self._messages = HttpMessages(
            route.connections, policies, self._findings, headers, enforces=self._enforces
        )
        # The processor does not decompress responses.
        return headers_response("request_headers", remove=("accept-encoding",))

    def _reject_unread(self, status: int, code: str) -> ProcessingResponse:
        """Report *code* for a rejected request; return the response with *status*."""
        self._findings.add(
            Finding(sender="client", code=code, action=Action.REJECTED, is_unvalidated=True)
        )
        return immediate_response(status, b"")

    async def _admit(self, request: ProcessingRequest) -> ProcessingResponse:
        messages, text = self._open(), request.request_body.body
        if self._has_body:
            raise _invalid("the body of the request was sent before")
        self._has_body = True
        if self._method != "POST":
            # Some servers read a message from the body of any method.
            replacement = b"" if self._enforces and text else UNCHANGED
            return body_response("request_body", replacement, is_whole=True)
        if self._is_encoded:
            if self._rejects_encoded("client"):
                return immediate_response(_UNSUPPORTED, b"")
            return body_response("request_body", UNCHANGED, is_whole=True)
        if not self._reserve_bytes(request, "client"):
            return self._shed("request_body", text, "client")
        self._kept_sizes.append(request.ByteSize())
        admission = await messages.admit(text)
        if isinstance(admission, Reply):
            return immediate_response(admission.status, admission.body)
        replacement = UNCHANGED if admission == text else admission
        return body_response("request_body", replacement, is_whole=True)

    async def _begin_response(self, request: ProcessingRequest) -> ProcessingResponse:
        headers = read_headers(request.response_headers.headers)
        status = _status_of(headers)
        if self._messages is None and status >= _FIRST_ERROR:
            # Envoy rejects some requests itself, for example because of their path.
            self._body = "other"
            return headers_response("response_headers", (), NOT_SENT)
        messages = self._open()
        if not self._reserve_bytes(request, "server"):
            return self._shed("response_headers", messages.answer() or b"", "server")
        self._body = await messages.begin_response(self._method, status, headers)
        is_whole = request.response_headers.end_of_stream
        if self._body == "other" and status < _FIRST_REDIRECT:
            is_empty = is_whole or status == _ACCEPTED
            response = self._end_unread(messages, status, is_empty=is_empty)
            if response is not None:
                return response
        if is_whole:
            return headers_response("response_headers")
        if self._enforces and self._body == "other" and status >= _FIRST_REDIRECT:
            self._body = "error"
        if self._body != "other" and _is_encoded(headers):
            self._body = "other"
            if self._rejects_encoded("server"):
                error = messages.answer()
                return immediate_response(_BAD_GATEWAY if error is None else _OK, error or b"")
        # Rulings change the length of a stream, which is unknown before its end.
        remove = ("content-length",) if self._body == "events" else ()
        return headers_response("response_headers", remove, _MODES[self._body])

    async def _rule_response(self, request: ProcessingRequest) -> ProcessingResponse:
        text, is_last = request.response_body.body, request.response_body.end_of_stream
        match self._body:
            case None:
                raise _invalid("response_header_mode must be SEND in Envoy's processing_mode")
            case "events" if self._drops_events:
                output = b""
            case "events" if self._reserve_bytes(request, "server"):
                output = await self._rule_events(text, is_last=is_last)
            case "events":
                output = self._stop_validating(self._begin_events(), self._reader.rest() + text)
            case "message" | "error" if not self._reserve_bytes(request, "server"):
                return self._shed("response_body", self._open().answer() or b"", "server")
            case "message":
                output = await self._open().rule_body(text)
            case "error" if has_result(text):
                finding = Finding(
                    sender="server",
                    code="NOT_VALIDATED",
                    action=Action.REJECTED,
                    is_unvalidated=True,
                )
                self._findings.add(finding)
                return immediate_response(_BAD_GATEWAY, b"")
            case "error":
                output = text
            case "other":
                output = text
        return body_response(
            "response_body",
            UNCHANGED if output == text else output,
            is_whole=self._body in {"message", "error"},
        )

    async def _rule_events(self, text: bytes, *, is_last: bool) -> bytes:
        """Return the replacement of *text*, a chunk of a stream of events."""
        messages = self._open()
        parts = [self._begin_events()]
        try:
            for event in self._reader.feed(text):
                self._is_resumable = self._is_resumable or event.has_id
                ruling = await messages.rule_event(event)
                if ruling.text is not None:
                    parts.append(ruling.text)
                if ruling.reply is not None:
                    # Envoy cannot send a response to the server.
                    self._findings.add(
                        Finding(sender="server", code="REQUEST_NOT_ANSWERED", action=Action.DROPPED)
                    )
        except EventTooLongError as error:
            action = Action.REJECTED if self._enforces else Action.PASSED
            self._findings.add(Finding(sender="server", code="MESSAGE_TOO_LONG", action=action))
            return self._stop_validating(b"".join(parts), error.unread)
        if is_last:
            parts.append(messages.end_events(is_resumable=self._is_resumable))
        return b"".join(parts)

    def _begin_events(self) -> bytes:
        """Return the text to insert before the first chunk of a stream of events."""
        is_first, self._has_begun = not self._has_begun, True
        return self._open().begin_events() if is_first else b""

    def _stop_validating(self, output: bytes, unread: bytes) -> bytes:
        """Stop validating the stream; return the last validated *output*, and what follows it.

        *unread* and later events pass without validation, or are dropped if a policy enforces.
        """
        self._reader = EventReader(self._max_bytes)
        end = self._open().end_events(is_resumable=False)
        if not self._enforces:
            self._passes_unread = True
            return output + unread
        self._drops_events = True
        return output + end

    def _reserve_bytes(self, request: ProcessingRequest, sender: Direction) -> bool:
        """Count *request*, a part of *sender*, against the budget.

        Return whether it fits; report it if it does not.
        """
        try:
            self._held_requests.resize(
                *self._kept_sizes, self._reader.buffered_bytes + request.ByteSize()
            )
        except RequestError as error:
            action = Action.REJECTED if self._enforces else Action.PASSED
            code = error.reason.value
            self._findings.add(
                Finding(sender=sender, code=code, action=action, is_unvalidated=True)
            )
            return False
        return True

    def _shed(self, name: str, text: bytes, sender: Direction) -> ProcessingResponse:
        """Return the response to the part *name*, which exceeds the budget of held bytes.

        If *sender* is "client", *text* has the requests that get an error; if it is "server",
        the errors for the pending requests.
        """
        if not self._enforces:
            self._passes_unread = True
            return unread_response(name)
        content = read_message(text)
        messages = [content] if isinstance(content, Message) else content or []
        errors = [
            error_response(message.properties["id"], _OVERLOAD)
            for message in messages
            if (message.is_request if sender == "client" else message.is_response)
        ]
        is_batch = isinstance(content, list) and errors
        return immediate_response(_OVERLOADED, join_array(errors) if is_batch else b"".join(errors))

    def _end_unread(
        self, messages: HttpMessages, status: int, *, is_empty: bool
    ) -> ProcessingResponse | None:
        """Return the replacement of a response without a message, None if it may pass."""
        if self._method == "GET" and not is_empty:
            # Some clients read events from a GET response of any content type.
            if messages.report_and_decide("server", "a GET response that is not an event stream"):
                return None
            return immediate_response(_BAD_GATEWAY, b"")
        if is_empty:
            error = messages.end_without_response(status)
            return None if error is None else immediate_response(_OK, error)
        if not messages.expects_response:
            return None
        error = messages.reject("NOT_VALIDATED", messages.fault)
        return immediate_response(_BAD_GATEWAY, error or b"") if self._enforces else None

    def _rejects_encoded(self, sender: Direction) -> bool:
        """Report an encoded body of *sender*; return whether it is rejected."""
        action = Action.REJECTED if self._enforces else Action.PASSED
        self._findings.add(
            Finding(sender=sender, code="NOT_VALIDATED", action=action, is_unvalidated=True)
        )
        return self._enforces

    def _open(self) -> HttpMessages:
        """Return the messages of the exchange.

        Raises:
            RequestError: INVALID_REQUEST if the request's headers were not sent.
        """
        if self._messages is None:
            raise _invalid("request_header_mode must be SEND in Envoy's processing_mode")
        return self._messages


def _check_modes(request: ProcessingRequest) -> None:
    """Check that Envoy is configured to send whole bodies.

    Raises:
        RequestError: INVALID_REQUEST if it is not.
    """
    if not request.HasField("protocol_config"):
        return
    config = request.protocol_config
    for name in ("request_body_mode", "response_body_mode"):
        if getattr(config, name) != BUFFERED:
            raise _invalid(f"{name} must be BUFFERED in Envoy's processing_mode")


def _status_of(headers: Mapping[str, str]) -> int:
    """Return the status in the response headers *headers*.

    Raises:
        RequestError: INVALID_REQUEST if there is none.
    """
    status = headers.get(":status", "")
    if not _STATUS.fullmatch(status):
        raise _invalid("the headers of the response have no status")
    return int(status)


def _is_encoded(headers: Mapping[str, str]) -> bool:
    """Return whether *headers* announce a content encoding, such as compression."""
    return headers.get("content-encoding", "").strip().lower() not in {"", "identity"}


def _call_metadata(call: Call) -> dict[str, str]:
    """Return the metadata of *call* that select the route, without their prefix."""
    return {
        name.removeprefix(_METADATA): value
        for name, value in call.metadata.items()
        if name.startswith(_METADATA)
    }


def _invalid(message: str) -> RequestError:
    return RequestError(ErrorReason.INVALID_REQUEST, message, {"field": "request"})
