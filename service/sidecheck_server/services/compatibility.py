"""Compatibility of definitions with the registered ones that they would replace."""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from sidecheck_server.core.compat.changes import Level, Reading, ToolComparison
from sidecheck_server.core.types import Severity, Violation
from sidecheck_server.registry.definitions import Binding
from sidecheck_server.services.comparison import ToolComparer
from sidecheck_server.services.definitions import CheckedDefinition
from sidecheck_server.services.targets import InlineTool

__all__ = ["CompatibilityGate", "CompatibilityPolicy"]


class CompatibilityPolicy(StrEnum):
    """How a definition is treated that may break the callers of the registered one."""

    IGNORE = "ignore"
    """It is not compared."""
    REPORT = "report"
    REJECT_BREAKING = "reject-breaking"
    REJECT_UNDECIDED = "reject-undecided"
    """It is rejected also if it is undecided whether it breaks callers."""


_REJECTED: Final[Mapping[CompatibilityPolicy, frozenset[Level]]] = MappingProxyType(
    {
        CompatibilityPolicy.IGNORE: frozenset(),
        CompatibilityPolicy.REPORT: frozenset(),
        CompatibilityPolicy.REJECT_BREAKING: frozenset({Level.BREAKING}),
        CompatibilityPolicy.REJECT_UNDECIDED: frozenset({Level.BREAKING, Level.UNDECIDED}),
    }
)

_REPORTED: Final[Mapping[Level, tuple[str, str]]] = MappingProxyType(
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

    Each is compared once with each that it may replace, however often the registration is tried.
    """

    def __init__(
        self, comparer: ToolComparer, policy: CompatibilityPolicy, reading: Reading
    ) -> None:
        self._comparer = comparer
        self._policy = policy
        self._reading = reading
        #: By the digests of the old and the new definition.
        self._compared: dict[tuple[str, str], ToolComparison] = {}

    @property
    def compares(self) -> bool:
        """Whether definitions are compared."""
        return self._policy is not CompatibilityPolicy.IGNORE

    @property
    def keeps_others(self) -> bool:
        """Whether tools are kept that a registration would remove."""
        return bool(_REJECTED[self._policy])

    async def compare(
        self, before: Binding | None, tool: CheckedDefinition
    ) -> ToolComparison | None:
        """Return how *tool* differs from the definition of *before*; None if it does not."""
        if not self.compares or before is None or tool.definition is None:
            return None
        old, new = before.definition, tool.definition
        if old.digest == new.digest:
            return None
        key = old.digest, new.digest
        if key not in self._compared:
            compared = await self._comparer.compare(
                [InlineTool(old.json, old.documents)], [InlineTool(new.json, new.documents)]
            )
            self._compared[key] = compared.tools[0]
        return self._compared[key]

    def apply(
        self, tool: CheckedDefinition, comparison: ToolComparison | None
    ) -> CheckedDefinition:
        """Return *tool* with a violation if it is not known to be compatible."""
        level = Level.COSMETIC if comparison is None else comparison.level(self._reading)
        if comparison is None or level not in _REPORTED:
            return tool
        rejected = level in _REJECTED[self._policy]
        code, message = _REPORTED[level]
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
        """Return where the first change of *level* is in the new definition, and what it is."""
        for change in comparison.changes:
            if change.effects.of(self._reading).level is level:
                return change.new_location or "", [change.message]
        for schema in comparison.schemas:
            verdict = schema.verdicts.of(self._reading)
            if verdict.level is level:
                reason = verdict.witness.message if verdict.witness else verdict.reason
                return f"/{schema.part}", [reason] if reason else []
        return "", []
