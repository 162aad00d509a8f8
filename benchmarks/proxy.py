"""The proxy: what it adds to a call, against the same server without it.

python benchmarks/proxy.py [--quick] [--report FOLDER]
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report import Claim, Effort, Section, Table, format_summary, run
from turns import Rounds, take_turns

__all__ = ["measure"]

_SERVER = [sys.executable, str(Path(__file__).with_name("stdio_server.py"))]
_PROXY = [sys.executable, "-m", "sidecheck_server", "proxy"]
_OFF = ["--arguments", "off", "--results", "off", "--messages", "off", "--tools", "off"]
_ENFORCED_CALLS = [*("--arguments", "enforce", "--results", "enforce"), *_OFF[4:]]
_BARE, _RELAYED, _CALLS, _ALL = "no proxy", "all off", "arguments and results", "all enforced"
_COMMANDS = {
    _BARE: _SERVER,
    _RELAYED: [*_PROXY, *_OFF, "--", *_SERVER],
    _CALLS: [*_PROXY, *_ENFORCED_CALLS, "--", *_SERVER],
    _ALL: [*_PROXY, "--enforce", "--", *_SERVER],
}
_IN_FLIGHT = 64
_MOST_ADDED = 1_000.0

_TEXT = (
    "A client calls one tool of a small server over stdio, with arguments of 1 KB and a result "
    "with structured content. Server and client are the same with and without the proxy, run at "
    f"once and take turns: first one call after the other, then {_IN_FLIGHT} in flight. The "
    "added time is the difference of the medians in a round."
)


@dataclass(frozen=True, slots=True)
class Turn:
    """Figures of one turn: microseconds of a call, and calls in a second."""

    p50: float
    p99: float
    rate: float


class Caller:
    """A client of one running command."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._input, self._output = process.stdin, process.stdout
        self._id = 0

    def request(self, method: str, params: Any) -> None:
        """Send a request."""
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self._input.write(json.dumps(message).encode() + b"\n")
        self._input.flush()

    def receive(self) -> Any:
        """Return the next result.

        Raises:
            RuntimeError: it is another message.
        """
        response = json.loads(self._output.readline())
        if "result" not in response or response["result"].get("isError"):
            raise RuntimeError(f"not a result: {response}")
        return response["result"]

    def begin(self) -> None:
        """Initialize the session, and list the tools."""
        client = {"name": "client", "version": "1"}
        version = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        self.request("initialize", version)
        self.receive()
        initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        self._input.write(json.dumps(initialized).encode() + b"\n")
        self.request("tools/list", {})
        self.receive()


def measure(effort: Effort) -> Section:
    """Measure and return the section."""
    rounds, calls = effort.choose((15, 300), (2, 20))
    note = {"title": "a title", "text": "x" * 52, "stars": 3}
    params = {"name": "store", "arguments": {"folder": "inbox", "notes": [note] * 10}}
    with ExitStack() as stack:
        callers = {
            name: stack.enter_context(_running(command)) for name, command in _COMMANDS.items()
        }
        turns = {name: _turn(caller, params, calls) for name, caller in callers.items()}
        for turn in turns.values():
            turn()
        found = take_turns(turns, rounds)
    p50 = Rounds({name: [turn.p50 for turn in each] for name, each in found.items()})
    p99 = Rounds({name: [turn.p99 for turn in each] for name, each in found.items()})
    rates = Rounds({name: [turn.rate for turn in each] for name, each in found.items()})
    added = {
        name: [a - b for a, b in zip(p50.figures[name], p50.figures[_BARE], strict=True)]
        for name in _COMMANDS
    }
    size = len(json.dumps(params["arguments"]))
    rows = [
        [
            name,
            format_summary(p50.of(name)),
            f"{statistics.median(added[name]):,.0f}",
            format_summary(p99.of(name)),
            format_summary(rates.of(name)),
            format_summary(rates.ratio(name, _BARE)),
        ]
        for name in _COMMANDS
    ]
    head = ["policies", "50 %, µs", "added, µs", "99 %, µs", "calls/s in flight", "bare, x"]
    most = statistics.median(added[_ALL])
    return Section(
        "proxy",
        "The proxy over stdio",
        _TEXT,
        [Table(f"A call with {size:,} bytes of arguments ({rounds} rounds)", head, rows)],
        [
            Claim(
                "the proxy adds little to a call",
                f"{_MOST_ADDED:,.0f} µs at most (50 %), with everything enforced",
                f"{most:,.0f} µs",
                most <= _MOST_ADDED,
            )
        ],
    )


@contextmanager
def _running(command: list[str]) -> Iterator[Caller]:
    with subprocess.Popen(  # noqa: S603  (our own command)
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        caller = Caller(process)
        caller.begin()
        try:
            yield caller
        finally:
            process.terminate()


def _turn(caller: Caller, params: Any, calls: int) -> Callable[[], Turn]:
    def turn() -> Turn:
        times = []
        for _ in range(calls):
            started = time.perf_counter()
            caller.request("tools/call", params)
            caller.receive()
            times.append((time.perf_counter() - started) * 1e6)
        started = time.perf_counter()
        for _ in range(_IN_FLIGHT):
            caller.request("tools/call", params)
        for _ in range(calls):
            caller.receive()
            caller.request("tools/call", params)
        for _ in range(_IN_FLIGHT):
            caller.receive()
        elapsed = time.perf_counter() - started
        times.sort()
        p99 = times[int(len(times) * 0.99)]
        return Turn(statistics.median(times), p99, (calls + _IN_FLIGHT) / elapsed)

    return turn


if __name__ == "__main__":
    run(measure, __doc__)
