"""Time that the proxy adds to a call, against the same server without it.

The clients do the minimum that the protocol requires.

    python benchmarks/proxy.py [--quick] [--report FOLDER]
"""

import json
import re
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol
from urllib.parse import urlsplit

import psutil
from harness.report import Claim, Effort, Section, Table, format_summary, run
from harness.subjects import REPOSITORY
from harness.turns import Rounds, take_turns

__all__ = ["measure"]

_SERVER = [sys.executable, str(REPOSITORY / "benchmarks/programs/mcp_server.py")]
_STDIO_SERVER, _HTTP_SERVER = [*_SERVER, "stdio"], [*_SERVER, "http"]
_PROXY = [sys.executable, "-m", "sidecheck_server", "proxy"]
_OFF = ["--arguments", "off", "--results", "off", "--messages", "off", "--tools", "off"]
_BARE, _ALL = "no proxy", "all enforced"
_POLICIES = {
    "all off": _OFF,
    "arguments and results": ["--arguments", "enforce", "--results", "enforce", *_OFF[4:]],
    "all audited": [],
    _ALL: ["--enforce"],
}
#: Requests without a session.
_SINGLE, _SINGLE_ALL = "no proxy, 2026-07-28", "all enforced, 2026-07-28"
_IN_FLIGHT = 64
_MAX_ADDED_MICROSECONDS = 1_000.0
"""Goal for the added time of a call, in microseconds."""
_MAX_ADDED_SECONDS = 0.5
"""Goal for the added processor time of the first answer, in seconds."""

_INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "client", "version": "1"},
}
_VERSION = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "client", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}

_TEXT = (
    "A client calls one tool of a small server, with arguments of 1 KB and a result with "
    "structured content. Server and client are the same with and without the proxy, run at once "
    f"and take turns: first one call after the other, then {_IN_FLIGHT} in flight, over HTTP on "
    "as many connections. The added time is the difference of the medians in a round. Over HTTP, "
    "server and proxy use Starlette and uvicorn, and the calls belong to a session (2025-11-25) "
    "or are single requests (2026-07-28). The processor time of a start is that of the client's "
    "process and all below it when the answer to `initialize` arrives; a start from compiled "
    "modules, as after the first one."
)


@dataclass(frozen=True, slots=True)
class Turn:
    """Figures of one turn: microseconds of a call, and calls per second."""

    p50: float
    p99: float
    rate: float


class _Caller(Protocol):
    """Client after its handshake, if the version has any."""

    def send(self, params: Any) -> None:
        """Send a call."""
        ...

    def receive(self) -> None:
        """Wait for the response to the oldest call.

        Raises:
            RuntimeError: the response has no result.
        """
        ...


def measure(effort: Effort) -> Section:
    """Measure and return the section."""
    rounds, calls = effort.choose((15, 300), (2, 20))
    note = {"title": "a title", "text": "x" * 52, "stars": 3}
    params = {"name": "store", "arguments": {"folder": "inbox", "notes": [note] * 10}}
    size = f"{len(json.dumps(params['arguments'])):,} bytes of arguments"
    start, added_to_start = _compare_starts(effort.choose(10, 2))
    with ExitStack() as stack:
        callers = _stdio_callers(stack)
        turns = {name: partial(_turn, caller, params, calls) for name, caller in callers.items()}
        stdio, added = _compare(f"A call over stdio with {size}", turns, rounds)
    with ExitStack() as stack:
        turns = _http_turns(stack, params, calls)
        http, added_over_http = _compare(f"A call over HTTP with {size}", turns, rounds)
    return Section(
        "proxy",
        "The proxy over stdio and HTTP",
        _TEXT,
        [stdio, http, start],
        [
            Claim(
                "the proxy starts fast",
                f"{_MAX_ADDED_SECONDS} s of a processor at most (50 %) until the first answer, "
                "with everything enforced",
                f"{added_to_start:.2f} s",
                added_to_start <= _MAX_ADDED_SECONDS,
            ),
            _claim("stdio", added[_ALL]),
            _claim("HTTP", added_over_http[_ALL]),
        ],
    )


def _claim(transport: str, added: float) -> Claim:
    return Claim(
        f"the proxy adds little to a call over {transport}",
        f"{_MAX_ADDED_MICROSECONDS:,.0f} µs at most (50 %), with everything enforced",
        f"{added:,.0f} µs",
        added <= _MAX_ADDED_MICROSECONDS,
    )


def _stdio_callers(stack: ExitStack) -> dict[str, _Caller]:
    commands = {_BARE: _STDIO_SERVER}
    for name, options in _POLICIES.items():
        commands[name] = [*_PROXY, *options, "--", *_STDIO_SERVER]
    return {name: stack.enter_context(_stdio_caller(command)) for name, command in commands.items()}


def _compare_starts(rounds: int) -> tuple[Table, float]:
    """Return the processor times of starts, and the seconds that the proxy adds, enforced."""
    commands = {_BARE: _STDIO_SERVER}
    for name in ("all audited", _ALL):
        commands[name] = [*_PROXY, *_POLICIES[name], "--", *_STDIO_SERVER]
    turns = {name: partial(_start_seconds, command) for name, command in commands.items()}
    for turn in turns.values():
        turn()
    starts = Rounds(take_turns(turns, rounds))

    def added(name: str) -> float:
        pairs = zip(starts.figures[name], starts.figures[_BARE], strict=True)
        return statistics.median(seconds - bare for seconds, bare in pairs)

    rows = [[name, format_summary(starts.of(name)), f"{added(name):.2f}"] for name in turns]
    caption = f"Processor time until the first answer over stdio ({rounds} rounds)"
    return Table(caption, ["policies", "seconds", "added"], rows), added(_ALL)


def _start_seconds(command: list[str]) -> float:
    """Return the processor seconds that *command* and its children take until an answer."""
    with subprocess.Popen(  # noqa: S603  (our own command)
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _INITIALIZE}
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        _check_response(process.stdout.readline())
        root = psutil.Process(process.pid)
        times = [each.cpu_times() for each in (root, *root.children(recursive=True))]
        process.terminate()
    return sum(time_.user + time_.system for time_ in times)


def _http_turns(stack: ExitStack, params: Any, calls: int) -> dict[str, partial[Turn]]:
    server = stack.enter_context(_run_server(_HTTP_SERVER))
    proxy = [*_PROXY, "--upstream", server, "--listen", "127.0.0.1:0"]
    urls = {_BARE: server, _SINGLE: server}
    for name, options in _POLICIES.items():
        urls[name] = stack.enter_context(_run_server([*proxy, *options]))
    urls[_SINGLE_ALL] = urls[_ALL]
    turns = {}
    for name, url in urls.items():
        has_session = name not in {_SINGLE, _SINGLE_ALL}
        connect = partial(_http_caller, url, has_session=has_session)
        single = stack.enter_context(connect(1))
        several = stack.enter_context(connect(_IN_FLIGHT))
        turns[name] = partial(_turn, single, params, calls, several)
    return turns


def _compare(
    caption: str, turns: Mapping[str, Callable[[], Turn]], rounds: int
) -> tuple[Table, dict[str, float]]:
    """Return the table of *turns*, and the microseconds that each policy adds to a call."""
    for turn in turns.values():
        turn()
    results = take_turns(turns, rounds)
    p50, p99, rates = (Rounds.of_attribute(results, name) for name in ("p50", "p99", "rate"))
    bare = {name: _SINGLE if name in {_SINGLE, _SINGLE_ALL} else _BARE for name in turns}

    def added(figures: Rounds, name: str) -> float:
        pairs = zip(figures.figures[name], figures.figures[bare[name]], strict=True)
        return statistics.median(figure - reference for figure, reference in pairs)

    rows = [
        [
            name,
            format_summary(p50.of(name)),
            f"{added(p50, name):,.0f}",
            format_summary(p99.of(name)),
            f"{added(p99, name):,.0f}",
            format_summary(rates.of(name)),
            format_summary(rates.ratio(name, bare[name])),
        ]
        for name in turns
    ]
    head = ["policies", "50 %, µs", "added", "99 %, µs", "added", "calls/s in flight", "bare, x"]
    table = Table(f"{caption} ({rounds} rounds)", head, rows)
    return table, {name: added(p50, name) for name in turns}


def _turn(caller: _Caller, params: Any, calls: int, several: _Caller | None = None) -> Turn:
    """Return the latency of calls of *caller*, and the rate of concurrent calls of *several*."""
    times = []
    for _ in range(calls):
        started = time.perf_counter()
        caller.send(params)
        caller.receive()
        times.append((time.perf_counter() - started) * 1e6)
    several = several or caller
    started = time.perf_counter()
    for _ in range(_IN_FLIGHT):
        several.send(params)
    for _ in range(calls):
        several.receive()
        several.send(params)
    for _ in range(_IN_FLIGHT):
        several.receive()
    elapsed = time.perf_counter() - started
    times.sort()
    p99 = times[int(len(times) * 0.99)]
    return Turn(statistics.median(times), p99, (calls + _IN_FLIGHT) / elapsed)


# Clients


def _check_response(text: bytes) -> None:
    response = json.loads(text)
    if "result" not in response or response["result"].get("isError"):
        raise RuntimeError(f"not a result: {response}")


class _StdioCaller:
    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._input, self._output = process.stdin, process.stdout
        self._id = 0
        self._request("initialize", _INITIALIZE)
        self.receive()
        initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        self._input.write(json.dumps(initialized).encode() + b"\n")
        self._request("tools/list", {})
        self.receive()

    def send(self, params: Any) -> None:
        self._request("tools/call", params)

    def receive(self) -> None:
        _check_response(self._output.readline())

    def _request(self, method: str, params: Any) -> None:
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self._input.write(json.dumps(message).encode() + b"\n")
        self._input.flush()


class _HttpCaller:
    """Client that uses its connections in turn, with a session or since 2026-07-28 without."""

    def __init__(self, url: str, connections: int, *, has_session: bool) -> None:
        parts = urlsplit(url)
        assert parts.port is not None
        address = (str(parts.hostname), parts.port)
        self._host = parts.netloc
        self._sockets = [socket.create_connection(address) for _ in range(connections)]
        for connection in self._sockets:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._readers = [connection.makefile("rb") for connection in self._sockets]
        self._has_session = has_session
        self._session = b""
        self._id = self._sent = self._received = 0
        if has_session:
            self._request("initialize", _INITIALIZE)
            self.receive()
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            self._receive()
        self._request("tools/list", {})
        self.receive()

    def close(self) -> None:
        for reader, connection in zip(self._readers, self._sockets, strict=True):
            reader.close()
            connection.close()

    def send(self, params: Any) -> None:
        self._request("tools/call", params)

    def receive(self) -> None:
        _check_response(self._receive())

    def _receive(self) -> bytes:
        reader = self._readers[self._received % len(self._readers)]
        self._received += 1
        head = bytearray()
        while (line := reader.readline()) not in {b"\r\n", b""}:
            head += line
        session = re.search(rb"(?i)mcp-session-id: (.*)\r", head)
        self._session = session[1] if session else self._session
        length = re.search(rb"(?i)content-length: (\d+)", head)
        assert length is not None, bytes(head)
        return reader.read(int(length[1]))

    def _request(self, method: str, params: Any) -> None:
        self._id += 1
        if not self._has_session:
            params = {**params, "_meta": _META}
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        headers = {
            "Host": self._host,
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
        }
        if not self._has_session:
            headers |= {"MCP-Protocol-Version": _VERSION, "Mcp-Method": message["method"]}
            name = message["params"].get("name")
            headers |= {"Mcp-Name": name} if name else {}
        elif self._session:
            headers |= {"MCP-Protocol-Version": "2025-11-25"}
            headers |= {"Mcp-Session-Id": self._session.decode()}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self._sockets[self._sent % len(self._sockets)].sendall(
            f"POST /mcp HTTP/1.1\r\n{lines}\r\n".encode() + body
        )
        self._sent += 1


@contextmanager
def _stdio_caller(command: list[str]) -> Iterator[_Caller]:
    """Run an MCP server over stdio, and yield a client of it."""
    with subprocess.Popen(  # noqa: S603  (our own command)
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield _StdioCaller(process)
        finally:
            process.terminate()


@contextmanager
def _http_caller(url: str, connections: int, *, has_session: bool) -> Iterator[_HttpCaller]:
    """Yield a client of the server at *url*."""
    caller = _HttpCaller(url, connections, has_session=has_session)
    try:
        yield caller
    finally:
        caller.close()


@contextmanager
def _run_server(command: list[str]) -> Iterator[str]:
    """Run an MCP server or proxy over HTTP, and yield the URL of its endpoint."""
    with (
        subprocess.Popen(  # noqa: S603  (our own command)
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process,
        ExitStack() as stack,
    ):
        stack.callback(process.terminate)
        assert process.stdout is not None
        line = process.stdout.readline()
        url = re.search(r"http://[^ ]*:\d+", line)
        if url is None:
            raise RuntimeError(f"no URL in the first line of output: {line}")
        yield f"{url[0]}/mcp"


if __name__ == "__main__":
    run(measure, __doc__)
