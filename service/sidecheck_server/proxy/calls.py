"""Calls of tools and their results: validated by the definitions that the server lists."""

from collections.abc import Iterable, Set
from dataclasses import dataclass, replace

import msgspec
from sidecheck import Client, Severity, ToolDefinition, Verdict, Violation

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
from sidecheck_server.proxy.report import Action, Direction, Finding, Report, finding_of

__all__ = ["METHOD", "Ruling", "ToolCalls"]

METHOD = "tools/call"

_INVALID_PARAMS = -32602


@dataclass(frozen=True, slots=True)
class Ruling:
    """What becomes of a message."""

    #: What the receiver gets: the message, or another in its place; None for nothing.
    forward: bytes | None = None
    #: What the sender gets in response.
    reply: bytes | None = None


class ToolCalls:
    """The ``tools/call`` requests of one connection, and their results."""

    def __init__(
        self, client: Client, policies: Policies, listings: Listings, report: Report
    ) -> None:
        self._client = client
        self._policies = policies
        self._listings = listings
        self._report = report

    async def admit(
        self, request: Message, version: str, reported: Set[tuple[str, str]]
    ) -> tuple[Ruling, ToolDefinition | None]:
        """Return what becomes of *request*, and the definition of its tool if it is known.

        The violations in *reported*, by code and location in the message, are known already.

        Raises:
            SidecheckError: it could not be validated, and must not pass unvalidated.
        """
        name = string_value(request.params.get("name"))
        definition = await self._listings.find(name, request.params)
        if self._listings.is_dropped(name):
            note = "was taken out of the list of tools"
            self._add(name, "TOOL_DROPPED", Action.REJECTED, note)
            return Ruling(reply=error_response(request, _unknown_tool(name))), None
        if self._policies.arguments is Policy.OFF:
            return Ruling(request.text), definition
        if definition is None:
            self._add(name, "UNKNOWN_TOOL", Action.PASSED, "is not listed; not validated")
            return Ruling(request.text), None
        params = request.properties.get("params", b"{}")
        options = replace(self._policies.repair.options, protocol_version=version)
        verdict = await self._client.validate_call(definition, params, options=options)
        repair = verdict.repair
        if repair is not None and repair.valid and repair.changes:
            for change in repair.changes:
                self._report.add(
                    Finding(
                        sender="client",
                        method=METHOD,
                        tool=name,
                        code=change.code,
                        severity=Severity.WARNING,
                        location=f"/params{change.instance_location}",
                        action=Action.REPAIRED,
                        message=change.message,
                    )
                )
            return Ruling(request.with_property("params", repair.payload)), definition
        rejected = not verdict.valid and self._policies.arguments is Policy.ENFORCE
        action = Action.REJECTED if rejected else Action.PASSED
        self._add_violations(verdict.violations, "client", name, action, "/params", reported)
        if not rejected:
            return Ruling(request.text), definition
        return Ruling(reply=_reply(request, verdict)), definition

    async def replace_result(
        self, response: Message, name: str, definition: ToolDefinition, version: str
    ) -> bytes:
        """Return what the client gets for *response*, the result of the tool called *name*.

        Raises:
            SidecheckError: it could not be validated, and must not pass unvalidated.
        """
        result = response.properties["result"]
        options = replace(Repairs.OFF.options, protocol_version=version)
        verdict = await self._client.validate_call_result(definition, result, options=options)
        rejected = not verdict.valid and self._policies.results is Policy.ENFORCE
        action = Action.REJECTED if rejected else Action.PASSED
        self._add_violations(verdict.violations, "server", name, action, "/result", frozenset())
        if not rejected:
            return response.text
        if not verdict.call_tool_result:
            return error_response(response, verdict.json_rpc_error)
        return response.with_property("result", _with_own_text(verdict.call_tool_result, result))

    def _add(self, tool: str, code: str, action: Action, note: str) -> None:
        severity = Severity.WARNING if action is Action.PASSED else Severity.ERROR
        self._report.add(
            Finding(
                sender="client",
                method=METHOD,
                tool=tool,
                code=code,
                severity=severity,
                action=action,
                note=note,
            )
        )

    def _add_violations(
        self,
        violations: Iterable[Violation],
        sender: Direction,
        tool: str,
        action: Action,
        inside: str,
        reported: Set[tuple[str, str]],
    ) -> None:
        for violation in violations:
            if (violation.code, inside + violation.instance_location) not in reported:
                self._report.add(finding_of(violation, sender, METHOD, tool, action, inside))


def _reply(request: Message, verdict: Verdict) -> bytes | None:
    """Return the response to an invalid *request*; None for a notification."""
    if not request.is_request:
        return None
    if verdict.call_tool_result:
        return result_response(request, verdict.call_tool_result)
    return error_response(request, verdict.json_rpc_error)


def _unknown_tool(name: str) -> bytes:
    error = {"code": _INVALID_PARAMS, "message": f"Unknown tool: {name}"}
    return msgspec.json.encode(error)


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
