"""Checks tool results: ``CallToolResult`` and its structured content."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.evaluate import DETAILS_UNAVAILABLE, EvaluationOptions
from sidecheck_server.core.mcp.call_params import property_text
from sidecheck_server.core.mcp.context import has_structured_content, requires_object_output
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.protocol_schemas import SchemaLookup, check_value
from sidecheck_server.core.mcp.rules.rule import Fault, type_clause
from sidecheck_server.core.mcp.rules.tools import OUTPUT_MISSING
from sidecheck_server.core.mcp.subjects import ResultProfile, ToolResult
from sidecheck_server.core.payload import UNREADABLE_CODES, is_object_text
from sidecheck_server.core.types import Verdict, Violation

__all__ = [
    "MISSING_OUTPUT_MESSAGE",
    "STRUCTURED_CONTENT",
    "check_tool_result",
    "missing_output_verdict",
    "require_object",
    "requires_output",
]

STRUCTURED_CONTENT = "structuredContent"
"""Property that is validated against the tool's output schema."""

MISSING_OUTPUT_MESSAGE = "outputSchema defined but no structured output returned"
"""Message of the official SDKs, word for word."""

_RESULT_TYPE_SINCE = "2026-07-28"
_TYPES = {"input_required": "InputRequiredResult", "task": "CreateTaskResult"}
"""Types of incomplete results of calls, by ``resultType``."""
_RESULT = type_clause("CallToolResult")


def missing_output_verdict(version: str) -> Verdict:
    """Return the verdict on a result that lacks required structured content."""
    if not has_structured_content(version):
        return Verdict()
    fault = Fault((), MISSING_OUTPUT_MESSAGE)
    return Verdict((OUTPUT_MISSING.violation(fault, version),))


def check_tool_result(
    subject: ToolResult, value: Any, findings: Findings, schemas: SchemaLookup
) -> bytes | None:
    """Add to *findings* the violations of *value*, the result of *subject*.

    Returns the JSON text of the structured content if the caller must validate it against
    the tool's output schema, otherwise None.

    Raises:
        Exhausted: the budget of the context is spent.
        NotCompiledError: the schema of a type is not compiled yet.
    """
    if subject.profile is ResultProfile.TEXT:
        check_value(value, "TextResult", findings, schemas)
        return None
    version = findings.context.version
    if not (subject.has_output_schema and requires_output(value, version)):
        check_value(value, _select_type(value, version), findings, schemas)
        return None
    if requires_object_output(version) and value.get(STRUCTURED_CONTENT, 0) is None:
        # Null counts as missing. Removing it avoids a second violation, of its type.
        fault = Fault((STRUCTURED_CONTENT,), MISSING_OUTPUT_MESSAGE)
        findings.report(OUTPUT_MISSING, (), fault)
        value = {name: item for name, item in value.items() if name != STRUCTURED_CONTENT}
    elif STRUCTURED_CONTENT not in value:
        findings.report(OUTPUT_MISSING, (), Fault((), MISSING_OUTPUT_MESSAGE))
    check_value(value, "CallToolResult", findings, schemas)
    if STRUCTURED_CONTENT not in value:
        return None
    if requires_object_output(version) and not isinstance(value[STRUCTURED_CONTENT], dict):
        return None
    return property_text(subject.json, STRUCTURED_CONTENT)


def _select_type(value: Any, version: str) -> str:
    """Return the type of *value*, the result of a call."""
    declared = value.get("resultType") if isinstance(value, dict) else None
    if version < _RESULT_TYPE_SINCE or not isinstance(declared, str):
        return "CallToolResult"
    return _TYPES.get(declared, "CallToolResult")


def requires_output(value: Any, version: str) -> bool:
    """Return whether *value*, a result of a tool with output schema, must have output."""
    if not isinstance(value, dict) or not has_structured_content(version):
        return False
    # A result of another type requests input or belongs to an extension.
    is_complete = version < _RESULT_TYPE_SINCE or value.get("resultType", "complete") == "complete"
    return is_complete and value.get("isError") is not True


#: JSON types by the first byte of a text; other bytes begin a number.
_JSON_TYPES: Mapping[bytes, str] = MappingProxyType(
    {b"[": "an array", b'"': "a string", b"t": "a boolean", b"f": "a boolean", b"n": "null"}
)
_ROOT_CODES = UNREADABLE_CODES | {"TYPE", DETAILS_UNAVAILABLE}


def require_object(
    verdict: Verdict, payload: bytes, options: EvaluationOptions, version: str
) -> Verdict:
    """Return *verdict* on structured content that must be an object.

    If *payload* is not an object and *verdict* does not report it, a violation is added.
    """
    if is_object_text(payload):
        return verdict
    if any(
        not violation.instance_location and violation.code in _ROOT_CODES
        for violation in verdict.violations
    ):
        return verdict
    json_type = _JSON_TYPES.get(payload.lstrip()[:1], "a number")
    message = f"expected an object, found {json_type}"
    violation = Violation("", "", "type", "TYPE", message, spec_url=_RESULT.url(version))
    violations = (violation, *verdict.violations)
    bounded = Verdict.listing(
        violations[: options.max_violations],
        truncated=verdict.truncated or len(violations) > options.max_violations,
    )
    return replace(bounded, repair=verdict.repair)
