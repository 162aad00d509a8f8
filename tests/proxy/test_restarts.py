"""`sidecheck proxy --restart`, when the server ends."""

import json
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support.shared_material import REPOSITORY
from support.stdio_proxy import HANDSHAKE, Proxy, codes

_SERVER = [sys.executable, str(REPOSITORY / "tests" / "support" / "relayed_server.py"), "ends"]
ENDED = (
    "the server ended with exit code 3 before it responded; the next message starts it again"
    " (--restart)"
)
RESTARTED = "server->client SERVER_RESTARTED warning, passed"
CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}

both_modes = pytest.mark.parametrize("options", [(), ("--enforce",)], ids=["audit", "enforce"])


def _error(message: Any) -> tuple[Any, str]:
    return message["id"], message["error"]["message"]


@both_modes
def test_a_server_that_ends_in_a_call(options: tuple[str, ...]) -> None:
    """The call gets an error, since it may have had an effect; the next finds a server."""
    proxy = Proxy("--restart", *options, server=_SERVER)
    proxy.shake_hands()
    proxy.call(2, end="before")
    error = proxy.receive()
    proxy.call(3)
    received = [proxy.receive(), proxy.receive()]
    _, rest, err = proxy.end()
    results = [message for message in received if "id" in message]

    assert (2, ENDED) == _error(error)
    assert CHANGED in received
    assert ([3], []) == ([message["id"] for message in results], rest)
    assert "result" in results[0]
    assert [RESTARTED] == [line for line in codes(err) if "RESTARTED" in line]
    seen = [line for line in err.splitlines() if line.startswith("SAW ") and "list" not in line]
    handshake = [line.partition(" sidecheck-restart-")[0] for line in seen[-3:]]
    assert ["SAW initialize", "SAW notifications/initialized None", "SAW tools/call 3"] == handshake


@both_modes
def test_a_server_that_ends_between_calls(options: tuple[str, ...]) -> None:
    """A call that no server could read is sent to the next one."""
    proxy = Proxy("--restart", *options, server=_SERVER)
    proxy.shake_hands()
    proxy.call(2, end="after")
    first = proxy.receive()
    # A call may be written before the server is seen to have ended.
    id_, message = 2, first
    while id_ == 2 or "result" not in message:
        id_ += 1
        proxy.call(id_)
        message = proxy.receive()
        while message == CHANGED:
            message = proxy.receive()
        assert id_ == message["id"]
    proxy.call(id_ + 1, end="before")
    errors = [_error(proxy.receive())]
    code, rest, err = proxy.end()

    assert (2, True) == (first["id"], "result" in first)
    assert [(id_ + 1, ENDED)] == errors
    assert (3, []) == (code, rest)
    assert [RESTARTED] == [line for line in codes(err) if "RESTARTED" in line]


@both_modes
def test_the_end_of_a_session_that_has_no_server(options: tuple[str, ...]) -> None:
    """The proxy ends with the exit code of the last server, and starts no other."""
    proxy = Proxy("--restart", *options, server=_SERVER)
    proxy.shake_hands()
    proxy.call(2)  # so that the proxy has listed the tools
    proxy.receive()
    proxy.call(3, end="before")
    error = proxy.receive()
    code, rest, err = proxy.end()

    assert (3, (3, ENDED), []) == (code, _error(error), rest)
    assert 1 == err.count("SAW initialize")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (
            None,
            "the server has ended and cannot be started again: {}: No such file or directory",
        ),
        ("exit 5", "the server was started again, and did not respond to initialize"),
    ],
)
def test_a_server_that_does_not_start_again(
    tmp_path: Path, script: str | None, reason: str
) -> None:
    """Each request gets an error with the reason, and the client may try again."""
    program = tmp_path / "server"

    def write(text: str) -> None:
        # Not into the file of a running program.
        program.unlink(missing_ok=True)
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)

    write("exec " + " ".join(_SERVER))
    proxy = Proxy("--restart", server=[str(program)])
    proxy.shake_hands()
    if script is None:
        program.unlink()
    else:
        write(script)
    proxy.call(2, end="before")
    proxy.receive()
    errors = []
    for id_ in (3, 4):
        proxy.call(id_)
        errors.append(_error(proxy.receive()))
    write("exec " + " ".join(_SERVER))
    proxy.call(5)
    received = [proxy.receive(), proxy.receive()]
    _, rest, _ = proxy.end()

    assert [(3, reason.format(program)), (4, reason.format(program))] == errors
    assert CHANGED in received
    assert [5] == [message["id"] for message in received if "result" in message]
    assert [] == rest


def test_a_client_that_initializes_again() -> None:
    """Its own `initialize` starts the server, and no other is sent."""
    proxy = Proxy("--restart", server=_SERVER)
    proxy.shake_hands()
    proxy.call(2)  # so that the proxy has listed the tools
    proxy.receive()
    proxy.call(3, end="before")
    proxy.receive()
    proxy.send({**HANDSHAKE[0], "id": 4})
    response = proxy.receive()
    _, rest, err = proxy.end()

    assert (4, "relayed", []) == (response["id"], response["result"]["serverInfo"]["name"], rest)
    assert 2 == err.count("SAW initialize")
    assert "sidecheck-restart" not in err


@both_modes
def test_a_server_that_ends_within_a_line(options: tuple[str, ...]) -> None:
    """The error of the call is a line of its own."""
    proxy = Proxy("--restart", *options, server=_SERVER)
    proxy.shake_hands()
    proxy.call(2, end="within")
    lines = [proxy.line()]
    if not options:
        lines.append(proxy.line())
    proxy.end()

    assert (2, ENDED) == _error(json.loads(lines[-1]))
    assert [b'{"jsonrpc":"2.0","id":2,"result":{\n'][: len(lines) - 1] == lines[:-1]


@both_modes
def test_a_response_for_a_server_that_has_ended(options: tuple[str, ...]) -> None:
    """It starts no server, and none gets it: the next one may use the same id."""
    proxy = Proxy("--restart", "--allow", "CAPABILITY_UNDECLARED", *options, server=_SERVER)
    proxy.shake_hands()
    proxy.call(2, end="asking")
    received = [proxy.receive(), proxy.receive()]
    proxy.send({"id": 2, "result": {"roots": []}})
    proxy.call(3)
    while proxy.receive().get("id") != 3:
        pass
    _, _, err = proxy.end()

    assert ["roots/list", ENDED] == [received[0].get("method"), received[1]["error"]["message"]]
    assert "SAW response" not in err


@both_modes
def test_a_client_that_reads_the_rest_late(options: tuple[str, ...]) -> None:
    """It gets all that the server wrote before it ended."""
    proxy = Proxy("--restart", "--allow", "CAPABILITY_UNDECLARED", *options, server=_SERVER)
    proxy.shake_hands()
    proxy.call(2, end="much")
    # The output is more than the pipes hold, so the proxy waits for this client.
    time.sleep(2.5)
    received = [proxy.receive() for _ in range(171)]
    proxy.end()

    assert [None] * 170 + [2] == [message.get("id") for message in received]
    assert "result" in received[-1]


@both_modes
def test_no_server_is_started_after_a_signal(options: tuple[str, ...]) -> None:
    """Calls that come meanwhile are not for another server."""
    proxy = Proxy("--restart", *options, server=_SERVER)
    proxy.shake_hands()
    proxy.call(2)
    proxy.receive()
    proxy.process.send_signal(signal.SIGTERM)
    with suppress(BrokenPipeError):
        for id_ in range(3, 10_000):
            proxy.call(id_)
            time.sleep(0.05)
    stdin, proxy.process.stdin = proxy.process.stdin, None
    assert stdin is not None
    with suppress(BrokenPipeError):
        stdin.close()
    _, _, err = proxy.end()

    assert 1 == err.count("SAW initialize")


@pytest.mark.parametrize("timeout", [(), ("--timeout", "3600")], ids=["", "timeout"])
def test_long_lines_of_the_client(timeout: tuple[str, ...]) -> None:
    """They pass in pieces, also to a server that is started for them; each gets one response."""
    proxy = Proxy("--restart", "--max-message-bytes", "20000", *timeout, server=_SERVER)
    proxy.shake_hands()
    proxy.call(2, text="x" * 300_000)
    received = [proxy.receive()]
    proxy.call(3, end="before")
    received.append(proxy.receive())
    proxy.call(4, text="x" * 300_000)
    _, rest, _ = proxy.end()
    received += [message for message in rest if message != CHANGED]

    assert [(2, True), (3, False), (4, True)] == [
        (message["id"], "result" in message) for message in received
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is of Linux")
def test_servers_that_have_ended_leave_nothing() -> None:
    """Neither descriptors nor threads: a server may end any number of times."""
    proxy = Proxy("--restart", server=_SERVER)
    proxy.shake_hands()
    process = Path("/proc") / str(proxy.process.pid)
    counts = []
    for id_ in range(2, 14):
        proxy.call(id_, end="before")
        while proxy.receive().get("id") != id_:
            pass
        counts.append([len(list((process / name).iterdir())) for name in ("fd", "task")])
    proxy.end()

    # Each of the last nine servers would leave two; those of the last ones may still be there.
    assert all(last <= middle + 9 for middle, last in zip(counts[2], counts[-1], strict=True))
