"""Proxy over stdio, between a client and a server.

Clause: 2025-11-25, basic/transports, "stdio": messages are separated by line breaks, and a
server writes nothing else to its standard output.
"""

import asyncio
from contextlib import suppress

from sidecheck_server.http_servers.operating_system import STOP_SIGNALS, handled_signals
from sidecheck_server.proxy.report import Report
from sidecheck_server.proxy.stdio.decider import Decider
from sidecheck_server.proxy.stdio.endpoint import ServerEndpoint
from sidecheck_server.proxy.stdio.link import Link, OpenSession, Relay
from sidecheck_server.proxy.stdio.observer import Observer
from sidecheck_server.proxy.stdio.pipes import Reader, Writer
from sidecheck_server.proxy.stdio.portable import PortableTools
from sidecheck_server.proxy.transcript import Transcript

__all__ = ["StdioProxy"]

_END_SECONDS = 5.0
"""Maximum seconds for the client to read the rest after a signal, and after the end of the server
for its output to end and for the client to send further requests."""

_SILENCE_SECONDS = 1.0
"""Seconds without output after which a server that has ended is taken to respond no more. Its
child processes may hold its output open."""

_REST_SECONDS = 0.2
"""Seconds to wait for the next line of the client after the server's end."""

_CHUNK = 64 << 10


class StdioProxy:
    """Relays lines between a client and the *server*, and validates them.

    With *observes*, nothing may be stopped or changed: messages pass at once, also before the
    session is open. Otherwise each waits for the decision of the session. With *lists_tools*, the
    session validates calls, for which the proxy lists the tools itself if the client does not.
    After the last message, validation may take *finish_seconds*.
    """

    def __init__(  # noqa: PLR0913  (its components)
        self,
        server: ServerEndpoint,
        reader: Reader,
        writer: Writer,
        open_session: OpenSession,
        report: Report,
        transcript: Transcript | None,
        max_bytes: int,
        *,
        observes: bool,
        lists_tools: bool = True,
        finish_seconds: float = 10.0,
        portable: PortableTools | None = None,
    ) -> None:
        self._link = Link(server, reader, writer, report, transcript, max_bytes)
        self._open_session = open_session
        self._observes = observes
        self._lists_tools = lists_tools
        self._finish_seconds = finish_seconds
        self._portable = portable
        self._relay: Relay | None = None
        self._has_ended = False

    async def run(self) -> int:
        """Relay until the server has ended; return its exit code."""
        with handled_signals(STOP_SIGNALS, self._pass_signal):
            return await self._open_and_run()

    async def _open_and_run(self) -> int:
        if self._observes:
            observer = Observer(
                self._link,
                self._open_session,
                lists_tools=self._lists_tools,
                finish_seconds=self._finish_seconds,
            )
            return await self._run(observer)
        decider = Decider(self._link, self._portable)
        async with self._open_session(decider.list_tools) as session:
            decider.start(session)
            return await self._run(decider)

    async def _run(self, relay: Relay) -> int:
        self._relay = relay
        server = self._link.server
        reading = asyncio.create_task(relay.relay_client())
        relaying = asyncio.create_task(self._relay_server(relay))
        exiting = asyncio.create_task(server.wait())
        tasks = (reading, relaying, exiting)
        try:
            await self._wait_for_end(relay, reading, relaying, exiting)
            # The server process may run on without output.
            await relay.end_server()
            code = await exiting
            self._has_ended = True
            await self._finish_reading(relay, reading)
        finally:
            for task in tasks:
                task.cancel()
            failures = await asyncio.gather(*tasks, return_exceptions=True)
            await relay.end_server()
            await self._link.to_client.close()
            await relay.finish()
        for failure in failures:
            if isinstance(failure, Exception):
                raise failure
        return code if code >= 0 else 128 - code

    async def _wait_for_end(
        self,
        relay: Relay,
        reading: asyncio.Task[None],
        relaying: asyncio.Task[None],
        exiting: asyncio.Task[int],
    ) -> None:
        """Wait until the server can respond no more."""
        waiting = {relaying, exiting, reading}
        while not (relaying.done() or exiting.done()):
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if reading in done:
                waiting.discard(reading)
                if reading.exception() is not None:
                    await self._link.server.end()
        if relaying.done():
            relaying.result()
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                chunks = -1
                while not relaying.done() and (
                    relay.is_busy or chunks < self._link.from_server.chunks
                ):
                    chunks = self._link.from_server.chunks
                    await asyncio.wait({relaying}, timeout=_SILENCE_SECONDS)

    async def _relay_server(self, relay: Relay) -> None:
        """Relay the output of the server until it closes it or the client is gone."""
        try:
            await relay.relay_server()
        except OSError:
            # The client is gone. A server that cannot write may not see a signal.
            discarding = asyncio.create_task(self._discard_output())
            await self._link.server.end()
            discarding.cancel()

    async def _discard_output(self) -> None:
        while await self._link.server.reader.read(_CHUNK):
            pass

    async def _finish_reading(self, relay: Relay, reading: asyncio.Task[None]) -> None:
        """Wait until *reading* is idle, so that requests already sent get a response."""
        relayed = -1
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                while not reading.done() and (relay.is_busy or relayed < relay.client_lines):
                    relayed = relay.client_lines
                    await asyncio.wait({reading}, timeout=_REST_SECONDS)

    def _pass_signal(self, number: int) -> None:
        self._link.server.send_signal(number)
        if self._relay is not None:
            self._relay.hurry()
        asyncio.get_running_loop().call_later(_END_SECONDS, self._give_up)

    def _give_up(self) -> None:
        """Abort writing to a client that does not read, if the server has ended."""
        if self._has_ended:
            self._link.to_client.abort()
