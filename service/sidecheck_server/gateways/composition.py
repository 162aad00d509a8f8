"""Composition of the gateway servicers, and the metrics of their checks."""

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from google.protobuf.descriptor import ServiceDescriptor
from prometheus_client import CollectorRegistry

from sidecheck_server.config.policies import GatewayPolicies
from sidecheck_server.core.errors import ErrorReason
from sidecheck_server.core.types import Verdict
from sidecheck_server.gateways.ext_mcp import EXT_MCP, ExtMcp
from sidecheck_server.gateways.ext_proc import EXT_PROC, ExternalProcessor
from sidecheck_server.gateways.outcomes import GatewayFindings
from sidecheck_server.gateways.routes import Routes
from sidecheck_server.proxy.checks import RegistryChecks
from sidecheck_server.proxy.checks.local import CHECK_TOOLS, ObserveCalls, ObservedCall
from sidecheck_server.rpc.admission import Admission
from sidecheck_server.rpc.call_metrics import CallMetrics, MethodMetrics
from sidecheck_server.rpc.servicers import CreateGateways
from sidecheck_server.rpc.streams import OpenStreams

__all__ = [
    "counted_checks",
    "running_gateways",
]


def counted_checks(metrics: CallMetrics, observe: ObserveCalls) -> ObserveCalls:
    """Return an observer that counts each check in *metrics*, and calls *observe* too."""

    @contextmanager
    def count(path: str, message: bytes) -> Iterator[ObservedCall]:
        with observe(path, message) as observed:
            yield _CountedCall(metrics.of_path(path), observed, is_list=path == CHECK_TOOLS)

    return count


class _CountedCall:
    """Observer of one check, which counts it in *metrics*.

    *metrics* are None for a method that the server does not serve.
    """

    def __init__(
        self, metrics: MethodMetrics | None, observed: ObservedCall, *, is_list: bool
    ) -> None:
        self._metrics = metrics
        self._observed = observed
        self._is_list = is_list

    def completed(self, *verdicts: Verdict) -> None:
        """Count the *verdicts*, in total and by code."""
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


@asynccontextmanager
async def running_gateways(
    protocols: tuple[str, ...],
    policies: GatewayPolicies,
    checks: RegistryChecks,
    max_bytes: int,
    metrics: CollectorRegistry,
) -> AsyncIterator[CreateGateways]:
    """Yield the factory of the servicers of *protocols*, which validate by *checks*.

    *max_bytes* is the maximum size of an event of a stream. *metrics* get the counter of
    exchanges.
    """
    if not protocols:
        yield lambda _streams, _admission: {}
        return
    findings = GatewayFindings(protocols)
    metrics.register(findings)
    routes = Routes(checks, policies, findings)

    def create(streams: OpenStreams, admission: Admission) -> dict[ServiceDescriptor, object]:
        servicers: dict[ServiceDescriptor, object] = {}
        if "ext_proc" in protocols:
            servicers[EXT_PROC] = ExternalProcessor(routes, findings, streams, admission, max_bytes)
        if "ext_mcp" in protocols:
            servicers[EXT_MCP] = ExtMcp(routes, findings)
        return servicers

    try:
        yield create
    finally:
        await routes.close()
