"""Time of a server to register every tool of the corpus.

Starts a server whose registry is a file, registers the tools of each origin in one
call, twice: first every schema is compiled, then every definition is known. Reads the
corpus from SIDECHECK_SHARED, or from `shared` beside the checkout.

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
from importlib.metadata import version
from pathlib import Path

from sidecheck import BlockingClient

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
