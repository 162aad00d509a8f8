"""Checks by the services of this process, without a transport between."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Final, Protocol, TypeAlias

from sidecheck_server.config.transport_limits import TransportLimits
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import DEFAULT_VIOLATIONS, Limits
from sidecheck_server.core.mcp.call_errors import ErrorResponse
from sidecheck_server.core.mcp.call_params import is_object_text
from sidecheck_server.core.mcp.context import (
    Context,
    Sender,
    check_version_known,
    has_structured_content,
)
from sidecheck_server.core.mcp.sessions.memory import MemoryPool
from sidecheck_server.core.mcp.subjects import CheckRequest, ProtocolMessage, ReportLimits
from sidecheck_server.core.repair.types import Repairs
from sidecheck_server.core.types import Verdict
from sidecheck_server.proxy.checks import (
    CallTarget,
    NotCheckedError,
    SessionClosedError,
    ToolVerdicts,
)
from sidecheck_server.proxy.messages import Direction, Message
from sidecheck_server.rpc.handler import log_failure
from sidecheck_server.services.calls import CallVerdict, reply_for_call, reply_for_result
from sidecheck_server.services.checks import RequestContext, SessionChecker, SubjectReport
from sidecheck_server.services.container import Services
from sidecheck_server.services.prepared_targets import ValidationOutcome
from sidecheck_server.services.registration import Registration
from sidecheck_server.services.request_work import open_request
from sidecheck_server.services.resolution import require_binding
from sidecheck_server.services.targets import InlineTool
from sidecheck_server.services.tools import ToolsToCheck
from sidecheck_server.services.validation import ValidationOptions

__all__ = ["CHECK_TOOLS", "LocalChecks", "ObserveCalls", "ObservedCall", "unobserved"]

_PACKAGE: Final = "sidecheck.v1"
_CHECK_SESSION: Final = f"{_PACKAGE}.ProtocolService/CheckSession"
CHECK_TOOLS: Final = f"{_PACKAGE}.ProtocolService/CheckTools"
_VALIDATE: Final = f"{_PACKAGE}.ValidationService/Validate"
_GET_TOOL: Final = f"{_PACKAGE}.RegistryService/GetTool"
_REGISTER_TOOLS: Final = f"{_PACKAGE}.RegistryService/RegisterTools"
_DELETE_TOOLS: Final = f"{_PACKAGE}.RegistryService/DeleteTools"

_SESSIONS: Final = 40_000
"""Most open sessions; the memory of all of them together is bounded before."""


class ObservedCall(Protocol):
    """Takes what comes of one check."""

    def completed(self, *verdicts: Verdict) -> None:
        """Take the *verdicts*."""
        ...

    def failed(self, reason: ErrorReason | None) -> None:
        """Take why there is none, None for what is unexpected."""
        ...


#: Observes one check: given the full name of the method of the API that does the same, and the
#: message of a peer, or b"".
ObserveCalls: TypeAlias = Callable[[str, bytes], AbstractContextManager[ObservedCall]]


class _Unobserved:
    """Observes nothing."""

    def completed(self, *verdicts: Verdict) -> None:
        pass

    def failed(self, reason: ErrorReason | None) -> None:
        pass


_UNOBSERVED: Final = nullcontext(_Unobserved())


def unobserved(_path: str, _message: bytes) -> AbstractContextManager[ObservedCall]:
    """Observe nothing."""
    return _UNOBSERVED


class LocalChecks:
    """The checks of *services*, within *limits*; each is given to *observe*."""

    passes_unavailable = False

    def __init__(
        self,
        services: Services,
        limits: Limits,
        observe: ObserveCalls = unobserved,
    ) -> None:
        self._services = services
        self._limits = limits
        self._observe = observe
        self._violations = min(DEFAULT_VIOLATIONS, limits.violations)
        self._report_limits = ReportLimits(self._violations, limits.verdict_characters)
        self._memory = MemoryPool(TransportLimits().session_bytes, _SESSIONS)

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
            # The proxy validates them by the definitions that it has learned itself.
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
    ) -> ValidationOutcome:
        """Return the outcome of the params of *call*, with locations in them.

        Raises:
            NotCheckedError: there is none.
        """
        params = call.properties.get("params", b"{}")
        arguments = call.params.get("arguments", b"{}") if follows_protocol else None
        with self.call(_VALIDATE, call.text) as observed:
            options = self._options(target, protocol_version, repairs)
            verdict = await self._services.call_validator.validate_params(
                params, target, options, arguments=arguments
            )
            observed.completed(verdict.verdict)
            return _outcome(verdict, reply_for_call(verdict, params, options))

    async def validate_result(
        self,
        target: CallTarget,
        response: Message,
        protocol_version: str,
        *,
        follows_protocol: bool,
    ) -> ValidationOutcome:
        """Return the outcome of the result of *response*, with locations in it.

        Raises:
            NotCheckedError: there is none.
        """
        result = response.properties["result"]
        with self.call(_VALIDATE) as observed:
            options = self._options(target, protocol_version, None)
            content = None
            if follows_protocol and has_structured_content(options.version):
                content = _content_of(response)
            verdict = await self._services.call_validator.validate_result(
                result, target, options, content=content
            )
            observed.completed(verdict.verdict)
            return _outcome(verdict, reply_for_result(verdict, options))

    async def check_tools(self, tools_list: bytes, protocol_version: str) -> ToolVerdicts:
        """Return the verdicts on *tools_list*.

        Raises:
            NotCheckedError: there are none.
        """
        with self.call(CHECK_TOOLS) as observed:
            context = self._context(protocol_version)
            checked = await self._services.tools_checker.check(
                ToolsToCheck(tools_list, context=context, limits=self._report_limits)
            )
            verdicts = tuple(outcome.verdict for outcome in checked.outcomes)
            observed.completed(*verdicts)
            return ToolVerdicts(verdicts, checked.tools_list_verdict)

    async def registered_tool(self, server: str, name: str) -> bytes:
        """Return the definition of a registered tool.

        Raises:
            NotCheckedError: UNKNOWN_TOOL, or it cannot be read.
        """
        with self.call(_GET_TOOL):
            return require_binding(self._services.registry, server, name).definition.json

    async def register(
        self, server: str, definitions: Sequence[bytes], protocol_version: str
    ) -> list[bool]:
        """Register *definitions*; return which of them were not rejected.

        Raises:
            NotCheckedError: none is registered.
        """
        with self.call(_REGISTER_TOOLS):
            check_version_known(protocol_version)
            most, accepted = self._limits.batch_items, list[bool]()
            for start in range(0, len(definitions), most):
                tools = tuple(map(InlineTool, definitions[start : start + most]))
                registered = await self._services.registrar.register(
                    Registration(server, tools, protocol_version=protocol_version)
                )
                accepted += [outcome.action is not None for outcome in registered.outcomes]
            return accepted

    async def delete(self, server: str, names: Sequence[str]) -> None:
        """Delete the registered tools called *names*.

        Raises:
            NotCheckedError: none is deleted.
        """
        with self.call(_DELETE_TOOLS):
            await self._services.registry_writer.delete(server, list(names))

    @contextmanager
    def call(self, path: str, message: bytes = b"") -> Iterator[ObservedCall]:
        """Make the block the work of one request, of the method *path*.

        Raises:
            NotCheckedError: in place of every error.
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
                id_ = log_failure(error, path.rpartition("/")[2])
                raise NotCheckedError(
                    "INTERNAL", f"internal error; see error_id {id_} in the log"
                ) from None

    def _context(self, version: str) -> Context:
        check_version_known(version)
        return Context(version=version or self._services.resolver.default_version)

    def _options(
        self, target: CallTarget, version: str, repairs: Repairs | None
    ) -> ValidationOptions:
        check_version_known(version)
        evaluation = EvaluationOptions(
            max_violations=self._violations,
            max_length=self._limits.verdict_characters,
            repairs=repairs,
        )
        version = self._services.resolver.version_of(target, version)
        return ValidationOptions(evaluation=evaluation, version=version)


class _Session:
    """A session of *checks*, whose messages are checked one at a time."""

    def __init__(
        self, checks: LocalChecks, session: SessionChecker, context: RequestContext
    ) -> None:
        self._checks = checks
        self._session = session
        self._contexts = {sender: replace(context.context, sender=sender) for sender in Sender}
        self._limits = context.limits
        self._turn = asyncio.Lock()
        self._is_closed = False

    async def check(self, message: bytes, sender: Direction, http_status: int) -> SubjectReport:
        """Return the report on the next *message*.

        Raises:
            NotCheckedError: there is none; `SessionClosedError` if the session was closed.
        """
        async with self._turn:
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
        """Return the memory of the session, after the message at hand."""
        async with self._turn:
            self._is_closed = True
            self._session.close()


def _content_of(response: Message) -> bytes | None:
    """Return the structured content of *response*, None unless its schema alone is to decide.

    More than the schema decides about a result that reports an error, that is of another type,
    or that lacks an object as content, which versions before 2026-07-28 require.
    """
    result = response.result or {}
    content = result.get("structuredContent")
    is_plain = result.get("isError", b"false") == b"false" and "resultType" not in result
    return content if content is not None and is_plain and is_object_text(content) else None


def _outcome(call: CallVerdict, reply: ErrorResponse) -> ValidationOutcome:
    return ValidationOutcome(
        call.verdict, call.definition_digest, call.schema_digest, call.enforced, reply=reply
    )
