"""Checks of definitions before registration, by rules and by compilation."""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.compiler.compilation import CompiledSchema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.json_values import digest_of
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.findings import PendingCheck
from sidecheck_server.core.mcp.subjects import CheckRequest, ReportLimits, ToolJson
from sidecheck_server.core.mcp.tool_definitions import (
    ToolDefinition,
    error_as_violations,
    read_tool,
)
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Severity, Violation
from sidecheck_server.registry.definitions import Definition
from sidecheck_server.services.cache import DEFAULT_SHARES, Begin, Cache, is_transient, weigh_entry
from sidecheck_server.services.offload import OffloadRule, Work, concurrent_groups, gather_in_turns
from sidecheck_server.services.protocol import ProtocolChecker
from sidecheck_server.services.request_work import current_work
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.targets import InlineTool

__all__ = ["CheckedDefinition", "DefinitionChecker"]


@dataclass(frozen=True, slots=True)
class CheckedDefinition:
    """The result of checking a definition."""

    #: The tool's name, or "" if it cannot be read.
    name: str
    #: The definition's digest, or "" if it is not JSON.
    digest: str
    #: The definition to register, or None if it is rejected.
    definition: Definition | None
    #: Errors and warnings.
    violations: tuple[Violation, ...]


@dataclass(frozen=True, slots=True)
class _Findings:
    violations: tuple[Violation, ...]
    #: Whether the next check of the same definition may have other findings.
    transient: bool = False


# Decision 0027: registration applies the check of CheckTools, and rejects only errors.
class DefinitionChecker:
    """Checks definitions before registration; caches *memory* bytes of findings."""

    def __init__(
        self,
        schemas: CompiledSchemas,
        checker: ProtocolChecker,
        limits: Limits,
        memory: int = DEFAULT_SHARES.findings,
    ) -> None:
        self._schemas = schemas
        self._checker = checker
        self._limits = limits
        self._offload = OffloadRule(limits)
        # Keys: the digest of the definition, and the protocol version.
        self._cache: Cache[tuple[str, str], _Findings] = Cache(
            memory, weigh_entry, lambda findings: not findings.transient
        )

    @property
    def cache(self) -> Cache[Any, Any]:
        """The cache of findings, for metrics."""
        return self._cache

    async def check_all(self, tools: Sequence[InlineTool], version: str) -> list[CheckedDefinition]:
        """Return the results of checking *tools* by the rules of *version*, in order."""
        checked: list[CheckedDefinition] = []
        work = current_work()
        for part in concurrent_groups(tool.size for tool in tools):
            group = tools[part]
            if work.is_spent:
                error = error_as_violations(work.not_reached(), "")
                checked += [CheckedDefinition("", "", None, error)] * len(group)
            else:
                checked += await gather_in_turns(self._check(tool, version) for tool in group)
        return checked

    async def _check(self, tool: InlineTool, version: str) -> CheckedDefinition:
        try:
            definition = await self._offload.run(
                Work.READ_DEFINITION,
                tool.json,
                lambda: read_tool(tool.json, tool.documents, self._limits),
            )
        except RequestError as error:
            return await self._check_unreadable(tool, error, version)

        async def compute(_: Begin) -> _Findings:
            schemas = _DefinitionSchemas(self._schemas, definition)
            return await self._apply_rules(tool, version, schemas)

        if definition.json is tool.json:
            findings = await self._cache.get((definition.digest, version), compute)
        else:
            # The digest is that of the canonical form. The findings are about the text, which
            # differs from it, so that the digest cannot be their key.
            schemas = _DefinitionSchemas(self._schemas, definition)
            findings = await self._apply_rules(tool, version, schemas)
        violations = findings.violations
        accepted = None if _has_errors(violations) else _registered_form(definition, version)
        return CheckedDefinition(definition.name, definition.digest, accepted, violations)

    async def _check_unreadable(
        self, tool: InlineTool, error: RequestError, version: str
    ) -> CheckedDefinition:
        """Return the result for a definition that `read_tool` rejected with *error*."""
        if error.reason is not ErrorReason.INVALID_TOOL:
            return CheckedDefinition("", "", None, error_as_violations(error, ""))
        name, digest = await self._offload.run(
            Work.READ_DEFINITION, tool.json, lambda: _name_and_digest(tool, self._limits)
        )
        violations = (await self._apply_rules(tool, version, None)).violations
        if not _has_errors(violations):
            # No rule of the version rejects the definition, but `read_tool` does.
            violations += error_as_violations(error, "")
        return CheckedDefinition(name, digest, None, violations)

    async def _apply_rules(
        self, tool: InlineTool, version: str, schemas: "_DefinitionSchemas | None"
    ) -> _Findings:
        """Return the errors and warnings of the rules of *version*."""
        limits = self._limits
        request = CheckRequest(
            ToolJson(tool.json, canonical=True),
            Context(version=version, documents=tool.documents, to_be_registered=True),
            ReportLimits(limits.violations, limits.verdict_characters, Severity.WARNING),
        )
        try:
            if schemas is None:
                report = await self._checker.check(request)
                return _Findings(report.findings.verdict().violations)
            report = await self._checker.check(request, find_schema=schemas.find)
            schema_violations = await schemas.compile_unchecked()
            violations = (*report.findings.verdict().violations, *schema_violations)
            return _Findings(violations, schemas.transient)
        except RequestError as error:
            transient = is_transient(error) or (schemas is not None and schemas.transient)
            return _Findings(error_as_violations(error, ""), transient)


class _DefinitionSchemas:
    """The schemas of one definition, compiled into the cache of registered schemas."""

    def __init__(self, schemas: CompiledSchemas, definition: ToolDefinition) -> None:
        self._schemas = schemas
        self._sources: dict[str, tuple[str, SchemaSource]] = {
            "inputSchema": (definition.input_digest, definition.input)
        }
        if definition.output is not None and definition.output_digest is not None:
            self._sources["outputSchema"] = (definition.output_digest, definition.output)
        self._checked: set[str] = set()
        #: Whether a schema failed to compile for a transient reason.
        self.transient = False

    def find(self, spec: PendingCheck) -> Awaitable[CompiledSchema] | None:
        """Return the schema of the deferred check *spec*, if it is of the definition."""
        path = (*spec.path, *spec.check.schema_path)
        if len(path) != 1 or path[0] not in self._sources or spec.check.assert_formats:
            return None
        return self._compile(str(path[0]))

    async def compile_unchecked(self) -> list[Violation]:
        """Compile the schemas that no rule checks, and return their violations.

        Every registered schema must compile.
        """
        violations: list[Violation] = []
        for name in [name for name in self._sources if name not in self._checked]:
            try:
                await self._compile(name)
            except RequestError as error:
                violations += error_as_violations(error, f"/{name}")
        return violations

    async def _compile(self, name: str) -> CompiledSchema:
        self._checked.add(name)
        digest, source = self._sources[name]
        try:
            return await self._schemas.registered(digest, source)
        except RequestError as error:
            self.transient |= is_transient(error)
            raise


def _has_errors(violations: Sequence[Violation]) -> bool:
    return any(violation.severity is Severity.ERROR for violation in violations)


def _name_and_digest(tool: InlineTool, limits: Limits) -> tuple[str, str]:
    """Return the name and the digest of an invalid definition; "" if missing."""
    try:
        value = decode(tool.json, max_depth=2 * limits.schema_depth)
    except (MalformedError, RequestError):
        return "", ""
    name = value.get("name") if isinstance(value, dict) else None
    return name if isinstance(name, str) else "", digest_of(value, tool.documents)


def _registered_form(tool: ToolDefinition, version: str) -> Definition:
    return Definition(
        digest=tool.digest,
        name=tool.name,
        json=tool.json,
        documents=tool.input.documents,
        input_schema_digest=tool.input_digest,
        output_schema_digest=tool.output_digest,
        protocol_version=version,
    )
