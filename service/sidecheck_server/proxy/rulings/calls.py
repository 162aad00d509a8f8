"""Validates tool calls and their results by the definitions that the server lists."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sidecheck_server.config.exemptions import NO_CODES, ExemptCodes
from sidecheck_server.config.policies import Policies, Policy, Repairs
from sidecheck_server.core.repair.types import Coercion
from sidecheck_server.core.repair.types import Repairs as RepairOptions
from sidecheck_server.core.types import Change, Severity, Verdict
from sidecheck_server.proxy.checks import CallTarget, Checks, NotCheckedError
from sidecheck_server.proxy.messages import (
    INVALID_PARAMS,
    Message,
    join_array,
    join_object,
    read_list,
    read_object,
    result_response,
    string_value,
)
from sidecheck_server.proxy.report import Action, Finding, Findings, finding_of, finding_of_error
from sidecheck_server.proxy.rulings.listing_pages import ToolSource
from sidecheck_server.proxy.rulings.pending import Request
from sidecheck_server.proxy.rulings.ruling import (
    Ruling,
    action_on,
    decide_unvalidated,
    find_fault,
    reject,
    unvalidated_reason,
)

if TYPE_CHECKING:
    from sidecheck_server.services.prepared_targets import ValidationOutcome

__all__ = ["METHOD", "Admission", "ToolCalls"]

METHOD = "tools/call"

_REPAIRS = {
    Repairs.OFF: None,
    Repairs.JSON_STRINGS: RepairOptions(coercion=Coercion.JSON_STRINGS),
    Repairs.SAFE_SCALARS: RepairOptions(coercion=Coercion.SAFE_SCALARS),
    Repairs.DEFAULTS: RepairOptions(coercion=Coercion.SAFE_SCALARS, apply_defaults=True),
}
"""Repair options by policy."""


@dataclass(frozen=True, slots=True)
class Admission:
    """Decision on a tool call."""

    ruling: Ruling
    #: Target to validate its result against; None if unknown.
    target: CallTarget | None = None
    #: Findings about the call, yet to be reported.
    findings: tuple[Finding, ...] = ()


class ToolCalls:
    """Rulings on the ``tools/call`` requests of one connection, and on their results."""

    def __init__(
        self, checks: Checks, policies: Policies, tools: ToolSource, report: Findings
    ) -> None:
        self._checks = checks
        self._policies = policies
        self._tools = tools
        self._report = report

    async def admit(self, request: Message, version: str, *, follows_protocol: bool) -> Admission:
        """Return the decision on the call *request*.

        With *follows_protocol*, its params have no fault by the rules of *version*.
        """
        name = string_value(request.params.get("name"))
        try:
            target = await self._tools.find(name, request.params)
        except NotCheckedError as error:
            # Without the definition, neither side of the call can be validated.
            enforces = Policy.ENFORCE in (self._policies.arguments, self._policies.results)
            enforces = enforces or self._tools.uses_pins
            return self._decide_unvalidated(
                request, name, error, Policy.ENFORCE if enforces else Policy.AUDIT
            )
        if self._tools.is_dropped(name):
            note = "was taken out of the list of tools"
            finding = _finding(name, "TOOL_DROPPED", Severity.ERROR, Action.REJECTED, note)
            ruling = reject(request, f"Unknown tool: {name}", INVALID_PARAMS)
            return Admission(ruling, findings=(finding,))
        if target is None and self._tools.uses_pins:
            # The server may execute tools that it does not list.
            note = "is not listed, and only pinned tools may be called"
            finding = _finding(name, "UNKNOWN_TOOL", Severity.ERROR, Action.REJECTED, note)
            ruling = reject(request, f"Unknown tool: {name}", INVALID_PARAMS)
            return Admission(ruling, findings=(finding,))
        if self._policies.arguments is Policy.OFF:
            return Admission(Ruling(request.text), target)
        if target is None:
            note = "is not listed; not validated"
            finding = _finding(name, "UNKNOWN_TOOL", Severity.WARNING, Action.PASSED, note)
            return Admission(Ruling(request.text), findings=(finding,))
        repairs = _REPAIRS[self._policies.repair]
        try:
            outcome = await self._checks.validate_call(
                target,
                request,
                version,
                repairs,
                follows_protocol=follows_protocol,
                assert_formats=self._policies.assert_formats,
            )
        except NotCheckedError as error:
            return self._decide_unvalidated(request, name, error, self._policies.arguments, target)
        return self._decide_validated(request, name, target, outcome)

    def _decide_validated(
        self, request: Message, name: str, target: CallTarget, outcome: "ValidationOutcome"
    ) -> Admission:
        verdict, repair = outcome.verdict, outcome.verdict.repair
        if repair is not None and repair.verdict.valid and repair.changes:
            ruling = Ruling(request.with_property("params", repair.payload))
            changes = tuple(_finding_of_change(change, name) for change in repair.changes)
            return Admission(ruling, target, changes)
        policy = self._policies.arguments
        rejection = self._find_rejection(verdict, name, policy)
        findings = tuple(
            finding_of(
                violation,
                "client",
                METHOD,
                name,
                action_on(violation, policy, rejection),
                "/params",
            )
            for violation in verdict.violations
        )
        is_rejected = rejection is not None
        ruling = _reject_call(outcome, request) if is_rejected else Ruling(request.text)
        return Admission(ruling, target, findings)

    def _decide_unvalidated(
        self,
        request: Message,
        name: str,
        error: NotCheckedError,
        policy: Policy,
        target: CallTarget | None = None,
    ) -> Admission:
        # The lock file of pinned tools has no exemptions.
        exempt = NO_CODES if self._tools.uses_pins else self._exempt(name)
        action = decide_unvalidated(self._checks, error, policy, exempt)
        is_rejected = action is Action.REJECTED
        ruling = reject(request, unvalidated_reason(error)) if is_rejected else Ruling(request.text)
        finding = finding_of_error(error, "client", METHOD, name, action=action)
        return Admission(ruling, target, (finding,))

    def _exempt(self, name: str) -> ExemptCodes:
        """Return the codes that do not reject a call of the tool *name*, or its result."""
        return self._policies.allow.find(METHOD, name)

    def _find_rejection(self, verdict: Verdict, name: str, policy: Policy) -> Action | None:
        """Return `Action.REJECTED` if *policy* rejects what *verdict* is on, or else None."""
        if verdict.valid or policy is not Policy.ENFORCE:
            return None
        fault = find_fault(verdict.violations, self._exempt(name), is_truncated=verdict.truncated)
        return None if fault is None else Action.REJECTED

    async def rule_result(
        self, response: Message, request: Request, *, follows_protocol: bool
    ) -> Ruling:
        """Return the ruling on *response*, which has the result of the call *request*.

        With *follows_protocol*, the result has no fault by the rules of the request's version.
        """
        assert request.target is not None, "the result of an unknown tool is not validated"
        try:
            outcome = await self._checks.validate_result(
                request.target,
                response,
                request.version,
                follows_protocol=follows_protocol,
                assert_formats=self._policies.assert_formats,
            )
        except NotCheckedError as error:
            return self.rule_unvalidated(response, request, error)
        verdict, reply = outcome.verdict, outcome.reply
        policy = self._policies.results
        rejection = self._find_rejection(verdict, request.tool, policy)
        for violation in verdict.violations:
            action = action_on(violation, policy, rejection)
            self._report.add(
                finding_of(violation, "server", METHOD, request.tool, action, "/result")
            )
        if rejection is None:
            return Ruling(response.text)
        if not reply.call_tool_result:
            return reject(response, reply.json_rpc_error or reply.tool_error_text)
        replacement = _prepend_error_texts(reply.call_tool_result, response.result or {})
        return Ruling(response.with_property("result", replacement))

    def rule_unvalidated(
        self, response: Message, request: Request, error: NotCheckedError
    ) -> Ruling:
        """Return the ruling on *response*, which was not validated because of *error*."""
        exempt = self._exempt(request.tool)
        action = decide_unvalidated(self._checks, error, self._policies.results, exempt)
        self._report.add(finding_of_error(error, "server", METHOD, request.tool, action=action))
        if action is Action.REJECTED:
            return reject(response, unvalidated_reason(error))
        return Ruling(response.text)


def _finding(name: str, code: str, severity: Severity, action: Action, note: str) -> Finding:
    return Finding(
        sender="client",
        method=METHOD,
        tool=name,
        code=code,
        severity=severity,
        action=action,
        note=note,
    )


def _finding_of_change(change: Change, name: str) -> Finding:
    return Finding(
        sender="client",
        method=METHOD,
        tool=name,
        code=str(change.rule),
        severity=Severity.WARNING,
        location=f"/params{change.pointer}",
        action=Action.REPAIRED,
        note=change.message,
    )


def _reject_call(outcome: "ValidationOutcome", request: Message) -> Ruling:
    """Return the rejection of the call *request* because of the invalid *outcome*."""
    # Decision 0028: the core chooses a tool result or a JSON-RPC error, by the protocol version.
    reply = outcome.reply
    if request.is_request and reply.call_tool_result:
        response = result_response(request.properties["id"], reply.call_tool_result)
        return Ruling(reply=response)
    return reject(request, reply.json_rpc_error or reply.tool_error_text)


def _prepend_error_texts(replacement: bytes, result: Mapping[str, bytes]) -> bytes:
    """Return *replacement* with the text blocks of *result*, if that is an error, put first."""
    if result.get("isError") != b"true":
        return replacement
    texts = [
        block
        for block in read_list(result.get("content", b"")) or []
        if string_value((read_object(block) or {}).get("text"))
        and string_value((read_object(block) or {}).get("type")) == "text"
    ]
    properties = read_object(replacement) or {}
    blocks = [*texts, *(read_list(properties["content"]) or [])]
    return join_object({**properties, "content": join_array(blocks)})
