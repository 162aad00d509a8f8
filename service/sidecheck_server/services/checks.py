"""Checks of single subjects, batch items and session messages."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import VALID
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.messages.error_responses import build_error_response
from sidecheck_server.core.mcp.sessions.memory import MemoryPool
from sidecheck_server.core.mcp.sessions.repetitions import Repetition
from sidecheck_server.core.mcp.sessions.session import Session
from sidecheck_server.core.mcp.subjects import (
    CheckRequest,
    ProtocolMessage,
    ReportLimits,
    ToolResult,
)
from sidecheck_server.core.types import Verdict
from sidecheck_server.services.calls import ResultChecker
from sidecheck_server.services.offload import TimeSlice, allow_offloading
from sidecheck_server.services.protocol import ProtocolChecker
from sidecheck_server.services.request_work import BatchBudget
from sidecheck_server.services.resolution import TargetResolver
from sidecheck_server.services.targets import Target

__all__ = ["RequestContext", "SessionChecker", "SubjectChecker", "SubjectReport"]


@dataclass(frozen=True, slots=True)
class RequestContext:
    """Context and limits that apply to every subject of a request."""

    context: Context
    limits: ReportLimits
    #: Whether the request names the protocol version itself.
    names_version: bool
    #: Whether a session is checked from its first message on.
    from_beginning: bool = True


@dataclass(slots=True)
class SubjectReport:
    """The verdict on a subject, and the error response to a message."""

    verdict: Verdict
    #: The JSON-RPC error response, or the responses to a batch, as JSON text; b"" if none is due.
    error_response: bytes = b""
    #: The error in that response; b"" for a batch.
    json_rpc_error: bytes = b""
    #: The protocol version whose rules applied to a message of a session.
    version: str = ""
    #: The method of a message that is a request or a result, and was checked in full; ""
    #: otherwise, for example for a response to an unknown request.
    method: str = ""


class SubjectChecker:
    """Checks single subjects and items of batches."""

    def __init__(
        self, resolver: TargetResolver, checker: ProtocolChecker, results: ResultChecker
    ) -> None:
        self._resolver = resolver
        self._checker = checker
        self._results = results

    async def check(
        self,
        request: CheckRequest,
        target: Target | None = None,
        budget: BatchBudget | None = None,
        *,
        names_version: bool = True,
    ) -> SubjectReport:
        """Return the report on the subject of *request*, alone or as an item of a batch.

        *target* is the tool of a result, if the request names it. Its protocol version applies
        if the request names none.

        Raises:
            RequestError: a limit is exceeded, the worker crashed, or the target is
                unknown, invalid or a bare schema.
        """
        if target is not None and not names_version:
            context = self._resolver.context_of(target, request.context)
            request = replace(request, context=context)
        if budget is None:
            check_report = await self._check(request, target)
            return _report(request, check_report, check_report.findings.verdict())
        request = replace(request, limits=budget.limit_report(request.limits))
        check_report = await self._check(request, target, budget)
        verdict = check_report.findings.verdict()
        budget.charge(verdict)
        if not budget.has_characters:
            return SubjectReport(verdict)
        report = _report(request, check_report, verdict)
        budget.charge_characters(len(report.error_response) + len(report.json_rpc_error))
        return report

    async def _check(
        self, request: CheckRequest, target: Target | None, budget: BatchBudget | None = None
    ) -> CheckReport:
        count_offloaded = allow_offloading if budget is None else budget.count_offloaded
        if isinstance(request.subject, ToolResult):
            return await self._results.check(request, target, count_offloaded)
        return await self._checker.check(request, count_offloaded)


class SessionChecker:
    """Checks the messages of one session in their order."""

    def __init__(
        self,
        checker: ProtocolChecker,
        limits: Limits,
        context: RequestContext,
        pool: MemoryPool | None = None,
        *,
        validates_payloads: bool = True,
    ) -> None:
        """Start a session in *context*, with memory from *pool*.

        With *validates_payloads*, the session validates arguments and structured content by
        the schemas that the server listed; without it, the caller does.
        """
        self._checker = checker
        self._max_bytes = limits.payload_bytes
        self._interrupted: _Interrupted | None = None
        self._session = Session(
            context.context,
            pinned=context.names_version,
            from_beginning=context.from_beginning,
            pool=pool,
            validates_payloads=validates_payloads,
        )

    def close(self) -> None:
        """Return the memory of the session to its pool."""
        self._session.close()

    def repetitions(self) -> list[Repetition]:
        """Return the violations of several messages that only one verdict lists."""
        return self._session.repetitions()

    async def check(
        self, request: CheckRequest, *, number: int = 0, http_status: int = 0
    ) -> SubjectReport:
        """Return the report on the message of *request*, the next one of the session.

        After WORKER_CRASHED the caller may send it again, as the next message. *number* and
        *http_status* are the arguments of `Session.record`.

        Raises:
            RequestError: LIMIT_EXCEEDED; WORKER_CRASHED.
        """
        message = request.subject
        assert isinstance(message, ProtocolMessage), "sessions consist of messages"
        size = len(message.json)
        if size > self._max_bytes:
            # Reading even the method and id of the message would exceed the limit.
            self._session.record_gap()
            raise limit_exceeded_error("payload_bytes", self._max_bytes, "the payload", size)
        sender = request.context.sender
        interrupted, self._interrupted = self._interrupted, None
        if interrupted is not None and interrupted.matches(message, sender):
            if interrupted.recorded is not None:
                return await self._resolve(message, sender, *interrupted.recorded)
            if not interrupted.had_gaps:
                self._session.close_gap()
        request = self._session.check_request(message, sender, request.limits)
        try:
            check_report = await self._checker.check_partially(request)
        except Exception as error:
            if _may_be_sent_again(error):
                self._interrupted = _Interrupted(message.json, sender, self._session.has_gaps)
            self._session.record_gap()
            raise
        time_slice = TimeSlice()
        for _ in self._session.record(
            request, check_report, number=number, http_status=http_status
        ):
            await time_slice.yield_if_over()
        return await self._resolve(message, sender, request, check_report)

    async def _resolve(
        self,
        message: ProtocolMessage,
        sender: Sender | None,
        request: CheckRequest,
        check_report: CheckReport,
    ) -> SubjectReport:
        """Return the report on *message* of *sender*, recorded with *check_report*."""
        if not check_report.findings.pending:
            return _report(request, check_report, check_report.findings.verdict())
        before = replace(check_report, findings=check_report.findings.copy())
        try:
            await self._checker.resolve_deferred(request, check_report)
        except RequestError as error:
            if _may_be_sent_again(error):
                self._interrupted = _Interrupted(
                    message.json, sender, self._session.has_gaps, (request, before)
                )
            raise
        return _report(request, check_report, check_report.findings.verdict())

    def skip(self) -> None:
        """Record a gap for a message that cannot be checked."""
        self._session.record_gap()


@dataclass(frozen=True, slots=True)
class _Interrupted:
    """A message whose check ended with the crash of a worker."""

    json: bytes
    sender: Sender | None
    #: Whether the session had gaps before it.
    had_gaps: bool
    #: The request and the report before the deferred checks, if the message was recorded.
    recorded: tuple[CheckRequest, CheckReport] | None = None

    def matches(self, message: ProtocolMessage, sender: Sender | None) -> bool:
        """Return whether *message* of *sender* is this one, sent again."""
        return self.json == message.json and self.sender is sender


def _may_be_sent_again(error: Exception) -> bool:
    return isinstance(error, RequestError) and error.reason is ErrorReason.WORKER_CRASHED


def _report(request: CheckRequest, check_report: CheckReport, verdict: Verdict) -> SubjectReport:
    if not isinstance(request.subject, ProtocolMessage):
        return SubjectReport(verdict)
    context = request.context
    method = _method_of(check_report)
    if verdict is VALID:
        return SubjectReport(verdict, version=context.version, method=method)
    response = build_error_response(
        check_report.messages, verdict, context.version, hide_values=context.hide_values
    )
    # The response to a batch is a list with an error for each message.
    if not response.startswith(b"{"):
        return SubjectReport(verdict, response, version=context.version, method=method)
    properties: Mapping[str, Any] = msgspec.json.decode(response, type=dict[str, msgspec.Raw])
    return SubjectReport(verdict, response, bytes(properties["error"]), context.version, method)


def _method_of(check_report: CheckReport) -> str:
    """Return the method of a single message, or "" if its contents were not checked."""
    if len(check_report.messages) != 1:
        return ""
    [message] = check_report.messages
    return message.method if message.kind in {Kind.REQUEST, Kind.RESULT} else ""
