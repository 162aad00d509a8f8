"""What serves gateways: the servicer of each protocol, over the services of the server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from google.protobuf.descriptor import ServiceDescriptor
from prometheus_client import CollectorRegistry

from sidecheck_server.config.policies import GatewayPolicies
from sidecheck_server.gateways.ext_mcp import EXT_MCP, ExtMcp
from sidecheck_server.gateways.ext_proc import EXT_PROC, ExternalProcessor
from sidecheck_server.gateways.outcomes import GatewayFindings
from sidecheck_server.gateways.routes import Routes
from sidecheck_server.proxy.checks import Checks
from sidecheck_server.rpc.admission import Admission
from sidecheck_server.rpc.served_methods import CreateGateways
from sidecheck_server.rpc.streams import OpenStreams

__all__ = ["running_gateways"]


@asynccontextmanager
async def running_gateways(
    protocols: tuple[str, ...],
    policies: GatewayPolicies,
    checks: Checks,
    max_bytes: int,
    metrics: CollectorRegistry,
) -> AsyncIterator[CreateGateways]:
    """Yield what creates the servicers of *protocols*, which ask for *checks*.

    An event of a stream may have *max_bytes*. Exchanges are counted in *metrics*.
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
