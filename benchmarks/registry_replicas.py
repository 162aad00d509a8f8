"""Registry on PostgreSQL: lag of replicas, writes in a second, and starts with many tools.

Real servers share a database that syncs its disk, of the wheel that the tests use. A file with
the same disk is the peer: writes to it are durable, too.

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
from itertools import count
from pathlib import Path

from report import Claim, Effort, Section, Table, digits, format_summary, run
from servers import Running, sidecheck
from sidecheck import BlockingClient
from sidecheck_server.core.mcp.tool_definitions import identify_tool
from sidecheck_server.registry.definitions import Definition
from sidecheck_server.registry.location import PostgresLocation
from sidecheck_server.registry.opening import open_registry
from sidecheck_server.registry.postgres import statements
from sidecheck_server.registry.quotas import RegistryQuotas
from turns import Rounds, take_turns

# The database belongs to the tests, which kill it, too.
sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

from support.running_postgres import RunningPostgres, installed_binaries

__all__ = ["measure"]

_SECONDS = 60.0
_MOST_LAG = 50
_MOST_STARTING = 30
_QUOTAS = RegistryQuotas(*[1 << 40] * 5)
_ENVIRONMENT = {
    f"SIDECHECK_REGISTRY_QUOTAS__{quota}": str(1 << 40)
    for quota in ("TOOLS", "BYTES", "SERVER_BYTES")
}
_FILE, _ONE, _TWO = "file, 1 server", "PostgreSQL, 1 server", "PostgreSQL, 2 servers"

_TEXT = (
    "Servers are processes of their own with default settings; the database is PostgreSQL 18 with "
    "its default settings, reached over a unix socket, and syncs its disk. Lag is the time from "
    "the response of one server to a registration until the other tells its revision, which is "
    "asked for again and again; such a call takes a millisecond itself. Without notifications, "
    "replicas learn by their poll each second; that is measured on registries without servers. "
    "Writers are threads, each with a connection, that change one small tool after the other; the "
    "same number of them write to a file in the same rounds. The tools of a start have "
    "definitions of about 1 KB, all different; its time is that from the command to `server.ready`."
)


def measure(effort: Effort) -> Section:
    """Measure and return the section."""
    with ExitStack() as stack:
        postgres = RunningPostgres(installed_binaries()["wheel"], is_durable=True)
        stack.callback(postgres.close)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        location = postgres.uri(postgres.create_database())
        with ExitStack() as running:
            pair = [running.enter_context(_serving(folder, name, location)) for name in ("a", "b")]
            lags = {"notified": _lags(pair[0], pair[1], effort.choose(2000, 20))}
            single = running.enter_context(_serving(folder, "file", str(folder / "tools.db")))
            writes = _writes(effort, single, pair)
        lags["polled only"] = _polled_lags(location, effort.choose(50, 2))
        tools = effort.choose(100_000, 200)
        starts, claim = _starts(effort, folder, postgres, tools)
    percentiles = {name: _percentiles(figures) for name, figures in lags.items()}
    rows = [
        [name, f"{len(lags[name]):,}", *map(digits, figures)]
        for name, figures in percentiles.items()
    ]
    head = ["followers are", "registrations", "p50, ms", "p90, ms", "p99, ms", "longest, ms"]
    p99 = percentiles["notified"][2]
    claims = [
        Claim(
            "other servers know soon what one has registered",
            f"99 % within {_MOST_LAG} ms",
            f"99 % within {digits(p99)} ms",
            p99 <= _MOST_LAG,
        ),
        claim,
    ]
    tables = [Table("From the response of one server to the other's knowledge", head, rows)]
    return Section(
        "registry_replicas",
        "Registry on PostgreSQL",
        _TEXT,
        [*tables, writes, starts],
        claims,
    )


@contextmanager
def _serving(folder: Path, name: str, location: str) -> Iterator[Running]:
    within = folder / name
    within.mkdir(exist_ok=True)
    with sidecheck(within, "--registry", location, **_ENVIRONMENT) as server:
        yield server


# Lag


def _lags(writing: Running, following: Running, registrations: int) -> list[float]:
    """Return the milliseconds that each of *registrations* took to be known."""
    lags = []
    with (
        BlockingClient(writing.tcp, timeout=_SECONDS) as writer,
        BlockingClient(following.tcp, timeout=_SECONDS) as reader,
    ):
        for number in range(registrations):
            tool = {"name": f"lag-{number}", "inputSchema": {"type": "object"}}
            revision = writer.register("lag", [tool]).registry_revision
            began = time.perf_counter()
            while reader.info().registry_revision < revision:
                pass
            lags.append((time.perf_counter() - began) * 1000)
    return lags


def _polled_lags(location: str, registrations: int) -> list[float]:
    """Return the milliseconds of lag if notifications are lost."""
    lags = []
    phases = random.Random(0)  # noqa: S311 - nothing secret
    with closing(open_registry(PostgresLocation(location), _QUOTAS)) as follower:
        # The follower has read the name, and listens there.
        channel = statements.CHANNEL
        statements.CHANNEL = "elsewhere"  # type: ignore[misc]
        try:
            with closing(open_registry(PostgresLocation(location), _QUOTAS)) as writer:
                for number in range(registrations):
                    time.sleep(phases.uniform(0, 1))  # or it would follow a poll each time
                    tool = _definition(f"polled-{number}", "")
                    revision = writer.register("lag", [tool], keep=None).revision
                    began = time.perf_counter()
                    while follower.revision < revision:
                        time.sleep(0.001)
                    lags.append((time.perf_counter() - began) * 1000)
        finally:
            statements.CHANNEL = channel  # type: ignore[misc]
    return lags


def _percentiles(figures: Sequence[float]) -> list[float]:
    cuts = statistics.quantiles(figures, n=100, method="inclusive")
    return [cuts[49], cuts[89], cuts[98], max(figures)]


# Writes


def _writes(effort: Effort, single: Running, pair: Sequence[Running]) -> Table:
    """Return the table of writes in a second."""
    rounds, changes = effort.choose((9, 80), (1, 8))
    contenders = {_FILE: [single], _ONE: pair[:1], _TWO: pair}
    rows = []
    for writers in (1, 2, 4):
        with ExitStack() as stack:
            turns = {
                name: _writing(stack, servers, writers, changes)
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


def _writing(
    stack: ExitStack, servers: Sequence[Running], writers: int, changes: int
) -> Callable[[], float]:
    """Return a turn of *changes* by *writers*, which are spread over *servers*."""
    clients = [
        stack.enter_context(BlockingClient(servers[n % len(servers)].tcp, timeout=_SECONDS))
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
        began = time.perf_counter()
        list(threads.map(write, range(writers)))
        return changes // writers * writers / (time.perf_counter() - began)

    turn()  # connects
    return turn


# Starts


def _starts(
    effort: Effort, folder: Path, postgres: RunningPostgres, tools: int
) -> tuple[Table, Claim]:
    """Return the times and the memory of servers that start with *tools*, and with none."""
    filled = postgres.uri(postgres.create_database())
    file = folder / "filled.db"
    for location in (PostgresLocation(filled), file):
        with closing(open_registry(location, _QUOTAS)) as registry:
            for first in range(0, tools, 1000):
                numbers = range(first, min(tools, first + 1000))
                definitions = [_definition(f"tool_{n}", f"Number {n}.") for n in numbers]
                registry.register(f"server-{first}", definitions, keep=None)
    many, few, peer = f"PostgreSQL, {tools:,} tools", "PostgreSQL, none", f"file, {tools:,} tools"
    locations = {
        many: filled,
        peer: str(file),
        few: postgres.uri(postgres.create_database()),
    }
    found = take_turns(
        {name: _starting(folder, location) for name, location in locations.items()},
        effort.choose(3, 1),
    )
    seconds = Rounds({name: [start[0] for start in each] for name, each in found.items()})
    memory = Rounds({name: [start[1] for start in each] for name, each in found.items()})
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
    longest = seconds.of(many).greatest
    return table, Claim(
        f"a server with {tools:,} tools on PostgreSQL starts in time for a probe",
        f"in {_MOST_STARTING} s at most",
        f"in {digits(longest)} s",
        longest <= _MOST_STARTING,
    )


def _starting(folder: Path, location: str) -> Callable[[], tuple[float, float]]:
    def start() -> tuple[float, float]:
        began = time.perf_counter()
        with _serving(folder, "start", location) as server:
            return time.perf_counter() - began, float(server.resident_bytes())

    return start


def _definition(name: str, description: str) -> Definition:
    """Return a definition of about 1 KB if it has a *description*, of its own schemas."""
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
