"""Results of tools, as the messages that tell models."""

import asyncio
from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.convert.providers.provider import Provider
from sidecheck_server.core.convert.result_message import convert_result
from sidecheck_server.core.convert.types import Loss
from sidecheck_server.core.mcp.calls.replies import reply_to_result
from sidecheck_server.core.mcp.subjects import CheckRequest, ToolResult
from sidecheck_server.core.payload import decode
from sidecheck_server.core.types import Verdict
from sidecheck_server.services.results import ResultChecker
from sidecheck_server.services.targets import Target

__all__ = ["ResultConverter", "ResultToTell", "ToldResult"]

_INLINE_BYTES = 64 << 10
"""The largest result that is converted in the event loop: about a millisecond."""


@dataclass(frozen=True, slots=True)
class ResultToTell:
    """A result to convert."""

    api: Provider
    #: The ``CallToolResult``, and how it is checked.
    asked: CheckRequest
    #: The tool that gave it, or None if that is not told.
    target: Target | None
    #: The id that the API gave the call, or "".
    call_id: str
    #: The name that the model knows the tool by, or "".
    name: str


@dataclass(frozen=True, slots=True)
class ToldResult:
    """A result as an API has it."""

    #: The message or the item, as JSON text.
    message: bytes
    #: What the API cannot be told; pointers lead into the result.
    losses: tuple[Loss, ...]
    #: On the result as it was given.
    verdict: Verdict


class ResultConverter:
    """Converts results."""

    def __init__(self, checker: ResultChecker) -> None:
        self._checker = checker

    async def convert(self, one: ResultToTell) -> ToldResult:
        """Return the message that tells the model of a result.

        In place of an invalid result it is told that the tool failed, and why.

        Raises:
            Refusal: as `ResultChecker.check` and `result_message`.
        """
        asked, subject = one.asked, one.asked.subject
        assert isinstance(subject, ToolResult), "nothing else is converted"
        checked = await self._checker.check(subject, one.target, asked.context, asked.how)
        verdict = checked.findings.verdict()
        text = subject.json
        if not verdict.valid:
            text = reply_to_result(verdict, asked.context.version).call_tool_result
        if len(text) <= _INLINE_BYTES:
            message, losses = _message(text, one)
        else:
            # Megabytes take longer than a moment; other calls have their turn in between.
            message, losses = await asyncio.to_thread(_message, text, one)
        return ToldResult(message, losses if verdict.valid else (), verdict)


def _message(text: bytes, one: ResultToTell) -> tuple[bytes, tuple[Loss, ...]]:
    # It was checked, so it is an object, and nests no deeper than it may. Read in another
    # way, numbers such as 1e300 would hold the interpreter for seconds.
    result: Any = decode(text, max_depth=len(text))
    return convert_result(result, one.api, one.call_id, one.name)
