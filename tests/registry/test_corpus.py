"""The registry with the corpus of published tools."""

import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest
from sidecheck_server.registry.sqlite import open_registry
from support.published_tools import published_tools


@pytest.mark.corpus
def test_published_tools_round_trip_with_little_memory(tmp_path: Path) -> None:
    """Every byte of the corpus is stored, with less than 2 KB per tool beyond the JSON."""
    servers = published_tools()
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
