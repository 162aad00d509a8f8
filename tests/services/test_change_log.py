"""Log of changes: events of watchers, and the end of a watch."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from dataclasses import replace
from uuid import uuid4

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Binding, Change, Definition
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services import change_log
from sidecheck_server.services.change_log import ChangeLog, Checkpoint

A, B = (Definition(f"{name}:1", name, b"{}", (), f"in:{name}", None, "2025-11-25") for name in "ab")


@pytest.fixture
def registry() -> Iterator[Registry]:
    with closing(open_registry(None)) as opened:
        yield opened


@pytest.fixture
def recorded_changes(registry: Registry) -> list[Change]:
    """Return a list to which the changes of the registry are appended."""
    changes: list[Change] = []
    registry.subscribe(changes.append)
    return changes


async def take(events: AsyncIterator[Change | Checkpoint], count: int) -> list[Change | Checkpoint]:
    return [await anext(events) for _ in range(count)]


async def test_changes_come_in_order_and_then_a_checkpoint(
    registry: Registry, recorded_changes: list[Change]
) -> None:
    registry.register("before", [A], keep=None)
    log = ChangeLog(registry, 60, 1 << 20)
    events = log.follow(1)
    assert [Checkpoint(1, recorded_changes[0].id)] == await take(events, 1)
    registry.register("s", [A, B], keep=None)
    registry.delete("s", ["a"])
    last = Checkpoint(3, recorded_changes[2].id)

    assert [
        Change(2, "s", (), (Binding("s", A, 2), Binding("s", B, 2))),
        Change(3, "s", ("a",), ()),
        last,
    ] == await take(events, 3)
    assert [Change(3, "s", ("a",), ()), last] == await take(
        log.follow(2, str(recorded_changes[1].id)), 2
    )
    assert last == log.checkpoint


async def test_checkpoints_come_while_nothing_changes(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_log, "_CHECKPOINT_SECONDS", 0.01)
    log = ChangeLog(registry, 60, 1 << 20)
    checkpoint = Checkpoint(0, registry.change_id)

    assert [checkpoint] * 3 == await take(log.follow(0), 3)


@pytest.mark.parametrize(
    ("after", "after_id", "message"),
    [
        (0, "", "changes since revision 0 are not kept"),
        (1, "", "changes since revision 1 are not kept"),
        (2, "another", "the registry has another history up to revision 2"),
        (3, "no ID", "the registry has another history up to revision 3"),
        (9, "", "the registry is at revision 3, before 9: it was restored"),
    ],
)
async def test_a_revision_that_cannot_be_watched_from(
    registry: Registry, monkeypatch: pytest.MonkeyPatch, after: int, after_id: str, message: str
) -> None:
    monkeypatch.setattr(change_log, "_CATCH_UP_SECONDS", 0.01)
    registry.register("before", [A], keep=None)
    log = ChangeLog(registry, 60, 2000)
    registry.register("s", [A], keep=None)
    registry.register("s", [B], keep=None)
    changes = await take(log.follow(2), 2)
    with pytest.raises(RequestError) as raised:
        await take(log.follow(after, after_id), 1)

    assert [Change(3, "s", (), (Binding("s", B, 3),)), log.checkpoint] == changes
    assert message == raised.value.message.partition(";")[0]
    assert {"oldest_revision": "2", "revision": "3"} == raised.value.metadata


async def test_small_definitions_are_charged_for_their_overhead(registry: Registry) -> None:
    """By text alone, the history would take ten times its limit."""
    tools = [replace(A, digest=f"{n}:1", name=str(n)) for n in range(1000)]
    log = ChangeLog(registry, 60, 1 << 20)
    registry.register("s", tools, keep=None)
    registry.register("s", [replace(tool, digest="2:1") for tool in tools], keep=None)
    await log.wait_for_revision(2)
    with pytest.raises(RequestError, match="changes since revision 0 are not kept"):
        await take(log.follow(0), 1)

    assert [2, 2] == [change.revision for change in await take(log.follow(1), 2)]


async def test_a_reload_ends_watchers(registry: Registry) -> None:
    """The changes before it are unknown."""
    log = ChangeLog(registry, 60, 1 << 20)
    events = log.follow(0)
    await take(events, 1)
    reload = Change(7, "s", (), (), is_reload=True)
    log._append(reload)
    with pytest.raises(RequestError, match="list the tools"):
        await take(events, 1)

    assert [Checkpoint(7, reload.id)] == await take(log.follow(7, str(reload.id)), 1)


async def test_a_gap_ends_watchers(registry: Registry) -> None:
    """A change without its predecessor cannot be applied."""
    log = ChangeLog(registry, 60, 1 << 20)
    change = Change(3, "s", (), ())
    log._append(change)
    with pytest.raises(RequestError, match="are not kept"):
        await take(log.follow(1), 1)

    assert [Checkpoint(3, change.id)] == await take(log.follow(3), 1)


async def test_changes_before_the_opening_are_followed(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one before them is known by its revision alone."""
    registry.register("s", [A], keep=None)
    registry.register("s", [B], keep=None)
    change = Change(2, "s", (), (Binding("s", B, 2),), id=registry.change_id)
    monkeypatch.setattr(registry, "take_history", lambda: (change,))
    log = ChangeLog(registry, 60, 1 << 20)

    assert [change, Checkpoint(2, change.id)] == await take(log.follow(1), 2)
    with pytest.raises(RequestError, match="another history up to revision 1"):
        await take(log.follow(1, str(uuid4())), 1)


async def test_old_changes_are_dropped(registry: Registry) -> None:
    """The next change drops changes over the maximum age."""
    seconds = [0.0]
    log = ChangeLog(registry, 60, 1 << 20, lambda: seconds[0])
    for made_at in (0, 30, 60, 91):
        seconds[0] = made_at
        registry.register(f"at {made_at}", [A], keep=None)
        await asyncio.sleep(0)  # the log notes it
    changes = await take(log.follow(2), 3)
    with pytest.raises(RequestError) as raised:
        await take(log.follow(1), 1)

    assert ["at 60", "at 91"] == [event.server for event in changes if isinstance(event, Change)]
    assert log.checkpoint == changes[-1]
    assert list(log.history) == changes[:-1]
    assert raised.value.reason is ErrorReason.COMPACTED
    assert {"oldest_revision": "2", "revision": "4"} == raised.value.metadata


async def test_a_reload_in_parts_ends_watchers_once(registry: Registry) -> None:
    """Watchers that list again after a part of it are not ended again."""
    log = ChangeLog(registry, 60, 1 << 20)
    last = Change(7, "t", (), (), is_reload=True)
    log._append(replace(last, server="s", is_continued=True))
    assert log.latest == 0
    log._append(last)

    assert [Checkpoint(7, last.id)] == await take(log.follow(7, str(last.id)), 1)


async def test_a_revision_is_waited_for(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = ChangeLog(registry, 60, 1 << 20)
    await log.wait_for_revision(0)
    registry.register("s", [A], keep=None)
    await log.wait_for_revision(1)
    monkeypatch.setattr(change_log, "_CATCH_UP_SECONDS", 0.01)
    with pytest.raises(RequestError) as raised:
        await log.wait_for_revision(2)

    assert "REVISION_NOT_REACHED" == raised.value.reason
    assert {"revision": "1", "min_revision": "2"} == raised.value.metadata
