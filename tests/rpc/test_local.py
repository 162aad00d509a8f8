"""The transport to services in the same process: deadlines, ends, and what streams leave behind."""

import asyncio
import gc

import pytest
from sidecheck import Client, SidecheckError, ToolDefinition, Unavailable
from sidecheck_server.cli.in_process import InProcessWorker
from sidecheck_server.core.limits import Limits
from sidecheck_server.registry.quotas import RegistryQuotas
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.rpc.local import LocalTransport
from sidecheck_server.services.container import ServiceOptions, create_services
from support.running_proxy import local_client

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


async def test_sessions_that_are_left_are_not_counted() -> None:
    """Unfinished sessions are not counted either."""
    limits = Limits()
    registry = open_registry(None, RegistryQuotas())
    services = create_services(
        registry, InProcessWorker(limits).run, limits, ServiceOptions(memory_bytes=64 << 20)
    )
    transport = LocalTransport(services, registry, limits)
    async with Client(transport, timeout=300) as client:
        for _ in range(20):
            async with client.protocol.session(from_beginning=False) as session:
                await session.check(PING, sender="client")
        del session
        gc.collect()
        for _ in range(10):
            await asyncio.sleep(0)
        open_streams = transport.open_streams
    registry.close()

    assert 0 == open_streams


async def test_errors_equal_those_of_a_server() -> None:
    """Reasons and status codes are equal."""
    async with local_client() as client:
        with pytest.raises(SidecheckError) as unknown:
            await client.get("server", "tool")
        with pytest.raises(SidecheckError) as invalid:
            await client.validate(ToolDefinition(b"{"), {})

    assert ("UNKNOWN_TOOL", "NOT_FOUND") == (unknown.value.reason, unknown.value.status.name)
    assert ("INVALID_TOOL", "INVALID_ARGUMENT") == (
        invalid.value.reason,
        invalid.value.status.name,
    )


async def test_a_closed_client() -> None:
    """It makes no more calls."""
    async with local_client() as client:
        await client.info()
    with pytest.raises(SidecheckError, match="CLIENT_CLOSED"):
        await client.info()


async def test_a_deadline() -> None:
    """It ends the stream of a session that waits for a message."""

    async def ping_for_ever() -> None:
        async with client.protocol.session(timeout=0.05) as session:
            while True:
                await asyncio.sleep(0.1)
                await session.check(PING, sender="client")

    async with local_client() as client:
        with pytest.raises(Unavailable) as ended:
            await ping_for_ever()

    assert "DEADLINE_EXCEEDED" == ended.value.reason
