"""The service on the event loop of uvloop, in one process and in several."""

import os
import signal
from pathlib import Path

import pytest
from sidecheck import BlockingClient
from sidecheck.targets import Schema
from support.running import RunningServer


@pytest.mark.parametrize("flags", [(), ("--processes", "2")], ids=["one", "two"])
def test_a_service_on_uvloop(tmp_path: Path, flags: tuple[str, ...]) -> None:
    """It compiles, validates, replaces a worker that is killed, and stops."""
    running = RunningServer(tmp_path, *flags, SIDECHECK_EVENT_LOOP="uvloop")
    try:
        ready = next(event for event in running.events if event["event"] == "server.ready")
        with BlockingClient(running.address, timeout=120.0) as client:
            first = client.validate(Schema({"type": "object"}), {})
            threads = Path(f"/proc/{running.process.pid}/task").glob("*/children")
            children = [int(id_) for thread in threads for id_ in thread.read_text().split()]
            workers = [
                id_
                for id_ in children
                if b"spawn_main" in Path(f"/proc/{id_}/cmdline").read_bytes()
            ]
            for worker in workers:
                os.kill(worker, signal.SIGKILL)
            second = client.validate(Schema({"type": "object", "required": ["a"]}), {})
        exit_code = running.terminate()
    finally:
        running.close()

    assert ("uvloop", 2) == (ready["event_loop"], len(workers))
    assert (True, False, 0) == (first.valid, second.valid, exit_code)
