"""Calls to a server, with the client's policy and the server's limits."""

# ruff: noqa: ASYNC109  (a timeout here is the deadline that the call carries to the server)

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from typing import Any, TypeVar, get_args

from google.protobuf.message import Message

from sidecheck._async.streams import ClientStream, Stream
from sidecheck._async.watching import watch_tools
from sidecheck._transport.tasks import Transport
from sidecheck.errors import InvalidResponse, SidecheckError, Unavailable
from sidecheck.streams import StreamKind
from sidecheck.validation import OnUnavailable, fallback_verdict
from sidecheck.values.error_reasons import ErrorReason
from sidecheck.values.info import Limits, ServerInfo
from sidecheck.values.verdict import Verdict
from sidecheck.watching import Checkpoint, WatchEvent
from sidecheck.wire import registry
from sidecheck.wire.decoders.info import decode_server_info
from sidecheck.wire.errors import too_large
from sidecheck.wire.values import element_bytes, require_revision

__all__ = ["Connection", "split"]

ItemT = TypeVar("ItemT")
MessageT = TypeVar("MessageT", bound=Message)
OutcomeT = TypeVar("OutcomeT")
Value = TypeVar("Value")


class Connection:
    """The calls of one client, shared by its services.

    Raises:
        TypeError: *protocol_version* is not a ``str``.
        ValueError: *timeout* is not positive, or *on_unavailable* is unknown.
    """

    def __init__(
        self,
        transport: Transport,
        timeout: float,
        on_unavailable: OnUnavailable,
        protocol_version: str,
    ) -> None:
        if on_unavailable not in get_args(OnUnavailable):
            expected = ", ".join(map(repr, get_args(OnUnavailable)))
            raise ValueError(f"invalid on_unavailable {on_unavailable!r}; expected {expected}")
        if not isinstance(protocol_version, str):
            raise TypeError(
                f"protocol_version must be a str, not {type(protocol_version).__name__}"
            )
        #: Protocol version of requests that name none; "" leaves it to the server.
        self.protocol_version = protocol_version
        self._transport = transport
        self._timeout = positive(timeout)
        #: Policy for validations that no server answers.
        self.on_unavailable: OnUnavailable = on_unavailable
        #: Minimum revision of the registry for requests that read it; 0 is any.
        self.min_revision = 0
        self._limits: Limits | None = None

    async def call(
        self, request: Message, decode: Callable[[Any], Value], timeout: float | None
    ) -> Value:
        """Return the decoded response to *request*.

        *timeout* is the deadline in seconds; None is the client's default.

        Raises:
            SidecheckError: The call failed.
        """
        seconds = self.resolve_timeout(timeout)
        if self.min_revision:
            require_revision(request, self.min_revision)
        try:
            response = await self._transport.call(request, seconds)
        except SidecheckError as error:
            if error.reason == ErrorReason.LIMIT_EXCEEDED:
                # Another server with lower limits may have replaced the server.
                self._limits = None
            raise
        return decode(response)

    async def call_or_fall_back(
        self,
        request: Message,
        decode: Callable[[Any], Value],
        fallback: Callable[[Verdict], Value],
        timeout: float | None,
    ) -> Value:
        """Return the decoded response, or *fallback* with the verdict of the policy.

        Raises:
            SidecheckError: The call failed, and the policy does not apply.
        """
        try:
            return await self.call(request, decode, timeout)
        except Unavailable as error:
            return fallback(self.fall_back(error))

    def fall_back(self, error: Unavailable) -> Verdict:
        """Return the verdict of the policy, or raise *error* if the policy is "raise"."""
        return fallback_verdict(error, self.on_unavailable)

    def resolve_timeout(self, timeout: float | None) -> float:
        """Return the deadline of a call in seconds: *timeout*, or the client's for None.

        Raises:
            ValueError: *timeout* is not positive.
        """
        return self._timeout if timeout is None else positive(timeout)

    async def call_in_parts(
        self,
        messages: Sequence[MessageT],
        encode: Callable[[Sequence[MessageT]], Message],
        decode: Callable[[Any], list[Value | SidecheckError]],
        fallback: Callable[[Verdict], Value],
        timeout: float | None,
    ) -> list[Value | SidecheckError]:
        """Return the outcomes of *messages*, sent in several requests if necessary.

        *encode* returns a request with some of the messages. If no server answers a request,
        all remaining messages have the policy's verdict, or an `Unavailable`.
        """
        sizes = [element_bytes(message) for message in messages]
        outcomes: list[Value | SidecheckError] = []
        if not messages:
            return outcomes
        try:
            limits = await self.limits(timeout)
            empty = encode([])
            if self.min_revision:
                require_revision(empty, self.min_revision)
            room = limits.message_bytes - empty.ByteSize()
            for part in split(sizes, max_bytes=room, max_items=limits.batch_items):
                if sizes[part.start] > room:
                    outcomes.append(too_large(sizes[part.start], limits))
                    continue
                decoded = await self._send_part(messages[part], encode, decode, timeout)
                outcomes += [self._apply_policy(outcome, fallback) for outcome in decoded]
        except Unavailable as error:
            # The remaining parts are not sent, since each would cost another deadline. Each
            # outcome is a copy, because raising an exception adds to its traceback.
            missing = len(messages) - len(outcomes)
            outcomes += [self._apply_policy(copy(error), fallback) for _ in range(missing)]
        return outcomes

    async def _send_part(
        self,
        messages: Sequence[MessageT],
        encode: Callable[[Sequence[MessageT]], Message],
        decode: Callable[[Any], list[Value | SidecheckError]],
        timeout: float | None,
    ) -> list[Value | SidecheckError]:
        """Return the outcomes of *messages*, and retry once if a worker crashed."""
        outcomes = await self._send_items(messages, encode, decode, timeout)
        crashed = [
            index
            for index, outcome in enumerate(outcomes)
            if isinstance(outcome, SidecheckError) and outcome.reason == ErrorReason.WORKER_CRASHED
        ]
        if crashed:
            retried = [messages[index] for index in crashed]
            with suppress(Unavailable):
                retried_outcomes = await self._send_items(retried, encode, decode, timeout)
                for index, outcome in zip(crashed, retried_outcomes, strict=True):
                    outcomes[index] = outcome
        return outcomes

    async def _send_items(
        self,
        messages: Sequence[MessageT],
        encode: Callable[[Sequence[MessageT]], Message],
        decode: Callable[[Any], list[Value | SidecheckError]],
        timeout: float | None,
    ) -> list[Value | SidecheckError]:
        outcomes = await self.call(encode(messages), decode, timeout)
        if len(outcomes) != len(messages):
            raise InvalidResponse(
                f"the response has {len(outcomes)} outcomes for {len(messages)} items"
            )
        return outcomes

    def _apply_policy(
        self, outcome: Value | SidecheckError, fallback: Callable[[Verdict], Value]
    ) -> Value | SidecheckError:
        """Return the outcome of one item of a batch, with the policy applied to it."""
        if isinstance(outcome, Unavailable) and self.on_unavailable != "error":
            return fallback(fallback_verdict(outcome, self.on_unavailable))
        return outcome

    async def info(self, timeout: float | None) -> ServerInfo:
        """Return the server's version, limits and capabilities, and store the limits."""
        info = await self.call(registry.encode_info(), decode_server_info, timeout)
        self._limits = info.limits
        return info

    async def limits(self, timeout: float | None) -> Limits:
        """Return the server's limits, fetched at the first call."""
        return self._limits or (await self.info(timeout)).limits

    def stream(
        self,
        kind: StreamKind[ItemT, OutcomeT],
        opening: Message,
        outstanding: int,
        timeout: float | None,
    ) -> Stream[ItemT, OutcomeT | SidecheckError]:
        """Return a stream that begins with the message *opening*."""
        if self.min_revision:
            require_revision(opening.defaults, self.min_revision)  # type: ignore[attr-defined]

        async def fetch_limits() -> Limits:
            # The deadline of the stream applies to this call as well.
            seconds = self._timeout if timeout is None else min(self._timeout, timeout)
            return (await self.info(seconds)).limits

        return ClientStream(self._transport, fetch_limits, kind, opening, outstanding, timeout)

    def watch(
        self, servers: Sequence[str], after: Checkpoint | None, patience: float
    ) -> AsyncGenerator[WatchEvent, None]:
        """Yield the changes of registered tools; see `Client.watch`."""
        return watch_tools(self._transport, servers, after, positive(patience))

    async def close(self) -> None:
        """Close the transport; pending calls are cancelled."""
        await self._transport.close()


def positive(timeout: float) -> float:
    """Return *timeout*; raise a `ValueError` if it is not positive."""
    if not timeout > 0:
        raise ValueError(f"timeout must be positive, not {timeout}")
    return timeout


def split(sizes: Sequence[int], *, max_bytes: int, max_items: int) -> Iterator[slice]:
    """Yield slices of *sizes* within both limits; an oversized item is alone."""
    start = total = 0
    for index, size in enumerate(sizes):
        if index > start and (total + size > max_bytes or index - start >= max_items):
            yield slice(start, index)
            start, total = index, 0
        total += size
    if sizes:
        yield slice(start, len(sizes))
