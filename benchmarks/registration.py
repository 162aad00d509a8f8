"""Cost of compiling and registering tools: time, memory, and how both grow.

Time to compile each schema of the corpus, against other libraries. Memory of a registered tool in
a server with its registry in memory, for the corpus and for more tools derived from it. Time to
register the corpus in a server whose registry is a file, and to change a tool in files with few
and with many tools.

    python benchmarks/registration.py [--quick] [--report FOLDER] [--most TOOLS]
"""

import argparse
import copy
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from harness.plots import plot_bars
from harness.report import Claim, Effort, Section, Table, format_summary, run
from harness.servers import RunningServer, sidecheck
from harness.subjects import (
    REPOSITORY,
    all_subjects,
    compact_json,
    corpus_records,
    corpus_tools,
)
from harness.turns import Rounds, summarize, take_turns
from programs.validator_memory import VALIDATORS
from sidecheck import Arguments, BlockingClient, Item, RegisteredTool
from sidecheck_server.core.compiler.compilation import compile_schema
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import identify_tool
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.registry import Registry
from sidecheck_server.registry.database import Database
from sidecheck_server.registry.definitions import Binding, Change, Definition
from sidecheck_server.registry.quotas import RegistryQuotas
from sidecheck_server.registry.sqlite import open_registry

__all__ = ["add_options", "measure"]

_SIDECHECK = "Sidecheck"
_MEMORY_SCRIPT = REPOSITORY / "benchmarks" / "programs" / "validator_memory.py"
_BATCH = 200
_MAX_BYTES = 10_000
_MAX_EXPLAINED_TOOLS = 10_000
_LIMITS = Limits()
_QUOTAS = RegistryQuotas(*[1 << 40] * 5)

_TEXT = (
    "Compilation is all that Sidecheck does once for a schema: strict decoding, limits, the "
    "meta-schema, every reference, code. jsonschema checks the schema and creates a validator, "
    "fastjsonschema generates code and checks little, jsonschema-rs does both. A ratio is the "
    "peer's time over Sidecheck's for the same schema, each compiled once, in turns; so 2 "
    "means that the peer takes twice as long. Schemas that any of them rejects are left out. "
    "The memory of a tool is the growth of the resident memory of `sidecheck serve` while "
    f"tools are registered through the client, {_BATCH} in a call, over their number; that "
    "of the other libraries is the growth of a process that creates and stores their validators. "
    "Only Sidecheck's figure includes definition texts, names and digests. The last column is "
    "the memory after every tool has also explained an invalid payload, which the complete "
    "engine does; it is created on first use, and stays. In a file, the tools of each server of "
    "the corpus are registered in one call, first unknown, then known; a change replaces one "
    "tool of a registry whose tools are all of one server, or each of its own."
)


@dataclass(frozen=True, slots=True)
class StorageCost:
    """Cost of creating and storing validators for many tools."""

    name: str
    tools: int
    schema_bytes: int
    milliseconds: float
    bytes: float
    #: After each tool has explained an invalid payload; 0 if not measured.
    bytes_explained: float = 0.0


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this script."""
    parser.add_argument(
        "--most", type=int, default=100_000, help="the largest number of tools to register"
    )


def measure(effort: Effort) -> Section:
    """Measure and return the section."""
    tools = list(corpus_tools()) or [subject.definition for subject in all_subjects()]
    random.Random(20261118).shuffle(tools)  # noqa: S311  (a fixed order, not a secret)
    tools = tools[: effort.choose(None, 150)]
    times = _compile_all(tools)
    counts = [count for count in (len(tools), 10_000, 100_000) if count <= effort.arguments.most]
    costs = [
        _measure_server(list(islice(_distinct_tools(tools), count)))
        for count in effort.choose(counts, [len(tools)])
    ]
    schemas = [
        compact_json(tool["inputSchema"]) for tool in islice(_distinct_tools(tools), len(tools))
    ]
    costs += [_measure_library(library, schemas) for library in VALIDATORS]
    with tempfile.TemporaryDirectory() as folder:
        file_tables = [
            _file_table(Path(folder), _tools_by_server(effort.choose(None, 3))),
            _change_table(Path(folder), *effort.choose(((100, 200_000), 100), ((10, 1000), 3))),
        ]
    if effort.folder is not None:
        _plot(effort.folder, costs)
    return Section(
        "registration",
        "Compiling schemas and registering tools",
        _TEXT,
        [_times_table(times), _storage_table(costs), *file_tables],
        list(_claims(times, costs)),
        [("registration.svg", "Bytes of resident memory for a tool")],
    )


# Compilation


def _compile_all(tools: list[dict[str, Any]]) -> dict[str, list[float]]:
    """Return the milliseconds of each library for each schema that all accept."""
    compilers: dict[str, Callable[[Any, bytes], object]] = {
        _SIDECHECK: lambda _schema, text: compile_schema(SchemaSource(text), _LIMITS),
        **{name: _without_text(create) for name, create in VALIDATORS.items()},
    }
    times: dict[str, list[float]] = {name: [] for name in compilers}
    order = list(compilers)
    for compile_once in compilers.values():
        compile_once({"type": "object"}, b'{"type":"object"}')
    for tool in tools:
        text = compact_json(tool["inputSchema"])
        elapsed = {}
        try:
            for name in order:
                schema = copy.deepcopy(tool["inputSchema"])
                started = time.thread_time_ns()
                compilers[name](schema, text)
                elapsed[name] = (time.thread_time_ns() - started) / 1e6
        except Exception:  # noqa: BLE001, S112  (each library raises its own exceptions)
            continue
        for name, milliseconds in elapsed.items():
            times[name].append(milliseconds)
        order.reverse()
    return times


def _without_text(create: Callable[[Any], object]) -> Callable[[Any, bytes], object]:
    return lambda schema, _text: create(schema)


# Memory


def _distinct_tools(tools: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield *tools*, then copies with other names of tools and properties, without end."""
    for lap in range(10**6):
        for number, tool in enumerate(tools):
            copied = {**tool, "name": f"t{lap}_{number}"}
            if lap:
                copied["inputSchema"] = _rename_properties(tool["inputSchema"], lap)
            yield copied


def _rename_properties(schema: dict[str, Any], lap: int) -> dict[str, Any]:
    renamed = {**schema}
    properties = schema.get("properties", {})
    renamed["properties"] = {f"{name}_{lap}": value for name, value in properties.items()}
    if isinstance(schema.get("required"), list):
        renamed["required"] = [
            f"{name}_{lap}" if name in properties else name for name in schema["required"]
        ]
    if not properties:
        renamed["title"] = f"copy {lap}"
    return renamed


def _measure_server(tools: list[dict[str, Any]]) -> StorageCost:
    texts = [compact_json(tool) for tool in tools]
    with (
        tempfile.TemporaryDirectory() as folder,
        sidecheck(Path(folder)) as server,
        BlockingClient(server.address("unix")) as client,
    ):
        _register(client, [compact_json({"name": "warm", "inputSchema": {"type": "object"}})])
        before, started = _settled_memory(server), time.perf_counter()
        registered = _register(client, texts)
        seconds = time.perf_counter() - started
        growth = _settled_memory(server) - before
        growth_explained = 0
        if registered <= _MAX_EXPLAINED_TOOLS:
            _validate_invalid_payloads(client, tools)
            growth_explained = _settled_memory(server) - before
    schema_bytes = sum(len(compact_json(tool["inputSchema"])) for tool in tools)
    return StorageCost(
        f"{_SIDECHECK}, {len(tools):,} tools",
        registered,
        schema_bytes // len(tools),
        1000 * seconds / registered,
        growth / registered,
        growth_explained / registered,
    )


def _register(client: BlockingClient, texts: list[bytes]) -> int:
    """Register tools in batches; return the number of accepted tools."""
    accepted = 0
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        registration = client.register(
            f"server-{start // _BATCH}", batch, on_rejected="return", timeout=120.0
        )
        accepted += sum(outcome.definition_digest != "" for outcome in registration.outcomes)
    return accepted


def _validate_invalid_payloads(client: BlockingClient, tools: list[dict[str, Any]]) -> None:
    """Validate a payload that is not an object against each tool."""
    for start in range(0, len(tools), _BATCH):
        server = f"server-{start // _BATCH}"
        batch = tools[start : start + _BATCH]
        targets = [RegisteredTool(server, tool["name"]) for tool in batch]
        client.validate_batch([Item(Arguments(5), target) for target in targets], timeout=120.0)


def _settled_memory(server: RunningServer) -> int:
    time.sleep(0.3)
    return server.resident_bytes()


def _measure_library(library: str, schemas: list[bytes]) -> StorageCost:
    completed = subprocess.run(  # noqa: S603  (our own command)
        [sys.executable, str(_MEMORY_SCRIPT), library],
        input=b"\n".join(schemas),
        capture_output=True,
        check=True,
    )
    result = json.loads(completed.stdout)
    return StorageCost(
        library,
        result["created"],
        sum(map(len, schemas)) // len(schemas),
        1000 * result["seconds"] / result["created"],
        result["bytes"] / result["created"],
    )


# Registry in a file


def _tools_by_server(max_servers: int | None) -> dict[str, list[bytes]]:
    """Return the definitions of the corpus, or the project's own, by server."""
    tools = defaultdict(list)
    for record in corpus_records():
        origin = record["prov"].get("server") or record["prov"]["repo"]
        tools[origin].append(json.dumps(record["tool"], ensure_ascii=False).encode())
    if not tools:
        tools["own"] = [compact_json(subject.definition) for subject in all_subjects()]
    return dict(islice(tools.items(), max_servers))


def _file_table(folder: Path, tools: Mapping[str, Sequence[bytes]]) -> Table:
    """Register all tools twice, and return the times and the actions of the server."""
    rows = []
    with (
        sidecheck(folder, "--registry", str(folder / "tools.db")) as server,
        BlockingClient(server.address("unix")) as client,
    ):
        for title in ("first", "again"):
            actions: Counter[str] = Counter()
            started = time.perf_counter()
            for name, definitions in tools.items():
                registration = client.register(
                    name, definitions, on_rejected="return", timeout=60.0
                )
                actions.update(outcome.action.value for outcome in registration.outcomes)
            seconds = time.perf_counter() - started
            counts = ", ".join(f"{count:,} {action}" for action, count in actions.items())
            rows.append([title, f"{seconds:.2f}", counts])
    count = sum(map(len, tools.values()))
    caption = f"Registering {count:,} tools of {len(tools):,} servers in a file"
    return Table(caption, ["registration", "s", "actions"], rows)


def _change_table(folder: Path, sizes: tuple[int, int], changes: int) -> Table:
    """Return the times to change a tool in a small and in a large registry."""
    rows = []
    for title, has_one_server in (("one server", True), ("a server each", False)):
        registries = {
            size: _fill_registry(folder / f"{size}-{title}.db", size, has_one_server=has_one_server)
            for size in sizes
        }
        turns = {
            str(size): _change_turn(registry, size, has_one_server=has_one_server)
            for size, registry in registries.items()
        }
        rounds = Rounds(take_turns(turns, changes))
        for registry in registries.values():
            registry.close()
        small, large = turns
        rows.append(
            [
                title,
                *(format_summary(rounds.of(name), 1e3) for name in turns),
                format_summary(rounds.ratio(large, small)),
            ]
        )
    head = ["tools of", *(f"{size:,} tools, ms" for size in sizes), "ratio, x"]
    return Table(f"Changing a tool in a file ({changes} changes)", head, rows)


def _fill_registry(path: Path, size: int, *, has_one_server: bool) -> Registry:
    # In one transaction: a registration for each server would take minutes.
    with closing(Database(path)) as database:
        bindings = [
            Binding(_server_name(number, has_one_server=has_one_server), _definition(number, 0), 1)
            for number in range(size)
        ]
        database.write(Change(1, "", (), tuple(bindings)))
    return open_registry(path, _QUOTAS)


def _change_turn(registry: Registry, size: int, *, has_one_server: bool) -> Callable[[], float]:
    """Return a turn that replaces a different tool each time, and returns seconds."""
    changes = iter(range(1, 10**9))

    def turn() -> float:
        change = next(changes)
        number = change * 7919 % size
        server = _server_name(number, has_one_server=has_one_server)
        definition = _definition(number, change)
        started = time.perf_counter()
        registry.register(server, [definition], keep=None)
        return time.perf_counter() - started

    return turn


def _server_name(number: int, *, has_one_server: bool) -> str:
    return "server" if has_one_server else f"server-{number}"


def _definition(number: int, change: int) -> Definition:
    """Return a definition; all have the same input schema."""
    tool = {
        "name": f"tool-{number}",
        "description": f"change {change}",
        "inputSchema": {"type": "object"},
    }
    text = json.dumps(tool).encode()
    identity = identify_tool(text, ())
    assert identity is not None
    return Definition(
        identity.digest, identity.name, text, (), identity.input_digest, None, "2025-11-25"
    )


# Report


def _times_table(times: dict[str, list[float]]) -> Table:
    rows = []
    for name, milliseconds in times.items():
        summary = summarize(milliseconds)
        rows.append(
            [
                name,
                format_summary(summary),
                f"{summary.maximum:,.1f}",
                f"{sum(milliseconds) / 1000:,.2f}",
                format_summary(Rounds(times).ratio(name, _SIDECHECK)),
            ]
        )
    head = ["", "ms", "longest, ms", "all, s", f"/ {_SIDECHECK}, x"]
    count = len(times[_SIDECHECK])
    return Table(f"Compiling a schema ({count:,} schemas, once each)", head, rows)


def _storage_table(costs: list[StorageCost]) -> Table:
    rows = [
        [
            cost.name,
            f"{cost.tools:,}",
            f"{cost.schema_bytes:,}",
            f"{cost.milliseconds:.2f}",
            f"{cost.milliseconds * cost.tools / 1000:,.1f}",
            f"{cost.bytes:,.0f}",
            f"{cost.bytes_explained:,.0f}" if cost.bytes_explained else "",
        ]
        for cost in costs
    ]
    head = [
        "",
        "created",
        "schema, B (mean)",
        "ms each",
        "all, s",
        "B of memory each",
        "after explaining",
    ]
    return Table("Storing tools (Sidecheck: wall time, through the client)", head, rows)


def _claims(times: dict[str, list[float]], costs: list[StorageCost]) -> Iterator[Claim]:
    for cost in costs:
        if cost.name.startswith(_SIDECHECK):
            yield Claim(
                f"a registered tool costs little memory ({cost.tools:,} tools)",
                f"{_MAX_BYTES:,} bytes at most",
                f"{cost.bytes:,.0f}",
                cost.bytes <= _MAX_BYTES,
            )
    ratio = Rounds(times).ratio("jsonschema", _SIDECHECK)
    yield Claim(
        "compilation is faster than jsonschema's check of the schema",
        "1 times at least, median over tools",
        f"{ratio.median:.2f}",
        ratio.median >= 1,
    )


def _plot(folder: Path, costs: list[StorageCost]) -> None:
    plot_bars(
        folder / "registration.svg",
        "Resident memory for one tool",
        "bytes, mean over the tools",
        {cost.name: {"bytes": summarize([cost.bytes])} for cost in costs},
        line=(_MAX_BYTES, "goal"),
    )


if __name__ == "__main__":
    run(measure, __doc__, add_options)
