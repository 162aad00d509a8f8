"""Checks values of protocol types by compiled schemas and by visitors of rules."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from sidecheck_server.core.compiler.compilation import CompiledSchema, compile_schema
from sidecheck_server.core.explain.values import join_phrase
from sidecheck_server.core.explain.violations import explain
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import VERSIONS, Context
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.methods import INPUT_REQUESTS
from sidecheck_server.core.mcp.rules.catalogue import RULES
from sidecheck_server.core.mcp.rules.messages import NOT_IN_VERSION
from sidecheck_server.core.mcp.rules.rule import Fault, Path, type_clause
from sidecheck_server.core.mcp.rules.visitors import Visit, Visitors
from sidecheck_server.core.mcp.types.rendering import TYPES, render_schema
from sidecheck_server.core.payload import encode_json
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Violation, as_pointer

__all__ = [
    "NotCompiledError",
    "SchemaLookup",
    "check_value",
    "compile_protocol_schemas",
    "has_type",
    "type_schema_source",
    "visitors_of",
]


class NotCompiledError(Exception):
    """The schema of a type is not compiled yet; compile it and repeat the check."""

    def __init__(self, version: str, name: str) -> None:
        super().__init__(version, name)
        self.version = version
        self.name = name


#: Returns the compiled schema of a type, by version and name of the type.
#:
#: Raises:
#:     NotCompiledError: the schema is not compiled yet.
SchemaLookup = Callable[[str, str], CompiledSchema]


@lru_cache(maxsize=1024)  # exceeds the number of types times versions
def type_schema_source(version: str, name: str) -> SchemaSource:
    """Return the schema source of the type *name* in *version*.

    Raises:
        KeyError: *version* has no such type.
    """
    return SchemaSource(encode_json(render_schema(TYPES, name, version)))


@lru_cache(maxsize=16)  # exceeds the number of versions
def visitors_of(version: str) -> Visitors:
    """Return the visitors that apply the rules of *version*."""
    return Visitors(TYPES, RULES, version)


def compile_protocol_schemas(limits: Limits) -> SchemaLookup:
    """Return a lookup that compiles each schema at its first use and caches it."""
    cache: dict[tuple[str, str], CompiledSchema] = {}

    def lookup(version: str, name: str) -> CompiledSchema:
        compiled = cache.get((version, name))
        if compiled is None:
            source = type_schema_source(version, name)
            compiled = CompiledSchema(source, compile_schema(source, limits), limits)
            cache[version, name] = compiled
        return compiled

    return lookup


#: Method of each type of params or results of input requests, for messages about the types.
_METHODS_BY_TYPE = {
    type_: request.name
    for request in INPUT_REQUESTS.values()
    for type_ in (request.params, request.result)
}


def check_value(
    value: Any,
    type_: str,
    findings: Findings,
    schemas: SchemaLookup,
    path: Path = (),
    *,
    schema_type: str = "",
) -> None:
    """Check *value* at *path* as a value of the type *type_*.

    Violations are added to *findings*; the only one is NOT_IN_VERSION if the version lacks the
    type. *schema_type* names a type whose schema replaces the schema of *type_*.

    Raises:
        Exhausted: the budget of the context is spent.
        NotCompiledError: the schema of the type is not compiled yet.
    """
    context = findings.context
    is_known, visit = _find_visitor(context.version, type_)
    if not is_known:
        _report_unknown_type(type_, findings, path)
        return
    compiled = schemas(context.version, schema_type or type_)
    if visit is not None:
        visit(value, path, context, findings.report)
    fast = compiled.fast
    if fast is None or not fast.is_valid(value, context.budget):
        prefix = as_pointer(path)
        # The page of the schema describes the data of an error at the anchor of the error.
        spec_url = type_clause(type_.replace("ErrorData", "Error")).url(context.version)
        for violation in _find_schema_violations(compiled, value, context):
            located = replace(
                violation,
                instance_location=prefix + violation.instance_location,
                spec_url=spec_url,
            )
            if not findings.add(located):
                return


@lru_cache(maxsize=1024)  # exceeds the number of types times versions
def _find_visitor(version: str, type_: str) -> tuple[bool, Visit | None]:
    """Return whether *version* has the type *type_*, and the visitor, or None."""
    if not has_type(type_, version):
        return False, None
    return True, visitors_of(version).of(type_)


def has_type(type_: str, version: str) -> bool:
    """Return whether *version* has the type *type_*."""
    definition = TYPES[type_]
    return definition.since <= version <= definition.until


def _report_unknown_type(type_: str, findings: Findings, path: Path) -> None:
    version = findings.context.version
    versions = [candidate for candidate in VERSIONS if has_type(type_, candidate)]
    phrase = f"{join_phrase(versions, 'and')} {'does' if len(versions) == 1 else 'do'}"
    message = f"{version} has no {_METHODS_BY_TYPE.get(type_, type_)}; only {phrase}"
    findings.report(NOT_IN_VERSION, path, Fault((), message))


def _find_schema_violations(
    compiled: CompiledSchema, value: Any, context: Context
) -> Iterator[Violation]:
    """Yield the violations of *value* against the schema of its type."""
    faults = compiled.complete.faults(value, context.budget)
    yield from explain(faults, hide_values=context.hide_values)
