"""The places of changes in the two files of a comparison."""

from collections.abc import Sequence

from sidecheck_server.cli.compared_tools import ComparedTools
from sidecheck_server.cli.findings import Finding, Spot, find
from sidecheck_server.cli.in_process import LIMITS
from sidecheck_server.core.compat.changes import Change, Level, Reading, ToolComparison
from sidecheck_server.core.mcp.tool_definitions import read_tool_name
from sidecheck_server.core.types import Severity, Violation

__all__ = ["ComparedFiles"]

_SEVERITIES = {
    Level.BREAKING: Severity.ERROR,
    Level.UNDECIDED: Severity.WARNING,
    Level.RISKY: Severity.WARNING,
}


class ComparedFiles:
    """The old and the new file, and where each tool stands in them."""

    def __init__(self, old: ComparedTools, new: ComparedTools) -> None:
        self._old, self._new = old.source, new.source
        # The last definition of a name counts, as in the comparison.
        self._old_pointers, self._new_pointers = (
            {read_tool_name(tool.json, LIMITS): tool.pointer for tool in side.listed}
            for side in (old, new)
        )

    @property
    def names(self) -> list[str]:
        """The names of the files, without repetition."""
        return list(dict.fromkeys((self._old.name, self._new.name)))

    def find(
        self, changes: Sequence[tuple[ToolComparison, Change]], reading: Reading
    ) -> list[Finding]:
        """Return a finding for each of *changes*: in the new file if it can be shown there."""
        spots: dict[str, list[tuple[int, Spot]]] = {"old": [], "new": []}
        for index, (tool, change) in enumerate(changes):
            severity = _SEVERITIES.get(change.effects.of(reading).level, Severity.INFO)
            violation = Violation("", "", change.keyword, change.code, change.message, severity)
            is_new = change.new_location is not None
            location = change.new_location if is_new else change.old_location
            pointers = self._new_pointers if is_new else self._old_pointers
            name = tool.name if is_new else tool.old_name or tool.name
            pointer = pointers.get(name, "") + (location or "")
            spots["new" if is_new else "old"].append((index, Spot(violation, pointer, tool.name)))
        findings: dict[int, Finding] = {}
        for side, source in (("old", self._old), ("new", self._new)):
            found = find(source, [spot for _, spot in spots[side]])
            findings |= dict(zip((index for index, _ in spots[side]), found, strict=True))
        return [findings[index] for index in range(len(changes))]
