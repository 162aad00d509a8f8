"""Checks a value against the published schema and the rules of its protocol type."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from sidecheck_server.core.compiler.compilation import CompiledSchema
from sidecheck_server.core.explain.values import join_phrase
from sidecheck_server.core.explain.violations import explain
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.methods import INPUT_REQUESTS
from sidecheck_server.core.mcp.protocol_schemas import SchemaLookup, visitors_of
from sidecheck_server.core.mcp.rules.envelope import NOT_IN_VERSION
from sidecheck_server.core.mcp.rules.rule import Fault, Path, type_clause
from sidecheck_server.core.mcp.rules.visitors import Visit
from sidecheck_server.core.mcp.types.tables import TYPES
from sidecheck_server.core.mcp.versions import VERSIONS
from sidecheck_server.core.types import Violation, as_pointer

__all__ = ["check_value", "has_type"]

#: Methods by the types of their params and results, for messages about those types.
_METHODS = {
    type_: request.name
    for request in INPUT_REQUESTS.values()
    for type_ in (request.params, request.result)
}


def check_value(
    value: Any, type_: str, findings: Findings, schemas: SchemaLookup, path: Path = ()
) -> None:
    """Add to *findings* the violations of *value*, at *path*, as a value of the type *type_*.

    If the version has no such type, that is the only violation.

    Raises:
        Exhausted: the budget of the context is spent.
        NotCompiledError: the schema of the type is not compiled yet.
    """
    context = findings.context
    known, visit = _type_visit(context.version, type_)
    if not known:
        _report_unknown_type(type_, findings, path)
        return
    compiled = schemas(context.version, type_)
    if visit is not None:
        visit(value, path, context, findings.report)
    fast = compiled.fast
    if fast is None or not fast.is_valid(value, context.budget):
        prefix = as_pointer(path)
        # The page describes the data of an error below the error.
        spec_url = type_clause(type_.replace("ErrorData", "Error")).url(context.version)
        for violation in _schema_violations(compiled, value, context):
            located = replace(
                violation,
                instance_location=prefix + violation.instance_location,
                spec_url=spec_url,
            )
            if not findings.add(located):
                return


@lru_cache(maxsize=1024)  # more than there are types and versions
def _type_visit(version: str, type_: str) -> tuple[bool, Visit | None]:
    """Return whether *version* has the type *type_*, and its visitor, if it has one."""
    if not has_type(type_, version):
        return False, None
    return True, visitors_of(version).of(type_)


def has_type(type_: str, version: str) -> bool:
    """Return whether *version* has the type *type_*."""
    definition = TYPES[type_]
    return definition.since <= version <= definition.until


def _report_unknown_type(type_: str, findings: Findings, path: Path) -> None:
    version = findings.context.version
    versions = [other for other in VERSIONS if has_type(type_, other)]
    message = (
        f"{version} has no {_METHODS.get(type_, type_)}; only {join_phrase(versions, 'and')} do"
    )
    findings.report(NOT_IN_VERSION, path, Fault((), message))


def _schema_violations(
    compiled: CompiledSchema, value: Any, context: Context
) -> Iterator[Violation]:
    """Yield the violations of the published schema of a type in *value*."""
    faults = compiled.complete.faults(value, context.budget)
    yield from explain(faults, hide_values=context.hide_values)
