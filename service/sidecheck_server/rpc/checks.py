"""Checks: one thing each, by the rules of the protocol, from the wire and back."""

from dataclasses import replace

from sidecheck.v1.protocol_service_pb2 import CheckItem, CheckOutcome, CheckResult, ToolResult

from sidecheck_server.core.mcp.check import Checked
from sidecheck_server.core.mcp.subjects import CheckRequest
from sidecheck_server.core.mcp.subjects import ToolResult as CoreToolResult
from sidecheck_server.rpc.batches import Batch
from sidecheck_server.rpc.handler import status_of
from sidecheck_server.rpc.mapping import (
    RequestContext,
    Sent,
    answer_to_wire,
    asked_from_wire,
    nothing_to_check,
    target_from_wire,
)
from sidecheck_server.services.protocol import Checker, allow
from sidecheck_server.services.results import ResultChecker

__all__ = ["Checks"]


class Checks:
    """Checks what is sent."""

    def __init__(self, checker: Checker, results: ResultChecker) -> None:
        self._checker = checker
        self._results = results

    async def answer(
        self, sent: Sent, terms: RequestContext, batch: Batch | None = None
    ) -> CheckResult:
        """Return what is wrong with *sent*, alone or as an item of *batch*.

        Raises:
            Refusal: it cannot be checked.
        """
        asked = asked_from_wire(sent, terms)
        if batch is not None:
            asked = replace(asked, how=batch.lowered_check(asked.how))
        checked = await self._check(sent, asked, batch)
        verdict = checked.findings.verdict()
        if batch is None:
            return answer_to_wire(asked, checked, verdict)
        batch.tell(verdict)
        answer = answer_to_wire(asked, checked, verdict, replies=batch.has_room)
        batch.take_room(len(answer.error_response) + len(answer.verdict.json_rpc_error))
        return answer

    async def outcome(self, item: CheckItem, terms: RequestContext, batch: Batch) -> CheckOutcome:
        """Return the answer to an item of *batch*, or its refusal: it must not cost the others."""
        try:
            return CheckOutcome(result=await self.answer(_sent(item), terms, batch))
        except Exception as error:  # noqa: BLE001  (the border)
            return CheckOutcome(error=status_of(error, "CheckBatch"))

    async def _check(self, sent: Sent, asked: CheckRequest, batch: Batch | None) -> Checked:
        take_long = allow if batch is None else batch.take_long
        if not isinstance(asked.subject, CoreToolResult):
            return await self._checker.check(asked, take_long)
        assert isinstance(sent, ToolResult)
        target = target_from_wire(sent.tool) if sent.HasField("tool") else None
        return await self._results.check(asked.subject, target, asked.context, asked.how, take_long)


def _sent(item: CheckItem) -> Sent:
    name = item.WhichOneof("item")
    if name is None:
        raise nothing_to_check("item")
    sent: Sent = getattr(item, name)
    return sent
