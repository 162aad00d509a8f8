"""The seam between a program and whatever judges its payloads.

A program that takes a `Validator` or a `BlockingValidator` can be given a client
in production and a fake from `sidecheck.testing` in its tests.
"""

# ruff: noqa: ASYNC109  (a timeout here is the deadline that the call carries to the server)

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable
from concurrent.futures import Future
from typing import Any, Self

from sidecheck.items import (
    Arguments,
    CallParams,
    CallResult,
    Content,
    Item,
    Payload,
    StructuredContent,
)
from sidecheck.options import Options
from sidecheck.streams import (
    OUTSTANDING,
    Answer,
    BlockingStream,
    Stream,
    feed,
    feed_blocking,
)
from sidecheck.targets import Target
from sidecheck.verdicts import Verdict
from sidecheck.wire.responses import Judgement

__all__ = ["BlockingValidator", "Validator"]


class Validator(ABC):
    """Judges payloads, asynchronously.

    An invalid payload is returned as a verdict. Where nothing could be judged,
    `SidecheckError` is raised, or for an item of a batch returned in its place.
    """

    async def validate(
        self,
        target: Target,
        arguments: Payload,
        *,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> Verdict:
        """Judge the arguments of a tool call.

        ``bytes`` are JSON text and sent untouched; any other value is encoded, so a
        ``str`` is a JSON string. *timeout* is the deadline in seconds and stands for
        the client's own where it is left out.

        Raises:
            Refused: No judgement could be made.
            TypeError: *arguments* holds what JSON cannot express.
            ValueError: *arguments* holds NaN, an infinity or a lone surrogate.
        """
        return await self._judge(Item(Arguments(arguments), target, options), timeout)

    async def validate_structured_content(
        self,
        target: Target,
        content: Content,
        *,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> Verdict:
        """Judge a tool's structured content, or that it is `ABSENT`; else like `validate`."""
        return await self._judge(Item(StructuredContent(content), target, options), timeout)

    async def validate_call(
        self,
        target: Target,
        params: Payload,
        *,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> Verdict:
        """Judge the whole ``params`` of a ``tools/call`` request; else like `validate`."""
        return await self._judge(Item(CallParams(params), target, options), timeout)

    async def validate_call_result(
        self,
        target: Target,
        result: Payload,
        *,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> Verdict:
        """Judge a whole ``CallToolResult``, see `CallResult`; else like `validate`."""
        return await self._judge(Item(CallResult(result), target, options), timeout)

    @abstractmethod
    async def validate_batch(
        self,
        items: Iterable[Item],
        *,
        target: Target | None = None,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> list[Judgement]:
        """Judge many payloads and answer in their order.

        *target* and *options* hold for the items that have none of their own. A
        batch beyond the server's limits goes in several calls, and *timeout* is the
        deadline of each.

        Raises:
            Refused: The batch as a whole was refused.
            TypeError: A payload holds what JSON cannot express; nothing was sent.
            ValueError: A payload holds NaN, an infinity or a lone surrogate; nothing
                was sent.
        """

    @abstractmethod
    def stream(
        self,
        *,
        target: Target | None = None,
        options: Options | None = None,
        outstanding: int = OUTSTANDING,
        timeout: float | None = None,
    ) -> Stream[Item, Judgement]:
        """Return a stream, to be entered with ``async with``.

        *target* and *options* hold for the items that have none of their own. *timeout*
        is the deadline of the stream as a whole; without one it may last for ever.

        Raises:
            ValueError: *outstanding* is not positive.
        """

    async def validate_stream(
        self,
        items: Iterable[tuple[str, Item]] | AsyncIterable[tuple[str, Item]],
        *,
        target: Target | None = None,
        options: Options | None = None,
        outstanding: int = OUTSTANDING,
        timeout: float | None = None,
    ) -> AsyncGenerator[Answer, None]:
        """Judge payloads as they come: yield the id and the outcome of each, in order.

        The outcome is a verdict or a `SidecheckError`, also for a payload that JSON cannot
        express; none is raised. *items* are pairs of an id and an item, taken by a task
        of their own and never more than *outstanding* ahead of what the caller has
        taken. Whatever taking them raises is raised after the last answer.

        The call is cancelled when the iteration is left early; `contextlib.aclosing`
        makes sure of the moment. The parameters else are those of `stream`.

        Raises:
            Refused: The stream could not be opened.
            StreamEnded: The stream ended early, as a `StreamUnavailable` where the server
                stopped or was lost; ``unanswered`` names the items without an answer.
        """
        async with self.stream(
            target=target, options=options, outstanding=outstanding, timeout=timeout
        ) as stream:
            feeding = asyncio.create_task(feed(stream, items))
            try:
                async for answer in stream:
                    yield answer
                await feeding
            finally:
                feeding.cancel()
                await asyncio.gather(feeding, return_exceptions=True)

    @abstractmethod
    async def close(self) -> None:
        """Give back what is held; calls under way are cancelled."""

    @abstractmethod
    async def _judge(self, item: Item, timeout: float | None) -> Verdict: ...

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: Any) -> None:
        await self.close()


class BlockingValidator(ABC):
    """Judges payloads while the caller waits; in all else a `Validator`."""

    def validate(
        self,
        target: Target,
        arguments: Payload,
        *,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> Verdict:
        """Judge the arguments of a tool call; see `Validator.validate`."""
        return self._judge(Item(Arguments(arguments), target, options), timeout)

    def validate_structured_content(
        self,
        target: Target,
        content: Content,
        *,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> Verdict:
        """Judge structured content; see `Validator.validate_structured_content`."""
        return self._judge(Item(StructuredContent(content), target, options), timeout)

    def validate_call(
        self,
        target: Target,
        params: Payload,
        *,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> Verdict:
        """Judge the ``params`` of a ``tools/call`` request; see `Validator.validate_call`."""
        return self._judge(Item(CallParams(params), target, options), timeout)

    def validate_call_result(
        self,
        target: Target,
        result: Payload,
        *,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> Verdict:
        """Judge a whole ``CallToolResult``; see `Validator.validate_call_result`."""
        return self._judge(Item(CallResult(result), target, options), timeout)

    @abstractmethod
    def validate_batch(
        self,
        items: Iterable[Item],
        *,
        target: Target | None = None,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> list[Judgement]:
        """Judge many payloads and answer in their order; see `Validator.validate_batch`."""

    @abstractmethod
    def stream(
        self,
        *,
        target: Target | None = None,
        options: Options | None = None,
        outstanding: int = OUTSTANDING,
        timeout: float | None = None,
    ) -> BlockingStream[Item, Judgement]:
        """Return a stream, to be entered with ``with``; see `Validator.stream`."""

    def validate_stream(
        self,
        items: Iterable[tuple[str, Item]],
        *,
        target: Target | None = None,
        options: Options | None = None,
        outstanding: int = OUTSTANDING,
        timeout: float | None = None,
    ) -> Generator[Answer, None, None]:
        """Judge payloads as they come; see `Validator.validate_stream`.

        *items* are taken in a thread of their own. It ends when it next has an item to
        send, so one that waits for an item outlives an iteration that is left early.
        """
        with self.stream(
            target=target, options=options, outstanding=outstanding, timeout=timeout
        ) as stream:
            fed: Future[None] = Future()
            feeding = threading.Thread(
                target=feed_blocking, args=(stream, items, fed), name="sidecheck-feed", daemon=True
            )
            feeding.start()
            yield from stream
            fed.result()

    @abstractmethod
    def close(self) -> None:
        """Give back what is held; calls under way are cancelled."""

    @abstractmethod
    def _judge(self, item: Item, timeout: float | None) -> Verdict: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self.close()
