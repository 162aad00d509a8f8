"""Streams of events through the proxy's own code in this process, without sockets."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

from attacks.requests import GOOD_CALL
from sidecheck_server.config.policies import Policies, Policy
from sidecheck_server.core.types import Severity
from sidecheck_server.proxy.checks import Checks
from sidecheck_server.proxy.http.connections import HttpConnections
from sidecheck_server.proxy.http.events import WITHOUT_RESPONSE
from sidecheck_server.proxy.http.messages import HttpMessages
from sidecheck_server.proxy.http.sse import EventReader
from sidecheck_server.proxy.messages import Message, read_message
from sidecheck_server.proxy.report import Report
from sidecheck_server.proxy.rulings.listings import Listings
from sidecheck_server.proxy.rulings.pins import PinnedTools
from sidecheck_server.proxy.rulings.session import ProxySession
from support.http_mcp_server import TOOL
from support.running_proxy import local_checks

__all__ = ["EventRelayer", "relaying"]

_HEADERS = {"mcp-protocol-version": "2025-11-25", "content-type": "application/json"}
_LISTING = {"jsonrpc": "2.0", "id": 0, "result": {"tools": [TOOL]}}
_LIMIT = 2_000_000
_ENFORCE = Policies(
    arguments=Policy.ENFORCE,
    results=Policy.ENFORCE,
    messages=Policy.ENFORCE,
    tools=Policy.ENFORCE,
)


class EventRelayer:
    """The proxy of one server, which has one tool and answers each call with given events."""

    def __init__(self, checks: Checks) -> None:
        self._report = Report(lambda _: None, lambda _: None, minimum=Severity.ERROR)
        self._tools = Listings(checks, _ENFORCE.tools, PinnedTools(), self._report, _list_tools)
        session = partial(ProxySession, checks, _ENFORCE, self._report)
        self._connections = HttpConnections(self, session)

    def find_tools(self, _headers: Mapping[str, str]) -> Listings:
        """Return the tools."""
        return self._tools

    def create_tools(self) -> Listings:
        """Return the tools; the session has begun."""
        return self._tools

    async def relay(self, chunks: Sequence[bytes]) -> bytes:
        """Return what the client gets of the events in *chunks*, the response to a call."""
        messages = HttpMessages(self._connections, _ENFORCE, self._report, _HEADERS, enforces=True)
        assert GOOD_CALL == await messages.admit(GOOD_CALL)
        await messages.begin_response("POST", 200, {"content-type": "text/event-stream"})
        reader, passed = EventReader(_LIMIT), [messages.begin_events()]
        for chunk in chunks:
            for event in reader.feed(chunk):
                ruling = await messages.rule_event(event)
                passed.append(ruling.text or b"")
        passed.append(messages.end_events(is_resumable=False, reason=WITHOUT_RESPONSE))
        await messages.release()
        return b"".join(passed)


@asynccontextmanager
async def relaying() -> AsyncIterator[EventRelayer]:
    """Yield the proxy, with services of this process."""
    with local_checks() as checks:
        yield EventRelayer(checks)


async def _list_tools(_params: Mapping[str, bytes]) -> Message:
    message = read_message(json.dumps(_LISTING).encode())
    assert isinstance(message, Message)
    return message
