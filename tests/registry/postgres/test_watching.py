"""Two servers on one database: what is written at one is read at the other, and watched at both."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from sidecheck import Checkpoint, ToolsChange
from support.registry_fleet import Fleet
from support.running_postgres import RunningPostgres, installed_binaries


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    running = RunningPostgres(installed_binaries()["wheel"])
    fleet = Fleet(running, tmp_path_factory.mktemp("fleet"), [(), ()])
    yield fleet
    fleet.close()
    running.close()


def tool(name: str) -> dict[str, object]:
    return {"name": name, "inputSchema": {"type": "object"}}


def test_what_one_server_registers_is_read_at_another(fleet: Fleet) -> None:
    """At once, as the reader asks for the revision."""
    with fleet.client(0) as writer, fleet.client(1) as reader:
        for number in range(100):
            name = f"t{number}"
            reader.min_revision = writer.register("s", [tool(name)]).registry_revision
            assert name == reader.get("s", name).name


def test_a_watch_goes_on_at_another_server(fleet: Fleet) -> None:
    """After the one that it began at was killed."""
    with fleet.client(0) as kept, fleet.client(1) as lost:
        with closing(lost.watch("w")) as events:
            begin = next(events)
            registered = kept.register("w", [tool("a")]).registry_revision
            first = next(event for event in events if isinstance(event, ToolsChange))
        fleet.kill(1)
        kept.delete_all("w")
        last = kept.register("w", [tool("b")]).registry_revision
        changes = []
        with closing(kept.watch("w", after=first.checkpoint)) as events:
            for event in events:
                if isinstance(event, ToolsChange):
                    changes.append((event.revision, [each.name for each in event.registered]))
                elif event.revision == last:
                    break

    assert isinstance(begin, Checkpoint)
    assert (registered, ["a"]) == (first.revision, [each.name for each in first.registered])
    assert [(registered + 1, []), (last, ["b"])] == changes
