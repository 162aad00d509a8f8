"""Sorted map: against a dictionary, and how much of it a change makes anew."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sidecheck_server.registry.catalogue import Catalogue
from sidecheck_server.registry.definitions import Binding, Change, Definition
from sidecheck_server.registry.sorted_map import Key, SortedMap, _Node

SIZES = (100, 200_000)

#: A range of numbers, of which each becomes a key, is removed, or gets another value.
changes = st.builds(
    lambda start, count, step, value: {
        (n,): value for n in range(start, start + count * step, step)
    },
    st.integers(0, 1000),
    st.integers(0, 400),
    st.integers(1, 7),
    st.sampled_from([None, None, "a", "b"]),
)


def nodes_of(node: _Node) -> list[_Node]:
    return [node] if node.is_leaf else [node, *(n for c in node.items for n in nodes_of(c))]


def depths_of(node: _Node) -> set[int]:
    return {1} if node.is_leaf else {1 + depth for c in node.items for depth in depths_of(c)}


def least_key(node: _Node) -> Key:
    return node.keys[0] if node.is_leaf else least_key(node.items[0])


@given(st.lists(changes, max_size=6), st.integers(-1, 2000))
def test_a_map_has_the_entries_of_a_dictionary(
    batches: list[Mapping[Key, str | None]], start: int
) -> None:
    """Entries are sorted from any key on; every earlier map is unchanged."""
    maps: list[SortedMap[str]] = [SortedMap()]
    models: list[dict[Key, str]] = [{}]
    for batch in batches:
        maps.append(maps[-1].with_changes(batch))
        merged = {**models[-1], **batch}
        models.append({key: value for key, value in merged.items() if value is not None})

    for map_, model in zip(maps, models, strict=True):
        entries = sorted(model.items())
        assert entries == list(map_.starting_at(()))
        assert [entry for entry in entries if entry[0] >= (start,)] == list(
            map_.starting_at((start,))
        )
        assert model.get((start,)) == map_.get((start,))
        assert len(depths_of(map_._root)) == 1
        for node in nodes_of(map_._root):
            assert len(node.keys) == len(node.items) <= 64
            assert node.is_leaf or [least_key(child) for child in node.items] == [*node.keys]


def test_a_map_shrinks_with_its_entries() -> None:
    """A map of which a few entries are left, all over it, has few nodes and little depth."""
    whole: SortedMap[int] = SortedMap()
    whole = whole.with_changes({(n,): n for n in range(20_000)})
    for n in range(20_000):
        if n % 1000:
            whole = whole.with_changes({(n,): None})

    assert [((n,), n) for n in range(0, 20_000, 1000)] == list(whole.starting_at(()))
    assert len(nodes_of(whole._root)) == 1


def catalogue_of(size: int, *, one_server: bool) -> Catalogue:
    """Return a catalogue of tools that share one schema, of one server or of one each."""
    return Catalogue.of(
        1,
        [
            Binding("s" if one_server else f"s{n:06}", define(f"t{n:06}", "1"), 1)
            for n in range(size)
        ],
    )


def define(name: str, content: str) -> Definition:
    return Definition(f"{name}:{content}", name, b"{}", (), "in", None, "2025-11-25")


def count_new_nodes(before: Catalogue, after: Catalogue) -> int:
    """Return how many nodes of *after* are not those of *before*."""
    count = 0
    for name in ("bindings", "definitions", "schemas", "servers"):
        earlier_nodes = {id(node) for node in nodes_of(getattr(before, name)._root)}
        count += sum(id(node) not in earlier_nodes for node in nodes_of(getattr(after, name)._root))
    return count


@pytest.mark.slow
@pytest.mark.parametrize("one_server", [True, False])
def test_a_change_costs_the_same_in_a_large_registry(*, one_server: bool) -> None:
    """Each map makes a path of nodes anew, or two where one is split or two are joined."""
    node_counts = {}
    for size in SIZES:
        before = catalogue_of(size, one_server=one_server)
        first = next(iter(before.bindings.starting_at(())))[1]
        server = first.server
        created = Binding(server, define("t", "1"), 2)
        # Of the oldest binding of the schema that all tools share.
        changed = Binding(server, define(first.name, "2"), 2)
        changes = {
            "create": Change(2, server, (), (created,)),
            "change": Change(2, server, (), (changed,)),
            "remove": Change(2, server, (first.name,), ()),
        }
        node_counts[size] = {
            name: count_new_nodes(before, before.with_change(change))
            for name, change in changes.items()
        }

    # Three maps of 200,000 are three nodes deep, of 100 two; a leaf may be split.
    assert all(
        count <= 4 * 2 * 3 for counts in node_counts.values() for count in counts.values()
    ), node_counts
