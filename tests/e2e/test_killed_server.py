"""Durability of registrations when the server is killed."""

import json
import random
import threading
import time
from pathlib import Path

import pytest
from sidecheck import BlockingClient, SidecheckError
from support.running import RunningServer

ROUNDS = 3
TOOLS = 40


def tools(generation: int) -> list[bytes]:
    """Return the tools of a registration, whose schemas contain its number."""
    return [
        json.dumps(
            {"name": f"t{n}", "inputSchema": {"type": "object", "minProperties": generation}}
        ).encode()
        for n in range(TOOLS)
    ]


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_registrations_are_durable_and_atomic(round_: int, tmp_path: Path) -> None:
    """The server is killed at a random moment; no registration is partial."""
    database = str(tmp_path / "tools.db")
    running = RunningServer(tmp_path, "--registry", database)
    acknowledged = [(0, 0)]

    def register() -> None:
        with BlockingClient(running.address, timeout=120) as client:
            for generation in range(1, 1000):
                try:
                    registration = client.register("s", tools(generation), timeout=60.0)
                except SidecheckError:
                    return
                acknowledged.append((generation, registration.registry_revision))

    writer = threading.Thread(target=register)
    writer.start()
    while len(acknowledged) < 2:
        assert writer.is_alive()
        time.sleep(0.01)
    time.sleep(random.Random(round_).uniform(0, 1))
    running.process.kill()
    running.process.wait()
    writer.join()
    running.close()

    restarted = RunningServer(tmp_path, "--registry", database)
    try:
        with BlockingClient(restarted.address, timeout=120) as client:
            revision = client.info().registry_revision
            stored_tools = [json.loads(tool.json) for tool in client.list("s")]
    finally:
        restarted.close()
    generations = {tool["inputSchema"]["minProperties"] for tool in stored_tools}
    last, last_revision = acknowledged[-1]

    assert last > 0
    assert TOOLS == len(stored_tools)
    assert len(generations) == 1
    # The registration under way when the server died may have been written.
    assert generations <= {last, last + 1}
    assert revision == last_revision + (generations != {last})
