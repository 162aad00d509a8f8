"""Conversion of tool results to the messages that APIs of model providers expect."""

from dataclasses import dataclass, replace
from typing import Any

from sidecheck_server.core.convert.providers.provider import Provider
from sidecheck_server.core.convert.result_message import convert_result
from sidecheck_server.core.convert.types import Loss
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.call_errors import invalid_result_response
from sidecheck_server.core.mcp.subjects import CheckRequest, ToolResult
from sidecheck_server.core.payload import decode
from sidecheck_server.core.types import Verdict
from sidecheck_server.services.calls import ResultChecker
from sidecheck_server.services.offload import OffloadRule, Work
from sidecheck_server.services.resolution import TargetResolver
from sidecheck_server.services.targets import Target

__all__ = ["ConvertedResult", "ResultConverter", "ResultToConvert"]


@dataclass(frozen=True, slots=True)
class ResultToConvert:
    """A tool result to convert to a message."""

    api: Provider
    #: The ``CallToolResult``, and how it is checked.
    request: CheckRequest
    #: The tool that returned it, or None if it is not known.
    target: Target | None
    #: Whether the request names the protocol version itself.
    names_version: bool
    #: The id that the API gave the call, or "".
    call_id: str
    #: The name that the model knows the tool by, or "".
    name: str


@dataclass(frozen=True, slots=True)
class ConvertedResult:
    """A tool result as a message of an API."""

    #: The message or the item, as JSON text.
    message: bytes
    #: What the message cannot express, located in the result.
    losses: tuple[Loss, ...]
    #: The verdict on the result.
    verdict: Verdict


class ResultConverter:
    """Converts tool results to messages."""

    def __init__(self, resolver: TargetResolver, results: ResultChecker, limits: Limits) -> None:
        self._resolver = resolver
        self._results = results
        self._offload = OffloadRule(limits)

    async def convert(self, result: ResultToConvert) -> ConvertedResult:
        """Return the message for *result*; an invalid one is replaced by an error result.

        Raises:
            RequestError: as `ResultChecker.check` and `convert_result`.
        """
        request, subject = result.request, result.request.subject
        assert isinstance(subject, ToolResult), "only results are converted here"
        if not result.names_version:
            context = self._resolver.context_of(result.target, request.context)
            request = replace(request, context=context)
        checked = await self._results.check(request, result.target)
        verdict = checked.findings.verdict()
        text = subject.json
        if not verdict.valid:
            text = invalid_result_response(verdict, request.context.version).call_tool_result
        message, losses = await self._offload.run(
            Work.CONVERT_RESULT, text, lambda: _message(text, result)
        )
        return ConvertedResult(message, losses if verdict.valid else (), verdict)


def _message(text: bytes, result: ResultToConvert) -> tuple[bytes, tuple[Loss, ...]]:
    # The check guarantees an object whose depth is bounded. `decode` keeps numbers such as
    # 1e300, which take seconds as integers.
    value: Any = decode(text, max_depth=len(text))
    return convert_result(value, result.api, result.call_id, result.name)
