"""Registry on PostgreSQL: lag of replicas, writes per second, and starts with many tools.

Servers share a database that syncs its disk, from the wheel that the tests use. The peer is a
registry in a file on the same disk, whose writes are durable as well.

    python benchmarks/registry_replicas.py [--quick] [--report FOLDER]
"""

import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from harness.report import (
    Claim,
    Effort,
    MissingRequirement,
    Section,
    Table,
    digits,
    format_summary,
    run,
)
from harness.servers import RunningServer, sidecheck
from harness.subjects import REPOSITORY
from harness.turns import Rounds, take_turns
from sidecheck import BlockingClient
from sidecheck_server.core.mcp.tool_definitions import identify_tool
from sidecheck_server.registry.definitions import Definition
from sidecheck_server.registry.location import PostgresLocation
from sidecheck_server.registry.opening import open_registry
from sidecheck_server.registry.postgres import statements
from sidecheck_server.registry.quotas import RegistryQuotas

# The tests define how to run PostgreSQL.
sys.path.append(str(REPOSITORY / "tests"))

from support.running_postgres import RunningPostgres, installed_binaries

__all__ = ["measure"]

_TIMEOUT_SECONDS = 60.0
_MAX_LAG_MILLISECONDS = 50
_MAX_START_SECONDS = 30
_QUOTAS = RegistryQuotas(*[1 << 40] * 5)
_ENVIRONMENT = {
    f"SIDECHECK_REGISTRY_QUOTAS__{quota}": str(1 << 40)
    for quota in ("TOOLS", "BYTES", "SERVER_BYTES")
}
_FILE = "file, 1 server"
_ONE_SERVER, _TWO_SERVERS = "PostgreSQL, 1 server", "PostgreSQL, 2 servers"

_TEXT = (
    "Servers are processes of their own with default settings; the database is PostgreSQL 18 with "
    "its default settings, behind a unix socket, and syncs its disk. Lag is the time from "
    "the response of one server to a registration until the other reports its revision; the "
    "client polls it with calls of about a millisecond. Without notifications, "
    "replicas poll the database each second; that lag is measured on registries without servers. "
    "Writers are threads, each with a connection, that change one small tool after the other; "
    "as many write to a file in the same rounds. At a start, all tools have different "
    "definitions of about 1 KB; its time is that from the command to `server.ready`."
)


def measure(effort: Effort) -> Section:
    """Measure and return the section.

    Raises:
        MissingRequirement: the wheel of PostgreSQL is not installed.
    """
    binaries = installed_binaries().get("wheel")
    if binaries is None:
        raise MissingRequirement("PostgreSQL is missing; `make setup` installs its wheel")
    with ExitStack() as stack:
        postgres = RunningPostgres(binaries, is_durable=True)
        stack.callback(postgres.close)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        location = postgres.uri(postgres.create_database())
        with ExitStack() as running:
            pair = [
                running.enter_context(_run_server(folder, name, location)) for name in ("a", "b")
            ]
            lags = {"notified": _lags(pair[0], pair[1], effort.choose(2000, 20))}
            single = running.enter_context(_run_server(folder, "file", str(folder / "tools.db")))
            writes = _writes(effort, single, pair)
        lags["polled only"] = _polled_lags(location, effort.choose(50, 2))
        tools = effort.choose(100_000, 200)
        starts, claim = _starts(effort, folder, postgres, tools)
    percentiles = {name: _percentiles(figures) for name, figures in lags.items()}
    rows = [
        [name, f"{len(lags[name]):,}", *map(digits, figures)]
        for name, figures in percentiles.items()
    ]
    head = ["replicas are", "registrations", "p50, ms", "p90, ms", "p99, ms", "longest, ms"]
    p99 = percentiles["notified"][2]
    claims = [
        Claim(
            "replicas receive registrations soon",
            f"99 % within {_MAX_LAG_MILLISECONDS} ms",
            f"99 % within {digits(p99)} ms",
            p99 <= _MAX_LAG_MILLISECONDS,
        ),
        claim,
    ]
    tables = [Table("From a server's response to its replica's revision", head, rows)]
    return Section(
        "registry_replicas",
        "Registry on PostgreSQL",
        _TEXT,
        [*tables, writes, starts],
        claims,
    )


@contextmanager
def _run_server(folder: Path, name: str, location: str) -> Iterator[RunningServer]:
    server_folder = folder / name
    server_folder.mkdir(exist_ok=True)
    with sidecheck(server_folder, "--registry", location, **_ENVIRONMENT) as server:
        yield server


# Lag


def _lags(writing: RunningServer, following: RunningServer, registrations: int) -> list[float]:
    """Return the lag of *following* for each registration, in milliseconds."""
    lags = []
    with (
        BlockingClient(writing.tcp, timeout=_TIMEOUT_SECONDS) as writer,
        BlockingClient(following.tcp, timeout=_TIMEOUT_SECONDS) as reader,
    ):
        for number in range(registrations):
            tool = {"name": f"lag-{number}", "inputSchema": {"type": "object"}}
            revision = writer.register("lag", [tool]).registry_revision
            started = time.perf_counter()
            while reader.info().registry_revision < revision:
                pass
            lags.append((time.perf_counter() - started) * 1000)
    return lags


def _polled_lags(location: str, registrations: int) -> list[float]:
    """Return the lag of a registry without notifications, in milliseconds."""
    lags = []
    phases = random.Random(0)  # noqa: S311  (times of writes)
    with closing(open_registry(PostgresLocation(location), _QUOTAS)) as follower:
        # The follower listens on the real channel already.
        channel = statements.CHANNEL
        statements.CHANNEL = "elsewhere"  # type: ignore[misc]
        try:
            with closing(open_registry(PostgresLocation(location), _QUOTAS)) as writer:
                for number in range(registrations):
                    time.sleep(phases.uniform(0, 1))  # at a random phase of the poll
                    tool = _definition(f"polled-{number}", "")
                    revision = writer.register("lag", [tool], keep=None).revision
                    started = time.perf_counter()
                    while follower.revision < revision:
                        time.sleep(0.001)
                    lags.append((time.perf_counter() - started) * 1000)
        finally:
            statements.CHANNEL = channel  # type: ignore[misc]
    return lags


def _percentiles(figures: Sequence[float]) -> list[float]:
    cuts = statistics.quantiles(figures, n=100, method="inclusive")
    return [cuts[49], cuts[89], cuts[98], max(figures)]


# Writes


def _writes(effort: Effort, single: RunningServer, pair: Sequence[RunningServer]) -> Table:
    """Return the table of writes per second."""
    rounds, changes = effort.choose((9, 80), (1, 8))
    contenders = {_FILE: [single], _ONE_SERVER: pair[:1], _TWO_SERVERS: pair}
    rows = []
    for writers in (1, 2, 4):
        with ExitStack() as stack:
            turns = {
                name: _make_write_turn(stack, servers, writers, changes)
                for name, servers in contenders.items()
                if len(servers) <= writers
            }
            rates = Rounds(take_turns(turns, rounds))
        for name in turns:
            ratio = format_summary(rates.ratio(name, _FILE)) if name != _FILE else "1"
            rows.append([f"{name}, {writers} writing", format_summary(rates.of(name)), ratio])
    head = ["registry", "writes/s", "to the file"]
    return Table(f"Registrations that change a tool ({rounds} rounds of {changes})", head, rows)


_versions = count()


def _make_write_turn(
    stack: ExitStack, servers: Sequence[RunningServer], writers: int, changes: int
) -> Callable[[], float]:
    """Return a turn of *changes* by *writers*, distributed over *servers*."""
    clients = [
        stack.enter_context(BlockingClient(servers[n % len(servers)].tcp, timeout=_TIMEOUT_SECONDS))
        for n in range(writers)
    ]
    threads = stack.enter_context(ThreadPoolExecutor(writers))

    def write(number: int) -> None:
        for _ in range(changes // writers):
            tool = {
                "name": "tool",
                "description": f"version {next(_versions)}",
                "inputSchema": {"type": "object"},
            }
            clients[number].register(f"writer-{number}", [tool])

    def turn() -> float:
        started = time.perf_counter()
        list(threads.map(write, range(writers)))
        return changes // writers * writers / (time.perf_counter() - started)

    turn()  # connects
    return turn


# Starts


def _starts(
    effort: Effort, folder: Path, postgres: RunningPostgres, tools: int
) -> tuple[Table, Claim]:
    """Return the times and the memory of servers that start with *tools*, and with none."""
    uri = postgres.uri(postgres.create_database())
    file = folder / "tools.db"
    for location in (PostgresLocation(uri), file):
        with closing(open_registry(location, _QUOTAS)) as registry:
            for first in range(0, tools, 1000):
                numbers = range(first, min(tools, first + 1000))
                definitions = [_definition(f"tool_{n}", f"Number {n}.") for n in numbers]
                registry.register(f"server-{first}", definitions, keep=None)
    many, few, peer = f"PostgreSQL, {tools:,} tools", "PostgreSQL, none", f"file, {tools:,} tools"
    locations = {
        many: uri,
        peer: str(file),
        few: postgres.uri(postgres.create_database()),
    }
    starts = take_turns(
        {name: _make_start_turn(folder, location) for name, location in locations.items()},
        effort.choose(3, 1),
    )
    seconds, memory = (Rounds.of_attribute(starts, name) for name in ("seconds", "resident_bytes"))
    rows = [
        [
            name,
            format_summary(seconds.of(name)),
            format_summary(seconds.ratio(name, few)),
            format_summary(memory.of(name), 1e-6),
        ]
        for name in locations
    ]
    size = len(_definition("tool_50000", "Number 50000.").json)
    head = ["registry", "seconds", "to none", "resident memory, MB"]
    table = Table(f"Starts of a server, definitions of {size:,} bytes", head, rows)
    longest = seconds.of(many).maximum
    return table, Claim(
        f"a server with {tools:,} tools on PostgreSQL starts in time for a probe",
        f"in {_MAX_START_SECONDS} s at most",
        f"in {digits(longest)} s",
        longest <= _MAX_START_SECONDS,
    )


@dataclass(frozen=True, slots=True)
class Start:
    """Figures of the start of a server."""

    seconds: float
    resident_bytes: int


def _make_start_turn(folder: Path, location: str) -> Callable[[], Start]:
    def start() -> Start:
        started = time.perf_counter()
        with _run_server(folder, "start", location) as server:
            return Start(time.perf_counter() - started, server.resident_bytes())

    return start


def _definition(name: str, description: str) -> Definition:
    """Return a definition with a distinct schema; about 1 KB with a *description*."""
    properties = {
        f"{name}_{field}": {
            "type": "string",
            "description": f"The {field} of what is looked for, as the service names it.",
        }
        for field in ("path", "owner", "repository", "branch", "label", "state", "page")
        if description
    }
    tool = {
        "name": name,
        "description": f"Finds what has been filed, oldest first. {description}",
        "inputSchema": {"type": "object", "properties": properties, "required": [*properties]},
    }
    text = json.dumps(tool).encode()
    identity = identify_tool(text, ())
    assert identity is not None
    return Definition(identity.digest, name, text, (), identity.input_digest, None, "2025-11-25")


if __name__ == "__main__":
    run(measure, __doc__)
