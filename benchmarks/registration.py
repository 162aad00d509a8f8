"""Time of a server to register every tool of the corpus, and of the registry to change one.

Starts a server whose registry is a file, registers the tools of each origin in one
call, twice: first every schema is compiled, then every definition is known. Reads the
corpus from SIDECHECK_SHARED, or from `shared` beside the checkout. Then changes one tool
in a registry of 100 and in one of 200,000, of one server and of a server each, in turns.

    python benchmarks/registration.py
"""

import gzip
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from statistics import median

from sidecheck import BlockingClient
from sidecheck_server.core.mcp.tool_definitions import identify_tool
from sidecheck_server.registry import Registry
from sidecheck_server.registry.database import Database
from sidecheck_server.registry.definitions import Binding, Change, Definition
from sidecheck_server.registry.quotas import RegistryQuotas
from sidecheck_server.registry.sqlite import open_registry

_SIZES = (100, 200_000)
_CHANGES = 100
_QUOTAS = RegistryQuotas(*[1 << 40] * 5)

_REPOSITORY = Path(__file__).resolve().parent.parent


def main() -> None:
    """Print the figures."""
    shared = Path(os.environ.get("SIDECHECK_SHARED") or _REPOSITORY.parent / "shared")
    tools = _tools(shared / "corpus" / "tools.jsonl.gz")
    count = sum(map(len, tools.values()))
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores")
    print(f"grpcio {version('grpcio')}, fastjsonschema {version('fastjsonschema')}")
    print(f"{count} tools of {len(tools)} servers\n")
    with tempfile.TemporaryDirectory() as folder:
        socket = Path(folder) / "s"
        server = subprocess.Popen(  # noqa: S603  (our own command)
            [
                *(sys.executable, "-m", "sidecheck_server", "serve", "--listen", ""),
                *("--unix-socket", str(socket), "--registry", f"{folder}/tools.db"),
                *("--log-level", "warning"),
            ]
        )
        try:
            while not socket.exists():
                time.sleep(0.05)
                if server.poll() is not None:
                    sys.exit("the server did not start")
            with BlockingClient(f"unix:{socket}") as client:
                for what in ("first", "again"):
                    actions, seconds = _register(client, tools)
                    counts = ", ".join(f"{count} {name}" for name, count in actions.items())
                    print(f"{what:<6} {seconds:6.2f} s  {counts}")
        finally:
            server.terminate()
            server.wait()
        print(f"\nmedian of {_CHANGES} changes of one tool")
        for one_server in (True, False):
            seconds_by_size = _change_one(Path(folder), one_server=one_server)
            few, many = (1000 * median(seconds_by_size[size]) for size in _SIZES)
            print(
                f"{'one server' if one_server else 'a server each':<13} "
                f"{_SIZES[0]:,} tools: {few:.2f} ms, {_SIZES[1]:,} tools: {many:.2f} ms, "
                f"ratio {many / few:.2f}"
            )


def _change_one(folder: Path, *, one_server: bool) -> dict[int, list[float]]:
    """Return the seconds of each change of one tool, by the number of tools."""
    registries: dict[int, Registry] = {}
    seconds: dict[int, list[float]] = {size: [] for size in _SIZES}
    for size in _SIZES:
        path = folder / f"{size}-{one_server}.db"
        # In one transaction, as no registration is: one for each server would take minutes.
        with closing(Database(path)) as database:
            bindings = [
                Binding(_server(number, one_server=one_server), _definition(number, 0), 1)
                for number in range(size)
            ]
            database.write(Change(1, "", (), tuple(bindings)))
        started = time.perf_counter()
        registries[size] = open_registry(path, _QUOTAS)
        if size == max(_SIZES):
            print(f"opening {size:,} tools: {time.perf_counter() - started:.1f} s")
    for change in range(1, _CHANGES + 1):
        for size, registry in registries.items():
            number = change * 7919 % size
            tool, server = _definition(number, change), _server(number, one_server=one_server)
            started = time.perf_counter()
            registry.register(server, [tool], keep=None)
            seconds[size].append(time.perf_counter() - started)
    for registry in registries.values():
        registry.close()
    return seconds


def _server(number: int, *, one_server: bool) -> str:
    return "server" if one_server else f"server-{number}"


def _definition(number: int, change: int) -> Definition:
    """Return a definition whose input schema all tools share."""
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


def _tools(path: Path) -> dict[str, list[bytes]]:
    tools = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            origin = record["prov"].get("server") or record["prov"]["repo"]
            tools[origin].append(json.dumps(record["tool"], ensure_ascii=False).encode())
    return tools


def _register(client: BlockingClient, tools: dict[str, list[bytes]]) -> tuple[Counter[str], float]:
    actions: Counter[str] = Counter()
    started = time.perf_counter()
    for server, definitions in tools.items():
        registration = client.register(server, definitions, on_rejected="return", timeout=60.0)
        actions.update(outcome.action.value for outcome in registration.outcomes)
    return actions, time.perf_counter() - started


if __name__ == "__main__":
    main()
