"""Resolves deferred checks of schemas in a payload, and of values against them."""

from collections.abc import Iterator
from dataclasses import replace

from sidecheck_server.core.compiler.compilation import CompiledSchema
from sidecheck_server.core.compiler.schema_warnings import SchemaWarning
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.findings import Findings, PendingCheck
from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE
from sidecheck_server.core.mcp.rules.rule import Fault, Path
from sidecheck_server.core.mcp.rules.tool_schemas import (
    WARNINGS_BY_CODE,
    schema_error_requirement,
    schema_error_severity,
    schema_error_url,
)
from sidecheck_server.core.mcp.subjects import CheckRequest
from sidecheck_server.core.mcp.tool_definitions import error_as_violations
from sidecheck_server.core.payload import encode_json
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import SEVERITY_RANK, Severity, Verdict, Violation, as_pointer

__all__ = ["deferred_source", "deferred_value", "error_outcome", "resolve_deferred"]


def error_outcome(request: CheckRequest, error: RequestError) -> CheckReport:
    """Return the outcome of a check that failed, with *error* as violations."""
    findings = Findings(request.context, request.limits)
    findings.add_all(error_as_violations(error, ""))
    return CheckReport(findings)


def deferred_source(pending: PendingCheck, findings: Findings) -> SchemaSource:
    """Return the source of the schema to compile for *pending*."""
    check = pending.check
    return SchemaSource(
        encode_json(check.schema),
        findings.context.documents,
        assert_formats=check.assert_formats,
    )


def deferred_value(pending: PendingCheck) -> bytes | None:
    """Return the JSON text of the value to validate, or None without a value."""
    value = pending.check.value
    return encode_json(value[0]) if value else None


def resolve_deferred(
    pending: PendingCheck,
    findings: Findings,
    compiled: CompiledSchema | RequestError,
    verdict: Verdict | None = None,
) -> None:
    """Add the violations of *pending* to *findings*.

    *compiled* is its compiled schema or the error of the compilation; *verdict* is the verdict
    on its value, or None without a value.
    """
    check = pending.check
    if isinstance(compiled, RequestError):
        if not check.silent:
            findings.has_unusable_schema = True
            path = (*pending.path, *check.schema_path)
            # The schema of the protocol type may report the same fault as the meta-schema.
            reported = findings.error_locations() - {as_pointer(path)}
            violations = _build_schema_violations(compiled, path, findings.context)
            findings.add_all(
                (
                    violation
                    for violation in violations
                    if violation.instance_location not in reported
                ),
                truncated=compiled.truncated,
            )
        return
    if not check.silent and not check.value:
        location = as_pointer((*pending.path, *check.schema_path))
        findings.add_all(
            _build_warning_violation(warning, location, findings)
            for warning in compiled.artifact.warnings
        )
    if verdict is not None:
        path = (*pending.path, *check.value_path)
        if check.code:
            _report_invalid(check.code, verdict, path, findings)
            return
        location = as_pointer(path)
        findings.add_all(
            (
                replace(
                    violation,
                    instance_location=location + violation.instance_location,
                    severity=max(violation.severity, check.severity, key=SEVERITY_RANK.__getitem__),
                )
                for violation in verdict.violations
            ),
            truncated=verdict.truncated,
        )


def _report_invalid(code: str, verdict: Verdict, path: Path, findings: Findings) -> None:
    """Report the rule *code* for the value at *path* if its *verdict* has violations."""
    if verdict.violations:
        violation = verdict.violations[0]
        location = f" at {violation.instance_location}" if violation.instance_location else ""
        text = f"invalid against the schema that applies to it{location}: {violation.message}"
        findings.report(CATALOGUE[code], path, Fault((), text))


def _build_warning_violation(
    warning: SchemaWarning, location: str, findings: Findings
) -> Violation:
    """Return the violation for *warning* on the schema at *location*."""
    context = findings.context
    rule = WARNINGS_BY_CODE[warning.code]
    message = f"violates: {rule.requirement}" if context.hide_values else warning.message
    violation = rule.violation(Fault((), message), context.version)
    return replace(violation, instance_location=location + warning.pointer)


def _build_schema_violations(
    error: RequestError, path: Path, context: Context
) -> Iterator[Violation]:
    """Yield the violations for the *error* of compiling the schema at *path*."""
    for violation in error_as_violations(error, as_pointer(path)):
        # Its code names a rule, or a keyword whose value the meta-schema rejects.
        located = replace(
            violation,
            # A registered schema must compile; a listed schema need not.
            severity=Severity.ERROR
            if context.to_be_registered
            else schema_error_severity(violation.code),
            spec_url=schema_error_url(violation.code, context.version),
        )
        if context.hide_values:
            message = (
                f"invalid against its meta-schema (keyword {violation.keyword})"
                if violation.keyword
                else schema_error_requirement(violation.code)
            )
            located = replace(located, message=message, suggestion="")
        yield located
