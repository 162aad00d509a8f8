"""The proxy over stdio: between a client at its own pipes, and a server that it starts.

Clause: 2025-11-25, basic/transports, "stdio": messages are separated by line breaks, and a
server writes nothing else to its standard output.
"""

import asyncio
import signal
from asyncio.subprocess import Process
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from itertools import count

from sidecheck_server.proxy.listings import ListingFailed, Listings, ListTools
from sidecheck_server.proxy.messages import Message, join_object, read_message
from sidecheck_server.proxy.pipes import (
    LineTooLongError,
    Reader,
    StreamWriter,
    Writer,
    read_lines,
)
from sidecheck_server.proxy.report import Action, Direction, Finding, Report
from sidecheck_server.proxy.session import ProxySession
from sidecheck_server.proxy.transcript import Transcript

__all__ = ["StdioProxy"]

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_LISTING_SECONDS = 10.0
_END_SECONDS = 5.0
"""How long a server may take to end after a signal because nobody reads its messages."""

_REST_SECONDS = 0.2
"""How long lines of the client that are on their way are waited for, after the server's end."""

_ENDED = "the server ended before it responded"
_HEADER = b"content-length:"


class StdioProxy:
    """Relays lines between a client and the *server* process, and validates what passes."""

    def __init__(  # noqa: PLR0913, PLR0917  (what it is composed of)
        self,
        server: Process,
        reader: Reader,
        writer: Writer,
        make_listings: Callable[[ListTools], Listings],
        make_session: Callable[[Listings], ProxySession],
        report: Report,
        transcript: Transcript | None,
        max_bytes: int,
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
        self._ended = False
        self._ids = count(1)
        #: Requests of the proxy itself, by the JSON text of their ids.
        self._own: dict[bytes, asyncio.Future[Message]] = {}

    async def run(self) -> int:
        """Relay until the server has ended; return its exit code."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._pass_signal, number)
        async with self._session:
            reading = asyncio.create_task(self._relay_client())
            try:
                await self._relay_server()
                code = await self._server.wait()
                self._ended = True
                await self._answer_pending()
                # What the client has sent by now is answered, too.
                await asyncio.wait({reading}, timeout=_REST_SECONDS)
            finally:
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)
                await self._to_client.close()
        return code if code >= 0 else 128 - code

    async def _relay_client(self) -> None:
        """Relay what the client sends, and its end."""
        try:
            async for line in read_lines(self._from_client, self._max_bytes):
                await self._relay(line, "client")
        except LineTooLongError:
            self._report_too_long("client")
        except OSError:
            pass  # the client is gone
        finally:
            await self._to_server.close()

    async def _relay_server(self) -> None:
        """Relay what the server sends, until it closes its output or nobody reads it."""
        try:
            async for line in read_lines(self._from_server, self._max_bytes):
                if line.lower().startswith(_HEADER):
                    self._add("CONTENT_LENGTH_FRAMING", _FRAMING_NOTE)
                    break
                await self._relay(line, "server")
            else:
                return
        except LineTooLongError:
            self._report_too_long("server")
        except OSError:
            pass  # the client is gone
        await self._end_server()

    async def _relay(self, line: bytes, sender: Direction) -> None:
        if not line.strip():
            return
        text = line.rstrip(b"\r\n")
        message = read_message(text)
        if sender == "server":
            if message is None:
                note = f"{len(text):,} bytes on standard output are no message; not forwarded"
                self._add("NOT_A_MESSAGE", note, Action.DROPPED)
                return
            if self._take_own(message):
                return
        if self._transcript is not None and message is not None:
            self._transcript.write(text, sender)
        ruling = await self._session.handle(text, sender)
        receiver, origin = self._to_server, self._to_client
        if sender == "server":
            receiver, origin = origin, receiver
        if ruling.forward is not None:
            passed = line if ruling.forward is text else ruling.forward + b"\n"
            # The requests to a server that is gone are answered when it has ended.
            with suppress(OSError) if sender == "client" else nullcontext():
                await receiver.write(passed)
        if ruling.reply is not None:
            await origin.write(ruling.reply + b"\n")
        if self._ended:
            await self._answer_pending()

    def _take_own(self, message: Message | list[Message]) -> bool:
        """Return whether *message* responds to a request of the proxy."""
        if not isinstance(message, Message) or not message.is_response:
            return False
        waiting = self._own.pop(message.properties["id"], None)
        if waiting is None:
            return False
        if not waiting.done():
            waiting.set_result(message)
        return True

    async def _list_tools(self, params: Mapping[str, bytes]) -> Message:
        """Ask the server for a page of its tools.

        Raises:
            ListingFailed: it does not respond.
        """
        id_ = b'"sidecheck-%d"' % next(self._ids)
        request = {"jsonrpc": b'"2.0"', "id": id_, "method": b'"tools/list"'}
        if params:
            request["params"] = join_object(params)
        waiting = self._own[id_] = asyncio.get_running_loop().create_future()
        try:
            await self._to_server.write(join_object(request) + b"\n")
            return await asyncio.wait_for(waiting, _LISTING_SECONDS)
        except (OSError, TimeoutError):
            raise ListingFailed from None
        finally:
            self._own.pop(id_, None)

    async def _answer_pending(self) -> None:
        """Answer the requests that the server, which has ended, leaves open."""
        with suppress(OSError):
            for response in self._session.answers_to_pending(_ENDED):
                await self._to_client.write(response + b"\n")

    async def _end_server(self) -> None:
        """End the server, which goes on although its messages cannot be relayed."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            self._pass_signal(number)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._server.wait(), _END_SECONDS)
                return

    def _pass_signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self._server.send_signal(number)

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
