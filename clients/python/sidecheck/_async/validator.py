"""Interface of validators: the client, and the fakes for tests.

A program that takes a `Validator` gets a client in production and a fake from
`sidecheck.testing` in its tests.
"""

# ruff: noqa: ASYNC109  (a timeout here is the deadline that the call carries to the server)

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterable
from typing import Any, Self

from sidecheck._async.streams import Stream
from sidecheck._transport.tasks import Feed, ItemSource
from sidecheck.streams import OUTSTANDING, StreamOutcome
from sidecheck.targets import Target
from sidecheck.validation import (
    Arguments,
    CallParams,
    CallResult,
    Content,
    Item,
    ObjectPayload,
    Options,
    Payload,
    StructuredContent,
    Subject,
    ValidateOutcome,
    fill_version,
)
from sidecheck.values.verdict import Verdict

__all__ = ["Validator"]


class Validator(ABC):
    """Validates payloads.

    An invalid payload has a verdict. If no verdict is possible, `SidecheckError` is raised, or
    returned as the outcome of an item of a batch.

    `sidecheck.json_texts` describes the encoding of payloads: ``bytes`` are JSON text and sent
    unchanged; any other value is encoded, including models and dataclasses.
    """

    #: Protocol version of requests whose options name none; "" leaves it to the server.
    _protocol_version: str = ""

    async def validate(
        self,
        target: Target,
        arguments: Payload,
        *,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> Verdict:
        """Validate the arguments of a tool call.

        *timeout* is the deadline in seconds and replaces the client's default.

        Raises:
            SidecheckError: No verdict was possible.
            TypeError: *target* is not a target.
            ValueError: *arguments* contains a value that JSON cannot express.
        """
        return await self._validate_subject(Arguments(arguments), target, options, timeout)

    async def validate_structured_content(
        self,
        target: Target,
        content: Content,
        *,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> Verdict:
        """Validate a tool's structured content, or `ABSENT`; otherwise as `validate`."""
        return await self._validate_subject(StructuredContent(content), target, options, timeout)

    async def validate_call(
        self,
        target: Target,
        params: ObjectPayload,
        *,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> Verdict:
        """Validate the complete ``params`` of a ``tools/call``; otherwise as `validate`.

        Raises:
            TypeError: *params* is a ``str``.
        """
        return await self._validate_subject(CallParams(params), target, options, timeout)

    async def validate_call_result(
        self,
        target: Target,
        result: ObjectPayload,
        *,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> Verdict:
        """Validate a whole ``CallToolResult``, see `CallResult`, as `validate` does.

        Raises:
            TypeError: *result* is a ``str``.
        """
        return await self._validate_subject(CallResult(result), target, options, timeout)

    @abstractmethod
    async def validate_batch(
        self,
        items: Iterable[Item],
        *,
        target: Target | None = None,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> list[ValidateOutcome]:
        """Validate many payloads and return their outcomes in order.

        *target* and *options* apply to items without their own. A batch beyond the server's
        limits is sent in several calls, and *timeout* is the deadline of each. If no server
        answers a call, its items and all remaining items have an `Unavailable`, or the verdict
        of the client's ``on_unavailable``.

        Raises:
            SidecheckError: The batch as a whole failed.
            TypeError: Call params or a result are a ``str``; nothing was sent.
            ValueError: A payload contains a value that JSON cannot express; nothing was sent.
        """

    @abstractmethod
    def stream(
        self,
        *,
        target: Target | None = None,
        options: Options | None = None,
        outstanding: int = OUTSTANDING,
        timeout: float | None = None,
    ) -> Stream[Item, ValidateOutcome]:
        """Return a stream of payloads; enter it with ``async with``.

        *target* and *options* apply to items without their own. *timeout* is the deadline of
        the stream as a whole; None for no deadline. Entering the stream fetches the server's
        limits, with the deadline and the retries of any call; the stream is not retried.

        Raises:
            ValueError: *outstanding* is not positive.
        """

    async def validate_stream(
        self,
        items: ItemSource[Item],
        *,
        target: Target | None = None,
        options: Options | None = None,
        outstanding: int = OUTSTANDING,
        timeout: float | None = None,
    ) -> AsyncGenerator[StreamOutcome, None]:
        """Validate payloads as they arrive, and yield their ids and outcomes in order.

        An outcome is a verdict or a `SidecheckError`, also for payloads that JSON cannot
        express; none is raised. *items* are pairs of an id and an item. They are read
        concurrently, at most *outstanding* ahead of the outcomes that the caller has read. An
        exception of *items* is raised after the last outcome.

        Leaving the iteration early cancels the call; use `contextlib.aclosing` to do so
        at a definite time. The other parameters are those of `stream`.

        Raises:
            SidecheckError: The stream could not be opened.
            StreamClosed: The stream ended early, as `StreamUnavailable` if the server
                stopped or was lost; ``unanswered`` lists the items without an outcome.
        """
        async with self.stream(
            target=target, options=options, outstanding=outstanding, timeout=timeout
        ) as stream:
            feed = Feed(stream, items)
            try:
                async for outcome in stream:
                    yield outcome
                await feed.result()
            finally:
                await feed.cancel()

    @abstractmethod
    async def close(self) -> None:
        """Release all resources; pending calls are cancelled."""

    async def _validate_subject(
        self, subject: Subject, target: Target, options: Options | None, timeout: float | None
    ) -> Verdict:
        options = fill_version(options, self._protocol_version)
        return await self._validate(Item(subject, target, options), timeout)

    @abstractmethod
    async def _validate(self, item: Item, timeout: float | None) -> Verdict: ...

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: Any) -> None:
        await self.close()
