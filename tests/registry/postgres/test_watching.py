"""Two servers on one database: reads and watches at one have the writes at the other.

One of them has two serving processes.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Event

import pytest
from sidecheck import BlockingClient, Checkpoint, ToolsChange
from support.registry_fleet import Fleet
from support.running_postgres import RunningPostgres, installed_binaries


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    running = RunningPostgres(installed_binaries()["wheel"])
    fleet = Fleet(running, tmp_path_factory.mktemp("fleet"), [(), ("--processes", "2")])
    yield fleet
    fleet.close()
    running.close()


def tool(name: str) -> dict[str, object]:
    return {"name": name, "inputSchema": {"type": "object"}}


def test_what_one_server_registers_is_read_at_another(fleet: Fleet) -> None:
    """The reader requests the revision, so it reads the tool at once."""
    with fleet.client(0) as writer, fleet.client(1) as reader:
        for number in range(100):
            name = f"t{number}"
            reader.min_revision = writer.register("s", [tool(name)]).registry_revision
            assert name == reader.get("s", name).name


def changes_until(
    client: BlockingClient, after: Checkpoint, last: int
) -> list[tuple[int, list[str]]]:
    """Return the changes of a watch of *client*, with the registered names."""
    changes = []
    with closing(client.watch("w", after=after)) as events:
        for event in events:
            if isinstance(event, ToolsChange):
                changes.append((event.revision, [bound.name for bound in event.registered]))
            elif event.revision >= last:
                break
    return changes


def test_a_watch_continues_at_another_server(fleet: Fleet) -> None:
    """The first server is killed, and started again; others write meanwhile."""
    with fleet.client(0) as remaining, fleet.client(1) as lost:
        with closing(lost.watch("w")) as events:
            begin = next(events)
            registered = remaining.register("w", [tool("a")]).registry_revision
            first = next(event for event in events if isinstance(event, ToolsChange))
        fleet.kill(1)
        remaining.delete_all("w")
        last = remaining.register("w", [tool("b")]).registry_revision
        changes = changes_until(remaining, first.checkpoint, last)
        stopped = Event()

        def write() -> int:
            while not stopped.wait(0.01):
                registered = remaining.register("w", [tool("c")]).registry_revision
                assert registered == remaining.delete_all("w").registry_revision - 1
            return registered

        with ThreadPoolExecutor(1) as threads:
            writing = threads.submit(write)
            try:
                fleet.restart(1)
            finally:
                stopped.set()
        since = changes_until(remaining, first.checkpoint, writing.result() + 1)
        for _ in range(4):  # connections go to either process
            with fleet.client(1) as restarted:
                assert since == changes_until(restarted, first.checkpoint, writing.result() + 1)

    assert len(since) > 4
    assert isinstance(begin, Checkpoint)
    assert (registered, ["a"]) == (first.revision, [bound.name for bound in first.registered])
    assert [(registered + 1, []), (last, ["b"])] == changes
