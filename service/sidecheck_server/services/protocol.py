"""Checks of subjects by the rules of the protocol, deferred checks included."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from sidecheck_server.core.compiler.compilation import CompiledSchema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.mcp.check import CheckReport, try_check_inline
from sidecheck_server.core.mcp.deferred import deferred_source, deferred_value, resolve_deferred
from sidecheck_server.core.mcp.findings import Findings, PendingCheck
from sidecheck_server.core.mcp.protocol_schemas import NotCompiledError
from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE
from sidecheck_server.core.mcp.rules.rule import Rule
from sidecheck_server.core.mcp.subjects import CheckRequest
from sidecheck_server.core.types import Verdict
from sidecheck_server.services.offload import (
    MAX_CONCURRENT,
    CountOffloaded,
    allow_offloading,
    gather_in_turns,
)
from sidecheck_server.services.request_work import charge_work, current_work
from sidecheck_server.services.schemas import CompiledSchemas, ProtocolSchemas
from sidecheck_server.services.validation import evaluate_inline
from sidecheck_server.workers.tasks import CheckSubject, RunTask, ValidatePayload

__all__ = ["FindSchema", "ProtocolChecker", "list_rules"]

#: Returns the schema of a deferred check, or None if it is compiled from the subject.
FindSchema: TypeAlias = Callable[[PendingCheck], Awaitable[CompiledSchema] | None]
#: Validates a value of the subject.
_Validate: TypeAlias = Callable[[CompiledSchema, bytes], Awaitable[Verdict]]

_CHECK_STEPS = 4_000
"""Fixed steps of a check and its outcome, whatever the length of the subject."""

_MAX_COMPILED = 256
"""Maximum compiled schemas held for a subject; the cache may have the others."""


def _find_no_schema(_spec: PendingCheck) -> None:
    """Compile every schema from the subject."""


class ProtocolChecker:
    """Checks subjects by the rules of the protocol, in the event loop or in a worker."""

    def __init__(
        self,
        protocol_schemas: ProtocolSchemas,
        schemas: CompiledSchemas,
        run: RunTask,
        limits: Limits,
    ) -> None:
        self._protocol_schemas = protocol_schemas
        self._schemas = schemas
        self._run = run
        self._limits = limits

    async def check(
        self,
        request: CheckRequest,
        count_offloaded: CountOffloaded = allow_offloading,
        find_schema: FindSchema = _find_no_schema,
    ) -> CheckReport:
        """Return the findings about the subject of *request*, deferred checks included.

        Raises:
            RequestError: LIMIT_EXCEEDED, also if more than ``offloaded_items`` values of
                the subject need a worker; WORKER_CRASHED.
        """
        report = await self.check_partially(request, count_offloaded)
        await self.resolve_deferred(request, report, count_offloaded, find_schema)
        return report

    async def check_partially(
        self, request: CheckRequest, count_offloaded: CountOffloaded = allow_offloading
    ) -> CheckReport:
        """Return the findings about the subject of *request*, without the deferred checks.

        Raises:
            RequestError: LIMIT_EXCEEDED; WORKER_CRASHED.
        """
        budget, steps = request.context.budget, self._limits.inline_steps
        while True:
            budget[0] = steps
            try:
                report = try_check_inline(request, self._limits, self._protocol_schemas)
            except NotCompiledError as missing:
                await self._protocol_schemas.ensure(missing.version, missing.name)
            else:
                break
        charge_work(_CHECK_STEPS + request.subject.size // 2 + steps - max(0, budget[0]))
        if report is not None:
            return report
        count_offloaded()
        return await self._run(CheckSubject(request))

    async def resolve_deferred(
        self,
        request: CheckRequest,
        report: CheckReport,
        count_offloaded: CountOffloaded = allow_offloading,
        find_schema: FindSchema = _find_no_schema,
    ) -> None:
        """Add the findings of the deferred checks to *report*, the result of *request*.

        Raises:
            RequestError: as `check`.
        """
        if report.findings.pending:
            validate = self._value_validator(request.evaluation_options, count_offloaded)
            deferred = _DeferredChecks(report.findings, self._schemas, find_schema, validate)
            await deferred.resolve()

    def _value_validator(
        self, options: EvaluationOptions, count_offloaded: CountOffloaded
    ) -> _Validate:
        """Return a function that validates values of one subject.

        At most ``offloaded_items`` of them go to a worker.
        """
        limit = remaining = self._limits.offloaded_items

        async def validate(compiled: CompiledSchema, text: bytes) -> Verdict:
            nonlocal remaining
            verdict = evaluate_inline(compiled, text, options)
            if verdict is None:
                count_offloaded()
                remaining -= 1
                if remaining < 0:
                    subject = "values of the payload that need a worker"
                    raise limit_exceeded_error("offloaded_items", limit, subject)
                verdict = await self._run(ValidatePayload(compiled, text, options))
            return verdict

        return validate


# Decision 0026: rules cannot wait for a compilation, so they defer these checks.
class _DeferredChecks:
    """The deferred checks of one subject."""

    def __init__(
        self,
        findings: Findings,
        schemas: CompiledSchemas,
        find_schema: FindSchema,
        validate: _Validate,
    ) -> None:
        self._findings = findings
        self._schemas = schemas
        self._find_schema = find_schema
        self._validate = validate
        self._compiled_schemas: dict[tuple[int, bool], CompiledSchema | RequestError] = {}

    async def resolve(self) -> None:
        """Add the findings of all checks.

        Raises:
            RequestError: as `ProtocolChecker.check`.
        """
        specs, work = self._findings.pending, current_work()
        for start in range(0, len(specs), MAX_CONCURRENT):
            group = specs[start : start + MAX_CONCURRENT]
            if start:
                work.require()
            await self._compile(group)
            for spec in group:
                if spec.check.value:
                    work.require()
                await self._resolve(spec)
                # A check may hold the event loop for milliseconds.
                await asyncio.sleep(0)
        specs.clear()

    async def _compile(self, group: Sequence[PendingCheck]) -> None:
        """Compile the schemas of *group* concurrently."""
        if len(self._compiled_schemas) > _MAX_COMPILED:
            self._compiled_schemas.clear()
        missing = {spec.key: spec for spec in group if spec.key not in self._compiled_schemas}
        compiled = await gather_in_turns(map(self._compile_schema, missing.values()))
        self._compiled_schemas.update(zip(missing, compiled, strict=True))

    async def _resolve(self, spec: PendingCheck) -> None:
        compiled, verdict = self._compiled_schemas[spec.key], None
        text = deferred_value(spec)
        if text is not None and not isinstance(compiled, RequestError):
            verdict = await self._validate(compiled, text)
        resolve_deferred(spec, self._findings, compiled, verdict)

    async def _compile_schema(self, spec: PendingCheck) -> CompiledSchema | RequestError:
        compilation = self._find_schema(spec)
        if compilation is None:
            compilation = self._schemas.inline(deferred_source(spec, self._findings))
        try:
            return await compilation
        except RequestError as error:
            return error


def list_rules(version: str, after: str, limit: int) -> tuple[list[Rule], bool]:
    """Return up to *limit* rules of *version*, by code, and whether more follow.

    The list starts after the code *after*. The version "" stands for all versions.
    """
    rules = [
        rule
        for code, rule in sorted(CATALOGUE.items())
        if code > after and (not version or rule.holds_in(version))
    ]
    return rules[:limit], len(rules) > limit
