"""Pages of bindings: order, bounds, continuation."""

import pytest
from sidecheck_server.core.types import Document
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Definition

Key = tuple[str, str]

# In the order of code points: U+FFFD comes before U+10000, unlike in UTF-16.
NAMES = {
    "": ["x"],
    "a": ["", "A", "a", "aa", "b", "\ufffd", "\U00010000"],
    "b": ["a"],
    "\ufffd": ["a"],
    "\U00010000": ["a", "b"],
}
KEYS = [(server, name) for server, names in NAMES.items() for name in names]


def define(name: str, size: int = 10, documents: tuple[Document, ...] = ()) -> Definition:
    digest = f"d:{name.encode().hex()}"
    return Definition(digest, name, b" " * size, documents, "in", None, "2025-11-25")


@pytest.fixture
def filled(registry: Registry) -> Registry:
    for server, names in reversed(NAMES.items()):
        registry.register(server, [define(name) for name in reversed(names)], keep=None)
    return registry


def keys_of(
    registry: Registry, server: str | None, after: Key | None, limit: int, max_bytes: int
) -> tuple[list[Key], bool]:
    page, more = registry.page(server, after, limit, max_bytes)
    return [(binding.server, binding.name) for binding in page], more


@pytest.mark.parametrize(
    ("server", "after", "limit", "max_bytes", "expected"),
    [
        pytest.param(None, None, 99, 999, (KEYS, False), id="all"),
        pytest.param(None, None, 12, 120, (KEYS, False), id="exactly all"),
        pytest.param(None, None, 3, 999, (KEYS[:3], True), id="count limit"),
        pytest.param(None, None, 99, 39, (KEYS[:3], True), id="below the byte limit"),
        pytest.param(None, None, 99, 40, (KEYS[:4], True), id="exactly the byte limit"),
        pytest.param(None, None, 99, 0, (KEYS[:1], True), id="at least one"),
        pytest.param(None, KEYS[10], 99, 0, (KEYS[11:], False), id="the last one"),
        pytest.param(None, KEYS[11], 99, 999, ([], False), id="none after the last"),
        pytest.param(None, ("a", "aaa"), 2, 999, (KEYS[5:7], True), id="after an unbound name"),
        pytest.param(None, ("aa", "z"), 99, 999, (KEYS[8:], False), id="after an unknown server"),
        pytest.param(None, ("", ""), 99, 999, (KEYS, False), id="before the first binding"),
        pytest.param("a", None, 99, 999, (KEYS[1:8], False), id="a server"),
        pytest.param("a", None, 2, 999, (KEYS[1:3], True), id="a server's first"),
        pytest.param("a", ("a", ""), 99, 999, (KEYS[2:8], False), id="after the empty name"),
        pytest.param("a", ("a", "a"), 99, 999, (KEYS[4:8], False), id="a server's last"),
        pytest.param("a", ("", "x"), 1, 999, (KEYS[1:2], True), id="after an earlier server"),
        pytest.param("a", ("b", ""), 99, 999, ([], False), id="after a later server"),
        pytest.param("none", None, 99, 999, ([], False), id="an unknown server"),
    ],
)
def test_a_page_has_the_following_bindings_in_order(
    filled: Registry,
    server: str | None,
    after: Key | None,
    limit: int,
    max_bytes: int,
    expected: tuple[list[Key], bool],
) -> None:
    """Bindings are sorted by server and name, limited by both bounds, with a flag for more."""
    assert expected == keys_of(filled, server, after, limit, max_bytes)


def test_pages_list_every_binding_once(filled: Registry) -> None:
    """Continuing after the last binding of each page lists all of them."""
    listed: list[Key] = []
    more = True
    while more:
        keys, more = keys_of(filled, None, listed[-1] if listed else None, 5, 39)
        listed += keys

    assert listed == KEYS


def test_the_bytes_of_documents_count(registry: Registry) -> None:
    """The size of a tool includes the JSON of its documents."""
    document = Document("urn:d", b" " * 5)
    registry.register("s", [define("a", 5, (document,)), define("b"), define("c")], keep=None)

    assert keys_of(registry, None, None, 99, 20) == ([("s", "a"), ("s", "b")], True)
