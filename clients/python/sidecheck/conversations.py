"""What a client says to a server and makes of the answers, without any I/O.

A conversation is a generator: it yields calls, is sent the response to each or
thrown the refusal, and returns a value. The asynchronous and the blocking client
hold the same conversations and differ only in how they wait.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args

import grpc
from google.protobuf.message import Message

from sidecheck.exchanges import Exchange, too_large
from sidecheck.info import Limits, ServerInfo
from sidecheck.items import Item
from sidecheck.options import Options
from sidecheck.refusals import Refused, Unavailable
from sidecheck.targets import Target, ToolDefinition, ToolJson
from sidecheck.tools import Deletion, OnChange, Registration, Tool
from sidecheck.verdicts import Verdict
from sidecheck.violations import Severity, Violation
from sidecheck.wire import requests, responses, rpcs
from sidecheck.wire.responses import Judgement

__all__ = ["Call", "Conversation", "Conversations", "OnUnavailable", "split", "stand_in"]

RequestT = TypeVar("RequestT", bound=Message)
ResponseT = TypeVar("ResponseT", bound=Message)
Value = TypeVar("Value")

#: What becomes of a judgement that no server was there to make: it is raised as
#: `Unavailable`, or answered with a verdict that is valid or invalid.
OnUnavailable: TypeAlias = Literal["raise", "allow", "deny"]

#: The code of the one violation of such a verdict.
SIDECHECK_UNAVAILABLE: Final = "SIDECHECK_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Call:
    """One call to make: what, with what, and how many seconds it may take."""

    rpc: rpcs.Rpc[Any, Any]
    request: Message
    timeout: float


Conversation: TypeAlias = Generator[Call, Any, Value]


def stand_in(refusal: Unavailable, on_unavailable: OnUnavailable) -> Verdict:
    """Return the verdict to go on with where nobody could judge.

    Raises:
        Unavailable: *refusal* itself, if *on_unavailable* is "raise".
    """
    if on_unavailable == "raise":
        raise refusal
    allowed = on_unavailable == "allow"
    violation = Violation(
        code=SIDECHECK_UNAVAILABLE,
        severity=Severity.WARNING if allowed else Severity.ERROR,
        message=f"the payload was not judged: {refusal}",
    )
    text = "" if allowed else "This could not be checked and was not accepted. Try again later."
    return Verdict(valid=allowed, violations=(violation,), tool_error_text=text)


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
        try:
            response = yield from self._ask(rpcs.VALIDATE, request, timeout)
        except Unavailable as refusal:
            return stand_in(refusal, self._on_unavailable)
        return responses.verdict(response)

    def validate_batch(
        self,
        items: Iterable[Item],
        target: Target | None,
        options: Options | None,
        timeout: float | None,
    ) -> Conversation[list[Judgement]]:
        """Have many payloads judged, in as many calls as the server's limits demand."""
        messages = [requests.batch_item(item) for item in items]
        sizes = [requests.listed_bytes(message) for message in messages]
        found: list[Judgement] = []
        if not messages:
            return found
        try:
            limits = yield from self._known_limits(timeout)
            room = limits.message_bytes - requests.batch_request([], target, options).ByteSize()
            for part in split(sizes, most_bytes=room, most_items=limits.batch_items):
                if sizes[part.start] > room:
                    found.append(too_large(sizes[part.start], limits))
                    continue
                request = requests.batch_request(messages[part], target, options)
                response = yield from self._ask(rpcs.VALIDATE_BATCH, request, timeout)
                found += responses.batch_judgements(response)
        except Unavailable as refusal:
            # What is not judged by now is not tried part by part: each would take
            # the caller another deadline.
            missing = len(messages) - len(found)
            found += [stand_in(refusal, self._on_unavailable)] * missing
        return found

    def stream(
        self, target: Target | None, options: Options | None, timeout: float | None
    ) -> Conversation[Exchange]:
        """Learn what a stream must keep to.

        The limits are asked for anew: a stream is opened seldom, and if nobody is there
        this call is tried again, as the stream is not.
        """
        info = yield from self.info(timeout)
        return Exchange(target, options, info.limits)

    def register(
        self,
        server: str,
        tools: Iterable[ToolDefinition | ToolJson],
        *,
        replace: bool,
        on_change: OnChange,
        validate_only: bool,
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
            on_change=on_change,
            validate_only=validate_only,
        )
        messages = [requests.inline_tool(tool) for tool in tools]
        sizes = [requests.listed_bytes(message) for message in messages]
        limits = yield from self._known_limits(timeout)
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
            answers.append((yield from self._ask(rpcs.REGISTER_TOOLS, request, timeout)))
        return responses.registration(answers)

    def get(self, server: str, name: str, timeout: float | None) -> Conversation[Tool]:
        """Ask for one tool."""
        request = requests.get_request(server, name)
        return responses.tool((yield from self._ask(rpcs.GET_TOOL, request, timeout)))

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
            response = yield from self._ask(rpcs.LIST_TOOLS, request, timeout)
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
        return responses.deletion((yield from self._ask(rpcs.DELETE_TOOLS, request, timeout)))

    def info(self, timeout: float | None) -> Conversation[ServerInfo]:
        """Ask for the facts of the server, and remember its limits."""
        request = requests.info_request()
        response = yield from self._ask(rpcs.GET_SERVER_INFO, request, timeout)
        info = responses.server_info(response)
        self._limits = info.limits
        return info

    def _known_limits(self, timeout: float | None) -> Conversation[Limits]:
        return self._limits or (yield from self.info(timeout)).limits

    def _ask(
        self, rpc: rpcs.Rpc[RequestT, ResponseT], request: RequestT, timeout: float | None
    ) -> Conversation[ResponseT]:
        seconds = self._timeout if timeout is None else timeout
        try:
            response: ResponseT = yield Call(rpc, request, seconds)
        except Refused as refusal:
            if refusal.status is grpc.StatusCode.RESOURCE_EXHAUSTED:
                # The server may have been replaced by one with closer limits.
                self._limits = None
            raise
        return response
