"""Counts of the verdicts that gateways ask for in the process, beside those of calls."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from sidecheck_server.core.errors import ErrorReason
from sidecheck_server.core.types import Verdict
from sidecheck_server.proxy.local_checks import CHECK_TOOLS, ObserveCalls, ObservedCall
from sidecheck_server.rpc.call_metrics import CallMetrics, MethodMetrics

__all__ = ["counted_checks"]


def counted_checks(
    metrics: CallMetrics, observe: ObserveCalls
) -> Callable[[str, bytes], AbstractContextManager[ObservedCall]]:
    """Return what counts each check in *metrics*, and gives it to *observe* as well."""

    @contextmanager
    def count(path: str, message: bytes) -> Iterator[ObservedCall]:
        with observe(path, message) as observed:
            yield _CountedCall(metrics.of_path(path), observed, is_list=path == CHECK_TOOLS)

    return count


class _CountedCall:
    """One check, counted in *metrics*, None if nobody else can call the method."""

    def __init__(
        self, metrics: MethodMetrics | None, observed: ObservedCall, *, is_list: bool
    ) -> None:
        self._metrics = metrics
        self._observed = observed
        self._is_list = is_list

    def completed(self, *verdicts: Verdict) -> None:
        """Count the *verdicts*, and how many of them have each code."""
        self._observed.completed(*verdicts)
        if self._metrics is None:
            return
        codes = Counter(
            code
            for verdict in verdicts
            if self._is_list or not verdict.valid
            for code in {violation.code for violation in verdict.violations}
        )
        invalid = sum(not verdict.valid for verdict in verdicts)
        if self._is_list:
            self._metrics.observe({"tools": len(verdicts), "invalid": invalid}, codes)
        else:
            self._metrics.observe({"outcome": "invalid" if invalid else "valid"}, codes)

    def failed(self, reason: ErrorReason | None) -> None:
        """Count the failure."""
        self._observed.failed(reason)
        if self._metrics is not None:
            self._metrics.observe_error(reason)
