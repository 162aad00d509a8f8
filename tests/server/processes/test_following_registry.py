"""The registry of a serving process: how it follows that of the first process."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence

import pytest
from sidecheck_server.registry.catalogue import Catalogue
from sidecheck_server.registry.definitions import Binding, Change
from sidecheck_server.registry.postgres.registry import differences
from sidecheck_server.registry.quotas import RegistryQuotas
from sidecheck_server.server.processes.link import Link
from sidecheck_server.server.serving import FollowingRegistry
from support.definitions import define_tool

A, B = map(define_tool, "ab")


@pytest.fixture
async def link() -> AsyncIterator[Link]:
    """Return a link without a peer."""
    ours, theirs = socket.socketpair()
    with theirs:
        link = await Link.open(ours, {})
        yield link
        await link.close()


def follow(link: Link, history: Sequence[Change] = ()) -> FollowingRegistry:
    catalogue = Catalogue.of(1, [Binding("s", A, 1), Binding("t", A, 1)])
    return FollowingRegistry(catalogue, history, RegistryQuotas(), link)


async def test_a_reload_is_read_as_a_whole(link: Link) -> None:
    """Reads see all of its parts or none."""
    registry = follow(link)
    changes: list[tuple[int, int, Change]] = []
    registry.subscribe(lambda change: changes.append((registry.revision, registry.count(), change)))
    after = Catalogue.of(5, [Binding("t", B, 2), Binding("u", A, 4), Binding("u", B, 5)])
    parts = differences(registry._catalogue, after)
    for part in parts:
        assert (registry.revision, registry.count()) == (1, 2)
        registry.apply(part)
    await asyncio.sleep(0)

    assert [part.server for part in parts] == ["s", "t", "u"]
    assert changes == [(5, 3, part) for part in parts]
    assert registry.page(None, None, 9, 999) == after.page(None, None, 9, 999)
    assert registry.change_id == after.change_id


async def test_the_history_has_the_later_changes(link: Link) -> None:
    """Later subscribers miss no change between the copy and their subscription."""
    changes = [Change(revision, "s", (), (Binding("s", B, revision),)) for revision in (1, 2, 3)]
    registry = follow(link, changes[:1])
    registry.apply(changes[1])

    assert registry.take_history() == tuple(changes[:2])
    registry.apply(changes[2])
    assert registry.take_history() == ()
