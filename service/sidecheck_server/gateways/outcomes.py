"""Outcomes of exchanges that a gateway sends: for the gateway, log and metrics."""

import logging
import secrets
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from enum import IntEnum
from itertools import product
from typing import Final

import structlog
from prometheus_client import Metric
from prometheus_client.registry import Collector

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.types import Severity
from sidecheck_server.proxy.messages import Direction
from sidecheck_server.proxy.report import Action, Finding
from sidecheck_server.rpc.metric_table import counters

__all__ = ["FAILED", "GatewayFindings", "Outcome", "Verdict"]

FAILED: Final = "failed"
"""Verdict, in log and metrics, of an exchange whose call failed."""

_MAX_CODES = 20
"""Maximum number of codes in the log event of one exchange."""

_log = structlog.get_logger("sidecheck.gateways")


class Verdict(IntEnum):
    """Verdict on an exchange, from best to worst."""

    VALID = 0
    #: Invalid, and forwarded because no policy enforces the rule, or it is exempt.
    INVALID = 1
    #: Forwarded after a repair, or without some of its tools.
    CHANGED = 2
    #: Forwarded without validation.
    UNVALIDATED = 3
    #: Replaced by an error.
    REJECTED = 4


class Outcome:
    """Verdict and codes of one exchange, accumulated from its findings."""

    __slots__ = ("_codes", "_exchanges", "_has_failed", "_rank", "_started", "code", "id")

    def __init__(self, exchanges: Counter[tuple[str, ...]]) -> None:
        self._exchanges = exchanges
        #: Identifies the exchange in the log of Sidecheck and in that of the gateway.
        self.id: Final = secrets.token_hex(8)
        self._rank = (Verdict.VALID, False)
        #: Whether the call of the gateway failed, so that the exchange has no verdict.
        self._has_failed = False
        #: Code of the first finding of the worst rank, "" if there is none.
        self.code = ""
        self._codes: set[str] = set()
        self._started = time.perf_counter()

    @property
    def verdict(self) -> Verdict:
        """Verdict on the exchange so far."""
        return self._rank[0]

    def add(self, finding: Finding) -> None:
        """Include *finding* in the verdict and the codes."""
        if finding.severity is not Severity.ERROR and finding.action is Action.PASSED:
            return
        # A rejected message may have warnings too; the code is that of the error.
        rank = (_verdict_of(finding), finding.severity is Severity.ERROR)
        if rank > self._rank:
            self._rank, self.code = rank, finding.code
        if len(self._codes) < _MAX_CODES:
            self._codes.add(finding.code)

    def fail(self, error: Exception) -> None:
        """Record that *error* ended the exchange; the rest of it is not validated."""
        self._has_failed = True
        code = error.reason.value if isinstance(error, RequestError) else "INTERNAL"
        self.add(Finding(sender="client", code=code, is_unvalidated=True))

    def metadata(self) -> dict[str, str]:
        """Return ``verdict``, ``code`` and ``verdict_id``, for the log of the gateway."""
        return {"verdict": self.verdict.name.lower(), "code": self.code, "verdict_id": self.id}

    def finish(self, gateway: str) -> None:
        """Count the exchange of *gateway*, and write its log event."""
        # Decision 0009: the event has codes only, and no text of a message.
        verdict = FAILED if self._has_failed else self.verdict.name.lower()
        self._exchanges[gateway, verdict] += 1
        _log.log(
            logging.DEBUG if verdict == "valid" else logging.INFO,
            "gateway.completed",
            gateway=gateway,
            verdict=verdict,
            codes=sorted(self._codes),
            verdict_id=self.id,
            ms=round((time.perf_counter() - self._started) * 1000, 3),
        )


class GatewayFindings(Collector):
    """Adds each finding to the outcome of the current task's exchange.

    Counts the exchanges of *gateways* by verdict.
    """

    def __init__(self, gateways: Iterable[str]) -> None:
        verdicts = (*(verdict.name.lower() for verdict in Verdict), FAILED)
        self._exchanges: Counter[tuple[str, ...]] = Counter(
            dict.fromkeys(product(gateways, verdicts), 0)
        )
        self._current: ContextVar[Outcome] = ContextVar("OUTCOME")

    def collect(self) -> Iterator[Metric]:
        """Yield the counter of exchanges, by gateway and verdict."""
        yield counters("sidecheck_gateway_exchanges_total", self._exchanges)

    def begin(self) -> Outcome:
        """Begin an exchange, which gets the findings of the current task."""
        outcome = Outcome(self._exchanges)
        self._current.set(outcome)
        return outcome

    def count_message(self, sender: Direction) -> None:
        """Do nothing: the collector counts exchanges, not messages."""

    def add(self, finding: Finding) -> None:
        """Add *finding* to the outcome of the current exchange."""
        self._current.get().add(finding)


def _verdict_of(finding: Finding) -> Verdict:
    match finding.action:
        case Action.REJECTED:
            return Verdict.REJECTED
        case Action.REPAIRED | Action.DROPPED:
            return Verdict.CHANGED
        case Action.PASSED | Action.ALLOWED:
            return Verdict.UNVALIDATED if finding.is_unvalidated else Verdict.INVALID
