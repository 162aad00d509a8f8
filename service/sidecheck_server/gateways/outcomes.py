"""What came of one exchange that a gateway hands over: for the gateway, and for the log."""

import logging
import secrets
import time
from contextvars import ContextVar
from enum import IntEnum
from typing import Final

import structlog
from sidecheck import Severity

from sidecheck_server.core.errors import RequestError
from sidecheck_server.proxy.report import Action, Direction, Finding

__all__ = ["GatewayFindings", "Outcome", "Verdict"]

_CODES = 20
"""How many codes of one exchange are logged."""

_log = structlog.get_logger("sidecheck.gateways")


class Verdict(IntEnum):
    """What became of an exchange, from best to worst."""

    VALID = 0
    #: Invalid, and passed on: no policy enforces.
    INVALID = 1
    #: Passed on after a repair, or without some of its tools.
    CHANGED = 2
    #: Passed on without a verdict.
    UNVALIDATED = 3
    #: Replaced by an error.
    REJECTED = 4


class Outcome:
    """What came of one exchange."""

    __slots__ = ("_codes", "_rank", "_started", "code", "id")

    def __init__(self) -> None:
        #: Identifies the exchange in the log and in that of the gateway.
        self.id: Final = secrets.token_hex(8)
        self._rank = (Verdict.VALID, False)
        #: Code of the first of the worst findings, "" without any.
        self.code = ""
        self._codes: set[str] = set()
        self._started = time.perf_counter()

    @property
    def verdict(self) -> Verdict:
        """What became of the exchange so far."""
        return self._rank[0]

    def add(self, finding: Finding) -> None:
        """Take *finding* into account."""
        if finding.severity is not Severity.ERROR and finding.action is Action.PASSED:
            return
        # Warnings are found beside the error that a message is rejected for.
        rank = (_verdict_of(finding), finding.severity is Severity.ERROR)
        if rank > self._rank:
            self._rank, self.code = rank, finding.code
        if len(self._codes) < _CODES:
            self._codes.add(finding.code)

    def fail(self, error: Exception) -> None:
        """Note that *error* ended the exchange; what follows of it is not validated."""
        code = error.reason.value if isinstance(error, RequestError) else "INTERNAL"
        self.add(Finding(sender="client", code=code, is_unvalidated=True))

    def metadata(self) -> dict[str, str]:
        """Return what the gateway can log: ``verdict``, ``code`` and ``verdict_id``."""
        return {"verdict": self.verdict.name.lower(), "code": self.code, "verdict_id": self.id}

    def write_event(self, gateway: str) -> None:
        """Write the event of the exchange that *gateway* handed over."""
        _log.log(
            logging.INFO if self.verdict is not Verdict.VALID else logging.DEBUG,
            "gateway.completed",
            gateway=gateway,
            verdict=self.verdict.name.lower(),
            codes=sorted(self._codes),
            verdict_id=self.id,
            ms=round((time.perf_counter() - self._started) * 1000, 3),
        )


class GatewayFindings:
    """Adds each finding to the outcome of the exchange that the current task works on."""

    def __init__(self) -> None:
        self._current: ContextVar[Outcome] = ContextVar("OUTCOME")

    def begin(self) -> Outcome:
        """Begin an exchange; what is found in the current task belongs to it."""
        outcome = Outcome()
        self._current.set(outcome)
        return outcome

    def count_message(self, sender: Direction) -> None:
        """Do nothing: exchanges are counted."""

    def add(self, finding: Finding) -> None:
        """Add *finding* to the outcome."""
        self._current.get().add(finding)


def _verdict_of(finding: Finding) -> Verdict:
    match finding.action:
        case Action.REJECTED:
            return Verdict.REJECTED
        case Action.REPAIRED | Action.DROPPED:
            return Verdict.CHANGED
        case Action.PASSED:
            return Verdict.UNVALIDATED if finding.is_unvalidated else Verdict.INVALID
