"""A server that is killed in the middle of registrations."""

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
    """Return the tools of one registration; its number stands in every schema."""
    return [
        json.dumps(
            {"name": f"t{n}", "inputSchema": {"type": "object", "minProperties": generation}}
        ).encode()
        for n in range(TOOLS)
    ]


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_nothing_acknowledged_is_lost_and_nothing_is_half_written(
    round_: int, tmp_path: Path
) -> None:
    """kill -9 at a random moment; a registration is there whole or not at all."""
    database = str(tmp_path / "tools.db")
    running = RunningServer(tmp_path, "--registry", database)
    acknowledged = [(0, 0)]

    def register() -> None:
        with BlockingClient(running.address, timeout=120) as client:
            for generation in range(1, 1000):
                try:
                    done = client.register("s", tools(generation), timeout=60.0)
                except SidecheckError:
                    return
                acknowledged.append((generation, done.registry_revision))

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

    again = RunningServer(tmp_path, "--registry", database)
    try:
        with BlockingClient(again.address, timeout=120) as client:
            revision = client.info().registry_revision
            found = [json.loads(tool.json) for tool in client.list("s")]
    finally:
        again.close()
    generations = {tool["inputSchema"]["minProperties"] for tool in found}
    last, last_revision = acknowledged[-1]

    assert last > 0
    assert TOOLS == len(found)
    assert len(generations) == 1
    # The registration under way when the server died may have been written.
    assert generations <= {last, last + 1}
    assert revision == last_revision + (generations != {last})
