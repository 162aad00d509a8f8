"""Requests and responses of ProtocolService, except for the subjects to check."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from sidecheck.v1 import protocol_service_pb2

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.mcp.results.normalize import (
    Content,
    Failure,
    ToolOutput,
    Value,
    WholeResult,
)
from sidecheck_server.core.mcp.rules.rule import Rule
from sidecheck_server.core.mcp.sessions.repetitions import Repetition
from sidecheck_server.core.mcp.tool_names import CheckedName, Collision
from sidecheck_server.core.mcp.tool_outcomes import CheckedTool, Disposition
from sidecheck_server.rpc.mapping.context import request_context_from_proto
from sidecheck_server.rpc.mapping.fields import SEVERITIES
from sidecheck_server.rpc.mapping.subjects import profile_from_proto
from sidecheck_server.rpc.mapping.targets import (
    documents_from_proto,
    target_from_proto,
    tools_from_proto,
)
from sidecheck_server.rpc.mapping.verdicts import protocol_verdict_to_proto
from sidecheck_server.services.checks import SubjectReport
from sidecheck_server.services.normalization import NormalizedResult, ValueToNormalize
from sidecheck_server.services.tools import ToolsToCheck

__all__ = [
    "collision_to_proto",
    "name_to_proto",
    "normalized_result_to_proto",
    "report_to_proto",
    "rule_to_proto",
    "summary_to_proto",
    "tool_outcome_to_proto",
    "tools_to_check_from_proto",
    "value_to_normalize_from_proto",
]

_OUTPUT_CLASSES: Mapping[str, Callable[[Any], ToolOutput]] = MappingProxyType(
    {"value": Value, "content": Content, "result": WholeResult, "error": Failure}
)


def value_to_normalize_from_proto(
    request: protocol_service_pb2.NormalizeToolResultRequest, limits: Limits, default_version: str
) -> ValueToNormalize:
    """Return the return value of a request, with the options of its normalization.

    Raises:
        RequestError: INVALID_REQUEST if there is no return value, or for an unknown enum
            value; as `request_context_from_proto`.
    """
    kind = request.WhichOneof("returned")
    if kind is None:
        raise RequestError(
            ErrorReason.INVALID_REQUEST,
            "the request has no return value; set one of value, content, result, error",
            {"field": "returned"},
        )
    context = request_context_from_proto(request.context, request.options, limits, default_version)
    return ValueToNormalize(
        returned=_OUTPUT_CLASSES[kind](getattr(request, kind)),
        target=target_from_proto(request.tool) if request.HasField("tool") else None,
        profile=profile_from_proto(request.profile),
        context=context.context,
        limits=context.limits,
        names_version=context.names_version,
    )


def normalized_result_to_proto(
    result: NormalizedResult,
) -> protocol_service_pb2.NormalizeToolResultResponse:
    """Return the message of a normalized result."""
    return protocol_service_pb2.NormalizeToolResultResponse(
        result=result.json, verdict=protocol_verdict_to_proto(result.verdict)
    )


_DISPOSITIONS: Mapping[Disposition, protocol_service_pb2.ToolOutcome.Disposition] = (
    MappingProxyType(
        {
            Disposition.KEEP: protocol_service_pb2.ToolOutcome.DISPOSITION_KEEP,
            Disposition.WARN: protocol_service_pb2.ToolOutcome.DISPOSITION_WARN,
            Disposition.DROP: protocol_service_pb2.ToolOutcome.DISPOSITION_DROP,
        }
    )
)


def report_to_proto(report: SubjectReport) -> protocol_service_pb2.CheckResult:
    """Return the message of *report*."""
    return protocol_service_pb2.CheckResult(
        verdict=protocol_verdict_to_proto(report.verdict, report.json_rpc_error),
        error_response=report.error_response,
    )


def summary_to_proto(repetitions: Iterable[Repetition]) -> protocol_service_pb2.SessionSummary:
    """Return the message of the summary of a session."""
    return protocol_service_pb2.SessionSummary(
        repeated_violations=(
            protocol_service_pb2.RepeatedViolation(
                code=repetition.code,
                tool=repetition.tool,
                count=repetition.count,
                first_item=repetition.first,
            )
            for repetition in repetitions
        )
    )


async def tools_to_check_from_proto(
    request: protocol_service_pb2.CheckToolsRequest, limits: Limits, default_version: str
) -> ToolsToCheck:
    """Return the definitions to check.

    Raises:
        RequestError: as `request_context_from_proto`; LIMIT_EXCEEDED if there are too many
            tools, which are counted before they are read.
    """
    if len(request.tools) > limits.batch_items:
        raise limit_exceeded_error(
            "batch_items", limits.batch_items, "the tools", len(request.tools)
        )
    context = request_context_from_proto(request.context, request.options, limits, default_version)
    return ToolsToCheck(
        tools_list=request.tools_list,
        documents=documents_from_proto(request.documents),
        tools=await tools_from_proto(request.tools),
        context=context.context,
        limits=context.limits,
    )


def tool_outcome_to_proto(tool: CheckedTool) -> protocol_service_pb2.ToolOutcome:
    """Return the message of the outcome of a definition."""
    return protocol_service_pb2.ToolOutcome(
        name=tool.name,
        pointer=tool.pointer,
        disposition=_DISPOSITIONS[tool.disposition],
        verdict=protocol_verdict_to_proto(tool.verdict),
    )


def name_to_proto(name: CheckedName) -> protocol_service_pb2.ToolNameOutcome:
    """Return the message of the outcome of a name."""
    return protocol_service_pb2.ToolNameOutcome(
        verdict=protocol_verdict_to_proto(name.verdict),
        sdk_valid=name.sdk_valid,
        sdk_warnings=name.sdk_warnings,
        sanitized=name.sanitized,
    )


def collision_to_proto(collision: Collision) -> protocol_service_pb2.NameCollision:
    """Return the message of names that have the same sanitized form."""
    return protocol_service_pb2.NameCollision(
        sanitized=collision.sanitized, indexes=collision.indexes
    )


def rule_to_proto(rule: Rule) -> protocol_service_pb2.Rule:
    """Return the message of a rule."""
    return protocol_service_pb2.Rule(
        code=rule.code,
        severity=SEVERITIES[rule.severity],
        protocol_versions=rule.versions,
        spec_url=rule.spec_url(rule.versions[-1]),
        requirement=rule.requirement,
        subjects=rule.subjects,
    )
