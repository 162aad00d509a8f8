"""Quotas of the registry, and files that are lost, full or altered."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import grpc
import psutil
import pytest
from resilience.registry import (
    ReadingBystander,
    alter_definition,
    fill_registry,
    full_disk,
    register_one,
)
from sidecheck import BlockingClient, SidecheckError
from support.running import RunningServer

pytestmark = [pytest.mark.server, pytest.mark.slow]

MIB = 1 << 20
LOST = (
    "was deleted, moved or replaced while the server ran; no change is accepted until its file "
    "is restored and the server restarted"
)


def names(client: BlockingClient) -> list[str]:
    return [tool.name for tool in client.list()]


def events(running: RunningServer, name: str) -> list[str]:
    """Return the details of the events *name* that were logged, in order."""
    running.log_text()
    return [event.get("detail", "") for event in running.events if event["event"] == name]


def test_a_flood_of_big_tools_ends_at_the_quota(tmp_path: Path) -> None:
    """Memory stays bounded, and a bystander's reads go on."""
    running = RunningServer(
        tmp_path,
        *("--registry", str(tmp_path / "tools.db")),
        SIDECHECK_REGISTRY_QUOTAS__BYTES=str(4 * MIB),
    )
    try:
        with BlockingClient(running.address) as client:
            register_one(client, "bystander", "read")
        before = psutil.Process(running.process.pid).memory_info().rss
        with ReadingBystander(running.address, "bystander", "read") as bystander:
            outcomes = fill_registry(running.address, tools=60, size=MIB // 4, servers=3)
        grown = psutil.Process(running.process.pid).memory_info().rss - before

        assert Counter(created=15, QUOTA_EXCEEDED=45) == outcomes
        assert {"valid"} == bystander.outcomes.keys()
        assert grown < 100 * MIB
        with BlockingClient(running.address) as client:
            assert len(names(client)) == 16
            assert ("t0",) == client.delete("flood-0", ["t0"]).deleted
            assert register_one(client, "flood-0", "t60", MIB // 4) == "created"
    finally:
        running.close()


def test_no_change_is_acknowledged_once_the_file_is_gone(tmp_path: Path) -> None:
    """Reads go on; after a restart the registry has the content of its file."""
    path = tmp_path / "tools.db"
    running = RunningServer(tmp_path, "--registry", str(path))
    try:
        with BlockingClient(running.address) as client:
            assert register_one(client, "s", "kept") == "created"
            moved = path.rename(tmp_path / "moved.db")
            with pytest.raises(SidecheckError) as raised:
                client.register("s", [{"name": "lost", "inputSchema": {"type": "object"}}])
            assert ("REGISTRY_UNUSABLE", grpc.StatusCode.UNAVAILABLE) == (
                raised.value.reason,
                raised.value.status,
            )
            assert f"the registry {LOST}; nothing has changed, and reads go on" == (
                raised.value.message
            )
            with pytest.raises(SidecheckError, match="REGISTRY_UNUSABLE"):
                client.delete("s", ["kept"])
            with ReadingBystander(running.address, "s", "kept") as bystander:
                assert ["kept"] == names(client)
            assert {"valid"} == bystander.outcomes.keys()
        assert [f"{path} {LOST}"] == events(running, "registry.unusable")
    finally:
        running.close()

    Path(f"{path}-wal").rename(f"{moved}-wal")
    again = RunningServer(tmp_path, "--registry", str(moved))
    try:
        with BlockingClient(again.address) as client:
            assert ["kept"] == names(client)
    finally:
        again.close()


def test_a_full_disk_loses_no_acknowledged_tool(tmp_path: Path) -> None:
    """Writes succeed again once the disk has space, without a restart."""
    path = tmp_path / "tools.db"
    running = RunningServer(tmp_path, "--registry", str(path))
    acknowledged: list[str] = []
    try:
        with BlockingClient(running.address) as client:
            with full_disk(running.process.pid, MIB):
                outcome = "created"
                while outcome == "created":
                    name = f"t{len(acknowledged):03}"
                    outcome = register_one(client, "s", name, 100_000)
                    acknowledged += [name] if outcome == "created" else []
                assert outcome == "REGISTRY_UNUSABLE"
                assert register_one(client, "s", "later", 100_000) == "REGISTRY_UNUSABLE"
                assert acknowledged == names(client)
            assert register_one(client, "s", "with-room", 100_000) == "created"
            acknowledged.append("with-room")
        assert len(acknowledged) > 3
        assert len(events(running, "registry.unusable")) == 1
        assert len(events(running, "registry.recovered")) == 1
        running.process.kill()
        running.process.wait()
    finally:
        running.close()

    again = RunningServer(tmp_path, "--registry", str(path))
    try:
        with BlockingClient(again.address) as client:
            assert acknowledged == names(client)
    finally:
        again.close()


def test_an_altered_definition_stops_the_start(tmp_path: Path) -> None:
    """The error is one line that names the file, the server and the position of the tool."""
    path = tmp_path / "tools.db"
    running = RunningServer(tmp_path, "--registry", str(path))
    try:
        with BlockingClient(running.address) as client:
            pay = {
                "name": "pay",
                "inputSchema": {"type": "object", "properties": {"amount": {"maximum": 100}}},
            }
            client.register("bank", [pay])
            register_one(client, "bank", "balance")
    finally:
        running.close()
    alter_definition(path, b'"maximum":100', b'"maximum":900')
    start = subprocess.run(
        [sys.executable, "-m", "sidecheck_server", "serve", "--registry", str(path)],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )

    assert (1, "") == (start.returncode, start.stdout)
    assert (
        f"Error: {path} is damaged: the definition of the server 'bank' at position 1, in the "
        "order of names, does not have the digests and the name that it was registered with; "
        "restore the file from a copy, or delete it\n"
    ) == start.stderr
