"""Checks by the services of this process, without a transport."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Final, Protocol, TypeAlias

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import DEFAULT_SESSION_BYTES, DEFAULT_VIOLATIONS, Limits
from sidecheck_server.core.mcp.call_errors import ErrorResponse
from sidecheck_server.core.mcp.context import (
    Context,
    Sender,
    check_version_known,
    has_structured_content,
)
from sidecheck_server.core.mcp.sessions.memory import MemoryPool
from sidecheck_server.core.mcp.subjects import CheckRequest, ProtocolMessage, ReportLimits
from sidecheck_server.core.payload import is_object_text
from sidecheck_server.core.repair.types import Repairs
from sidecheck_server.core.types import Verdict
from sidecheck_server.proxy.checks import (
    CallTarget,
    NotCheckedError,
    SessionClosedError,
    ToolVerdicts,
)
from sidecheck_server.proxy.messages import Direction, Message
from sidecheck_server.services.calls import (
    CallValidator,
    CallVerdict,
    reply_for_call,
    reply_for_result,
)
from sidecheck_server.services.checks import RequestContext, SessionChecker, SubjectReport
from sidecheck_server.services.prepared_targets import ValidationOutcome
from sidecheck_server.services.protocol import ProtocolChecker
from sidecheck_server.services.request_work import open_request
from sidecheck_server.services.resolution import TargetResolver
from sidecheck_server.services.tools import ToolsChecker, ToolsToCheck
from sidecheck_server.services.validation import ValidationOptions

__all__ = [
    "CHECK_TOOLS",
    "PACKAGE",
    "CheckingServices",
    "LocalChecks",
    "LogFailure",
    "ObserveCalls",
    "ObservedCall",
    "unobserved",
]

PACKAGE: Final = "sidecheck.v1"
"""Package of the methods of the API."""
_CHECK_SESSION: Final = f"{PACKAGE}.ProtocolService/CheckSession"
CHECK_TOOLS: Final = f"{PACKAGE}.ProtocolService/CheckTools"
_VALIDATE: Final = f"{PACKAGE}.ValidationService/Validate"

_MAX_SESSIONS: Final = 40_000
"""Maximum number of open sessions; in practice their total memory is the tighter bound."""


class ObservedCall(Protocol):
    """Observer of one check."""

    def completed(self, *verdicts: Verdict) -> None:
        """Record the *verdicts*."""
        ...

    def failed(self, reason: ErrorReason | None) -> None:
        """Record a failure with *reason*, None for an unexpected error."""
        ...


#: Observes one check. Arguments: full name of the equivalent method of the API, and the message
#: of a peer, or b"".
ObserveCalls: TypeAlias = Callable[[str, bytes], AbstractContextManager[ObservedCall]]


class _Unobserved:
    """Observes nothing."""

    def completed(self, *verdicts: Verdict) -> None:
        pass

    def failed(self, reason: ErrorReason | None) -> None:
        pass


# Decision 0067: without tracing, checks have this observer, which does nothing.
_UNOBSERVED: Final = nullcontext(_Unobserved())


def unobserved(_path: str, _message: bytes) -> AbstractContextManager[ObservedCall]:
    """Observe nothing."""
    return _UNOBSERVED


class CheckingServices(Protocol):
    """The services that the checks use."""

    @property
    def resolver(self) -> TargetResolver:
        """Resolves tools to compiled schemas."""
        ...

    @property
    def call_validator(self) -> CallValidator:
        """Validates calls and results."""
        ...

    @property
    def protocol_checker(self) -> ProtocolChecker:
        """Checks messages."""
        ...

    @property
    def tools_checker(self) -> ToolsChecker:
        """Checks lists of tools."""
        ...


LogFailure: TypeAlias = Callable[[Exception, str], str]


def _log_failure(error: Exception, method: str) -> str:
    # Imported late: errors are rare, and the module imports gRPC.
    from sidecheck_server.rpc.handler import log_failure  # noqa: PLC0415

    return log_failure(error, method)


class LocalChecks:
    """Checks of *services* within *limits*; *observe* is called for each.

    *log_failure* logs an unexpected error of a method, and returns the id of the event.

    With *hide_values*, the texts of verdicts have nothing of the messages. Replies to calls and
    results have, because their receivers know the messages.
    """

    passes_unavailable = False

    def __init__(
        self,
        services: CheckingServices,
        limits: Limits,
        observe: ObserveCalls = unobserved,
        log_failure: LogFailure = _log_failure,
        *,
        hide_values: bool = False,
    ) -> None:
        self._services = services
        self._hides_values = hide_values
        self._limits = limits
        self._observe = observe
        self._violations = min(DEFAULT_VIOLATIONS, limits.violations)
        self._report_limits = ReportLimits(self._violations, limits.verdict_characters)
        self._log_failure = log_failure
        self._memory = MemoryPool(DEFAULT_SESSION_BYTES, _MAX_SESSIONS)

    async def open_session(self, protocol_version: str, *, from_beginning: bool) -> "_Session":
        """Return a session.

        Raises:
            NotCheckedError: the version is unknown.
        """
        with self.call(_CHECK_SESSION):
            context = RequestContext(
                self._context(protocol_version),
                self._report_limits,
                names_version=bool(protocol_version),
                from_beginning=from_beginning,
            )
        session = SessionChecker(
            self._services.protocol_checker,
            self._limits,
            context,
            self._memory,
            # The proxy validates payloads by the definitions that it has learned.
            validates_payloads=False,
        )
        return _Session(self, session, context)

    async def validate_call(
        self,
        target: CallTarget,
        call: Message,
        protocol_version: str,
        repairs: Repairs | None,
        *,
        follows_protocol: bool,
        assert_formats: bool = False,
    ) -> ValidationOutcome:
        """Return the outcome for the params of *call*, with locations relative to them.

        Raises:
            NotCheckedError: validation was not possible.
        """
        params = call.properties.get("params", b"{}")
        arguments = call.params.get("arguments", b"{}") if follows_protocol else None
        validator = self._services.call_validator
        with self.call(_VALIDATE, call.text) as observed:
            options = self._options(
                target, protocol_version, repairs, assert_formats=assert_formats
            )
            verdict = await validator.validate_params(params, target, options, arguments=arguments)
            observed.completed(verdict.verdict)
            explained = verdict
            if options.evaluation.hide_values and not verdict.verdict.valid:
                options = _showing_values(options)
                explained = await validator.validate_params(
                    params, target, options, arguments=arguments
                )
            return _outcome(verdict, reply_for_call(explained, params, options))

    async def validate_result(
        self,
        target: CallTarget,
        response: Message,
        protocol_version: str,
        *,
        follows_protocol: bool,
        assert_formats: bool = False,
    ) -> ValidationOutcome:
        """Return the outcome for the result of *response*, with locations relative to it.

        Raises:
            NotCheckedError: validation was not possible.
        """
        result = response.properties["result"]
        with self.call(_VALIDATE) as observed:
            options = self._options(target, protocol_version, None, assert_formats=assert_formats)
            content = None
            if follows_protocol and has_structured_content(options.version):
                content = _content_of(response)
            validator = self._services.call_validator
            verdict = await validator.validate_result(result, target, options, content=content)
            observed.completed(verdict.verdict)
            explained = verdict
            if options.evaluation.hide_values and not verdict.verdict.valid:
                options = _showing_values(options)
                explained = await validator.validate_result(
                    result, target, options, content=content
                )
            return _outcome(verdict, reply_for_result(explained, options))

    async def check_tools(self, tools_list: bytes, protocol_version: str) -> ToolVerdicts:
        """Return the verdicts on *tools_list*.

        Raises:
            NotCheckedError: the check was not possible.
        """
        with self.call(CHECK_TOOLS) as observed:
            context = self._context(protocol_version)
            report = await self._services.tools_checker.check(
                ToolsToCheck(tools_list, context=context, limits=self._report_limits)
            )
            verdicts = tuple(outcome.verdict for outcome in report.outcomes)
            observed.completed(*verdicts)
            return ToolVerdicts(verdicts, report.tools_list_verdict)

    @contextmanager
    def call(self, path: str, message: bytes = b"") -> Iterator[ObservedCall]:
        """Run the block as one observed request of the method *path*, with its own budget.

        Raises:
            NotCheckedError: replaces every error of the block.
        """
        open_request(self._limits)
        with self._observe(path, message) as observed:
            try:
                yield observed
            except RequestError as error:
                observed.failed(error.reason)
                raise NotCheckedError(error.reason.value, error.message) from None
            except Exception as error:  # noqa: BLE001  (nothing unexpected may end the proxy)
                observed.failed(None)
                id_ = self._log_failure(error, path.rpartition("/")[2])
                raise NotCheckedError(
                    "INTERNAL", f"internal error; see error_id {id_} in the log"
                ) from None

    def _context(self, version: str) -> Context:
        check_version_known(version)
        version = version or self._services.resolver.default_version
        return Context(version=version, hide_values=self._hides_values)

    def _options(
        self,
        target: CallTarget,
        version: str,
        repairs: Repairs | None,
        *,
        assert_formats: bool,
    ) -> ValidationOptions:
        check_version_known(version)
        evaluation = EvaluationOptions(
            max_violations=self._violations,
            max_length=self._limits.verdict_characters,
            repairs=repairs,
            hide_values=self._hides_values,
        )
        version = self._services.resolver.version_of(target, version)
        return ValidationOptions(
            evaluation=evaluation, version=version, assert_formats=assert_formats
        )


class _Session:
    """A session of *checks*, which checks one message at a time."""

    def __init__(
        self, checks: LocalChecks, session: SessionChecker, context: RequestContext
    ) -> None:
        self._checks = checks
        self._session = session
        self._contexts = {sender: replace(context.context, sender=sender) for sender in Sender}
        self._limits = context.limits
        self._lock = asyncio.Lock()
        self._is_closed = False

    async def check(self, message: bytes, sender: Direction, http_status: int) -> SubjectReport:
        """Return the report on the next *message*.

        Raises:
            NotCheckedError: the check was not possible; `SessionClosedError` if the session was
                closed.
        """
        async with self._lock:
            if self._is_closed:
                raise SessionClosedError("CANCELLED", "the session was closed")
            with self._checks.call(_CHECK_SESSION, message) as observed:
                request = CheckRequest(
                    ProtocolMessage(message), self._contexts[Sender(sender)], self._limits
                )
                try:
                    report = await self._session.check(request, http_status=http_status)
                except asyncio.CancelledError:
                    self._session.skip()
                    raise
                observed.completed(report.verdict)
                return report

    async def close(self) -> None:
        """Free the memory of the session, after the current message."""
        async with self._lock:
            self._is_closed = True
            self._session.close()


def _content_of(response: Message) -> bytes | None:
    """Return the structured content of *response* if its schema alone decides on the result.

    Other rules also apply to a result that reports an error or has a ``resultType``, and to content
    that is not an object, as versions before 2026-07-28 require.
    """
    result = response.result or {}
    content = result.get("structuredContent")
    is_plain = result.get("isError", b"false") == b"false" and "resultType" not in result
    return content if content is not None and is_plain and is_object_text(content) else None


def _showing_values(options: ValidationOptions) -> ValidationOptions:
    """Return *options* for a reply: with values, and without repairs, which replies do not have."""
    evaluation = replace(options.evaluation, hide_values=False, repairs=None)
    return replace(options, evaluation=evaluation)


def _outcome(call: CallVerdict, reply: ErrorResponse) -> ValidationOutcome:
    return ValidationOutcome(
        call.verdict, call.definition_digest, call.schema_digest, call.enforced, reply=reply
    )
