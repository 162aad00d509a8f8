"""What it takes to make a schema ready, and to keep it.

The time to compile each tool of the corpus, against other libraries; and the time and the
resident memory that a registered tool costs a real server, whose registry is in memory, for
the corpus and for many more tools that are made from it by renaming properties.

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

import held
import jsonschema
from plots import plot_bars
from report import Claim, Effort, Section, Table, run, told
from rounds import Summary, summary
from servers import Running, sidecheck
from sidecheck import Arguments, BlockingClient, Item, RegisteredTool
from sidecheck_server.core.compiler.compilation import compile_source
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.source import SchemaSource
from subjects import all_subjects, corpus_tools

__all__ = ["add_options", "measure"]

_OURS = "Sidecheck"
_HELD = Path(__file__).resolve().parent / "held.py"
_BATCH = 200
_MOST_BYTES = 10_000
_MOST_EXPLAINED = 10_000
_LIMITS = Limits()

_TEXT = (
    "To compile is all that Sidecheck does to a schema once: strict decoding, bounds, the "
    "meta-schema, every reference, code. jsonschema checks the schema and makes a validator, "
    "fastjsonschema makes code and checks little, jsonschema-rs does both. A ratio is the "
    "peer's time over Sidecheck's for the same schema, each compiled once, in turns; so 2 "
    "means that the peer takes twice as long. Schemas that any of them refuses are left out. "
    "The memory of a tool is what the resident memory of `sidecheck serve` grew by while "
    f"tools were registered through the client, {_BATCH} in a call, over their number; that "
    "of the other libraries what a process grew by that made and kept their validators. "
    "Definition texts, names and digests are in Sidecheck's figure only. The last column is "
    "the memory after every tool has also told, once, what is wrong with a payload; what does "
    "that is made when it is first needed, and kept."
)


@dataclass(frozen=True, slots=True)
class Kept:
    """What it took to make and keep validators for many tools."""

    who: str
    tools: int
    schema_bytes: int
    milliseconds: float
    bytes: float
    #: The same once each tool has told what is wrong with one payload; 0 if not asked.
    bytes_explained: float = 0.0


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the flags of this script."""
    parser.add_argument(
        "--most", type=int, default=100_000, help="the largest number of tools to register"
    )


def measure(effort: Effort) -> Section:
    """Answer the question of this script."""
    tools = list(corpus_tools()) or [subject.definition for subject in all_subjects()]
    random.Random(20261118).shuffle(tools)  # noqa: S311  (a fixed order, not a secret)
    tools = tools[: effort.choose(None, 150)]
    times = _compile_all(tools)
    counts = [count for count in (len(tools), 10_000, 100_000) if count <= effort.given.most]
    kept = [
        _registered(list(islice(_distinct(tools), count)))
        for count in effort.choose(counts, [len(tools)])
    ]
    schemas = [_text(tool["inputSchema"]) for tool in islice(_distinct(tools), len(tools))]
    kept += [_held(kind, schemas) for kind in held.KINDS]
    if effort.folder is not None:
        _plot(effort.folder, kept)
    return Section(
        "admission",
        "Compiling schemas and keeping tools",
        _TEXT,
        [_times_table(times), _kept_table(kept)],
        list(_claims(times, kept)),
        [("admission.svg", "Bytes of resident memory for a tool")],
    )


# Compiling


def _compile_all(tools: list[dict[str, Any]]) -> dict[str, list[float]]:
    makers: dict[str, Callable[[Any, bytes], object]] = {
        _OURS: lambda _schema, text: compile_source(SchemaSource(text), _LIMITS),
        **{name: _making(make) for name, make in held.KINDS.items()},
    }
    times: dict[str, list[float]] = {name: [] for name in makers}
    order = list(makers)
    for make in makers.values():
        make({"type": "object"}, b'{"type":"object"}')
    for tool in tools:
        text = _text(tool["inputSchema"])
        took = {}
        try:
            for name in order:
                schema = copy.deepcopy(tool["inputSchema"])
                began = time.thread_time_ns()
                makers[name](schema, text)
                took[name] = (time.thread_time_ns() - began) / 1e6
        except (RequestError, jsonschema.SchemaError, Exception):  # noqa: BLE001, S112
            # Each library has its own way to fail.
            continue
        for name, milliseconds in took.items():
            times[name].append(milliseconds)
        order.reverse()
    return times


def _making(make: Callable[[Any], object]) -> Callable[[Any, bytes], object]:
    return lambda schema, _text: make(schema)


# Keeping


def _distinct(tools: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield *tools*, then again and again with other names of the tool and its properties."""
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


def _registered(tools: list[dict[str, Any]]) -> Kept:
    texts = [_text(tool) for tool in tools]
    with (
        tempfile.TemporaryDirectory() as folder,
        sidecheck(Path(folder)) as server,
        BlockingClient(server.address("unix")) as client,
    ):
        _register(client, [_text({"name": "warm", "inputSchema": {"type": "object"}})])
        before, began = _settled(server), time.perf_counter()
        admitted = _register(client, texts)
        seconds = time.perf_counter() - began
        grown = _settled(server) - before
        explained = 0
        if admitted <= _MOST_EXPLAINED:
            _explain(client, tools)
            explained = _settled(server) - before
    schema_bytes = sum(len(_text(tool["inputSchema"])) for tool in tools)
    return Kept(
        f"{_OURS}, {len(tools):,} tools",
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
        registration = client.register(f"server-{start // _BATCH}", batch, timeout=120.0)
        admitted += sum(outcome.definition_digest != "" for outcome in registration.outcomes)
    return admitted


def _explain(client: BlockingClient, tools: list[dict[str, Any]]) -> None:
    """Have every tool say what is wrong with a payload that is not an object."""
    for start in range(0, len(tools), _BATCH):
        server = f"server-{start // _BATCH}"
        named = [RegisteredTool(server, tool["name"]) for tool in tools[start : start + _BATCH]]
        client.validate_batch([Item(Arguments(5), target) for target in named], timeout=120.0)


def _settled(server: Running) -> int:
    time.sleep(0.3)
    return server.resident_bytes()


def _held(kind: str, schemas: list[bytes]) -> Kept:
    done = subprocess.run(  # noqa: S603  (our own command)
        [sys.executable, str(_HELD), kind],
        input=b"\n".join(schemas),
        capture_output=True,
        check=True,
    )
    found = json.loads(done.stdout)
    return Kept(
        kind,
        found["made"],
        sum(map(len, schemas)) // len(schemas),
        1000 * found["seconds"] / found["made"],
        found["bytes"] / found["made"],
    )


def _text(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


# What is told


def _times_table(times: dict[str, list[float]]) -> Table:
    rows = []
    for name, found in times.items():
        every = summary(found)
        ratio = summary(theirs / ours for theirs, ours in zip(found, times[_OURS], strict=True))
        rows.append(
            [name, told(every), f"{every.greatest:,.1f}", f"{sum(found) / 1000:,.2f}", told(ratio)]
        )
    head = ["", "ms", "longest, ms", "all, s", f"/ {_OURS}, x"]
    return Table(f"Making one schema ready ({len(times[_OURS]):,} schemas, once each)", head, rows)


def _kept_table(kept: list[Kept]) -> Table:
    rows = [
        [
            one.who,
            f"{one.tools:,}",
            f"{one.schema_bytes:,}",
            f"{one.milliseconds:.2f}",
            f"{one.milliseconds * one.tools / 1000:,.1f}",
            f"{one.bytes:,.0f}",
            f"{one.bytes_explained:,.0f}" if one.bytes_explained else "",
        ]
        for one in kept
    ]
    head = [
        "",
        "made",
        "schema, B (mean)",
        "ms each",
        "all, s",
        "B of memory each",
        "once explained",
    ]
    return Table("Keeping tools (Sidecheck: on the wall, through the client)", head, rows)


def _claims(times: dict[str, list[float]], kept: list[Kept]) -> Iterator[Claim]:
    for one in kept:
        if one.who.startswith(_OURS):
            yield Claim(
                f"a registered tool costs little memory ({one.tools:,} tools)",
                f"{_MOST_BYTES:,} bytes at most",
                f"{one.bytes:,.0f}",
                one.bytes <= _MOST_BYTES,
            )
    ratio = summary(
        theirs / ours for theirs, ours in zip(times["jsonschema"], times[_OURS], strict=True)
    )
    yield Claim(
        "compiling is quicker than jsonschema's checking of the schema",
        "1 times at least, median over tools",
        f"{ratio.median:.2f}",
        ratio.median >= 1,
    )


def _plot(folder: Path, kept: list[Kept]) -> None:
    def bar(figure: float) -> Summary:
        return summary([figure])

    plot_bars(
        folder / "admission.svg",
        "Resident memory for one tool",
        "bytes, mean over the tools",
        {one.who: {"bytes": bar(one.bytes)} for one in kept},
        line=(_MOST_BYTES, "wanted of Sidecheck"),
    )


if __name__ == "__main__":
    run(measure, __doc__, add_options)
