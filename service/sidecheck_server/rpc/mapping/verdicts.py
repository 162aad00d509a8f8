"""Verdicts, for the wire."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Protocol

from sidecheck.v1 import verdict_pb2

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.mcp.calls.replies import Reply
from sidecheck_server.core.types import Change, Repair, Severity, Verdict, Violation
from sidecheck_server.rpc.mapping.options import ValidationOptions

__all__ = [
    "SEVERITIES",
    "changes_to_wire",
    "checked_to_wire",
    "skipped_to_wire",
    "valid_to_wire",
    "verdict_to_wire",
    "violation_to_wire",
]

SEVERITIES: Mapping[Severity, verdict_pb2.Severity] = MappingProxyType(
    {
        Severity.ERROR: verdict_pb2.SEVERITY_ERROR,
        Severity.WARNING: verdict_pb2.SEVERITY_WARNING,
        Severity.INFO: verdict_pb2.SEVERITY_INFO,
    }
)


class Under(Protocol):
    """What something was judged under."""

    @property
    def definition_digest(self) -> str:
        """The digest of the definition, or ""."""

    @property
    def schema_digest(self) -> str:
        """The digest of the schema, or ""."""

    @property
    def enforced(self) -> bool:
        """Whether the caller should act on the verdict."""


def valid_to_wire(under: Under) -> verdict_pb2.Verdict:
    """Return the message of the verdict that a payload is valid."""
    return verdict_pb2.Verdict(
        valid=True,
        definition_digest=under.definition_digest,
        schema_digest=under.schema_digest,
        enforced=under.enforced,
    )


def skipped_to_wire(refusal: RequestError) -> verdict_pb2.Verdict:
    """Return the message of a verdict where nothing was judged, for what *refusal* says."""
    warning = Violation("", "", "", refusal.reason.value, refusal.message, Severity.WARNING)
    return verdict_pb2.Verdict(valid=True, violations=[violation_to_wire(warning)], enforced=True)


def verdict_to_wire(
    verdict: Verdict, under: Under, reply: Reply, asked: ValidationOptions
) -> verdict_pb2.Verdict:
    """Return the message of a verdict, with the *reply* to give if it is invalid."""
    return verdict_pb2.Verdict(
        valid=verdict.valid,
        violations=map(violation_to_wire, verdict.violations) if asked.tells else (),
        truncated=verdict.truncated,
        repair=None if verdict.repair is None else _repair(verdict.repair, asked),
        definition_digest=under.definition_digest,
        schema_digest=under.schema_digest,
        tool_error_text=reply.tool_error_text,
        enforced=under.enforced,
        call_tool_result=reply.call_tool_result,
        json_rpc_error=reply.json_rpc_error,
    )


def checked_to_wire(verdict: Verdict, json_rpc_error: bytes = b"") -> verdict_pb2.Verdict:
    """Return the message of a verdict by the rules of the protocol, which always counts.

    *json_rpc_error* is the error to answer a message with, if any.
    """
    return verdict_pb2.Verdict(
        valid=verdict.valid,
        violations=map(violation_to_wire, verdict.violations),
        truncated=verdict.truncated,
        enforced=True,
        json_rpc_error=json_rpc_error,
    )


def _repair(repair: Repair, asked: ValidationOptions) -> verdict_pb2.Repair:
    verdict = repair.verdict
    return verdict_pb2.Repair(
        payload=repair.payload,
        valid=verdict.valid,
        violations=map(violation_to_wire, verdict.violations) if asked.tells else (),
        truncated=verdict.truncated,
        changes=changes_to_wire(repair.changes),
    )


def changes_to_wire(changes: Iterable[Change]) -> list[verdict_pb2.Change]:
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


def violation_to_wire(found: Violation) -> verdict_pb2.Violation:
    """Return the message of a violation."""
    return verdict_pb2.Violation(
        instance_location=found.instance_location,
        keyword_location=found.keyword_location,
        keyword=found.keyword,
        code=found.code,
        severity=SEVERITIES[found.severity],
        message=found.message,
        suggestion=found.suggestion,
        spec_url=found.clause,
    )
