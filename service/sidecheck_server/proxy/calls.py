"""Calls of tools and their results: validated by the definitions that the server lists."""

from dataclasses import dataclass, replace

import msgspec
from sidecheck import Change, Client, Coercion, Options, Severity, ToolDefinition, Verdict

from sidecheck_server.proxy.listings import Listings
from sidecheck_server.proxy.messages import (
    Message,
    error_response,
    join_object,
    read_list,
    read_object,
    result_response,
    string_value,
)
from sidecheck_server.proxy.policies import Policies, Policy, Repairs
from sidecheck_server.proxy.report import Action, Finding, Report, finding_of

__all__ = ["METHOD", "Admission", "Ruling", "ToolCalls"]

METHOD = "tools/call"

_INVALID_PARAMS = -32602

_REPAIRS = {
    Repairs.OFF: Options(),
    Repairs.JSON_STRINGS: Options(coercion=Coercion.JSON_STRINGS),
    Repairs.SAFE_SCALARS: Options(coercion=Coercion.SAFE_SCALARS),
    Repairs.DEFAULTS: Options(coercion=Coercion.SAFE_SCALARS, apply_defaults=True),
}
"""The options of a validation with these repairs."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What becomes of a message."""

    #: What the receiver gets: the message, or another in its place; None for nothing.
    forward: bytes | None = None
    #: What the sender gets in response.
    reply: bytes | None = None


@dataclass(frozen=True, slots=True)
class Admission:
    """What becomes of a call."""

    ruling: Ruling
    #: The definition that its result is validated by, if it is known.
    definition: ToolDefinition | None = None
    findings: tuple[Finding, ...] = ()


class ToolCalls:
    """The ``tools/call`` requests of one connection, and their results."""

    def __init__(
        self, client: Client, policies: Policies, listings: Listings, report: Report
    ) -> None:
        self._client = client
        self._policies = policies
        self._listings = listings
        self._report = report

    async def admit(self, request: Message, version: str) -> Admission:
        """Return what becomes of *request*, and what was found.

        Raises:
            SidecheckError: it could not be validated.
        """
        name = string_value(request.params.get("name"))
        definition = await self._listings.find(name, request.params)
        if self._listings.is_dropped(name):
            note = "was taken out of the list of tools"
            finding = _finding(name, "TOOL_DROPPED", Severity.ERROR, Action.REJECTED, note)
            return Admission(Ruling(reply=_unknown_tool(request, name)), findings=(finding,))
        if self._policies.arguments is Policy.OFF:
            return Admission(Ruling(request.text), definition)
        if definition is None:
            note = "is not listed; not validated"
            finding = _finding(name, "UNKNOWN_TOOL", Severity.WARNING, Action.PASSED, note)
            return Admission(Ruling(request.text), findings=(finding,))
        params = request.properties.get("params", b"{}")
        options = replace(_REPAIRS[self._policies.repair], protocol_version=version)
        verdict = await self._client.validate_call(definition, params, options=options)
        repair = verdict.repair
        if repair is not None and repair.valid and repair.changes:
            ruling = Ruling(request.with_property("params", repair.payload))
            changes = tuple(_finding_of_change(change, name) for change in repair.changes)
            return Admission(ruling, definition, changes)
        rejected = not verdict.valid and self._policies.arguments is Policy.ENFORCE
        action = Action.REJECTED if rejected else Action.PASSED
        findings = tuple(
            finding_of(violation, "client", METHOD, name, action, "/params")
            for violation in verdict.violations
        )
        ruling = Ruling(reply=_reply(request, verdict)) if rejected else Ruling(request.text)
        return Admission(ruling, definition, findings)

    async def replace_result(
        self, response: Message, name: str, definition: ToolDefinition, version: str
    ) -> bytes:
        """Return what the client gets for *response*, the result of the tool called *name*.

        Raises:
            SidecheckError: it could not be validated, and must not pass unvalidated.
        """
        result = response.properties["result"]
        options = Options(protocol_version=version)
        verdict = await self._client.validate_call_result(definition, result, options=options)
        rejected = not verdict.valid and self._policies.results is Policy.ENFORCE
        action = Action.REJECTED if rejected else Action.PASSED
        for violation in verdict.violations:
            self._report.add(finding_of(violation, "server", METHOD, name, action, "/result"))
        if not rejected:
            return response.text
        if not verdict.call_tool_result:
            return error_response(response, verdict.json_rpc_error)
        return response.with_property("result", _with_own_text(verdict.call_tool_result, result))


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
        code=change.code,
        severity=Severity.WARNING,
        location=f"/params{change.instance_location}",
        action=Action.REPAIRED,
        message=change.message,
    )


def _reply(request: Message, verdict: Verdict) -> bytes | None:
    """Return the response to an invalid *request*; None for a notification."""
    if not request.is_request:
        return None
    if verdict.call_tool_result:
        return result_response(request, verdict.call_tool_result)
    return error_response(request, verdict.json_rpc_error)


def _unknown_tool(request: Message, name: str) -> bytes | None:
    error = {"code": _INVALID_PARAMS, "message": f"Unknown tool: {name}"}
    return error_response(request, msgspec.json.encode(error)) if request.is_request else None


def _with_own_text(replacement: bytes, result: bytes) -> bytes:
    """Return *replacement* with the texts of *result* first, if that reports an error itself."""
    own = read_object(result) or {}
    if own.get("isError") != b"true":
        return replacement
    texts = [
        block
        for block in read_list(own.get("content", b"")) or []
        if string_value((read_object(block) or {}).get("text"))
        and string_value((read_object(block) or {}).get("type")) == "text"
    ]
    properties = read_object(replacement) or {}
    blocks = [*texts, *(read_list(properties["content"]) or [])]
    return join_object({**properties, "content": b"[" + b",".join(blocks) + b"]"})
