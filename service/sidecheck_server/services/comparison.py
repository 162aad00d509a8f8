"""Comparison of sets of tools, and rejection of incompatible registrations."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from sidecheck_server.core.compat.changes import (
    Level,
    Reading,
    SetComparison,
    ToolComparison,
    ToolStatus,
)
from sidecheck_server.core.compat.pairing import (
    DefinitionEntry,
    Pair,
    compare_trivial_pair,
    not_compared,
    pair_definitions,
    read_definition,
)
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.types import Severity, Violation
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Binding
from sidecheck_server.services.definitions import CheckedDefinition
from sidecheck_server.services.offload import (
    OffloadRule,
    TimeSlice,
    Work,
    concurrent_groups,
    gather_in_turns,
)
from sidecheck_server.services.request_work import current_work
from sidecheck_server.services.resolution import require_binding
from sidecheck_server.services.targets import InlineTool
from sidecheck_server.workers.tasks import CompareTools, RunTask

__all__ = [
    "CompatibilityGate",
    "CompatibilityPolicy",
    "RegisteredTools",
    "ToolComparer",
    "ToolSetComparer",
]

_MAX_NAME_CHARACTERS = 128
"""Maximum characters of a name in an error message."""

_CRASH_REASON = "the worker that searched for a proof crashed or was killed"


class ToolComparer:
    """Compares sets of tools. A tool that takes too long is undecided by itself."""

    def __init__(self, run: RunTask, limits: Limits) -> None:
        self._run = run
        self._limits = limits
        self._offload = OffloadRule(limits)

    async def compare(self, old: Sequence[InlineTool], new: Sequence[InlineTool]) -> SetComparison:
        """Return the changes from *old* to *new*, and whether they break callers.

        Raises:
            RequestError: LIMIT_EXCEEDED for more than ``batch_items`` tools on a side.
        """
        pairs = pair_definitions(await self._read(old), await self._read(new))
        compared: list[ToolComparison] = []
        work = current_work()
        for part in concurrent_groups(map(_pair_size, pairs)):
            group = pairs[part]
            if work.is_spent:
                reason = work.not_reached().message
                compared += [_undecided(pair, reason) for pair in group]
            else:
                compared += await gather_in_turns(map(self._compare, group))
        return SetComparison(tuple(compared))

    async def _read(self, tools: Sequence[InlineTool]) -> list[DefinitionEntry]:
        limit = self._limits.batch_items
        if len(tools) > limit:
            raise limit_exceeded_error("batch_items", limit, "the tools", len(tools))
        time_slice = TimeSlice()
        definitions: list[DefinitionEntry] = []
        for tool in tools:
            definitions.append(await self._read_one(tool))
            await time_slice.yield_if_over()
        return definitions

    async def _read_one(self, tool: InlineTool) -> DefinitionEntry:
        return await self._offload.run(
            Work.READ_DEFINITION,
            tool.json,
            lambda: read_definition(tool.json, tool.documents, self._limits),
        )

    async def _compare(self, pair: Pair) -> ToolComparison:
        comparison = compare_trivial_pair(pair)
        if comparison is not None:
            return comparison
        assert pair.old is not None
        assert pair.new is not None
        old, new = pair.old.definition, pair.new.definition
        assert old is not None
        assert new is not None
        try:
            return await self._run(CompareTools(old, new))
        except RequestError as error:
            # The message of the error recommends a retry, which readers of the reason cannot make.
            is_crash = error.reason is ErrorReason.WORKER_CRASHED
            reason = _CRASH_REASON if is_crash else error.message
        try:
            # The list of changes takes few steps and needs no proof.
            return await self._run(CompareTools(old, new, reason))
        except RequestError:
            return _undecided(pair, reason)


@dataclass(frozen=True, slots=True)
class RegisteredTools:
    """Registered tools of a server."""

    server: str
    #: Names of the tools; empty for all tools of the server.
    names: tuple[str, ...] = ()


class ToolSetComparer:
    """Compares sets of tools, which requests contain or servers have registered."""

    def __init__(self, registry: Registry, comparer: ToolComparer, limits: Limits) -> None:
        self._registry = registry
        self._comparer = comparer
        self._limits = limits

    async def compare(
        self,
        old: RegisteredTools | Sequence[InlineTool],
        new: RegisteredTools | Sequence[InlineTool],
    ) -> SetComparison:
        """Return the changes from *old* to *new*.

        Raises:
            RequestError: UNKNOWN_TOOL; INVALID_REQUEST for a server without tools, since its name
                may be wrong; LIMIT_EXCEEDED for more than ``batch_items`` tools on a side.
        """
        return await self._comparer.compare(self._resolve(old), self._resolve(new))

    def _resolve(self, tools: RegisteredTools | Sequence[InlineTool]) -> Sequence[InlineTool]:
        if not isinstance(tools, RegisteredTools):
            return tools
        if tools.names:
            bindings = [
                require_binding(self._registry, tools.server, name)
                for name in dict.fromkeys(tools.names)
            ]
        else:
            bindings = self._list_tools(tools.server)
        return [
            InlineTool(binding.definition.json, binding.definition.documents)
            for binding in bindings
        ]

    def _list_tools(self, server: str) -> list[Binding]:
        limit = self._limits.batch_items
        bindings, more = self._registry.page(server, None, limit, sys.maxsize)
        if more:
            raise limit_exceeded_error(
                "batch_items", limit, "the tools of the server", len(bindings) + 1
            )
        if not bindings:
            shown = server[:_MAX_NAME_CHARACTERS]
            raise RequestError(
                ErrorReason.INVALID_REQUEST,
                f"no tools are registered for the server {shown!r}",
                {"server": shown},
            )
        return list(bindings)


def _pair_size(pair: Pair) -> int:
    sides = (pair.old, pair.new)
    return sum(len(side.definition.json) for side in sides if side and side.definition)


def _undecided(pair: Pair, reason: str) -> ToolComparison:
    """Return the outcome of *pair* whose schemas were not compared for *reason*."""
    comparison = compare_trivial_pair(pair)
    if comparison is not None:
        return comparison
    name = pair.new.name if pair.new is not None else ""
    return ToolComparison(ToolStatus.CHANGED, name, changes=(not_compared(reason),))


class CompatibilityPolicy(StrEnum):
    """Treatment of a definition that may break callers of the registered one."""

    IGNORE = "ignore"
    """Do not compare definitions."""
    REPORT = "report"
    REJECT_BREAKING = "reject-breaking"
    REJECT_UNDECIDED = "reject-undecided"
    """Reject breaking definitions, and those for which that is undecided."""


_REJECTED_LEVELS: Final[Mapping[CompatibilityPolicy, frozenset[Level]]] = MappingProxyType(
    {
        CompatibilityPolicy.IGNORE: frozenset(),
        CompatibilityPolicy.REPORT: frozenset(),
        CompatibilityPolicy.REJECT_BREAKING: frozenset({Level.BREAKING}),
        CompatibilityPolicy.REJECT_UNDECIDED: frozenset({Level.BREAKING, Level.UNDECIDED}),
    }
)

_LEVEL_VIOLATIONS: Final[Mapping[Level, tuple[str, str]]] = MappingProxyType(
    {
        Level.BREAKING: ("BREAKING_CHANGE", "the definition breaks callers of the registered one"),
        Level.UNDECIDED: (
            "UNDECIDED_CHANGE",
            "it is undecided whether the definition breaks callers of the registered one",
        ),
    }
)
"""The code and the message for each level that is reported."""


class CompatibilityGate:
    """Compares the definitions of one registration, by *policy* and in *reading*.

    Comparisons are kept, so that a retry of the registration does not repeat them.
    """

    def __init__(
        self, comparer: ToolComparer, policy: CompatibilityPolicy, reading: Reading
    ) -> None:
        self._comparer = comparer
        self._policy = policy
        self._reading = reading
        #: Keys: the digests of the old and of the new definition.
        self._comparisons: dict[tuple[str, str], ToolComparison] = {}

    @property
    def compares(self) -> bool:
        """Whether definitions are compared."""
        return self._policy is not CompatibilityPolicy.IGNORE

    @property
    def keeps_others(self) -> bool:
        """Whether no tool may be removed, since its removal would break callers."""
        return bool(_REJECTED_LEVELS[self._policy])

    async def compare(
        self, before: Binding | None, tool: CheckedDefinition
    ) -> ToolComparison | None:
        """Return the comparison of *tool* with *before*, or None if they are equal."""
        if not self.compares or before is None or tool.definition is None:
            return None
        old, new = before.definition, tool.definition
        if old.digest == new.digest:
            return None
        key = old.digest, new.digest
        if key not in self._comparisons:
            compared = await self._comparer.compare(
                [InlineTool(old.json, old.documents)], [InlineTool(new.json, new.documents)]
            )
            self._comparisons[key] = compared.tools[0]
        return self._comparisons[key]

    def apply(
        self, tool: CheckedDefinition, comparison: ToolComparison | None
    ) -> CheckedDefinition:
        """Return *tool* with a violation if it is not known to be compatible."""
        level = Level.COSMETIC if comparison is None else comparison.level(self._reading)
        if comparison is None or level not in _LEVEL_VIOLATIONS:
            return tool
        rejected = level in _REJECTED_LEVELS[self._policy]
        code, message = _LEVEL_VIOLATIONS[level]
        location, reasons = self._reasons(comparison, level)
        violation = Violation(
            instance_location=location,
            keyword_location="",
            keyword="",
            code=code,
            message=": ".join([message, *reasons]),
            severity=Severity.ERROR if rejected else Severity.WARNING,
        )
        definition = None if rejected else tool.definition
        return replace(tool, definition=definition, violations=(*tool.violations, violation))

    def _reasons(self, comparison: ToolComparison, level: Level) -> tuple[str, list[str]]:
        """Return the location and the reasons of the first change of *level*."""
        for change in comparison.changes:
            if change.effects.of(self._reading).level is level:
                return change.new_location or "", [change.message]
        for schema in comparison.schemas:
            verdict = schema.verdicts.of(self._reading)
            if verdict.level is level:
                reason = verdict.witness.message if verdict.witness else verdict.reason
                return f"/{schema.part}", [reason] if reason else []
        return "", []
