"""A cell of the matrix: sessions of a client with a server, directly and through the proxy."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matrix.clients import Client
from matrix.servers import Server, Workplace, listening

__all__ = ["MODES", "Cell", "Modes", "compare", "http_modes", "run_http", "run_stdio"]

#: The options of the proxy by the name of a mode; None is the direct session.
MODES: dict[str, list[str] | None] = {"direct": None, "audit": [], "enforced": ["--enforce"]}

_PROXY = [sys.executable, "-m", "sidecheck_server", "proxy"]
_SECONDS = 300

#: The random id of a block of content, which LangChain adds.
_LANGCHAIN_ID = re.compile(r"lc_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

#: Part of Sidecheck's text for a request that the negotiated version does not have.
_NO_PING = "2026-07-28 has no ping"

#: The URLs of a server over HTTP by the name of the mode.
Modes = dict[str, str]


@dataclass(frozen=True, slots=True)
class Cell:
    """What a client and a server did in one transport."""

    #: The outcomes of the steps by mode.
    outcomes: dict[str, list[Any]]
    #: The codes of the proxy's findings by mode; over HTTP all clients share a proxy.
    codes: dict[str, set[str]] = field(default_factory=dict)


def run_stdio(client: Client, server: Server, folder: Path, page: str) -> Cell:
    """Run the sessions of *client* over stdio, each in a folder of its own."""
    sessions: list[dict[str, Any]] = []
    places = {mode: Workplace.make(folder / mode, page) for mode in MODES}
    for mode, options in MODES.items():
        place = places[mode]
        proxy = [] if options is None else [*_PROXY, *options, "--report", _report(place), "--"]
        program, *arguments = [*proxy, *server.command(place)]
        sessions.append(
            {
                "server": {"command": program, "args": arguments, "env": place.environment()},
                "steps": _steps(server, place),
            }
        )
    outcomes = _outcomes(client.run(sessions), places)
    codes = {mode: _codes(place) for mode, place in places.items() if MODES[mode] is not None}
    return Cell(outcomes, codes)


def run_http(client: Client, server: Server, urls: Modes, place: Workplace) -> Cell:
    """Run the sessions of *client* with the running server of *urls*."""
    steps = _steps(server, place)
    sessions = [{"server": {"url": url}, "steps": steps} for url in urls.values()]
    places = dict.fromkeys(urls, place)
    return Cell(_outcomes(client.run(sessions), places))


@contextmanager
def http_modes(server: Server, place: Workplace) -> Iterator[Modes]:
    """Yield the URLs of *server*: its own, and those of a proxy for each other mode."""
    with ExitStack() as stack:
        url = stack.enter_context(listening(server, place))
        urls = {
            mode: url if options is None else stack.enter_context(_proxy_of(url, options))
            for mode, options in MODES.items()
        }
        yield urls


@contextmanager
def _proxy_of(url: str, options: list[str]) -> Iterator[str]:
    process = subprocess.Popen(
        [*_PROXY, *options, "--upstream", url, "--listen", "127.0.0.1:0"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    reader = threading.Thread(target=process.stderr.read)
    try:
        line = process.stderr.readline()
        match = re.search(r"http://[^ ]*:\d+", line)
        assert match, line
        # The findings, which would fill the pipe.
        reader.start()
        yield f"{match[0]}/mcp"
    finally:
        process.terminate()
        process.wait(timeout=_SECONDS)
        if reader.is_alive():
            reader.join(timeout=_SECONDS)
        process.stderr.close()


def _report(place: Workplace) -> str:
    return str(place.folder / "report.jsonl")


def _codes(place: Workplace) -> set[str]:
    report = Path(_report(place))
    lines = report.read_text(encoding="utf-8").splitlines() if report.exists() else []
    return {json.loads(line)["code"] for line in lines}


def _steps(server: Server, place: Workplace) -> list[list[Any]]:
    """Return what the client does: an invalid call is a call."""
    return [
        ["call", *arguments[:2]] if name == "invalid" else [name, *arguments]
        for name, *arguments in place.fill(server.steps)
    ]


def _outcomes(documents: list[Any], places: dict[str, Workplace]) -> dict[str, list[Any]]:
    """Return *documents* by mode, without what differs between workplaces."""
    named = {}
    for (mode, place), document in zip(places.items(), documents, strict=True):
        text = json.dumps(document).replace(str(place.folder), "FOLDER")
        named[mode] = json.loads(_LANGCHAIN_ID.sub("lc_ID", text))
    return named


def _is_rejected(step: list[Any], outcome: Any) -> bool:
    """Return whether *outcome* has the text of Sidecheck that *step* expects."""
    expected = {"invalid": step[-1], "ping": _NO_PING}.get(step[0])
    return expected is not None and any(expected in text for text in _texts(outcome))


def _texts(value: Any) -> Iterator[str]:
    """Yield the strings in *value*, JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def compare(server: Server, cell: Cell) -> list[str]:
    """Return how the sessions through the proxy differ from the direct one, one line a step.

    Under enforcement, the text of the error for an invalid call, and for ping since 2026-07-28,
    is Sidecheck's.
    """
    direct = cell.outcomes["direct"]
    differences = [] if len(direct) == len(server.steps) else [f"direct: {direct[-1]}"]
    for mode, outcomes in cell.outcomes.items():
        if len(outcomes) != len(direct):
            differences.append(f"{mode}: {len(outcomes)} outcomes, directly {len(direct)}")
        for step, expected, outcome in zip(server.steps, direct, outcomes, strict=False):
            if expected != outcome and not (mode == "enforced" and _is_rejected(step, outcome)):
                shown = f"directly {json.dumps(expected)}, {mode} {json.dumps(outcome)}"
                differences.append(f"{mode}: {step[:3]}: {shown}")
    return differences
