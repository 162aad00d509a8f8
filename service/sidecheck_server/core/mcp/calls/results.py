"""Results of tools: ``CallToolResult``, and the structured content in it."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.evaluate import DETAILS_UNAVAILABLE, EvaluationOptions
from sidecheck_server.core.mcp.calls.members import is_object, member_text
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.protocol_schemas import Surfaces
from sidecheck_server.core.mcp.rules.results import OUTPUT_MISSING
from sidecheck_server.core.mcp.rules.rule import Fault, of_type
from sidecheck_server.core.mcp.subjects import ResultProfile, ToolResult
from sidecheck_server.core.mcp.typed_values import check_value
from sidecheck_server.core.payload import UNREADABLE
from sidecheck_server.core.types import Verdict, Violation

__all__ = [
    "NO_OUTPUT",
    "STRUCTURED_CONTENT",
    "absent_output",
    "check_result",
    "has_structured_content",
    "must_be_object",
    "objects_only",
    "owes_output",
]

STRUCTURED_CONTENT = "structuredContent"
"""The member that is judged under the tool's output schema."""

_OF_ANY_TYPE_SINCE = "2026-07-28"
NO_OUTPUT = "outputSchema defined but no structured output returned"
_RESULT = of_type("CallToolResult")


def has_structured_content(version: str) -> bool:
    """Return whether *version* has output schemas and structured content."""
    return OUTPUT_MISSING.holds_in(version)


def objects_only(version: str) -> bool:
    """Return whether structured content must be an object in *version*."""
    return has_structured_content(version) and version < _OF_ANY_TYPE_SINCE


def absent_output(version: str) -> Verdict:
    """Return the verdict on a result without structured content, of a tool that owes it."""
    if not has_structured_content(version):
        return Verdict()
    return Verdict((OUTPUT_MISSING.violation(Fault((), NO_OUTPUT), version),))


def check_result(
    subject: ToolResult, value: Any, findings: Findings, surfaces: Surfaces
) -> bytes | None:
    """Add to *findings* what is wrong with *value*, the result of *subject*.

    Returns the JSON text of the structured content if that is to be judged under the
    tool's output schema, which its caller has.

    Raises:
        Exhausted: the budget of the context is spent.
        NotCompiledError: the schema of a type is not there yet.
    """
    if subject.profile is ResultProfile.TEXT:
        check_value(value, "TextResult", findings, surfaces)
        return None
    version = findings.context.version
    if not (subject.has_output_schema and owes_output(value, version)):
        type_ = "InputRequiredResult" if _asks(value, version) else "CallToolResult"
        check_value(value, type_, findings, surfaces)
        return None
    if objects_only(version) and value.get(STRUCTURED_CONTENT, 0) is None:
        # As absent: the one fault is told once, and not as that of a type.
        findings.tell(OUTPUT_MISSING, (), Fault((STRUCTURED_CONTENT,), NO_OUTPUT))
        value = {name: member for name, member in value.items() if name != STRUCTURED_CONTENT}
    elif STRUCTURED_CONTENT not in value:
        findings.tell(OUTPUT_MISSING, (), Fault((), NO_OUTPUT))
    check_value(value, "CallToolResult", findings, surfaces)
    if STRUCTURED_CONTENT not in value:
        return None
    if objects_only(version) and not isinstance(value[STRUCTURED_CONTENT], dict):
        return None
    return member_text(subject.json, STRUCTURED_CONTENT)


def _asks(value: Any, version: str) -> bool:
    """Return whether *value*, the result of a call, asks for more input instead."""
    asks = isinstance(value, dict) and value.get("resultType") == "input_required"
    return asks and version >= _OF_ANY_TYPE_SINCE


def owes_output(value: Any, version: str) -> bool:
    """Return whether *value*, a result, must have structured content if there is a schema."""
    if not isinstance(value, dict) or not has_structured_content(version):
        return False
    # A result of another type asks for input, or is an extension's.
    complete = version < _OF_ANY_TYPE_SINCE or value.get("resultType", "complete") == "complete"
    return complete and value.get("isError") is not True


_KINDS: Mapping[bytes, str] = MappingProxyType(
    {b"[": "an array", b'"': "a string", b"t": "a boolean", b"f": "a boolean", b"n": "null"}
)
_TOLD = UNREADABLE | {"TYPE", DETAILS_UNAVAILABLE}


def must_be_object(
    verdict: Verdict, payload: bytes, how: EvaluationOptions, version: str
) -> Verdict:
    """Return *verdict* on the structured content *payload*, where that must be an object.

    If it is none, and the verdict does not say so, this is added.
    """
    if is_object(payload):
        return verdict
    if any(not each.instance_location and each.code in _TOLD for each in verdict.violations):
        return verdict
    found = _KINDS.get(payload.lstrip()[:1], "a number")
    said = f"expected an object, found {found}"
    fault = Violation("", "", "type", "TYPE", said, clause=_RESULT.at(version))
    violations = (fault, *verdict.violations)
    kept = Verdict.listing(
        violations[: how.max_violations],
        truncated=verdict.truncated or len(violations) > how.max_violations,
    )
    return replace(kept, repair=verdict.repair)
