"""Cost of compiling and registering tools.

Time to compile each tool of the corpus, against other libraries; time and resident memory of
a registered tool in a real server with its registry in memory, for the corpus and for many
more tools derived from it by renaming properties.

    python benchmarks/admission.py [--quick] [--report FOLDER] [--most TOOLS]
"""

import argparse
import copy
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import jsonschema
import validator_memory
from plots import plot_bars
from report import Claim, Effort, Section, Table, format_summary, run
from servers import Running, sidecheck
from sidecheck import Arguments, BlockingClient, Item, RegisteredTool
from sidecheck_server.core.compiler.compilation import compile_schema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.dialects import SchemaSource
from subjects import all_subjects, corpus_tools
from turns import Summary, summarize

__all__ = ["add_options", "measure"]

_SIDECHECK = "Sidecheck"
_MEMORY_SCRIPT = Path(__file__).resolve().parent / "validator_memory.py"
_BATCH = 200
_MOST_BYTES = 10_000
_MOST_EXPLAINED = 10_000
_LIMITS = Limits()

_TEXT = (
    "Compilation is all that Sidecheck does once for a schema: strict decoding, limits, the "
    "meta-schema, every reference, code. jsonschema checks the schema and creates a validator, "
    "fastjsonschema generates code and checks little, jsonschema-rs does both. A ratio is the "
    "peer's time over Sidecheck's for the same schema, each compiled once, in turns; so 2 "
    "means that the peer takes twice as long. Schemas that one of them rejects are left out. "
    "The memory of a tool is what the resident memory of `sidecheck serve` grew by while "
    f"tools were registered through the client, {_BATCH} in a call, over their number; that "
    "of the other libraries is the growth of a process that creates and stores their validators. "
    "Definition texts, names and digests are in Sidecheck's figure only. The last column is "
    "the memory after every tool has also explained one invalid payload, which the complete "
    "engine does; it is created on first use, and stays."
)


@dataclass(frozen=True, slots=True)
class StorageCost:
    """Cost of creating and storing validators for many tools."""

    name: str
    tools: int
    schema_bytes: int
    milliseconds: float
    bytes: float
    #: After each tool has explained one invalid payload; 0 if not measured.
    bytes_explained: float = 0.0


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the flags of this script."""
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
        _registered(list(islice(_distinct(tools), count)))
        for count in effort.choose(counts, [len(tools)])
    ]
    schemas = [_text(tool["inputSchema"]) for tool in islice(_distinct(tools), len(tools))]
    costs += [_measure_memory(kind, schemas) for kind in validator_memory.KINDS]
    if effort.folder is not None:
        _plot(effort.folder, costs)
    return Section(
        "admission",
        "Compiling schemas and storing tools",
        _TEXT,
        [_times_table(times), _storage_table(costs)],
        list(_claims(times, costs)),
        [("admission.svg", "Bytes of resident memory for a tool")],
    )


# Compiling


def _compile_all(tools: list[dict[str, Any]]) -> dict[str, list[float]]:
    makers: dict[str, Callable[[Any, bytes], object]] = {
        _SIDECHECK: lambda _schema, text: compile_schema(SchemaSource(text), _LIMITS),
        **{name: _making(make) for name, make in validator_memory.KINDS.items()},
    }
    times: dict[str, list[float]] = {name: [] for name in makers}
    order = list(makers)
    for make in makers.values():
        make({"type": "object"}, b'{"type":"object"}')
    for tool in tools:
        text = _text(tool["inputSchema"])
        elapsed = {}
        try:
            for name in order:
                schema = copy.deepcopy(tool["inputSchema"])
                started = time.thread_time_ns()
                makers[name](schema, text)
                elapsed[name] = (time.thread_time_ns() - started) / 1e6
        except (RequestError, jsonschema.SchemaError, Exception):  # noqa: BLE001, S112
            # Each library raises its own exceptions.
            continue
        for name, milliseconds in elapsed.items():
            times[name].append(milliseconds)
        order.reverse()
    return times


def _making(make: Callable[[Any], object]) -> Callable[[Any, bytes], object]:
    return lambda schema, _text: make(schema)


# Storing


def _distinct(tools: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield *tools*, then copies with other names of tools and properties, without end."""
    for lap in range(10**6):
        for number, tool in enumerate(tools):
            made = {**tool, "name": f"t{lap}_{number}"}
            if lap:
                schema = {**tool["inputSchema"]}
                known = schema.get("properties", {})
                schema["properties"] = {f"{name}_{lap}": sub for name, sub in known.items()}
                if isinstance(schema.get("required"), list):
                    schema["required"] = [
                        f"{name}_{lap}" if name in known else name for name in schema["required"]
                    ]
                if not known:
                    schema["title"] = f"made {lap}"
                made["inputSchema"] = schema
            yield made


def _registered(tools: list[dict[str, Any]]) -> StorageCost:
    texts = [_text(tool) for tool in tools]
    with (
        tempfile.TemporaryDirectory() as folder,
        sidecheck(Path(folder)) as server,
        BlockingClient(server.address("unix")) as client,
    ):
        _register(client, [_text({"name": "warm", "inputSchema": {"type": "object"}})])
        before, started = _settled(server), time.perf_counter()
        admitted = _register(client, texts)
        seconds = time.perf_counter() - started
        grown = _settled(server) - before
        explained = 0
        if admitted <= _MOST_EXPLAINED:
            _explain(client, tools)
            explained = _settled(server) - before
    schema_bytes = sum(len(_text(tool["inputSchema"])) for tool in tools)
    return StorageCost(
        f"{_SIDECHECK}, {len(tools):,} tools",
        admitted,
        schema_bytes // len(tools),
        1000 * seconds / admitted,
        grown / admitted,
        explained / admitted,
    )


def _register(client: BlockingClient, texts: list[bytes]) -> int:
    admitted = 0
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        registration = client.register(
            f"server-{start // _BATCH}", batch, on_rejected="return", timeout=120.0
        )
        admitted += sum(outcome.definition_digest != "" for outcome in registration.outcomes)
    return admitted


def _explain(client: BlockingClient, tools: list[dict[str, Any]]) -> None:
    """Validate a payload that is not an object against each tool."""
    for start in range(0, len(tools), _BATCH):
        server = f"server-{start // _BATCH}"
        named = [RegisteredTool(server, tool["name"]) for tool in tools[start : start + _BATCH]]
        client.validate_batch([Item(Arguments(5), target) for target in named], timeout=120.0)


def _settled(server: Running) -> int:
    time.sleep(0.3)
    return server.resident_bytes()


def _measure_memory(kind: str, schemas: list[bytes]) -> StorageCost:
    done = subprocess.run(  # noqa: S603  (our own command)
        [sys.executable, str(_MEMORY_SCRIPT), kind],
        input=b"\n".join(schemas),
        capture_output=True,
        check=True,
    )
    found = json.loads(done.stdout)
    return StorageCost(
        kind,
        found["made"],
        sum(map(len, schemas)) // len(schemas),
        1000 * found["seconds"] / found["made"],
        found["bytes"] / found["made"],
    )


def _text(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


# Report


def _times_table(times: dict[str, list[float]]) -> Table:
    rows = []
    for name, found in times.items():
        every = summarize(found)
        ratio = summarize(
            theirs / ours for theirs, ours in zip(found, times[_SIDECHECK], strict=True)
        )
        rows.append(
            [
                name,
                format_summary(every),
                f"{every.greatest:,.1f}",
                f"{sum(found) / 1000:,.2f}",
                format_summary(ratio),
            ]
        )
    head = ["", "ms", "longest, ms", "all, s", f"/ {_SIDECHECK}, x"]
    return Table(
        f"Making one schema ready ({len(times[_SIDECHECK]):,} schemas, once each)", head, rows
    )


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
                f"{_MOST_BYTES:,} bytes at most",
                f"{cost.bytes:,.0f}",
                cost.bytes <= _MOST_BYTES,
            )
    ratio = summarize(
        theirs / ours for theirs, ours in zip(times["jsonschema"], times[_SIDECHECK], strict=True)
    )
    yield Claim(
        "compiling is quicker than jsonschema's checking of the schema",
        "1 times at least, median over tools",
        f"{ratio.median:.2f}",
        ratio.median >= 1,
    )


def _plot(folder: Path, costs: list[StorageCost]) -> None:
    def bar(figure: float) -> Summary:
        return summarize([figure])

    plot_bars(
        folder / "admission.svg",
        "Resident memory for one tool",
        "bytes, mean over the tools",
        {cost.name: {"bytes": bar(cost.bytes)} for cost in costs},
        line=(_MOST_BYTES, "goal"),
    )


if __name__ == "__main__":
    run(measure, __doc__, add_options)
