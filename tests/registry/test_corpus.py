"""The registry with the corpus of published tools."""

import hashlib
import json
import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest
from sidecheck_server.registry.definitions import Definition
from sidecheck_server.registry.sqlite import open_registry
from support.shared_material import read_records, shared


def digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True).encode()
    return f"sha256:{hashlib.sha256(text).hexdigest()}"


def corpus() -> dict[str, list[Definition]]:
    """Return the tools of each server, with distinct names per server."""
    servers: dict[str, dict[str, Definition]] = {}
    for record in read_records(shared("corpus/tools.jsonl.gz")):
        tool = record["tool"]
        definition = Definition(
            digest(tool),
            tool["name"],
            json.dumps(tool, ensure_ascii=False).encode(),
            (),
            digest(tool["inputSchema"]),
            digest(tool["outputSchema"]) if "outputSchema" in tool else None,
            "2025-11-25",
        )
        server = record["prov"].get("server") or record["prov"]["repo"]
        servers.setdefault(server, {})[definition.name] = definition
    return {server: list(tools.values()) for server, tools in servers.items()}


@pytest.mark.corpus
def test_published_tools_round_trip_with_little_memory(tmp_path: Path) -> None:
    """Every byte of the corpus is stored, with less than 2 KB per tool beyond the JSON."""
    servers = corpus()
    path = tmp_path / "registry.db"
    with closing(open_registry(path)) as registry:
        for server, tools in servers.items():
            registry.register(server, tools, keep=frozenset())
        expected = registry.page(None, None, 1 << 30, 1 << 60)[0]

    tracemalloc.start()
    with closing(open_registry(path)) as registry:
        memory, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert expected == registry.page(None, None, 1 << 30, 1 << 60)[0]
    size = sum(binding.definition.size for binding in expected)
    assert (memory - size) / len(expected) < 2_000
