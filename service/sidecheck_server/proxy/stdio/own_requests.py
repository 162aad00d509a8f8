"""Requests that the proxy itself sends to the server, and their responses."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from itertools import count

from sidecheck_server.proxy.messages import Message, join_object, string_value
from sidecheck_server.proxy.rulings.listing_pages import ListingFailed

__all__ = ["OwnRequests"]

_LISTING_SECONDS = 30.0


class OwnRequests:
    """Requests of the proxy to the server, written with *write*, one line each."""

    def __init__(self, write: Callable[[bytes], Awaitable[None]]) -> None:
        self._write = write
        # Random, so that ids of the proxy never collide with ids of the client.
        self._prefix = f"sidecheck-{secrets.token_hex(8)}-"
        self._ids = count(1)
        self._responses: dict[str, asyncio.Future[Message]] = {}
        self._has_ended = False

    async def list_tools(self, params: Mapping[str, bytes]) -> Message:
        """Request a page of tools from the server.

        Raises:
            ListingFailed: it does not respond.
        """
        if self._has_ended:
            raise ListingFailed(blocks_client=True)
        line, response = self.prepare(params)
        with suppress(OSError):
            await self._write(line)
        return await self.wait(response)

    async def wait(self, response: asyncio.Future[Message]) -> Message:
        """Return the *response* to a request that was prepared and written.

        Raises:
            ListingFailed: the server does not respond.
        """
        try:
            return await asyncio.wait_for(response, _LISTING_SECONDS)
        except TimeoutError:
            raise ListingFailed(blocks_client=True) from None

    def prepare(self, params: Mapping[str, bytes]) -> tuple[bytes, asyncio.Future[Message]]:
        """Return the line of a request for a page of tools, and the future of its response."""
        id_ = f"{self._prefix}{next(self._ids)}"
        request = {"jsonrpc": b'"2.0"', "id": b'"%s"' % id_.encode(), "method": b'"tools/list"'}
        if params:
            request["params"] = join_object(params)
        response: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._responses[id_] = response
        response.add_done_callback(lambda _: self._responses.pop(id_, None))
        return join_object(request) + b"\n", response

    def take(self, message: Message | list[Message] | None) -> bool:
        """Take *message* if it responds to a request of the proxy; return whether it does.

        True also for a response that is too late.
        """
        if not isinstance(message, Message) or not message.is_response:
            return False
        id_ = string_value(message.properties["id"])
        response = self._responses.pop(id_, None)
        if response is not None and not response.done():
            response.set_result(message)
        return id_.startswith(self._prefix)

    def fail(self, id_text: bytes | None) -> bool:
        """Fail the request with *id_text*, if it is one of the proxy; return whether it is."""
        id_ = string_value(id_text)
        response = self._responses.pop(id_, None)
        if response is not None:
            _fail(response)
        return id_.startswith(self._prefix)

    def end(self) -> None:
        """Fail all requests, because the server cannot respond."""
        self._has_ended = True
        for response in list(self._responses.values()):
            _fail(response)


def _fail(response: asyncio.Future[Message]) -> None:
    if not response.done():
        response.set_exception(ListingFailed(blocks_client=True))
        # Retrieved here, because asyncio logs an exception that no caller retrieves.
        response.exception()
