"""Comparison of the answers of ProtocolService.

The same bytes have the same answer: in a repeated call, as an item of a batch, and from the
core in this process.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fuzz.answers import CORE, SUDDEN, answer_in, reason_in
from fuzz.exchanges import Caller, Exchange, Outcome
from fuzz.properties import Finding
from fuzz.rpcs import rpc_named
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass
from sidecheck.v1 import protocol_service_pb2 as v1
from sidecheck.v1.verdict_pb2 import Verdict
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import check
from sidecheck_server.core.mcp.context import DEFAULT_VERSION
from sidecheck_server.core.mcp.protocol_schemas import compile_protocol_schemas
from sidecheck_server.rpc.mapping.context import request_context_from_proto
from sidecheck_server.rpc.mapping.subjects import check_request_from_proto
from support.session_checks import resolve_all_deferred

__all__ = ["examine_answer"]

_BATCH = "/sidecheck.v1.ProtocolService/CheckBatch"
_LIMITS = Limits()
_SURFACES = compile_protocol_schemas(_LIMITS)


def examine_answer(caller: Caller, exchange: Exchange, outcome: Outcome) -> Iterator[Finding]:
    """Yield the differences between *outcome* and other answers to the same request."""
    rpc = rpc_named(exchange.path)
    if rpc.many_requests:
        return
    try:
        request: Any = GetMessageClass(rpc.request).FromString(exchange.messages[0])
    except DecodeError:
        return
    first = answer_in(exchange.path, outcome)
    if first is None or first in SUDDEN or _depends_on_registry(request):
        return
    again = answer_in(exchange.path, caller.send(exchange))
    if again is not None and again not in SUDDEN and again != first:
        yield Finding("another answer to a repeated call", f"{first}\n{again}", [exchange])
    item = _item(request)
    if item is not None and not isinstance(first, str):
        yield from _examine_item(caller, exchange, request, item, first.result)


def _examine_item(
    caller: Caller, exchange: Exchange, request: Any, item: v1.CheckItem, first: v1.CheckResult
) -> Iterator[Finding]:
    """Yield the differences between the answers to *request* and to its *item* in a batch."""
    batch = v1.CheckBatchRequest(items=[item])
    for name in ("context", "options"):
        if request.HasField(name):
            getattr(batch, name).CopyFrom(getattr(request, name))
    batch_exchange = replace(exchange, path=_BATCH, messages=(batch.SerializeToString(),))
    answer = _in_batch(caller.send(batch_exchange))
    if answer is not None and answer not in SUDDEN and answer != first:
        difference = f"{first}\n{answer}"
        yield Finding("another answer in a batch", difference, [exchange, batch_exchange])
    try:
        with CORE:
            core = _from_core(request, item)
    except Exception as error:  # noqa: BLE001  (any exception is a finding)
        core = f"raised {type(error).__name__}: {error}"
    if core is not None and core != _reduced(first.verdict):
        difference = f"{_reduced(first.verdict)}\n{core}"
        yield Finding("the core has another verdict", difference, [exchange])


def _depends_on_registry(request: Any) -> bool:
    """Return whether the answer depends on the registry, which another call may change."""
    items = getattr(request, "items", [])
    results = [request.tool_result] if hasattr(request, "tool_result") else []
    results += [item.tool_result for item in items]
    kinds = {result.tool.WhichOneof("target") for result in results}
    return bool(kinds - {None, "inline_tool", "inline_schema"})


def _item(request: Any) -> v1.CheckItem | None:
    """Return the subject of *request* as an item of a batch, or None."""
    for name in v1.CheckItem.DESCRIPTOR.fields_by_name:
        if name in request.DESCRIPTOR.fields_by_name and request.HasField(name):
            item = v1.CheckItem()
            getattr(item, name).CopyFrom(getattr(request, name))
            return item
    return None


def _in_batch(outcome: Outcome) -> Any:
    response = answer_in(_BATCH, outcome)
    if response is None or isinstance(response, str):
        return response
    batch_outcome = response.outcomes[0]
    return (
        batch_outcome.result if batch_outcome.HasField("result") else reason_in(batch_outcome.error)
    )


def _reduced(verdict: Verdict) -> Any:
    """Return the part of *verdict* that the core gives too."""
    violations = [
        (
            violation.instance_location,
            violation.code,
            violation.message,
            violation.suggestion,
            violation.spec_url,
        )
        for violation in verdict.violations
    ]
    return verdict.valid, verdict.truncated, violations


def _from_core(request: Any, item: v1.CheckItem) -> Any:
    """Return the reduced verdict of the core; None if it depends on the service."""
    name = item.WhichOneof("item")
    if name is None or (name == "tool_result" and request.tool_result.HasField("tool")):
        return None
    try:
        terms = request_context_from_proto(
            request.context, request.options, _LIMITS, DEFAULT_VERSION
        )
        check_request = check_request_from_proto(getattr(item, name), terms)
        checked = check(check_request, _LIMITS, _SURFACES)
        evaluation_options = EvaluationOptions(
            max_violations=check_request.limits.max_violations,
            max_length=check_request.limits.max_characters,
            hide_values=check_request.context.hide_values,
        )
        resolve_all_deferred(checked, _LIMITS, evaluation_options)
    except RequestError as refusal:
        # The server has more limits for work in a worker.
        return None if refusal.reason is ErrorReason.LIMIT_EXCEEDED else refusal.reason.value
    verdict = checked.findings.verdict()
    violations = [
        (
            violation.instance_location,
            violation.code,
            violation.message,
            violation.suggestion,
            violation.spec_url,
        )
        for violation in verdict.violations
    ]
    return verdict.valid, verdict.truncated, violations
