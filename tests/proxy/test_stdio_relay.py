"""The relay over stdio, in audit and under enforcement: what passes, and when."""

import fcntl
import json
import os
import socket
import subprocess
import sys
from typing import Any

import pytest
from support.relayed_server import LONG, STRAY
from support.shared_material import REPOSITORY
from support.stdio_proxy import HANDSHAKE, Proxy, codes

_SERVER = [sys.executable, str(REPOSITORY / "tests" / "support" / "relayed_server.py")]
_MODES = [(), ("--enforce",)]
_LIMIT = ("--max-message-bytes", "100000")

both_modes = pytest.mark.parametrize("options", _MODES, ids=["audit", "enforce"])


def _proxy(kind: str, *options: str) -> Proxy:
    return Proxy(*options, server=[*_SERVER, kind])


def _seen(err: str) -> list[str]:
    """Return the messages that the server has received, without those of the proxy."""
    lines = [line.removeprefix("SAW ") for line in err.splitlines() if line.startswith("SAW ")]
    return [line for line in lines if "sidecheck-" not in line]


@both_modes
@pytest.mark.parametrize("kind", STRAY)
def test_output_that_is_not_a_message(kind: str, options: tuple[str, ...]) -> None:
    """The client gets the messages only, and nobody answers the rest."""
    proxy = _proxy(kind, *options)
    proxy.shake_hands()
    proxy.call(2)
    received = proxy.receive()
    _, rest, err = proxy.end()
    reports = [line for line in codes(err) if "NOT_A_MESSAGE" in line]

    assert (2, []) == (received["id"], rest)
    assert ["initialize 1", "notifications/initialized None", "tools/call 2"] == _seen(err)
    assert {"server->client NOT_A_MESSAGE error, dropped"} == set(reports)
    # The first of each kind, and how many more of that kind.
    assert len(reports) <= 4


def test_a_message_after_other_text_in_audit() -> None:
    """The client gets the line as it is, and the report says that a message is inside."""
    proxy = _proxy("glued")
    proxy.send(HANDSHAKE[0])
    line = proxy.line()
    proxy.end_input()
    _, _, err = proxy.end()

    assert line.startswith(b'Loading... {"jsonrpc"')
    assert "has a message inside" in err


def test_a_message_after_other_text_under_enforcement() -> None:
    """The response to an open request is validated, and forwarded without the text."""
    proxy = _proxy("glued", "--enforce")
    proxy.shake_hands()
    proxy.call(2)
    received = proxy.receive()
    _, rest, err = proxy.end()

    assert (2, []) == (received["id"], rest)
    assert "has a message inside" in err


@pytest.mark.parametrize(
    ("kind", "code"), [("pretty", "MESSAGE_OVER_LINES"), ("mark", "BYTE_ORDER_MARK")]
)
@both_modes
def test_messages_in_an_unusual_form(kind: str, code: str, options: tuple[str, ...]) -> None:
    """In audit they pass byte for byte, else as one line of JSON; one finding names the form."""
    proxy = _proxy(kind, *options)
    proxy.send(HANDSHAKE[0])
    proxy.send(HANDSHAKE[1])
    proxy.call(2)
    out, err = proxy.process.communicate(timeout=300)
    direct = subprocess.run(
        [*_SERVER, kind],
        input=b"".join(
            json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
            for message in [
                *HANDSHAKE,
                {"id": 2, "method": "tools/call", "params": {"name": "echo", "arguments": {}}},
            ]
        ),
        capture_output=True,
        check=True,
    ).stdout

    if options:
        assert [1, 2] == [json.loads(line)["id"] for line in out.splitlines()]
    else:
        assert direct == out
    action = "repaired" if options else "passed"
    reports = [line for line in codes(err.decode()) if code in line]
    assert [f"server->client {code} warning, {action}"] == reports


@both_modes
def test_a_list_that_needs_the_client(options: tuple[str, ...]) -> None:
    """The server asks for roots before it lists its tools, and the call is answered."""
    proxy = _proxy("asks for roots", *options)
    initialize = json.loads(json.dumps(HANDSHAKE[0]))
    initialize["params"]["capabilities"] = {"roots": {}}
    proxy.send(initialize)
    proxy.receive()
    proxy.send(HANDSHAKE[1])
    proxy.call(2)
    proxy.send({"id": 3, "method": "ping"})
    answered: set[Any] = set()
    while answered != {2, 3, "roots"}:
        message = proxy.receive()
        if message.get("method") == "roots/list":
            proxy.send({"id": message["id"], "result": {"roots": []}})
        answered.add(message["id"])
    _, rest, err = proxy.end()

    assert ([], []) == (rest, codes(err))


def test_messages_pass_while_a_call_waits_for_the_list() -> None:
    """Those after it are answered first; a cancelled call reaches no server."""
    proxy = _proxy("lists late", "--enforce")
    proxy.shake_hands()
    proxy.call(2)
    proxy.call(3)
    proxy.call(4)
    proxy.send({"id": 5, "method": "ping"})
    first = proxy.receive()["id"]
    proxy.send({"method": "notifications/cancelled", "params": {"requestId": 3}})
    proxy.send({"id": 9, "method": "ping"})
    received = [proxy.receive()["id"] for _ in range(3)]
    _, rest, err = proxy.end()
    calls = [line for line in _seen(err) if not line.startswith(("initialize", "notif", "ping"))]

    assert 5 == first
    assert [2, 4] == [id_ for id_ in received if id_ != 9]
    assert ([], ["tools/call 2", "tools/call 4"]) == (rest, calls)


def test_a_call_passes_before_the_list_in_audit() -> None:
    """Its validation waits, and it does not."""
    proxy = _proxy("lists late")
    proxy.shake_hands()
    proxy.call(2)
    received = proxy.receive()["id"]
    proxy.send({"id": 9, "method": "ping"})
    proxy.receive()
    _, rest, err = proxy.end()

    assert (2, [], []) == (received, rest, codes(err))


@pytest.mark.parametrize("id_is_last", [False, True])
def test_long_messages_in_audit(*, id_is_last: bool) -> None:
    """They pass in both directions, and are reported."""
    proxy = _proxy("plain", *_LIMIT)
    proxy.shake_hands()
    proxy.write(_long_call(2, id_is_last=id_is_last))
    received = proxy.receive()
    proxy.call(3)
    after = proxy.receive()
    code, rest, err = proxy.end()

    assert LONG == len(received["result"]["content"][0]["text"])
    assert (3, 0, []) == (after["id"], code, rest)
    assert {
        "client->server MESSAGE_TOO_LONG error, passed",
        "server->client MESSAGE_TOO_LONG error, passed",
    } <= set(codes(err))


@pytest.mark.parametrize("id_is_last", [False, True])
def test_a_long_request_under_enforcement(*, id_is_last: bool) -> None:
    """It is answered with the limit and the option, and the connection goes on."""
    proxy = _proxy("plain", "--enforce", *_LIMIT)
    proxy.shake_hands()
    proxy.write(_long_call(2, id_is_last=id_is_last))
    received = proxy.receive()
    proxy.call(3)
    after = proxy.receive()
    code, rest, err = proxy.end()

    message = "the message is longer than 100,000 bytes (--max-message-bytes)"
    assert (2, {"code": -32600, "message": message}) == (received["id"], received["error"])
    assert (3, 0, []) == (after["id"], code, rest)
    assert ["client->server MESSAGE_TOO_LONG error, rejected"] == codes(err)


def test_a_long_response_under_enforcement() -> None:
    """An error takes its place, and the connection goes on."""
    proxy = _proxy("plain", "--enforce", *_LIMIT)
    proxy.shake_hands()
    proxy.call(2, long=True)
    received = proxy.receive()
    proxy.call(3)
    after = proxy.receive()
    code, rest, err = proxy.end()

    message = "the message is longer than 100,000 bytes (--max-message-bytes)"
    assert (2, {"code": -32603, "message": message}) == (received["id"], received["error"])
    assert (3, 0, []) == (after["id"], code, rest)
    assert ["server->client MESSAGE_TOO_LONG error, rejected"] == codes(err)


def _long_call(id_: int, *, id_is_last: bool) -> bytes:
    """Return a call that is too long, with its id before or after the arguments."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": id_, "method": "tools/call"}
    message["params"] = {"name": "echo", "arguments": {"long": True, "id": 7, "text": "\\" * LONG}}
    if id_is_last:
        message["id"] = message.pop("id")
    return json.dumps(message).encode() + b"\n"


@both_modes
def test_a_child_that_outlives_the_server(options: tuple[str, ...]) -> None:
    """It holds the output open; open requests are answered nevertheless."""
    proxy = _proxy("leaves a child", *options)
    with proxy.process:
        proxy.shake_hands()
        proxy.call(2)
        received = proxy.receive()
        code = proxy.process.wait(timeout=300)

    error = {"code": -32603, "message": "the server ended the connection before it responded"}
    assert (2, error, 3) == (received["id"], received["error"], code)


@both_modes
def test_frames_of_language_servers(options: tuple[str, ...]) -> None:
    """In audit all bytes pass; under enforcement the connection ends."""
    script = "printf 'Content-Length: 2\\r\\n\\r\\n{}'; cat >/dev/null"
    proxy = Proxy(*options, server=["/bin/sh", "-c", script])
    assert proxy.process.stdin is not None
    assert proxy.process.stdout is not None
    out = b"" if options else proxy.process.stdout.read(23)
    _, rest, err = proxy.end()

    assert (b"" if options else b"Content-Length: 2\r\n\r\n{}", []) == (out, rest)
    action = "rejected" if options else "passed"
    assert f"server->client CONTENT_LENGTH_FRAMING error, {action}" in codes(err)


@both_modes
def test_one_socket_for_input_output_and_error(options: tuple[str, ...]) -> None:
    """Its flags stay as they are, and the standard error of the server arrives whole."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "sidecheck_server",
                "proxy",
                *options,
                "--",
                *_SERVER,
                "logs much",
            ],
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=theirs.fileno(),
        )
        call = {"id": 2, "method": "tools/call", "params": {"name": "echo", "arguments": {}}}
        for message in [*HANDSHAKE, call]:
            ours.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        received = b""
        while b'"id": 2' not in received:
            received += ours.recv(1 << 16)
        flags = fcntl.fcntl(theirs, fcntl.F_GETFL)
        ours.shutdown(socket.SHUT_WR)
        process.wait(timeout=300)

    assert 0 == flags & os.O_NONBLOCK
    assert 3_000 == received.count(b"x" * 80 + b"\n")


@both_modes
def test_a_launcher(options: tuple[str, ...]) -> None:
    """A server whose process ends at once, and whose child serves, works as it does directly."""
    proxy = _proxy("launcher", *options)
    proxy.shake_hands()
    proxy.call(2)
    received = proxy.receive()
    code, rest, _ = proxy.end()

    assert (2, True) == (received["id"], "result" in received)
    assert (0, []) == (code, rest)


@both_modes
def test_a_launcher_whose_server_leaves_its_group(options: tuple[str, ...]) -> None:
    """A signal that the server cannot get ends the proxy nevertheless."""
    proxy = _proxy("detaching launcher", *options)
    proxy.shake_hands()
    proxy.process.terminate()
    assert proxy.process.stdout is not None
    rest = proxy.process.stdout.read()

    assert (b"", 0) == (rest, proxy.process.wait())
    proxy.end()


def test_a_long_list_for_the_proxy_with_its_id_at_the_end() -> None:
    """What has begun to pass passes to its end, so that the lines after it stay whole."""
    proxy = Proxy("--max-message-bytes", "20000", server=[*_SERVER, "lists much"])
    proxy.shake_hands()
    for id_ in (2, 3):
        proxy.call(id_)
    ids = [proxy.receive()["id"] for _ in range(3)]
    proxy.end()

    assert [2, 3] == [id_ for id_ in ids if not str(id_).startswith("sidecheck-")]
