"""The registry for callers that are limited to some servers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sidecheck_server.access.identity import IDENTITY, Identity, Role
from sidecheck_server.access.namespaced_registry import NamespacedRegistry
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Binding, Definition
from sidecheck_server.registry.sqlite import open_registry


def define(name: str, schema: str) -> Definition:
    return Definition(f"d:{name}", name, b"{}", (), schema, None, "2025-11-25")


SHARED, MINE, THEIRS = define("shared", "in:1"), define("m", "in:2"), define("t", "in:3")


@pytest.fixture
def registry() -> Iterator[Registry]:
    """A registry with tools of two servers, both of which have the shared one: theirs first."""
    opened = open_registry(None)
    opened.register("theirs", [SHARED, THEIRS], keep=None)
    opened.register("mine", [SHARED, MINE], keep=None)
    yield NamespacedRegistry(opened)
    opened.close()


@contextmanager
def limited_to(*servers: str) -> Iterator[None]:
    token = IDENTITY.set(Identity("limited", frozenset({Role.ADMIN}), frozenset(servers)))
    try:
        yield
    finally:
        IDENTITY.reset(token)


USES: dict[str, Callable[[Registry, str], Any]] = {
    "find": lambda registry, server: registry.find(server, "shared"),
    "page": lambda registry, server: registry.page(server, None, 10, 1000),
    "preview": lambda registry, server: registry.preview(server, [MINE], keep=None),
    "register": lambda registry, server: registry.register(server, [MINE], keep=frozenset()),
    "delete": lambda registry, server: registry.delete(server, None),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_other_servers_are_denied(registry: Registry, use: Any) -> None:
    """Reads and writes are denied, for servers without tools too; nothing changes."""
    revision = registry.revision
    with limited_to("mine", "empty"):
        use(registry, "empty")
        for server in ("theirs", "unknown"):
            with pytest.raises(RequestError) as raised:
                use(registry, server)
            assert ErrorReason.PERMISSION_DENIED is raised.value.reason
            assert {"server": server} == raised.value.metadata
            assert server not in raised.value.message

    written = use is USES["register"]
    assert revision + written == registry.revision
    assert registry.find("theirs", "t") is not None


def test_all_servers_are_denied(registry: Registry) -> None:
    """A list of them would name others."""
    with limited_to("mine"), pytest.raises(RequestError) as raised:
        registry.page(None, None, 10, 1000)

    assert ErrorReason.PERMISSION_DENIED is raised.value.reason
    assert {"field": "server"} == raised.value.metadata


def test_digests_resolve_in_the_callers_servers_only(registry: Registry) -> None:
    """Registrations of other servers do not matter."""
    with limited_to("mine"):
        assert Binding("mine", SHARED, 2) == registry.bound_to("d:shared")
        assert registry.bound_to("d:t") is None
        assert (MINE, "input") == registry.schema("in:2")
        assert registry.schema("in:3") is None
    with limited_to("nobody's"):
        assert registry.bound_to("d:shared") is None

    assert Binding("theirs", SHARED, 1) == registry.bound_to("d:shared")
    assert (THEIRS, "input") == registry.schema("in:3")


def test_the_empty_name_has_no_tools(registry: Registry) -> None:
    """A limited caller sees no tools of a server without a name either."""
    with limited_to("mine"):
        assert registry.find("", "shared") is None
