"""Maximum time for the response to a request, and the cancellation of the request."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from types import TracebackType
from typing import Self

from sidecheck_server.proxy.call_timeouts import cancellation, timeout_finding, timeout_reason
from sidecheck_server.proxy.http.headers import (
    BODY_HEADERS,
    RawHeaders,
    build_request_headers,
    combine,
    end_to_end_headers,
)
from sidecheck_server.proxy.http.messages import HttpMessages
from sidecheck_server.proxy.http.upstream import Upstream, UpstreamError
from sidecheck_server.proxy.report import Action, Finding, Findings

__all__ = ["CallTimeouts", "Deadline", "iterate_with_pauses"]

_SEND_SECONDS = 10.0
_LAST_VERSION_WITH_MESSAGE = "2025-11-25"
"""Last version with a message for the cancellation over HTTP; later, the closed response is it
(2026-07-28, basic/utilities/cancellation)."""


class Deadline:
    """Time when a response is due; *seconds* from now, None for never."""

    def __init__(self, seconds: float | None) -> None:
        self._time = None if seconds is None else asyncio.get_running_loop().time() + seconds
        self._timeout: asyncio.Timeout | None = None

    @property
    def remaining_seconds(self) -> float | None:
        """Seconds until then, None for no limit."""
        if self._time is None:
            return None
        return max(self._time - asyncio.get_running_loop().time(), 0.0)

    async def __aenter__(self) -> Self:
        self._timeout = asyncio.timeout_at(self._time)
        await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self,
        type_: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Raise TimeoutError if the time was reached."""
        assert self._timeout is not None
        await self._timeout.__aexit__(type_, error, traceback)

    def clear(self) -> None:
        """Remove the limit."""
        self._time = None


class CallTimeouts:
    """Ends requests to the server *upstream* that have no response after *seconds*."""

    def __init__(self, seconds: float | None, upstream: Upstream, findings: Findings) -> None:
        self._seconds = seconds
        self._upstream = upstream
        self._findings = findings
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def reason(self) -> str:
        """Text of the error for the client."""
        assert self._seconds is not None
        return timeout_reason(self._seconds)

    def begin(self, messages: HttpMessages) -> Deadline:
        """Return the deadline of the requests of *messages*."""
        is_unlimited = messages.is_subscription or not messages.expects_response
        return Deadline(None if is_unlimited else self._seconds)

    def cancel(self, messages: HttpMessages, headers: RawHeaders) -> None:
        """Report that the requests of *messages* took too long, and cancel them.

        *headers* are those of the client.
        """
        self._findings.add(timeout_finding(messages.method, self.reason))
        version = combine(headers).get("mcp-protocol-version", "")
        if version > _LAST_VERSION_WITH_MESSAGE:
            return
        for id_ in messages.request_ids:
            task = asyncio.ensure_future(self._send_cancellation(id_, headers))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _send_cancellation(self, request_id: bytes, headers: RawHeaders) -> None:
        message = cancellation(request_id, self.reason)
        sent_headers = build_request_headers(end_to_end_headers(headers, BODY_HEADERS), {})
        try:
            async with asyncio.timeout(_SEND_SECONDS):
                response = await self._upstream.send(
                    "POST", self._upstream.target, sent_headers, message
                )
                response.close()
        except (UpstreamError, TimeoutError):
            note = "the server does not respond to the cancellation of a request"
            self._findings.add(
                Finding(
                    sender="server", code="UPSTREAM_UNAVAILABLE", action=Action.PASSED, note=note
                )
            )


async def iterate_with_pauses(
    chunks: AsyncIterator[bytes], seconds: float | None, deadline: Deadline
) -> AsyncGenerator[bytes | None]:
    """Yield *chunks*, and None after each *seconds* without one.

    Raises:
        TimeoutError: the *deadline* was reached before the next chunk.
    """
    if seconds is None and deadline.remaining_seconds is None:
        async for chunk in chunks:
            yield chunk
        return
    iterator = aiter(chunks)
    pending: asyncio.Future[bytes] | None = None
    try:
        while True:
            pending = pending or asyncio.ensure_future(anext(iterator))
            limits = [limit for limit in (seconds, deadline.remaining_seconds) if limit is not None]
            await asyncio.wait({pending}, timeout=min(limits, default=None))
            if pending.done():
                try:
                    chunk = pending.result()
                except StopAsyncIteration:
                    return
                pending = None
                yield chunk
            elif deadline.remaining_seconds == 0.0:
                raise TimeoutError
            else:
                yield None
    finally:
        if pending is not None and not pending.done():
            pending.cancel()
            await asyncio.wait({pending})
