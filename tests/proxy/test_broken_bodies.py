"""Bodies of the server that break off, as the proxy reads them."""

import asyncio

import pytest
from sidecheck_server.proxy.http.upstream import Upstream, UpstreamError, UpstreamResponse

BEGUN = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun"


async def test_bytes_before_a_break_are_forwarded() -> None:
    """It is in a private buffer of aiohttp, which raises the error first.

    A release without the buffer under this name fails this, and may pass the bytes on itself.
    """

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(BEGUN)
        writer.close()

    chunks: list[bytes] = []

    async def read(response: UpstreamResponse) -> None:
        async for chunk in response.chunks():
            chunks.append(chunk)  # noqa: PERF401  (the loop ends by an error)

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        upstream = Upstream(f"http://127.0.0.1:{port}/mcp")
        response = await upstream.send("GET", b"/mcp", [], None)
        await asyncio.sleep(0.2)  # the break is known before the body is read
        with pytest.raises(UpstreamError):
            await read(response)
        response.close()
        await upstream.close()

    assert [b"begun"] == chunks
