"""Sorted map: immutable, ordered by key; a changed map shares its other nodes with it.

A tree of nodes of at most 64 entries. All leaves have the same depth, so a lookup, or the
change of one key, visits as many nodes as the tree is deep: two for 4,000 keys, three for
200,000.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Any, Generic, TypeAlias, TypeVar

__all__ = ["Key", "SortedMap"]

Value = TypeVar("Value")

#: Keys of one map are compared item by item; a tuple precedes the longer ones that begin
#: with it.
Key: TypeAlias = tuple[str | int, ...]

_MOST = 64
"""Entries of a leaf, and children of a branch."""
_SPARSE = _MOST // 2
"""Neighbours with at most so many entries together are joined to one node."""

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
        return _entries(self._root, key)

    def with_changes(self, changes: Mapping[Key, Value | None]) -> "SortedMap[Value]":
        """Return the map in which keys have the values of *changes*; None removes a key.

        Takes time proportional to the number of changes and, once for each, to the depth.
        """
        nodes = _changed(self._root, sorted(changes.items(), key=_first))
        while len(nodes) > 1:
            nodes = _branches(nodes)
        root = nodes[0] if nodes else _EMPTY
        while not root.is_leaf and len(root.items) == 1:
            root = root.items[0]
        return SortedMap(root)


def _child_index(branch: _Node, key: Key) -> int:
    """Return the index of the child of *branch* below which *key* is, or would be."""
    return max(bisect_right(branch.keys, key) - 1, 0)


def _entries(node: _Node, key: Key) -> Iterator[tuple[Key, Any]]:
    """Yield the entries below *node* from *key* on."""
    if node.is_leaf:
        start = bisect_left(node.keys, key)
        yield from zip(node.keys[start:], node.items[start:], strict=True)
    else:
        for child in node.items[_child_index(node, key) :]:
            yield from _entries(child, key)


def _changed(node: _Node, changes: Sequence[tuple[Key, Any]]) -> list[_Node]:
    """Return the nodes that replace *node* after *changes*, sorted by key; none is empty."""
    if node.is_leaf:
        entries = dict(zip(node.keys, node.items, strict=True))
        for key, value in changes:
            if value is None:
                entries.pop(key, None)
            else:
                entries[key] = value
        keys = sorted(entries)
        return _nodes(keys, [entries[key] for key in keys], is_leaf=True)
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
        children += _changed(node.items[index], changes[start:end])
        unchanged, start = index + 1, end
    children += node.items[unchanged:]
    return _branches(children)


def _branches(children: Sequence[_Node]) -> list[_Node]:
    """Return branches of *children*, of which sparse neighbours are joined."""
    joined: list[_Node] = []
    for child in children:
        last = joined[-1] if joined else None
        if last is not None and len(last.keys) + len(child.keys) <= _SPARSE:
            joined[-1] = _Node(last.keys + child.keys, last.items + child.items, child.is_leaf)
        else:
            joined.append(child)
    return _nodes([child.keys[0] for child in joined], joined, is_leaf=False)


def _nodes(keys: Sequence[Key], items: Sequence[Any], *, is_leaf: bool) -> list[_Node]:
    """Return nodes of about equal size with *keys* and *items*, as few as hold them."""
    if not keys:
        return []
    count = -(-len(keys) // _MOST)
    ends = [len(keys) * number // count for number in range(count + 1)]
    return [
        _Node(tuple(keys[start:end]), tuple(items[start:end]), is_leaf)
        for start, end in pairwise(ends)
    ]
