"""The caller of a call, for work that outlives the call."""

import asyncio
from typing import Any

import grpc
from sidecheck_server.rpc.method_calls import set_caller
from sidecheck_server.workers import CALLER

CONNECTIONS, CALLS = 20, 10


async def test_the_caller_is_known_when_the_call_has_ended() -> None:
    """Reading the peer then would crash the process."""
    works: list[asyncio.Task[str]] = []
    begun = asyncio.Semaphore(0)
    ended = asyncio.Event()

    async def work() -> str:
        await ended.wait()
        return CALLER.get()

    async def respond(_request: bytes, context: Any) -> bytes:
        set_caller(context)
        works.append(asyncio.create_task(work()))
        begun.release()
        await asyncio.sleep(60)
        return b""

    class Handler(grpc.GenericRpcHandler):
        def service(self, _details: Any) -> Any:
            return grpc.unary_unary_rpc_method_handler(respond)

    server = grpc.aio.server()
    server.add_generic_rpc_handlers((Handler(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    for _ in range(CONNECTIONS):
        options = [("grpc.use_local_subchannel_pool", 1)]
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options) as channel:
            method: Any = channel.unary_unary("/a/b")
            calls = [method(b"") for _ in range(CALLS)]
            for _ in calls:
                await begun.acquire()
            for call in calls:
                call.cancel()
    await server.stop(None)
    ended.set()
    callers = await asyncio.gather(*works)

    assert CONNECTIONS == len(set(callers))
    assert all(caller.startswith("ipv4:127.0.0.1:") for caller in callers)
