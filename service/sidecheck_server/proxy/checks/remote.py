"""Checks by a running server, through the Python client."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import cast

from sidecheck import (
    CheckOptions,
    Client,
    Coercion,
    Options,
    ProtocolContext,
    SidecheckError,
    StreamClosed,
    Target,
    ToolDefinition,
    Unavailable,
)
from sidecheck import RegisteredTool as RemoteTool
from sidecheck import Repair as RemoteRepair
from sidecheck import Session as RemoteStream
from sidecheck import Verdict as RemoteVerdict
from sidecheck import Violation as RemoteViolation

from sidecheck_server.core.mcp.call_errors import ErrorResponse
from sidecheck_server.core.repair.types import Repairs
from sidecheck_server.core.types import Change, ChangeRule, Repair, Severity, Verdict, Violation
from sidecheck_server.proxy.checks import (
    CallTarget,
    NotCheckedError,
    SessionClosedError,
    ToolVerdicts,
)
from sidecheck_server.proxy.messages import Direction, Message
from sidecheck_server.services.checks import SubjectReport
from sidecheck_server.services.prepared_targets import ValidationOutcome
from sidecheck_server.services.targets import InlineTool

__all__ = ["RemoteChecks"]


class RemoteChecks:
    """Checks of the server that *client* is connected to.

    With *hide_values*, the texts of verdicts have nothing of the messages. Replies to calls and
    results have, because their receivers know the messages.
    """

    def __init__(self, client: Client, *, hide_values: bool = False) -> None:
        self._client = client
        self._hides_values = hide_values

    @property
    def passes_unavailable(self) -> bool:
        """Whether messages pass while no server is available."""
        return self._client.on_unavailable == "allow"

    async def open_session(self, protocol_version: str, *, from_beginning: bool) -> "_Session":
        """Return a session, which has its own stream.

        Raises:
            NotCheckedError: the stream cannot be opened.
        """
        context = ProtocolContext(protocol_version=protocol_version)
        session = self._client.protocol.session(
            context=context, from_beginning=from_beginning, options=self._check_options()
        )
        with _translate_errors():
            return _Session(await session.__aenter__())

    async def validate_call(
        self,
        target: CallTarget,
        call: Message,
        protocol_version: str,
        repairs: Repairs | None,
        *,
        follows_protocol: bool,  # noqa: ARG002  (the server checks all of it)
        assert_formats: bool = False,
    ) -> ValidationOutcome:
        """Return the outcome for the params of *call*, with locations relative to them.

        Raises:
            NotCheckedError: validation was not possible.
        """
        repairs = repairs or Repairs()
        options = Options(
            coercion=Coercion(repairs.coercion.value),
            apply_defaults=repairs.apply_defaults,
            protocol_version=protocol_version,
            hide_values=self._hides_values,
            assert_formats=assert_formats,
        )
        params = call.properties.get("params", b"{}")
        with _translate_errors():
            verdict = await self._client.validate_call(
                _convert_target(target), params, options=options
            )
            explained = verdict
            if options.hide_values and not verdict.valid:
                explained = await self._client.validate_call(
                    _convert_target(target),
                    params,
                    options=Options(
                        protocol_version=protocol_version, assert_formats=assert_formats
                    ),
                )
            return _convert_outcome(verdict, explained)

    async def validate_result(
        self,
        target: CallTarget,
        response: Message,
        protocol_version: str,
        *,
        follows_protocol: bool,  # noqa: ARG002  (the server checks all of it)
        assert_formats: bool = False,
    ) -> ValidationOutcome:
        """Return the outcome for the result of *response*, with locations relative to it.

        Raises:
            NotCheckedError: validation was not possible.
        """
        options = Options(
            protocol_version=protocol_version,
            hide_values=self._hides_values,
            assert_formats=assert_formats,
        )
        result = response.properties["result"]
        with _translate_errors():
            verdict = await self._client.validate_call_result(
                _convert_target(target), result, options=options
            )
            explained = verdict
            if options.hide_values and not verdict.valid:
                explained = await self._client.validate_call_result(
                    _convert_target(target),
                    result,
                    options=Options(
                        protocol_version=protocol_version, assert_formats=assert_formats
                    ),
                )
            return _convert_outcome(verdict, explained)

    async def check_tools(self, tools_list: bytes, protocol_version: str) -> ToolVerdicts:
        """Return the verdicts on *tools_list*.

        Raises:
            NotCheckedError: the check was not possible.
        """
        context = ProtocolContext(protocol_version=protocol_version)
        with _translate_errors():
            report = await self._client.protocol.check_tools(
                tools_list, context=context, options=self._check_options()
            )
        verdicts = tuple(_convert_verdict(outcome.verdict) for outcome in report.outcomes)
        return ToolVerdicts(verdicts, _convert_verdict(report.tools_list_verdict))

    def _check_options(self) -> CheckOptions:
        return CheckOptions(hide_values=self._hides_values)


class _Session:
    """Session of one connection, over one stream."""

    def __init__(self, stream: RemoteStream) -> None:
        self._stream = stream

    async def check(self, message: bytes, sender: Direction, http_status: int) -> SubjectReport:
        """Return the report on the next *message*.

        Raises:
            NotCheckedError: the check was not possible; `SessionClosedError` if the stream has
                ended.
        """
        with _translate_errors():
            result = await self._stream.check(message, sender=sender, http_status=http_status)
        return SubjectReport(_convert_verdict(result.verdict), bytes(result.error_response))

    async def close(self) -> None:
        """End the stream."""
        await self._stream.__aexit__(None, None, None)


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Translate the errors of the client.

    Raises:
        NotCheckedError: replaces each error.
    """
    try:
        yield
    except StreamClosed as error:
        raise SessionClosedError(error.reason, error.message, is_unavailable=True) from None
    except SidecheckError as error:
        is_unavailable = isinstance(error, Unavailable)
        raise NotCheckedError(error.reason, error.message, is_unavailable) from None


def _convert_target(target: CallTarget) -> Target:
    if isinstance(target, InlineTool):
        return ToolDefinition(target.json)
    return RemoteTool(target.server, target.name)


def _convert_outcome(verdict: RemoteVerdict, explained: RemoteVerdict) -> ValidationOutcome:
    """Return the outcome with *verdict*, and with the reply of *explained*."""
    reply = ErrorResponse(
        explained.tool_error_text,
        bytes(explained.call_tool_result),
        bytes(explained.json_rpc_error),
    )
    return ValidationOutcome(_convert_verdict(verdict), enforced=verdict.enforced, reply=reply)


def _convert_verdict(verdict: RemoteVerdict) -> Verdict:
    repair = None if verdict.repair is None else _convert_repair(verdict.repair)
    return Verdict(_convert_violations(verdict.violations), verdict.truncated, repair)


def _convert_repair(repair: RemoteRepair) -> Repair:
    return Repair(
        repair.payload,
        Verdict(_convert_violations(repair.violations), repair.truncated),
        tuple(
            Change(
                change.instance_location,
                # A newer server may send an unknown rule, of which only the code is read.
                cast("ChangeRule", change.code),
                change.keyword_location,
                change.message,
            )
            for change in repair.changes
        ),
    )


def _convert_violations(violations: Sequence[RemoteViolation]) -> tuple[Violation, ...]:
    return tuple(
        Violation(
            violation.instance_location,
            violation.keyword_location,
            violation.keyword,
            violation.code,
            violation.message,
            Severity(violation.severity.value),
            violation.suggestion,
            violation.spec_url,
        )
        for violation in violations
    )
