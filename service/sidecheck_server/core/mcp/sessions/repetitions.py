"""Violations that recur in every message: reported once per session, then counted."""

from collections.abc import Iterator
from dataclasses import dataclass

from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.sessions.memory import (
    BoundedStore,
    Key,
    SessionMemory,
    SessionMessage,
    key_of,
)
from sidecheck_server.core.types import Violation, as_pointer

__all__ = ["SESSION_CODES", "TOOL_CODES", "Repetition", "Repetitions"]

_MAX_BYTES = 2 << 20
"""Total weight of the counts. A violation is reported again after its count is evicted.

The summary of a session is smaller.
"""

_COUNT_BYTES = 192
"""Weight of a count without the tool's name, whose characters may take four bytes each."""

# Decision 0055: report violations that recur in every message once, then count them.
SESSION_CODES = frozenset(
    {
        "EMBEDDED_RESOURCES_UNDECLARED",
        "LOGGING_DEPRECATED",
        "META_CLIENT_INFO",
        "META_SERVER_INFO",
        "ROOTS_DEPRECATED",
        "SAMPLING_DEPRECATED",
    }
)
"""Codes of violations that concern a side, whatever its messages contain."""

TOOL_CODES = frozenset({"STRUCTURED_CONTENT_WITHOUT_TEXT"})
"""Codes of violations that concern a tool, whatever its results contain."""


@dataclass(slots=True)
class Repetition:
    """A violation that a session reported once."""

    code: str
    #: Name of the tool, or "" if the violation concerns the whole session.
    tool: str
    #: Number of the message in which it was reported, counted by the caller of the session.
    first: int
    #: Number of messages with the violation.
    count: int = 1


class Repetitions:
    """Counts of the violations that a session reports only once."""

    def __init__(self, memory: SessionMemory) -> None:
        self._counts: BoundedStore[Repetition] = BoundedStore(_MAX_BYTES, memory)

    def __iter__(self) -> Iterator[Repetition]:
        """Yield the violations of several messages, in the order of the first reports."""
        return (repetition for repetition in self._counts if repetition.count > 1)

    def copy_to(self, memory: SessionMemory) -> "Repetitions":
        """Return the same counts in *memory*."""
        copy = Repetitions(memory)
        for repetition in self._counts:
            copy._counts.put(_make_key(repetition.code, repetition.tool), repetition)
        return copy

    def remove_repeated(self, findings: Findings, current: SessionMessage, number: int) -> None:
        """Count the current message's violations, and remove the repeated ones.

        *number* is the number of the message.
        """
        if not findings.has_violations:
            return
        message_location = as_pointer(current.message.path)
        first_keys: set[Key] = set()
        repeated_keys: set[Key] = set()

        def is_first_report(violation: Violation) -> bool:
            if violation.code in TOOL_CODES:
                tool = "" if current.request is None else current.request.tool
            elif violation.code in SESSION_CODES:
                tool = ""
            else:
                return True
            if not _is_within(message_location, violation.instance_location):
                return True
            key = _make_key(violation.code, tool)
            repetition = None if key in first_keys else self._counts.get(key)
            if repetition is None:
                if key not in first_keys:
                    first_keys.add(key)
                    weight = _COUNT_BYTES + 4 * len(tool)
                    self._counts.put(key, Repetition(violation.code, tool, number), weight)
                return True
            if key not in repeated_keys:
                repeated_keys.add(key)
                repetition.count += 1
            return False

        findings.filter(is_first_report)


def _make_key(code: str, tool: str) -> Key:
    return key_of(f"{code} {tool}")


def _is_within(parent: str, location: str) -> bool:
    return not parent or location == parent or location.startswith(f"{parent}/")
