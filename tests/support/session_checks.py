"""Checks and sessions of the core without services; deferred checks run immediately."""

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from sidecheck_server.core.compiler.compilation import CompiledSchema, compile_schema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.deferred import deferred_source, deferred_value, resolve_deferred
from sidecheck_server.core.mcp.sessions.session import Session
from sidecheck_server.core.mcp.subjects import CheckRequest
from sidecheck_server.core.schemas.dialects import SchemaSource

__all__ = ["SchemaCompiler", "caching_compiler", "record", "resolve_all_deferred"]

#: Returns the compiled schema, or the error of its compilation.
SchemaCompiler: TypeAlias = Callable[[SchemaSource], CompiledSchema | RequestError]


def caching_compiler(limits: Limits) -> SchemaCompiler:
    """Return a compiler under *limits* that caches its last 256 results."""

    @lru_cache(maxsize=256)
    def compile_cached(source: SchemaSource) -> CompiledSchema | RequestError:
        try:
            return CompiledSchema(source, compile_schema(source, limits), limits)
        except RequestError as error:
            return error

    return compile_cached


def resolve_all_deferred(
    outcome: CheckReport,
    limits: Limits,
    options: EvaluationOptions,
    compiler: SchemaCompiler | None = None,
) -> None:
    """Resolve every deferred check of *outcome*; *compiler* may have cached schemas.

    Raises:
        RequestError: LIMIT_EXCEEDED, if validating a value takes too long.
    """
    findings = outcome.findings
    compiler = compiler or caching_compiler(limits)
    compiled_by_key: dict[tuple[int, bool], CompiledSchema | RequestError] = {}
    for pending in findings.pending:
        if pending.key not in compiled_by_key:
            compiled_by_key[pending.key] = compiler(deferred_source(pending, findings))
        compiled = compiled_by_key[pending.key]
        value = None if isinstance(compiled, RequestError) else deferred_value(pending)
        if value is None or isinstance(compiled, RequestError):
            resolve_deferred(pending, findings, compiled)
        else:
            resolve_deferred(pending, findings, compiled, evaluate(compiled, value, options))
    findings.pending.clear()


def record(
    session: Session,
    request: CheckRequest,
    outcome: CheckReport,
    *,
    number: int = 0,
    http_status: int = 0,
) -> None:
    """Record all messages of *outcome* in *session*."""
    for _ in session.record(request, outcome, number=number, http_status=http_status):
        pass
