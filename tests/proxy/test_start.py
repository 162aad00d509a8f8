"""Start of the proxy: what runs when, and the log, which is configured for the first event."""

import json
import time

import pytest
from support.stdio_proxy import HANDSHAKE, Proxy
from support.worker_processes import kill, worker_processes

OPTIONS = [pytest.param((), id="audit"), pytest.param(("--enforce",), id="enforced")]


@pytest.mark.parametrize("options", OPTIONS)
def test_a_worker_starts_when_a_tool_is_checked(options: tuple[str, ...]) -> None:
    """The handshake needs none."""
    proxy = Proxy(*options)
    proxy.shake_hands()
    at_first = len(worker_processes(proxy.process.pid))
    proxy.send({"id": 2, "method": "tools/list"})
    tools = proxy.receive()["result"]["tools"]
    # In audit, the list passes before it is checked.
    while not (options or worker_processes(proxy.process.pid)):
        time.sleep(0.05)
    then = len(worker_processes(proxy.process.pid))
    code, _, _ = proxy.end()

    assert (0, 1, ["echo"], 0) == (at_first, then, [tool["name"] for tool in tools], code)


def test_a_worker_that_dies_is_logged_and_replaced() -> None:
    """The log has its end before another one starts."""
    proxy = Proxy("--enforce")
    proxy.shake_hands()
    proxy.call(2, do="nothing")
    first = proxy.receive()["result"]
    killed = worker_processes(proxy.process.pid)
    kill(killed)
    while not set(worker_processes(proxy.process.pid)) - set(killed):
        time.sleep(0.05)
    proxy.call(3, do="nothing")
    second = proxy.receive()["result"]
    _, _, err = proxy.end()
    events = [json.loads(line) for line in err.splitlines() if line.startswith("{")]

    assert first == second
    assert [("worker.died", "SIGKILL")] == [
        (event["event"], event["exit"]) for event in events if event["event"] == "worker.died"
    ]


@pytest.mark.parametrize("options", OPTIONS)
def test_invalid_messages_of_a_handshake(options: tuple[str, ...]) -> None:
    """They are explained in this process, which imports what explains them."""
    proxy = Proxy(*options)
    invalid = {**HANDSHAKE[0], "params": {**HANDSHAKE[0]["params"], "clientInfo": {"name": 1}}}
    proxy.send(invalid)
    answer = proxy.receive()
    _, _, err = proxy.end()

    assert ("error" if options else "result") in answer
    assert "/params/clientInfo" in err
