"""Verdicts, violations, repairs and changes."""

from collections.abc import Iterable

from sidecheck.v1 import verdict_pb2

from sidecheck_server.core.types import Change, Repair, Verdict, Violation
from sidecheck_server.rpc.mapping.fields import SEVERITIES
from sidecheck_server.services.prepared_targets import ValidationOutcome

__all__ = [
    "changes_to_proto",
    "outcome_to_proto",
    "protocol_verdict_to_proto",
    "violation_to_proto",
]


def outcome_to_proto(outcome: ValidationOutcome) -> verdict_pb2.Verdict:
    """Return the message of the outcome of a validation."""
    verdict, reply = outcome.verdict, outcome.reply
    if not verdict.violations and verdict.repair is None:
        return verdict_pb2.Verdict(
            valid=True,
            truncated=verdict.truncated,
            definition_digest=outcome.definition_digest,
            schema_digest=outcome.schema_digest,
            enforced=outcome.enforced,
        )
    lists_violations = outcome.lists_violations
    return verdict_pb2.Verdict(
        valid=verdict.valid,
        violations=map(violation_to_proto, verdict.violations) if lists_violations else (),
        truncated=verdict.truncated,
        repair=_repair(verdict.repair, lists_violations) if verdict.repair is not None else None,
        definition_digest=outcome.definition_digest,
        schema_digest=outcome.schema_digest,
        tool_error_text=reply.tool_error_text,
        enforced=outcome.enforced,
        call_tool_result=reply.call_tool_result,
        json_rpc_error=reply.json_rpc_error,
    )


def protocol_verdict_to_proto(verdict: Verdict, json_rpc_error: bytes = b"") -> verdict_pb2.Verdict:
    """Return the message of a verdict by protocol rules, which is enforced.

    *json_rpc_error* is the error of the reply to a message, or b"".
    """
    return verdict_pb2.Verdict(
        valid=verdict.valid,
        violations=map(violation_to_proto, verdict.violations),
        truncated=verdict.truncated,
        enforced=True,
        json_rpc_error=json_rpc_error,
    )


def changes_to_proto(changes: Iterable[Change]) -> list[verdict_pb2.Change]:
    """Return the messages of *changes*."""
    return [
        verdict_pb2.Change(
            instance_location=change.pointer,
            code=change.rule.value,
            keyword_location=change.keyword_location,
            message=change.message,
        )
        for change in changes
    ]


def violation_to_proto(violation: Violation) -> verdict_pb2.Violation:
    """Return the message of a violation."""
    return verdict_pb2.Violation(
        instance_location=violation.instance_location,
        keyword_location=violation.keyword_location,
        keyword=violation.keyword,
        code=violation.code,
        severity=SEVERITIES[violation.severity],
        message=violation.message,
        suggestion=violation.suggestion,
        spec_url=violation.spec_url,
    )


def _repair(repair: Repair, lists_violations: bool) -> verdict_pb2.Repair:  # noqa: FBT001
    verdict = repair.verdict
    return verdict_pb2.Repair(
        payload=repair.payload,
        valid=verdict.valid,
        violations=map(violation_to_proto, verdict.violations) if lists_violations else (),
        truncated=verdict.truncated,
        changes=changes_to_proto(repair.changes),
    )
