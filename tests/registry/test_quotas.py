"""Quotas: their errors, and a file that holds more than they admit."""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.types import Document
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Definition, RemovalResult
from sidecheck_server.registry.quotas import ExceededQuota, RegistryQuotas
from sidecheck_server.registry.sqlite import open_registry
from support.definitions import define_tool

OpenRegistry = Callable[..., Registry]

# A text of 48 bytes.
A, B, C = map(define_tool, "abc")
ADVICE = "delete tools that are not used, or raise the quota in the server's setting"


@pytest.mark.parametrize(
    ("quotas", "server", "definitions", "metadata", "excess"),
    [
        pytest.param(
            RegistryQuotas(tools=4),
            "t",
            [A, B, C],
            {"quota": "tools", "limit": "4", "usage": "5"},
            "5 tools in the registry, more than the quota of 4 (tools)",
            id="tools",
        ),
        pytest.param(
            RegistryQuotas(servers=1),
            "t",
            [A],
            {"quota": "servers", "limit": "1", "usage": "2"},
            "2 servers with tools in the registry, more than the quota of 1 (servers)",
            id="servers",
        ),
        pytest.param(
            RegistryQuotas(bytes=143),
            "t",
            [C],
            {"quota": "bytes", "limit": "143", "usage": "144"},
            "144 bytes of definitions and documents in the registry, more than the quota of 143 "
            "(bytes)",
            id="bytes",
        ),
        pytest.param(
            RegistryQuotas(server_tools=2),
            "s",
            [C],
            {"quota": "server_tools", "limit": "2", "usage": "3"},
            "3 tools of the server, more than the quota of 2 (server_tools)",
            id="tools of a server",
        ),
        pytest.param(
            RegistryQuotas(server_bytes=1000),
            "s",
            [define_tool("c", documents=(Document("urn:" + "d" * 456, b" " * 400),))],
            {"quota": "server_bytes", "limit": "1000", "usage": "1004"},
            "1,004 bytes of definitions and documents of the server, more than the quota of 1,000 "
            "(server_bytes)",
            id="bytes of a server, with documents and their URIs",
        ),
    ],
)
def test_nothing_is_registered_beyond_a_quota(
    quotas: RegistryQuotas,
    server: str,
    definitions: Sequence[Definition],
    metadata: dict[str, str],
    excess: str,
    open_any: OpenRegistry,
) -> None:
    """The error has the quota, the limit, the excess and a remedy."""
    assert len(A.json) == 48
    registry = open_any(quotas)
    registry.register("s", [A, B], keep=None)
    for bind in (registry.preview, registry.register):
        with pytest.raises(RequestError) as raised:
            bind(server, definitions, keep=None)
        error = raised.value
        assert (ErrorReason.QUOTA_EXCEEDED, metadata) == (error.reason, error.metadata)
        assert (
            f"the registration would lead to {excess}, so nothing was registered; {ADVICE} "
            f"registry_quotas.{metadata['quota']}"
        ) == error.message
    assert (registry.count(), registry.revision) == (2, 1)


def test_a_registration_up_to_a_quota_is_admitted(open_any: OpenRegistry) -> None:
    """A set that replaces another is counted without what it replaces."""
    quotas = RegistryQuotas(tools=2, servers=1, bytes=96, server_tools=2, server_bytes=96)
    registry = open_any(quotas)
    registry.register("s", [A, B], keep=None)
    registry.register("s", [B, C], keep=frozenset())
    registry.delete("s", None)
    registry.register("t", [A, B], keep=None)

    assert (registry.count(), registry.revision) == (2, 4)


def test_a_file_beyond_the_quotas_is_served_and_may_shrink(tmp_path: Path) -> None:
    """Quotas may be lowered; what would add to an amount beyond them is rejected."""
    path = tmp_path / "registry.db"
    with closing(open_registry(path)) as registry:
        registry.register("s", [A, B, C], keep=None)
    with closing(open_registry(path, RegistryQuotas(tools=1, server_bytes=96))) as registry:
        assert (
            ExceededQuota("tools", 1, 3),
            ExceededQuota("server_bytes", 96, 144),
        ) == registry.exceeded_quotas()
        with pytest.raises(RequestError, match="QUOTA_EXCEEDED"):
            registry.register("s", [define_tool("a", spaces=1, version="2026-07-28")], keep=None)
        registry.register("s", [define_tool("a", version="2026-07-28"), B], keep=frozenset())
        with pytest.raises(RequestError, match="QUOTA_EXCEEDED"):
            registry.register("s", [C], keep=None)
        assert (ExceededQuota("tools", 1, 2),) == registry.exceeded_quotas()
        assert RemovalResult(("a", "b"), (), 3) == registry.delete("s", None)
        assert () == registry.exceeded_quotas()
