"""What a client says to a server and makes of the answers, without any I/O.

A conversation is a generator: it yields calls, is sent the response to each or
thrown the refusal, and returns a value. The asynchronous and the blocking client
hold the same conversations and differ only in how they wait.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar, get_args

import grpc
from google.protobuf.message import Message

from sidecheck.absence import OnUnavailable, stand_in
from sidecheck.errors import SidecheckError, Unavailable
from sidecheck.exchanges import PAYLOADS, Exchange, Kind, too_large
from sidecheck.info import Limits, ServerInfo
from sidecheck.items import Item
from sidecheck.options import Options
from sidecheck.targets import Target, ToolDefinition, ToolJson
from sidecheck.tools import ChangePolicy, Deletion, Registration, Tool
from sidecheck.verdicts import Verdict
from sidecheck.wire import requests, responses, rpcs
from sidecheck.wire.responses import Judgement

__all__ = ["Call", "Conversation", "Conversations", "split"]

ItemT = TypeVar("ItemT")
MessageT = TypeVar("MessageT", bound=Message)
RequestT = TypeVar("RequestT", bound=Message)
ResponseT = TypeVar("ResponseT", bound=Message)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Call:
    """One call to make: what, with what, and how many seconds it may take."""

    rpc: rpcs.Rpc[Any, Any]
    request: Message
    timeout: float


Conversation: TypeAlias = Generator[Call, Any, Value]


def unchanged(verdict: Verdict) -> Verdict:
    """Return *verdict*: where nobody judged a payload, the stand-in is the answer."""
    return verdict


def split(sizes: Sequence[int], *, most_bytes: int, most_items: int) -> Iterator[slice]:
    """Yield slices, in order, that keep both bounds; what alone breaks them stands alone."""
    start = held = 0
    for at, size in enumerate(sizes):
        if at > start and (held + size > most_bytes or at - start >= most_items):
            yield slice(start, at)
            start, held = at, 0
        held += size
    if sizes:
        yield slice(start, len(sizes))


class Conversations:
    """The conversations of one client, with what it was told and what it has learned.

    Raises:
        ValueError: *timeout* is not positive, or *on_unavailable* is no known word.
    """

    def __init__(self, timeout: float, on_unavailable: OnUnavailable) -> None:
        if not timeout > 0:
            raise ValueError(f"a timeout must be positive, and {timeout} is not")
        if on_unavailable not in get_args(OnUnavailable):
            raise ValueError(f"on_unavailable cannot be {on_unavailable!r}")
        self._timeout = timeout
        self._on_unavailable: OnUnavailable = on_unavailable
        self._limits: Limits | None = None

    def validate(self, item: Item, timeout: float | None) -> Conversation[Verdict]:
        """Have one payload judged."""
        request = requests.validate_request(item)
        return self.judged(
            rpcs.VALIDATE, request, responses.verdict, lambda verdict: verdict, timeout
        )

    def validate_batch(
        self,
        items: Iterable[Item],
        target: Target | None,
        options: Options | None,
        timeout: float | None,
    ) -> Conversation[list[Judgement]]:
        """Have many payloads judged, in as many calls as the server's limits demand."""
        messages = [requests.batch_item(item) for item in items]
        whole = partial(requests.batch_request, shared_target=target, shared_options=options)
        rpc, read = rpcs.VALIDATE_BATCH, responses.batch_judgements
        return (yield from self.in_parts(rpc, messages, whole, read, unchanged, timeout))

    def stream(
        self, target: Target | None, options: Options | None, timeout: float | None
    ) -> Conversation[Exchange[Item, Verdict]]:
        """Learn what a stream of payloads must keep to."""
        opening = requests.stream_defaults(target, options)
        return (yield from self.opening(PAYLOADS, opening, timeout))

    def opening(
        self, kind: Kind[ItemT, Value], opening: Message, timeout: float | None
    ) -> Conversation[Exchange[ItemT, Value]]:
        """Learn what a stream must keep to that begins with the message *opening*.

        The limits are asked for anew: a stream is opened seldom, and if nobody is there
        this call is tried again, as the stream is not.
        """
        info = yield from self.info(timeout)
        return Exchange(kind, opening, info.limits)

    def register(
        self,
        server: str,
        tools: Iterable[ToolDefinition | ToolJson],
        *,
        replace: bool,
        change_policy: ChangePolicy,
        validate_only: bool,
        protocol_version: str,
        timeout: float | None,
    ) -> Conversation[Registration]:
        """Register tools, in as many calls as the server's message limit demands.

        Raises:
            ValueError: One tool alone, or a replacement as a whole, is larger than
                a message may be. Nothing was sent.
        """
        settled = partial(
            requests.registration_request,
            server,
            replace=replace,
            change_policy=change_policy,
            validate_only=validate_only,
            protocol_version=protocol_version,
        )
        messages = [requests.inline_tool(tool) for tool in tools]
        sizes = [requests.listed_bytes(message) for message in messages]
        limits = yield from self.known_limits(timeout)
        room = limits.message_bytes - settled([]).ByteSize()
        parts = list(split(sizes, most_bytes=room, most_items=len(sizes))) or [slice(0, 0)]
        if replace and len(parts) > 1:
            raise ValueError(
                f"the whole set of {server!r} takes {sum(sizes)} bytes, one message holds {room},"
                " and a replacement cannot be split: register without replace, then delete"
            )
        if max(sizes, default=0) > room:
            raise ValueError(
                f"tool {sizes.index(max(sizes))} takes {max(sizes)} bytes"
                f" and one message holds {room}"
            )
        answers = []
        for part in parts:
            request = settled(messages[part])
            answers.append((yield from self.ask(rpcs.REGISTER_TOOLS, request, timeout)))
        return responses.registration(answers)

    def get(self, server: str, name: str, timeout: float | None) -> Conversation[Tool]:
        """Ask for one tool."""
        request = requests.get_request(server, name)
        return responses.tool((yield from self.ask(rpcs.GET_TOOL, request, timeout)))

    def pages(
        self, server: str | None, timeout: float | None
    ) -> Iterator[Conversation[list[Tool]]]:
        """Yield a conversation for each page of tools.

        Each must be held to its end before the next is taken: only its answer
        says whether there is one.
        """
        token, more = "", True

        def page() -> Conversation[list[Tool]]:
            nonlocal token, more
            request = requests.list_request(server or "", token)
            response = yield from self.ask(rpcs.LIST_TOOLS, request, timeout)
            tools, token = responses.page(response)
            more = token != ""
            return tools

        while more:
            yield page()

    def delete(
        self, server: str, names: Iterable[str] | None, timeout: float | None
    ) -> Conversation[Deletion]:
        """Remove the tools called *names*, or all of the server's if that is none."""
        if isinstance(names, str):
            raise TypeError("names are given as several strings, not as one")
        request = requests.deletion_request(server, names)
        return responses.deletion((yield from self.ask(rpcs.DELETE_TOOLS, request, timeout)))

    def info(self, timeout: float | None) -> Conversation[ServerInfo]:
        """Ask for the facts of the server, and remember its limits."""
        request = requests.info_request()
        response = yield from self.ask(rpcs.GET_SERVER_INFO, request, timeout)
        info = responses.server_info(response)
        self._limits = info.limits
        return info

    def judged(
        self,
        rpc: rpcs.Rpc[RequestT, ResponseT],
        request: RequestT,
        read: Callable[[ResponseT], Value],
        instead: Callable[[Verdict], Value],
        timeout: float | None,
    ) -> Conversation[Value]:
        """Ask for a judgement.

        If nobody is there, the answer is what *instead* makes of the stand-in.
        """
        try:
            response = yield from self.ask(rpc, request, timeout)
        except Unavailable as refusal:
            return instead(stand_in(refusal, self._on_unavailable))
        return read(response)

    def in_parts(
        self,
        rpc: rpcs.Rpc[RequestT, ResponseT],
        messages: Sequence[MessageT],
        whole: Callable[[Sequence[MessageT]], RequestT],
        read: Callable[[ResponseT], list[Value | SidecheckError]],
        instead: Callable[[Verdict], Value],
        timeout: float | None,
    ) -> Conversation[list[Value | SidecheckError]]:
        """Have many things judged, in as many calls as the server's limits demand.

        *whole* makes a request of the messages of some of them.
        """
        sizes = [requests.listed_bytes(message) for message in messages]
        found: list[Value | SidecheckError] = []
        if not messages:
            return found
        try:
            limits = yield from self.known_limits(timeout)
            room = limits.message_bytes - whole([]).ByteSize()
            for part in split(sizes, most_bytes=room, most_items=limits.batch_items):
                if sizes[part.start] > room:
                    found.append(too_large(sizes[part.start], limits))
                    continue
                response = yield from self.ask(rpc, whole(messages[part]), timeout)
                found += read(response)
        except Unavailable as refusal:
            # What is not judged by now is not tried part by part: each would take
            # the caller another deadline.
            missing = len(messages) - len(found)
            found += [instead(stand_in(refusal, self._on_unavailable))] * missing
        return found

    def known_limits(self, timeout: float | None) -> Conversation[Limits]:
        """Return the server's limits; they are asked for once."""
        return self._limits or (yield from self.info(timeout)).limits

    def ask(
        self, rpc: rpcs.Rpc[RequestT, ResponseT], request: RequestT, timeout: float | None
    ) -> Conversation[ResponseT]:
        """Make one call, under the client's own deadline if *timeout* is None."""
        seconds = self._timeout if timeout is None else timeout
        try:
            response: ResponseT = yield Call(rpc, request, seconds)
        except SidecheckError as refusal:
            if refusal.status is grpc.StatusCode.RESOURCE_EXHAUSTED:
                # The server may have been replaced by one with closer limits.
                self._limits = None
            raise
        return response
