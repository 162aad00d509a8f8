"""Violations that say the same of many messages: reported once, then counted."""

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

__all__ = ["OF_SESSION", "OF_TOOL", "Repetition", "Repetitions"]

_MAX_BYTES = 2 << 20
"""Total weight of the codes and tools whose violations are counted; one that is forgotten is
reported again. The summary of a session is smaller."""

_COUNT_BYTES = 192
"""Weight of a count beside the tool, whose characters may take four bytes each."""

OF_SESSION = frozenset(
    {
        "EMBEDDED_RESOURCES_UNDECLARED",
        "LOGGING_DEPRECATED",
        "META_CLIENT_INFO",
        "META_SERVER_INFO",
        "ROOTS_DEPRECATED",
        "SAMPLING_DEPRECATED",
    }
)
"""Codes of violations that say the same of a side in each of its messages."""

OF_TOOL = frozenset({"STRUCTURED_CONTENT_WITHOUT_TEXT"})
"""Codes of violations that say the same of a tool in each of its results."""


@dataclass(slots=True)
class Repetition:
    """A violation that a session reported once."""

    code: str
    #: Name of the tool that it is about, or "" if it is about the whole session.
    tool: str
    #: Number of the message that it was reported in, as the caller of the session counts.
    first: int
    #: Number of messages that have it.
    count: int = 1


class Repetitions:
    """Counts of the violations that a session reports once."""

    def __init__(self, memory: SessionMemory) -> None:
        self._counts: BoundedStore[Repetition] = BoundedStore(_MAX_BYTES, memory)

    def __iter__(self) -> Iterator[Repetition]:
        """Yield the violations that more than one message has, as they were first reported."""
        return (repetition for repetition in self._counts if repetition.count > 1)

    def moved_to(self, memory: SessionMemory) -> "Repetitions":
        """Return the same counts in *memory*."""
        moved = Repetitions(memory)
        for repetition in self._counts:
            moved._counts.put(_key(repetition.code, repetition.tool), repetition)
        return moved

    def settle(self, findings: Findings, current: SessionMessage, number: int) -> None:
        """Remove from *findings* the violations of the current message reported before.

        *number* is that of the message.
        """
        if not findings.has_violations:
            return
        place = as_pointer(current.message.path)
        fresh: set[Key] = set()
        repeated: set[Key] = set()

        def is_kept(violation: Violation) -> bool:
            if violation.code in OF_TOOL:
                tool = "" if current.request is None else current.request.tool
            elif violation.code in OF_SESSION:
                tool = ""
            else:
                return True
            if not _is_within(place, violation.instance_location):
                return True
            key = _key(violation.code, tool)
            repetition = None if key in fresh else self._counts.get(key)
            if repetition is None:
                if key not in fresh:
                    fresh.add(key)
                    weight = _COUNT_BYTES + 4 * len(tool)
                    self._counts.put(key, Repetition(violation.code, tool, number), weight)
                return True
            if key not in repeated:
                repeated.add(key)
                repetition.count += 1
            return False

        findings.keep(is_kept)


def _key(code: str, tool: str) -> Key:
    return key_of(f"{code} {tool}")


def _is_within(place: str, location: str) -> bool:
    return not place or location == place or location.startswith(f"{place}/")
