"""Asynchronous and blocking clients with one interface, so that one test covers both."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Self, cast

from sidecheck import (
    BlockingClient,
    BlockingConversionClient,
    BlockingInferenceClient,
    BlockingProtocolClient,
    Client,
    Rule,
    Tool,
)

__all__ = ["CLIENT_KINDS", "connect"]

CLIENT_KINDS = ("asynchronous", "blocking")


def connect(kind: str, address: str, **settings: Any) -> Client:
    """Return a client of that kind; a blocking client runs in threads."""
    if kind == "blocking":
        return cast("Client", Threaded(BlockingClient(address, **settings)))
    return Client(address, **settings)


class Threaded:
    """A blocking client whose methods can be awaited."""

    def __init__(
        self,
        client: BlockingClient
        | BlockingConversionClient
        | BlockingInferenceClient
        | BlockingProtocolClient,
    ) -> None:
        self._client: Any = client

    @property
    def protocol(self) -> "Threaded":
        return Threaded(self._client.protocol)

    @property
    def conversion(self) -> "Threaded":
        return Threaded(self._client.conversion)

    @property
    def inference(self) -> "Threaded":
        return Threaded(self._client.inference)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await asyncio.to_thread(self._client.close)

    async def list(self, *arguments: Any, **settings: Any) -> AsyncIterator[Tool]:
        for tool in await asyncio.to_thread(lambda: [*self._client.list(*arguments, **settings)]):
            yield tool

    async def list_rules(self, *arguments: Any, **settings: Any) -> AsyncIterator[Rule]:
        rules = await asyncio.to_thread(lambda: [*self._client.list_rules(*arguments, **settings)])
        for rule in rules:
            yield rule

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)

        async def call(*arguments: Any, **settings: Any) -> Any:
            return await asyncio.to_thread(method, *arguments, **settings)

        return call
