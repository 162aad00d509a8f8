"""Definitions that are to be registered: checked by the rules, and their schemas compiled."""

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from cachetools import LRUCache

from sidecheck_server.core.compiler.compiled_schema import CompiledSchema
from sidecheck_server.core.digests import digest_of
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.findings import CheckSpec
from sidecheck_server.core.mcp.subjects import CheckRequest, ReportLimits, ToolJson
from sidecheck_server.core.mcp.tools.definitions import ToolDefinition, read_tool
from sidecheck_server.core.mcp.tools.problems import refusal_as_problems
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.types import Severity, Violation
from sidecheck_server.registry.definitions import Definition
from sidecheck_server.services.protocol import AT_ONCE, Checker
from sidecheck_server.services.schemas import CompiledSchemas, is_passing
from sidecheck_server.services.targets import InlineTool

__all__ = ["CheckedDefinition", "DefinitionChecker"]

_KNOWN = 50_000
"""How many definitions, and problems of them, are remembered."""


@dataclass(frozen=True, slots=True)
class CheckedDefinition:
    """What was found of a definition."""

    #: The tool's name, or "" if that cannot be read.
    name: str
    #: Its digest, or "" if it is not JSON.
    digest: str
    #: None if it cannot be registered.
    definition: Definition | None
    #: Errors and warnings.
    violations: tuple[Violation, ...]


class DefinitionChecker:
    """Checks definitions as those of a server that registers them, and remembers what it found."""

    def __init__(self, schemas: CompiledSchemas, checker: Checker, limits: Limits) -> None:
        self._schemas = schemas
        self._checker = checker
        self._limits = limits
        # What is wrong with a definition, by its digest and the version of the protocol.
        self._known: LRUCache[tuple[str, str], tuple[Violation, ...]] = LRUCache(
            _KNOWN, getsizeof=_weight
        )

    async def check_all(self, tools: Sequence[InlineTool], version: str) -> list[CheckedDefinition]:
        """Return what was found of each of *tools* by the rules of *version*, in order."""
        checked: list[CheckedDefinition] = []
        for start in range(0, len(tools), AT_ONCE):
            read = []
            for tool in tools[start : start + AT_ONCE]:
                read.append((tool, self._read(tool)))
                # Reading holds the loop; other calls have their turn in between.
                await asyncio.sleep(0)
            checked += await asyncio.gather(
                *(self._checked(tool, found, version) for tool, found in read)
            )
        return checked

    def _read(self, tool: InlineTool) -> ToolDefinition | RequestError:
        try:
            return read_tool(tool.json, tool.documents, self._limits)
        except RequestError as refusal:
            return refusal

    async def _checked(
        self, tool: InlineTool, read: ToolDefinition | RequestError, version: str
    ) -> CheckedDefinition:
        if isinstance(read, RequestError):
            return await self._unusable(tool, read, version)
        key = (read.digest, version)
        problems = self._known.get(key)
        if problems is None:
            checking = _Checking(self._schemas, read)
            problems = await self._problems(tool, version, checking)
            if checking.lasts:
                with suppress(ValueError):  # there are more than all that are kept
                    self._known[key] = problems
        blocked = any(problem.severity is Severity.ERROR for problem in problems)
        definition = None if blocked else _definition(read)
        return CheckedDefinition(read.name, read.digest, definition, problems)

    async def _unusable(
        self, tool: InlineTool, refusal: RequestError, version: str
    ) -> CheckedDefinition:
        """Return what is wrong with a definition that cannot be read."""
        if refusal.reason is not ErrorReason.INVALID_TOOL:
            return CheckedDefinition("", "", None, refusal_as_problems(refusal, ""))
        name, digest = _name_and_digest(tool, self._limits)
        problems = await self._problems(tool, version, None)
        if not any(problem.severity is Severity.ERROR for problem in problems):
            # It keeps to the rules of the protocol, and cannot be registered all the same.
            problems += refusal_as_problems(refusal, "")
        return CheckedDefinition(name, digest, None, problems)

    async def _problems(
        self, tool: InlineTool, version: str, checking: "_Checking | None"
    ) -> tuple[Violation, ...]:
        """Return the errors and warnings of the rules of *version*."""
        asked = CheckRequest(
            ToolJson(tool.json),
            Context(version=version, documents=tool.documents),
            ReportLimits(
                self._limits.violations, self._limits.verdict_characters, Severity.WARNING
            ),
        )
        try:
            if checking is None:
                checked = await self._checker.check(asked)
                return checked.findings.verdict().violations
            checked = await self._checker.check(asked, find=checking.find)
            return (*checked.findings.verdict().violations, *await checking.unasked())
        except RequestError as refusal:
            if checking is not None:
                checking.lasts &= not is_passing(refusal)
            return refusal_as_problems(refusal, "")


class _Checking:
    """The schemas of one definition, compiled as those of a registered one."""

    def __init__(self, schemas: CompiledSchemas, read: ToolDefinition) -> None:
        self._schemas = schemas
        self._sides: dict[str, tuple[str, SchemaSource]] = {
            "inputSchema": (read.input_digest, read.input)
        }
        if read.output is not None and read.output_digest is not None:
            self._sides["outputSchema"] = (read.output_digest, read.output)
        self._asked: set[str] = set()
        #: Whether checking another time finds the same.
        self.lasts = True

    def find(self, asking: CheckSpec) -> Awaitable[CompiledSchema] | None:
        """Return what awaits the schema that *asking* is about, if it is one of these."""
        path = (*asking.path, *asking.question.schema_path)
        if len(path) != 1 or path[0] not in self._sides or asking.question.assert_formats:
            return None
        return self._compiled(str(path[0]))

    async def unasked(self) -> list[Violation]:
        """Return the problems of the schemas that no rule of the version asks about.

        What is registered must be able to judge.
        """
        problems: list[Violation] = []
        for side in self._sides.keys() - self._asked:
            try:
                await self._compiled(side)
            except RequestError as refusal:
                problems += refusal_as_problems(refusal, f"/{side}")
        return problems

    async def _compiled(self, side: str) -> CompiledSchema:
        self._asked.add(side)
        digest, source = self._sides[side]
        try:
            return await self._schemas.registered(digest, source)
        except RequestError as refusal:
            self.lasts &= not is_passing(refusal)
            raise


def _weight(problems: tuple[Violation, ...]) -> int:
    return 1 + len(problems)


def _name_and_digest(tool: InlineTool, limits: Limits) -> tuple[str, str]:
    """Return the name and the digest of a faulty definition, where it has them."""
    try:
        value = decode(tool.json, max_depth=2 * limits.schema_depth)
    except (MalformedError, RequestError):
        return "", ""
    name = value.get("name") if isinstance(value, dict) else None
    return name if isinstance(name, str) else "", digest_of(value, tool.documents)


def _definition(tool: ToolDefinition) -> Definition:
    return Definition(
        digest=tool.digest,
        name=tool.name,
        json=tool.json,
        documents=tool.input.documents,
        input_schema_digest=tool.input_digest,
        output_schema_digest=tool.output_digest,
    )
