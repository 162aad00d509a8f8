"""What serves gateways: the servicer of each protocol, over the services of the server."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from google.protobuf.descriptor import ServiceDescriptor
from prometheus_client import CollectorRegistry
from sidecheck import Client

from sidecheck_server.gateways.ext_mcp import EXT_MCP, ExtMcp
from sidecheck_server.gateways.outcomes import GatewayFindings
from sidecheck_server.gateways.routes import Routes
from sidecheck_server.policies import GatewayPolicies
from sidecheck_server.rpc.local import LocalTransport
from sidecheck_server.rpc.served_methods import CreateGateways
from sidecheck_server.rpc.streams import OpenStreams

if TYPE_CHECKING:
    from sidecheck_server.gateways.ext_proc import ExternalProcessor

__all__ = ["GatewayUnavailableError", "running_gateways"]

_SECONDS = 60.0
"""The deadline of calls in this process; their limits end them long before."""


class GatewayUnavailableError(Exception):
    """The packages that a protocol needs are not installed."""


@asynccontextmanager
async def running_gateways(
    protocols: tuple[str, ...],
    policies: GatewayPolicies,
    transport: LocalTransport,
    max_bytes: int,
    metrics: CollectorRegistry,
) -> AsyncIterator[CreateGateways]:
    """Yield what creates the servicers of *protocols*, which call services by *transport*.

    An event of a stream may have *max_bytes*. Exchanges are counted in *metrics*.

    Raises:
        GatewayUnavailableError: the packages of one are missing.
    """
    if not protocols:
        yield lambda _streams: {}
        return
    external_processor = _load_external_processor() if "ext_proc" in protocols else None
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(transport, timeout=_SECONDS))
        findings = GatewayFindings(protocols)
        metrics.register(findings)
        routes = Routes(client, policies, findings)
        stack.push_async_callback(routes.close)

        def create(streams: OpenStreams) -> dict[ServiceDescriptor, object]:
            servicers: dict[ServiceDescriptor, object] = {}
            if external_processor is not None:
                descriptor, servicer = external_processor
                servicers[descriptor] = servicer(routes, findings, streams, max_bytes)
            if "ext_mcp" in protocols:
                servicers[EXT_MCP] = ExtMcp(routes, findings)
            return servicers

        yield create


def _load_external_processor() -> tuple[ServiceDescriptor, type["ExternalProcessor"]]:
    """Return the service of Envoy's external processor, and its servicer.

    Raises:
        GatewayUnavailableError: its packages are missing, which few need.
    """
    try:
        from sidecheck_server.gateways import ext_proc  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "envoy":
            raise
        raise GatewayUnavailableError(
            'gateways: ext_proc needs other packages; install "sidecheck-server[envoy]"'
        ) from None
    return ext_proc.EXT_PROC, ext_proc.ExternalProcessor
