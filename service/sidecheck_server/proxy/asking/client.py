"""Requests of a client to one server.

Clauses: 2025-11-25, basic/lifecycle, "Initialization"; server/tools, "Listing Tools";
server/utilities/pagination; 2026-07-28, basic, "_meta".
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from sidecheck_server import __version__
from sidecheck_server.core.mcp.call_errors import METHOD_NOT_FOUND
from sidecheck_server.core.mcp.context import DEFAULT_VERSION
from sidecheck_server.proxy.messages import (
    Message,
    error_response,
    read_items,
    read_message,
    read_object,
    result_response,
    string_value,
)
from sidecheck_server.proxy.rulings.listing_pages import PROTOCOL_VERSION, read_next_cursor
from sidecheck_server.proxy.stdio.endpoint import ServerEndpoint
from sidecheck_server.proxy.stdio.pipes import LineReader

__all__ = ["McpClient", "ServerFailedError"]

_MODERN_VERSION: Final = "2026-07-28"
"""First version without a handshake."""

_MAX_MESSAGE_BYTES: Final = 64 << 20
_EXIT_SECONDS: Final = 1.0
_MAX_PAGES: Final = 1_000
_MAX_TOOLS: Final = 100_000
_MAX_SHOWN_CHARACTERS: Final = 200
"""Characters that an error shows of what a server has written."""

_CLIENT_INFO: Final = {"name": "sidecheck", "version": __version__}


class ServerFailedError(Exception):
    """The server does not do what the protocol demands; the text says what."""


class McpClient:
    """Asks *server*, which has *seconds* for each response.

    Errors whose messages begin with *own_words* are those of the endpoint, not of the server.
    """

    def __init__(self, server: ServerEndpoint, seconds: float, own_words: str = "") -> None:
        self._server = server
        self._seconds = seconds
        self._own_words = own_words
        #: Negotiated version of the protocol.
        self.version = ""
        self._responses: dict[str, asyncio.Future[Message]] = {}
        self._last_id = 0
        #: First line of the server that is no message, or "".
        self._rubbish = ""
        self._reading = asyncio.create_task(self._read())

    async def close(self) -> None:
        """End the server."""
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        with suppress(OSError):
            await self._server.writer.close()
        await self._server.end()

    async def start(self, version: str | None) -> None:
        """Agree on a version of the protocol: *version*, or one that the server has.

        Raises:
            ServerFailedError: there is none, or the server does not answer.
        """
        if version is not None and version >= _MODERN_VERSION:
            self.version = version
            return
        params = {
            "protocolVersion": version or DEFAULT_VERSION,
            "capabilities": {},
            "clientInfo": _CLIENT_INFO,
        }
        response = await self._request("initialize", params)
        if "error" in response.properties:
            if version is not None:
                raise self._error("initialize", response)
            # Servers without a handshake have later versions only.
            self.version = _MODERN_VERSION
            return
        result = response.result or {}
        self.version = string_value(result.get("protocolVersion"))
        if not self.version:
            raise ServerFailedError('its result of initialize has no "protocolVersion"')
        if version is not None and self.version != version:
            raise ServerFailedError(
                f"it does not have the protocol version {version}; it offers {_shown(self.version)}"
            )
        await self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def list_tools(self) -> list[bytes]:
        """Return the definitions of all tools, as JSON texts.

        Raises:
            ServerFailedError: the server does not list them, or its list has no end.
        """
        tools: list[bytes] = []
        cursors: set[str] = set()
        params: dict[str, Any] = {}
        for _ in range(_MAX_PAGES):
            response = await self._request("tools/list", params)
            if "error" in response.properties:
                raise self._error("tools/list", response)
            page = response.result or {}
            items = read_items(page.get("tools", b""))
            if items is None:
                raise ServerFailedError('its result of tools/list has no array "tools"')
            tools += items
            cursor = read_next_cursor(page, self.version)
            if cursor is None:
                return tools
            if cursor in cursors or len(tools) > _MAX_TOOLS:
                break
            cursors.add(cursor)
            params = {"cursor": json.loads(page["nextCursor"])}
        raise ServerFailedError(
            f"its list of tools has no end: {len(tools):,} tools so far, and a further cursor"
        )

    async def _request(self, method: str, params: Mapping[str, Any]) -> Message:
        """Return the response to a request, which may be an error.

        Raises:
            ServerFailedError: there is none.
        """
        self._last_id += 1
        id_ = f"sidecheck-{self._last_id}"
        if self.version >= _MODERN_VERSION:
            metadata = {
                PROTOCOL_VERSION: self.version,
                "io.modelcontextprotocol/clientInfo": _CLIENT_INFO,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            params = {**params, "_meta": metadata}
        response: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._responses[id_] = response
        request = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
        try:
            await self._write(request)
            either: set[asyncio.Future[Any]] = {response, self._reading}
            await asyncio.wait(either, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
            if not response.done():
                raise ServerFailedError(await self._describe_silence(method))
            message = response.result()
        finally:
            del self._responses[id_]
        if self._own_words and _error_text(message).startswith(self._own_words):
            raise ServerFailedError(_error_text(message))
        return message

    def _error(self, method: str, response: Message) -> ServerFailedError:
        error = read_object(response.properties["error"]) or {}
        code = error.get("code", b"without a code").decode(errors="replace")
        text = _shown(_error_text(response))
        return ServerFailedError(f"it answered {method} with error {_shown(code)}: {text}")

    async def _describe_silence(self, method: str) -> str:
        wrote = f"; it wrote {self._rubbish}, which is no message" if self._rubbish else ""
        if not self._reading.done():
            return f"it did not answer {method} within {self._seconds:g} s{wrote}"
        fault = self._reading.exception()
        if fault is not None:
            return str(fault)
        try:
            # The output ends shortly before the process does.
            code = await asyncio.wait_for(self._server.wait(), _EXIT_SECONDS)
        except TimeoutError:
            return f"it closed its output before it answered {method}{wrote}"
        return f"it ended with exit code {code} before it answered {method}{wrote}"

    async def _write(self, message: Mapping[str, Any]) -> None:
        # A server that has ended does not read; the end of its output says so.
        with suppress(OSError):
            await self._server.writer.write(json.dumps(message).encode() + b"\n")

    async def _read(self) -> None:
        """Take the messages of the server until its output ends.

        Raises:
            ServerFailedError: a message is too large, or a request of this client.
        """
        async for line in LineReader(self._server.reader, _MAX_MESSAGE_BYTES).lines():
            if line.is_piece:
                raise ServerFailedError(
                    f"it wrote a message of more than {_MAX_MESSAGE_BYTES:,} bytes"
                )
            received = read_message(line.text)
            messages: Sequence[Message] = (
                received if isinstance(received, list) else [received] if received else []
            )
            if not messages and line.text.strip() and not self._rubbish:
                self._rubbish = _shown(line.text.decode(errors="replace").strip())
            for message in messages:
                await self._take(message)

    async def _take(self, message: Message) -> None:
        id_text = message.properties.get("id", b"null")
        if message.method:
            if string_value(id_text) in self._responses:
                raise ServerFailedError("it sends back what it is sent")
            if message.is_request:
                await self._answer(message.method, id_text)
            return
        response = self._responses.get(string_value(id_text))
        if response is not None and not response.done():
            response.set_result(message)

    async def _answer(self, method: str, id_text: bytes) -> None:
        """Answer a request of the server, to which this client offers nothing but pings."""
        if method == "ping":
            answer = result_response(id_text, b"{}")
        else:
            answer = error_response(id_text, "this client has no such method", METHOD_NOT_FOUND)
        with suppress(OSError):
            await self._server.writer.write(answer + b"\n")


def _error_text(response: Message) -> str:
    error = read_object(response.properties.get("error", b"")) or {}
    return string_value(error.get("message"))


def _shown(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN_CHARACTERS else text[: _MAX_SHOWN_CHARACTERS - 1] + "…"
