"""Envoy's external processor: MCP over HTTP, validated on its way through Envoy.

Each stream is one HTTP request and its response. Bodies must come BUFFERED. Streams of
server-sent events are asked for in parts (``mode_override``), so that each event passes as
it comes.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

from envoy.service.ext_proc.v3 import external_processor_pb2
from envoy.service.ext_proc.v3.external_processor_pb2 import ProcessingRequest, ProcessingResponse

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.gateways.errors import failure_of
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
    trailers_response,
)
from sidecheck_server.gateways.outcomes import GatewayFindings, Outcome
from sidecheck_server.gateways.routes import Routes
from sidecheck_server.policies import Policy
from sidecheck_server.proxy.http_messages import Body, HttpMessages, Reply
from sidecheck_server.proxy.report import Action, Finding
from sidecheck_server.rpc.calls import Call, CallFailed
from sidecheck_server.rpc.method_table import raise_if_unreadable
from sidecheck_server.rpc.status import status_from_error
from sidecheck_server.rpc.streams import OpenStreams

__all__ = ["EXT_PROC", "ExternalProcessor"]

EXT_PROC = external_processor_pb2.DESCRIPTOR.services_by_name["ExternalProcessor"]

_METADATA = "sidecheck-"
"""Prefix of the metadata of a call that say what the route is."""

_MODES: Mapping[Body, int] = {"message": BUFFERED, "events": STREAMED, "other": NOT_SENT}


class ExternalProcessor:
    """Serves ExternalProcessor. An event may have *max_bytes*."""

    def __init__(
        self, routes: Routes, findings: GatewayFindings, streams: OpenStreams, max_bytes: int
    ) -> None:
        self._routes = routes
        self._findings = findings
        self._streams = streams
        self._max_bytes = max_bytes

    async def Process(  # noqa: N802
        self, requests: AsyncIterator[Any], call: Call
    ) -> AsyncIterator[ProcessingResponse]:
        """Respond to the parts of one exchange, in their order."""
        outcome = self._findings.begin()
        exchange = _Exchange(self._routes, self._findings, outcome, self._max_bytes)
        try:
            with self._streams.admit("gateway_streams"):
                async for request in self._streams.requests(requests):
                    raise_if_unreadable(request)
                    yield await exchange.respond(request, call)
        except asyncio.CancelledError:
            ended = self._streams.gate.cancelled_call_error()
            if ended is None:
                raise
            raise CallFailed(status_from_error(ended)) from None
        except Exception as error:  # noqa: BLE001  (nothing unexpected may reach the gateway)
            raise failure_of(error, "Process", call, outcome) from None
        finally:
            await exchange.release()
            outcome.finish("ext_proc")


class _Exchange:
    """One HTTP request and its response, in the parts that Envoy sends."""

    def __init__(
        self, routes: Routes, findings: GatewayFindings, outcome: Outcome, max_bytes: int
    ) -> None:
        self._routes = routes
        self._findings = findings
        self._outcome = outcome
        self._max_bytes = max_bytes
        self._method = ""
        self._messages: HttpMessages | None = None
        self._enforces = False
        self._body: Body = "other"
        #: Whether the events that remain pass as they are, or none of them; None before that.
        self._rest_passes: bool | None = None

    async def respond(self, request: ProcessingRequest, call: Call) -> ProcessingResponse:
        """Return the response to one part.

        Raises:
            RequestError: INVALID_REQUEST, for what the configuration of Envoy must not be.
            LockFileError: the lock file of pinned tools cannot be used.
        """
        name = request.WhichOneof("request")
        match name:
            case "request_headers":
                return await self._begin(request, call)
            case "request_body":
                return await self._admit(request)
            case "response_headers":
                return await self._begin_response(request)
            case "response_body":
                return await self._rule_response(request)
            case "request_trailers" | "response_trailers":
                return trailers_response(name)
        raise _invalid("the message has no part of a request or response")

    async def release(self) -> None:
        """End what belongs to this exchange alone."""
        if self._messages is not None:
            await self._messages.release()

    async def _begin(self, request: ProcessingRequest, call: Call) -> ProcessingResponse:
        if request.HasField("protocol_config") and request.protocol_config.request_body_mode != (
            BUFFERED
        ):
            raise _invalid("request_body_mode must be BUFFERED in Envoy's processing_mode")
        options = {**_call_metadata(call), **read_metadata(request)}
        route = await self._routes.find(options.get("server", ""), options)
        policies = route.policies
        self._enforces = Policy.ENFORCE in (policies.results, policies.messages, policies.tools)
        headers = read_headers(request.request_headers.headers)
        self._method = headers.get(":method", "")
        self._messages = HttpMessages(
            route.connections,
            route.sources,
            policies.messages,
            self._findings,
            headers,
            self._max_bytes,
        )
        # A compressed response could not be read.
        return headers_response("request_headers", remove=("accept-encoding",))

    async def _admit(self, request: ProcessingRequest) -> ProcessingResponse:
        text = request.request_body.body
        if self._method != "POST":
            return body_response("request_body", UNCHANGED, {}, is_whole=True)
        admitted = await self._open().admit(text)
        metadata = self._outcome.metadata()
        if isinstance(admitted, Reply):
            return immediate_response(admitted.status, admitted.body, metadata)
        changed = UNCHANGED if admitted == text else admitted
        return body_response("request_body", changed, metadata, is_whole=True)

    async def _begin_response(self, request: ProcessingRequest) -> ProcessingResponse:
        headers = read_headers(request.response_headers.headers)
        status = int(headers.get(":status", "0"))
        self._body = await self._open().begin_response(self._method, status, headers)
        if request.response_headers.end_of_stream:
            return headers_response("response_headers")
        # What is left of a stream is not known before its end.
        remove = ("content-length",) if self._body == "events" else ()
        return headers_response("response_headers", remove, _MODES[self._body])

    async def _rule_response(self, request: ProcessingRequest) -> ProcessingResponse:
        text, is_last = request.response_body.body, request.response_body.end_of_stream
        match self._body:
            case "events":
                ruled = await self._rule_events(text, is_last=is_last)
            case "message":
                ruled = await self._open().rule_response(text)
            case "other":
                ruled = text
        return body_response(
            "response_body",
            UNCHANGED if ruled == text else ruled,
            self._outcome.metadata(),
            is_whole=self._body == "message",
        )

    async def _rule_events(self, text: bytes, *, is_last: bool) -> bytes:
        """Return what the client gets of the part *text* of a stream of events."""
        if self._rest_passes is not None:
            return text if self._rest_passes else b""
        messages = self._open()
        events = await messages.rule_events(text)
        for _ in events.replies:
            # Only the client's side of Envoy can be answered.
            self._findings.add(
                Finding(sender="server", code="REQUEST_NOT_ANSWERED", action=Action.DROPPED)
            )
        if events.unread is not None:
            action = Action.REJECTED if self._enforces else Action.PASSED
            self._findings.add(Finding(sender="server", code="MESSAGE_TOO_LONG", action=action))
            self._rest_passes = not self._enforces
            rest = messages.unanswered_event() if self._enforces else events.unread
            return events.text + rest
        return events.text + messages.end_events() if is_last else events.text

    def _open(self) -> HttpMessages:
        """Return the messages of the exchange.

        Raises:
            RequestError: INVALID_REQUEST if the request's headers were not sent.
        """
        if self._messages is None:
            raise _invalid("request_header_mode must be SEND in Envoy's processing_mode")
        return self._messages


def _call_metadata(call: Call) -> dict[str, str]:
    """Return what the metadata of the call say of the route."""
    return {
        name.removeprefix(_METADATA): value
        for name, value in call.metadata.items()
        if name.startswith(_METADATA)
    }


def _invalid(message: str) -> RequestError:
    return RequestError(ErrorReason.INVALID_REQUEST, message, {"field": "request"})
