"""Immutable sorted map; a changed copy shares all unchanged nodes.

A map is a tree of nodes with at most 64 entries. All leaves have the same depth, so a lookup,
or the change of one key, visits one node for each level: two for 4,000 keys, three for 200,000.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Any, Generic, TypeAlias, TypeVar

__all__ = ["Key", "SortedMap"]

Value = TypeVar("Value")

#: Keys of one map are compared item by item; a tuple precedes longer tuples that start with it.
Key: TypeAlias = tuple[str | int, ...]

_MAX_ENTRIES = 64
"""Maximum entries of a leaf, and children of a branch."""
_SPARSE = _MAX_ENTRIES // 2
"""Maximum entries of two neighbours together that are joined to one node."""

_first = itemgetter(0)


@dataclass(frozen=True, slots=True)
class _Node:
    """A leaf with entries, or a branch with child nodes."""

    #: The keys of a leaf; the first key below each child of a branch.
    keys: tuple[Key, ...]
    #: The values of a leaf; the children of a branch.
    items: tuple[Any, ...]
    is_leaf: bool


_EMPTY = _Node((), (), is_leaf=True)


# Decision 0048: no library has a persistent map with an order, which pages need.
class SortedMap(Generic[Value]):
    """An immutable map from keys to values, in the order of its keys."""

    __slots__ = ("_root",)

    def __init__(self, root: _Node = _EMPTY) -> None:
        self._root = root

    def get(self, key: Key) -> Value | None:
        """Return the value of *key*, or None if there is none."""
        node = self._root
        while not node.is_leaf:
            node = node.items[_child_index(node, key)]
        index = bisect_left(node.keys, key)
        if index == len(node.keys) or node.keys[index] != key:
            return None
        value: Value = node.items[index]
        return value

    def starting_at(self, key: Key) -> Iterator[tuple[Key, Value]]:
        """Yield the keys from *key* on, with their values, in order."""
        return _iterate_entries(self._root, key)

    def with_changes(self, changes: Mapping[Key, Value | None]) -> "SortedMap[Value]":
        """Return a map with the values of *changes*; the value None removes a key.

        Takes time proportional to the number of changes times the depth.
        """
        nodes = _apply_changes(self._root, sorted(changes.items(), key=_first))
        while len(nodes) > 1:
            nodes = _build_branches(nodes)
        root = nodes[0] if nodes else _EMPTY
        while not root.is_leaf and len(root.items) == 1:
            root = root.items[0]
        return SortedMap(root)


def _child_index(branch: _Node, key: Key) -> int:
    """Return the index of the child of *branch* below which *key* is, or would be."""
    return max(bisect_right(branch.keys, key) - 1, 0)


def _iterate_entries(node: _Node, key: Key) -> Iterator[tuple[Key, Any]]:
    """Yield the entries below *node* from *key* on."""
    if node.is_leaf:
        start = bisect_left(node.keys, key)
        yield from zip(node.keys[start:], node.items[start:], strict=True)
    else:
        for child in node.items[_child_index(node, key) :]:
            yield from _iterate_entries(child, key)


def _apply_changes(node: _Node, changes: Sequence[tuple[Key, Any]]) -> list[_Node]:
    """Return the non-empty nodes that replace *node* after the sorted *changes*."""
    if node.is_leaf:
        entries = dict(zip(node.keys, node.items, strict=True))
        for key, value in changes:
            if value is None:
                entries.pop(key, None)
            else:
                entries[key] = value
        keys = sorted(entries)
        return _build_nodes(keys, [entries[key] for key in keys], is_leaf=True)
    children: list[_Node] = []
    unchanged = start = 0
    while start < len(changes):
        index = _child_index(node, changes[start][0])
        is_last = index + 1 == len(node.keys)
        end = (
            len(changes)
            if is_last
            else bisect_left(changes, node.keys[index + 1], lo=start, key=_first)
        )
        children += node.items[unchanged:index]
        children += _apply_changes(node.items[index], changes[start:end])
        unchanged, start = index + 1, end
    children += node.items[unchanged:]
    return _build_branches(children)


def _build_branches(children: Sequence[_Node]) -> list[_Node]:
    """Return branches of *children*, after joining sparse neighbours."""
    joined: list[_Node] = []
    for child in children:
        last = joined[-1] if joined else None
        if last is not None and len(last.keys) + len(child.keys) <= _SPARSE:
            joined[-1] = _Node(last.keys + child.keys, last.items + child.items, child.is_leaf)
        else:
            joined.append(child)
    return _build_nodes([child.keys[0] for child in joined], joined, is_leaf=False)


def _build_nodes(keys: Sequence[Key], items: Sequence[Any], *, is_leaf: bool) -> list[_Node]:
    """Return the fewest nodes that hold *keys* and *items*, of about equal size."""
    if not keys:
        return []
    count = -(-len(keys) // _MAX_ENTRIES)
    ends = [len(keys) * number // count for number in range(count + 1)]
    return [
        _Node(tuple(keys[start:end]), tuple(items[start:end]), is_leaf)
        for start, end in pairwise(ends)
    ]
