"""Connections of a client to the server that it asks: a process, or one over HTTP."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from sidecheck_server.proxy.asking.client import McpClient
from sidecheck_server.proxy.http.headers import RawHeaders
from sidecheck_server.proxy.http.upstream import Upstream
from sidecheck_server.proxy.messages import Direction
from sidecheck_server.proxy.remote.connection import secrets_of
from sidecheck_server.proxy.remote.server import RemoteServer
from sidecheck_server.proxy.remote.words import ServerWords
from sidecheck_server.proxy.report import Finding
from sidecheck_server.proxy.stdio.server_process import start_server

__all__ = ["connect_command", "connect_url"]

_MAX_MESSAGE_BYTES = 64 << 20


@asynccontextmanager
async def connect_command(command: Sequence[str], seconds: float) -> AsyncIterator[McpClient]:
    """Start the server *command*, and yield its client; see `McpClient`.

    The server writes its standard error to that of this process.

    Raises:
        ServerNotStartedError: the command cannot be run.
    """
    stderr = os.dup(2)
    try:
        server = await start_server(command, stderr)
    finally:
        os.close(stderr)
    client = McpClient(server, seconds)
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def connect_url(url: str, headers: RawHeaders, seconds: float) -> AsyncIterator[McpClient]:
    """Yield a client of the server at *url*, which gets *headers* with each request."""
    upstream = Upstream(url)
    words = ServerWords(url, secrets_of(headers))
    server = RemoteServer(upstream, words, headers, _NoFindings(), _MAX_MESSAGE_BYTES)
    client = McpClient(server, seconds, words.say(""))
    try:
        yield client
    finally:
        await client.close()
        await upstream.close()


class _NoFindings:
    """Takes findings about messages, which the answers to the client contain too."""

    def count_message(self, sender: Direction) -> None:
        """Do nothing."""

    def add(self, finding: Finding) -> None:
        """Do nothing."""
