"""Stand-ins for a server, for the tests of programs that use Sidecheck.

A fake judges nothing: it answers what it was told to, and records what it was
asked. It is a `Validator` like the client whose place it takes::

    fake = FakeValidator()
    fake.answer_tool("weather", "get_forecast", invalid(Violation(code="REQUIRED")))
    await gateway(fake).call("weather", "get_forecast", {})
    assert fake.calls == [Item(Arguments({}), RegisteredTool("weather", "get_forecast"))]
"""

# ruff: noqa: ASYNC109  (a timeout here is the deadline that the call carries to the server)

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from queue import SimpleQueue

from sidecheck.errors import SidecheckError, StreamEnded
from sidecheck.items import Item
from sidecheck.options import Options
from sidecheck.streams import OUTSTANDING, Answer, BlockingStream, Stream
from sidecheck.targets import RegisteredTool, Target
from sidecheck.text_contract import build_result
from sidecheck.texts import JsonText
from sidecheck.validators import BlockingValidator, Validator
from sidecheck.verdicts import Verdict
from sidecheck.violations import Severity, Violation
from sidecheck.wire.requests import payload_text
from sidecheck.wire.responses import Judgement

__all__ = ["BlockingFakeValidator", "FakeValidator", "invalid", "valid"]


def valid(*violations: Violation) -> Verdict:
    """Return a valid verdict that lists *violations*.

    Raises:
        ValueError: One of them is an error.
    """
    if any(found.severity is Severity.ERROR for found in violations):
        raise ValueError("a verdict with an error is not valid")
    return Verdict(valid=True, violations=violations)


def invalid(*violations: Violation, tool_error_text: str = "The arguments are invalid.") -> Verdict:
    """Return an invalid verdict that lists *violations*, or one error if there are none.

    The result to give in place of the call says *tool_error_text*.

    Raises:
        ValueError: None of the violations given is an error.
    """
    found = violations or (Violation(code="INVALID", message="made invalid by a test"),)
    if all(one.severity is not Severity.ERROR for one in found):
        raise ValueError("a verdict without an error is not invalid")
    result = payload_text(build_result(tool_error_text, is_error=True))
    return Verdict(
        valid=False,
        violations=found,
        tool_error_text=tool_error_text,
        call_tool_result=JsonText(result),
    )


def completed(item: Item, target: Target | None, options: Options | None) -> Item:
    """Return *item* with what holds for it where it has nothing of its own."""
    return replace(item, target=item.target or target, options=item.options or options)


def told(answer: Answer | None) -> Answer | None:
    """Return what a stream tells next.

    Raises:
        StreamEnded: The script says that the stream ends here.
    """
    if answer is not None and isinstance(answer[1], StreamEnded):
        raise answer[1]
    return answer


class Script:
    """What a fake is to answer, and what it was asked.

    Of the answers that fit a payload the one given last counts; *otherwise* is for
    payloads that none fits. A `SidecheckError` is raised, or in a batch or a stream returned;
    only a `StreamEnded` ends a stream, and what was sent since has no answer.
    """

    def __init__(self, otherwise: Judgement | None = None) -> None:
        #: The payloads judged so far, each with the target and the options that
        #: held for it.
        self.calls: list[Item] = []
        self._otherwise = otherwise or valid()
        self._answers: list[tuple[Callable[[Item], bool], Judgement]] = []

    def answer_tool(self, server: str, name: str, answer: Judgement) -> None:
        """Answer payloads for the registered tool *name* of *server* with *answer*."""

        def called(item: Item) -> bool:
            tool = item.target
            return isinstance(tool, RegisteredTool) and (tool.server, tool.name) == (server, name)

        self.answer_when(called, answer)

    def answer_when(self, fits: Callable[[Item], bool], answer: Judgement) -> None:
        """Answer payloads that *fits* accepts with *answer*."""
        self._answers.insert(0, (fits, answer))

    def _answer(self, item: Item) -> Judgement:
        self.calls.append(item)
        return next((answer for fits, answer in self._answers if fits(item)), self._otherwise)

    def _verdict(self, item: Item) -> Verdict:
        answer = self._answer(item)
        if isinstance(answer, SidecheckError):
            raise answer
        return answer

    def _judgements(
        self, items: Iterable[Item], target: Target | None, options: Options | None
    ) -> list[Judgement]:
        return [self._answer(completed(item, target, options)) for item in items]


class FakeStream(Stream[Item, Judgement]):
    """A stream that *answer* answers."""

    def __init__(self, answer: Callable[[Item], Judgement], outstanding: int) -> None:
        super().__init__(outstanding)
        self._answer = answer
        self._answers: asyncio.Queue[Answer | None] = asyncio.Queue()

    async def _open(self) -> None:
        pass

    async def _write(self, id_: str, item: Item) -> None:
        self._answers.put_nowait((id_, self._answer(item)))

    async def _half_close(self) -> None:
        self._answers.put_nowait(None)

    async def _read(self) -> Answer | None:
        return told(await self._answers.get())

    def _cancel(self) -> None:
        pass


class BlockingFakeStream(BlockingStream[Item, Judgement]):
    """A stream that *answer* answers; else a `FakeStream`."""

    def __init__(self, answer: Callable[[Item], Judgement], outstanding: int) -> None:
        super().__init__(outstanding)
        self._answer = answer
        self._answers: SimpleQueue[Answer | None] = SimpleQueue()

    def _open(self) -> None:
        pass

    def _write(self, id_: str, item: Item) -> None:
        self._answers.put((id_, self._answer(item)))

    def _half_close(self) -> None:
        self._answers.put(None)

    def _read(self) -> Answer | None:
        return told(self._answers.get())

    def _cancel(self) -> None:
        pass


class FakeValidator(Script, Validator):
    """A `Validator` that answers from a script; every payload is valid by default."""

    async def validate_batch(
        self,
        items: Iterable[Item],
        *,
        target: Target | None = None,
        options: Options | None = None,
        timeout: float | None = None,  # noqa: ARG002  (the fake is never late)
    ) -> list[Judgement]:
        """Answer many payloads in their order; see `Validator.validate_batch`."""
        return self._judgements(items, target, options)

    def stream(
        self,
        *,
        target: Target | None = None,
        options: Options | None = None,
        outstanding: int = OUTSTANDING,
        timeout: float | None = None,  # noqa: ARG002  (the fake is never late)
    ) -> Stream[Item, Judgement]:
        """Return a stream that the script answers; see `Validator.stream`."""
        return FakeStream(lambda item: self._answer(completed(item, target, options)), outstanding)

    async def close(self) -> None:
        """Do nothing: nothing is held."""

    async def _judge(self, item: Item, timeout: float | None) -> Verdict:  # noqa: ARG002  (likewise)
        return self._verdict(item)


class BlockingFakeValidator(Script, BlockingValidator):
    """A `BlockingValidator` that answers from a script; else a `FakeValidator`."""

    def validate_batch(
        self,
        items: Iterable[Item],
        *,
        target: Target | None = None,
        options: Options | None = None,
        timeout: float | None = None,  # noqa: ARG002  (the fake is never late)
    ) -> list[Judgement]:
        """Answer many payloads in their order; see `Validator.validate_batch`."""
        return self._judgements(items, target, options)

    def stream(
        self,
        *,
        target: Target | None = None,
        options: Options | None = None,
        outstanding: int = OUTSTANDING,
        timeout: float | None = None,  # noqa: ARG002  (the fake is never late)
    ) -> BlockingStream[Item, Judgement]:
        """Return a stream that the script answers; see `Validator.stream`."""
        return BlockingFakeStream(
            lambda item: self._answer(completed(item, target, options)), outstanding
        )

    def close(self) -> None:
        """Do nothing: nothing is held."""

    def _judge(self, item: Item, timeout: float | None) -> Verdict:  # noqa: ARG002  (likewise)
        return self._verdict(item)
