"""The seam between a program and whatever judges its payloads.

A program that takes a `Validator` or a `BlockingValidator` can be given a client
in production and a fake from `sidecheck.testing` in its tests.
"""

# ruff: noqa: ASYNC109  (a timeout here is the deadline that the call carries to the server)

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Self

from sidecheck.items import Arguments, Item, Payload, StructuredContent
from sidecheck.options import Options
from sidecheck.targets import Target
from sidecheck.verdicts import Verdict
from sidecheck.wire.responses import Judgement

__all__ = ["BlockingValidator", "Validator"]


class Validator(ABC):
    """Judges payloads, asynchronously.

    An invalid payload is returned as a verdict. Where nothing could be judged,
    `Refused` is raised, or for an item of a batch returned in its place.
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
        content: Payload,
        *,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> Verdict:
        """Judge the structured content of a tool's result; else like `validate`."""
        return await self._judge(Item(StructuredContent(content), target, options), timeout)

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
        content: Payload,
        *,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> Verdict:
        """Judge the structured content of a tool's result; else like `validate`."""
        return self._judge(Item(StructuredContent(content), target, options), timeout)

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
    def close(self) -> None:
        """Give back what is held; calls under way are cancelled."""

    @abstractmethod
    def _judge(self, item: Item, timeout: float | None) -> Verdict: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self.close()
