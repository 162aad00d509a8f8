"""The proxy: what it adds to a call, against the same server without it.

python benchmarks/proxy.py [--quick] [--report FOLDER]
"""

import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from proxy_callers import Caller, http_caller, running, stdio_caller
from report import Claim, Effort, Section, Table, format_summary, run
from turns import Rounds, take_turns

__all__ = ["measure"]

_FOLDER = Path(__file__).parent
_STDIO_SERVER = [sys.executable, str(_FOLDER / "stdio_server.py")]
_HTTP_SERVER = [sys.executable, str(_FOLDER / "http_server.py")]
_PROXY = [sys.executable, "-m", "sidecheck_server", "proxy"]
_OFF = ["--arguments", "off", "--results", "off", "--messages", "off", "--tools", "off"]
_BARE, _ALL = "no proxy", "all enforced"
_POLICIES = {
    "all off": _OFF,
    "arguments and results": ["--arguments", "enforce", "--results", "enforce", *_OFF[4:]],
    "all audited": [],
    _ALL: ["--enforce"],
}
_SINGLE, _SINGLE_ALL = "no proxy, 2026-07-28", "all enforced, 2026-07-28"
_IN_FLIGHT = 64
_MOST_ADDED = 1_000.0

_TEXT = (
    "A client calls one tool of a small server, with arguments of 1 KB and a result with "
    "structured content. Server and client are the same with and without the proxy, run at once "
    f"and take turns: first one call after the other, then {_IN_FLIGHT} in flight, over HTTP on "
    "as many connections. The added time is the difference of the medians in a round. Over HTTP, "
    "server and proxy are of Starlette and uvicorn, and the calls are of a session (2025-11-25) "
    "or single requests (2026-07-28)."
)


@dataclass(frozen=True, slots=True)
class Turn:
    """Figures of one turn: microseconds of a call, and calls in a second."""

    p50: float
    p99: float
    rate: float


def measure(effort: Effort) -> Section:
    """Measure and return the section."""
    rounds, calls = effort.choose((15, 300), (2, 20))
    note = {"title": "a title", "text": "x" * 52, "stars": 3}
    params = {"name": "store", "arguments": {"folder": "inbox", "notes": [note] * 10}}
    size = f"{len(json.dumps(params['arguments'])):,} bytes of arguments"
    with ExitStack() as stack:
        callers = _stdio_callers(stack)
        turns = {name: partial(_turn, each, params, calls) for name, each in callers.items()}
        stdio, added = _measured(f"A call over stdio with {size}", turns, rounds)
    with ExitStack() as stack:
        turns = _http_turns(stack, params, calls)
        http, added_over_http = _measured(f"A call over HTTP with {size}", turns, rounds)
    return Section(
        "proxy",
        "The proxy over stdio and HTTP",
        _TEXT,
        [stdio, http],
        [
            _claim("stdio", added[_ALL]),
            _claim("HTTP", added_over_http[_ALL]),
        ],
    )


def _claim(transport: str, added: float) -> Claim:
    return Claim(
        f"the proxy adds little to a call over {transport}",
        f"{_MOST_ADDED:,.0f} µs at most (50 %), with everything enforced",
        f"{added:,.0f} µs",
        added <= _MOST_ADDED,
    )


def _stdio_callers(stack: ExitStack) -> dict[str, Caller]:
    commands = {_BARE: _STDIO_SERVER}
    for name, options in _POLICIES.items():
        commands[name] = [*_PROXY, *options, "--", *_STDIO_SERVER]
    return {name: stack.enter_context(stdio_caller(each)) for name, each in commands.items()}


def _http_turns(stack: ExitStack, params: Any, calls: int) -> dict[str, partial[Turn]]:
    server = stack.enter_context(running(_HTTP_SERVER))
    proxy = [*_PROXY, "--upstream", server, "--listen", "127.0.0.1:0"]
    urls = {_BARE: server, _SINGLE: server}
    for name, options in _POLICIES.items():
        urls[name] = stack.enter_context(running([*proxy, *options]))
    urls[_SINGLE_ALL] = urls[_ALL]
    turns = {}
    for name, url in urls.items():
        has_session = name not in {_SINGLE, _SINGLE_ALL}
        connect = partial(http_caller, url, has_session=has_session)
        single = stack.enter_context(connect(1))
        several = stack.enter_context(connect(_IN_FLIGHT))
        turns[name] = partial(_turn, single, params, calls, several)
    return turns


def _measured(
    caption: str, turns: Mapping[str, Callable[[], Turn]], rounds: int
) -> tuple[Table, dict[str, float]]:
    """Return the table of *turns*, and the microseconds that each adds to a call."""
    for turn in turns.values():
        turn()
    found = take_turns(turns, rounds)
    p50 = Rounds({name: [turn.p50 for turn in each] for name, each in found.items()})
    p99 = Rounds({name: [turn.p99 for turn in each] for name, each in found.items()})
    rates = Rounds({name: [turn.rate for turn in each] for name, each in found.items()})
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


def _turn(caller: Caller, params: Any, calls: int, several: Caller | None = None) -> Turn:
    """Return the figures of calls of *caller*, and those in flight of *several*."""
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


if __name__ == "__main__":
    run(measure, __doc__)
