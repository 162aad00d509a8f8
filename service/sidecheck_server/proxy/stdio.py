"""Proxy over stdio, between a client and a server process that it starts.

Clause: 2025-11-25, basic/transports, "stdio": messages are separated by line breaks, and a
server writes nothing else to its standard output.
"""

import asyncio
import secrets
import signal
from asyncio.subprocess import Process
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count

from sidecheck_server.proxy.listing_pages import ListingFailed, ListTools
from sidecheck_server.proxy.listings import Listings
from sidecheck_server.proxy.messages import (
    Direction,
    Message,
    join_object,
    parse_received,
    string_value,
)
from sidecheck_server.proxy.pipes import (
    LineTooLongError,
    Reader,
    StreamWriter,
    Writer,
    read_lines,
)
from sidecheck_server.proxy.portable import PortableTools
from sidecheck_server.proxy.report import Action, Finding, Report
from sidecheck_server.proxy.server_process import signal_group
from sidecheck_server.proxy.session import ProxySession
from sidecheck_server.proxy.transcript import Transcript

__all__ = ["StdioProxy"]

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_LISTING_SECONDS = 10.0
_END_SECONDS = 5.0
"""Maximum seconds for the server to end after a signal, for the client to read the rest after a
signal, and for the client to send further requests after the server's end."""

_REST_SECONDS = 0.2
"""Seconds to wait for the next line of the client after the server's end."""

_ENDED = "the server ended the connection before it responded"
_CHUNK = 64 << 10
_HEADER = b"content-length:"


class StdioProxy:
    """Relays lines between a client and the *server* process, and validates them."""

    def __init__(  # noqa: PLR0913, PLR0917  (its components)
        self,
        server: Process,
        reader: Reader,
        writer: Writer,
        make_listings: Callable[[ListTools], Listings],
        make_session: Callable[[Listings], ProxySession],
        report: Report,
        transcript: Transcript | None,
        max_bytes: int,
        portable: PortableTools | None = None,
    ) -> None:
        assert server.stdin is not None
        assert server.stdout is not None
        self._server = server
        self._from_server: Reader = server.stdout
        self._to_server: Writer = StreamWriter(server.stdin)
        self._from_client = reader
        self._to_client = writer
        self._session = make_session(make_listings(self._list_tools))
        self._report = report
        self._transcript = transcript
        self._max_bytes = max_bytes
        self._portable = portable
        #: Whether the server has closed its output, so that it cannot respond.
        self._server_ended = False
        # Random, so that ids of the proxy never collide with ids of the client.
        self._id_prefix = f"sidecheck-{secrets.token_hex(8)}-"
        self._ids = count(1)
        #: Locked while a line of the client is relayed.
        self._client_lock = asyncio.Lock()
        self._relayed_lines = 0
        #: Responses to the requests of the proxy itself, by id.
        self._responses: dict[str, asyncio.Future[Message]] = {}

    async def run(self) -> int:
        """Relay until the server has ended; return its exit code."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._pass_signal, number)
        async with self._session:
            reading = asyncio.create_task(self._relay_client())
            relaying = asyncio.create_task(self._relay_server())
            try:
                await asyncio.wait({reading, relaying}, return_when=asyncio.FIRST_COMPLETED)
                if reading.done() and reading.exception() is not None:
                    await self._end_server()
                await relaying
                # The server process may run on without output. The proxy answers the pending
                # requests, and those that are still to come, with errors.
                self._server_ended = True
                for response in self._responses.values():
                    if not response.done():
                        response.set_exception(ListingFailed(blocks_client=True))
                await self._answer_pending()
                code = await self._server.wait()
                await self._finish_reading(reading)
            finally:
                reading.cancel()
                relaying.cancel()
                failure, _ = await asyncio.gather(reading, relaying, return_exceptions=True)
                self._server_ended = True
                await self._answer_pending()
                await self._to_client.close()
            if isinstance(failure, Exception):
                raise failure
        return code if code >= 0 else 128 - code

    async def _finish_reading(self, reading: asyncio.Task[None]) -> None:
        """Wait until *reading* is idle, so that requests already sent get a response."""
        relayed = -1
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                while not reading.done() and relayed < self._relayed_lines:
                    relayed = self._relayed_lines
                    await asyncio.wait({reading}, timeout=_REST_SECONDS)
                    # A request that is being relayed must get its response.
                    async with self._client_lock:
                        pass
        reading.cancel()

    async def _relay_client(self) -> None:
        """Relay the lines of the client, and the end of its input."""
        try:
            async for line in read_lines(self._from_client, self._max_bytes):
                async with self._client_lock:
                    await self._relay(line, "client")
                    self._relayed_lines += 1
        except LineTooLongError:
            self._report_too_long("client")
        except OSError:
            pass  # the client is gone
        finally:
            await self._to_server.close()

    async def _relay_server(self) -> None:
        """Relay the lines of the server until it closes its output or the client is gone."""
        try:
            async for line in read_lines(self._from_server, self._max_bytes):
                if line[: len(_HEADER)].lower() == _HEADER:
                    self._add("CONTENT_LENGTH_FRAMING", _FRAMING_NOTE)
                    break
                await self._relay(line, "server")
            else:
                return
        except LineTooLongError:
            self._report_too_long("server")
        except OSError:
            pass  # the client is gone
        # asyncio reports the end of a process only after its output is read.
        discarding = asyncio.create_task(self._discard_output())
        await self._end_server()
        discarding.cancel()

    async def _discard_output(self) -> None:
        while await self._from_server.read(_CHUNK):
            pass

    async def _relay(self, line: bytes, sender: Direction) -> None:  # noqa: C901
        if not line.strip():
            return
        # A carriage return is white space in JSON, but ends a line for some readers, such as
        # Python's text files. They would read parts of this message as messages.
        text = line.rstrip(b"\r\n").replace(b"\r", b" ")
        received = parse_received(text)
        message = received.content
        if sender == "server":
            if message is None:
                note = f"{len(text):,} bytes on standard output are not a message; not forwarded"
                self._add("NOT_A_MESSAGE", note, Action.DROPPED)
                return
            if self._take_response(message):
                return
        if self._transcript is not None and message is not None:
            self._transcript.write(text, sender)
        if self._portable is not None and sender == "client":
            received = await self._portable.from_client(received)
        ruling = await self._session.handle(received, sender)
        if ruling.forward is not None:
            # The last line may lack a line break, and an error for another request may follow it.
            line_break = line[len(text) :] if ruling.forward is text else b""
            await self._forward(ruling.forward, line_break or b"\n", sender)
        for text in ruling.others:
            await self._forward(text, b"\n", sender)
        if ruling.reply is not None:
            await self._write(ruling.reply + b"\n", sender)
        if self._server_ended:
            await self._answer_pending()

    async def _forward(self, text: bytes, line_break: bytes, sender: Direction) -> None:
        """Write the message *text* of *sender* to the other side."""
        if self._portable is not None and sender == "server":
            text = await self._portable.to_client(text)
        await self._write(text + line_break, "client" if sender == "server" else "server")

    async def _write(self, line: bytes, receiver: Direction) -> None:
        """Write *line*; answer its requests with errors if the server does not read it.

        Raises:
            OSError: the client is gone.
        """
        if receiver == "client":
            await self._to_client.write(line)
            return
        try:
            await self._to_server.write(line)
        except OSError:
            await self._answer_pending(parse_received(line).messages)

    def _take_response(self, message: Message | list[Message]) -> bool:
        """Take *message* if it responds to a request of the proxy; return whether it does.

        True also for a response that is too late.
        """
        if not isinstance(message, Message) or not message.is_response:
            return False
        id_ = string_value(message.properties["id"])
        response = self._responses.pop(id_, None)
        if response is not None and not response.done():
            response.set_result(message)
        return id_.startswith(self._id_prefix)

    async def _list_tools(self, params: Mapping[str, bytes]) -> Message:
        """Request a page of tools from the server.

        Raises:
            ListingFailed: it does not respond.
        """
        if self._server_ended:
            raise ListingFailed(blocks_client=True)
        id_ = f"{self._id_prefix}{next(self._ids)}"
        request = {"jsonrpc": b'"2.0"', "id": b'"%s"' % id_.encode(), "method": b'"tools/list"'}
        if params:
            request["params"] = join_object(params)
        response = self._responses[id_] = asyncio.get_running_loop().create_future()
        try:
            await self._to_server.write(join_object(request) + b"\n")
            return await asyncio.wait_for(response, _LISTING_SECONDS)
        except (OSError, TimeoutError):
            raise ListingFailed(blocks_client=True) from None
        finally:
            self._responses.pop(id_, None)

    async def _answer_pending(self, unread: list[Message] | None = None) -> None:
        """Answer pending requests with errors, or only those among *unread* messages."""
        with suppress(OSError):
            for response in self._session.fail_pending(_ENDED, unread):
                await self._to_client.write(response + b"\n")

    async def _end_server(self) -> None:
        """End the server, whose messages cannot be relayed."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            signal_group(self._server, number)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._server.wait(), _END_SECONDS)
                return

    def _pass_signal(self, number: signal.Signals) -> None:
        signal_group(self._server, number)
        asyncio.get_running_loop().call_later(_END_SECONDS, self._give_up)

    def _give_up(self) -> None:
        """Abort writing to a client that does not read, if the server has ended."""
        if self._server.returncode is not None:
            self._to_client.abort()

    def _report_too_long(self, sender: Direction) -> None:
        limit = f"{self._max_bytes:,}"
        note = f"a line is longer than {limit} bytes (--max-message-bytes); the connection ends"
        self._report.add(
            Finding(sender=sender, code="MESSAGE_TOO_LONG", action=Action.REJECTED, note=note)
        )

    def _add(self, code: str, note: str, action: Action = Action.REJECTED) -> None:
        self._report.add(Finding(sender="server", code=code, action=action, note=note))


_FRAMING_NOTE = (
    "the server frames its messages by Content-Length, as language servers do; in MCP each"
    " message is one line of JSON, so the connection ends"
)
