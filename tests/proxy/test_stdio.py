"""The proxy over stdio, with a real server process: what passes, and how both sides end."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.stdio_proxy import HANDSHAKE, PROXY, SECONDS, SERVER, Proxy, codes

_NOTIFICATION = (
    b'{"jsonrpc":"2.0",%b"method":"notifications/message","params":{"level":"info","data":0}}'
)


def test_valid_messages_pass_byte_for_byte(proxy: Proxy) -> None:
    """White space, escapes, the order of members and the spelling of numbers are kept."""
    request = (
        b'{ "params":{"arguments":{"b":1.0,"a":"\\u00e9","big":12345678901234567890},'
        b'"name":"echo"}, "method":"tools/call","id" : 2,"jsonrpc":"2.0"}\r\n'
    )
    proxy.write(request)
    line = proxy.line()
    code, rest, err = proxy.end()

    expected = '{"b": 1.0, "a": "é", "big": 12345678901234567890}'
    assert expected == json.loads(line)["result"]["content"][0]["text"]
    assert (0, [], []) == (code, rest, codes(err))
    assert "end of input\n" in err


def test_a_recorded_session_is_clean(tmp_path: Path) -> None:
    """`lint-messages` reads the record; the report has the findings as JSON."""
    record, report = tmp_path / "record.jsonl", tmp_path / "report.jsonl"
    proxy = Proxy("--record", str(record), "--report", str(report))
    proxy.shake_hands()
    proxy.call(2, do=5)
    proxy.receive()
    code, _, _ = proxy.end()
    lint = subprocess.run(
        [sys.executable, "-m", "sidecheck_server", "lint-messages", str(record)],
        capture_output=True,
        text=True,
        check=False,
    )
    [finding] = map(json.loads, report.read_text().splitlines())

    assert (0, 0) == (code, lint.returncode), lint.stdout
    # Messages have values.
    assert {0o600} == {file.stat().st_mode & 0o777 for file in (record, report)}
    assert finding.pop("time")
    assert {
        "direction": "client->server",
        "method": "tools/call",
        "tool": "echo",
        "code": "TYPE",
        "severity": "error",
        "location": "/params/arguments/do",
        "action": "passed",
        "message": "expected a string, found an integer",
    } == finding


def test_an_unread_record_does_not_block(tmp_path: Path) -> None:
    """A full pipe ends the record, but neither the messages nor the proxy."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    nobody = Proxy("--record", str(pipe))
    refused, _, why = nobody.end()
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    proxy = Proxy("--record", str(pipe))
    proxy.shake_hands()
    proxy.call(2, text="x" * 200_000)
    answered = proxy.receive()["id"]
    code, _, err = proxy.end()
    os.close(reader)

    assert (2, True) == (refused, "No such device or address" in why)
    assert (2, 0) == (answered, code)
    assert 1 == err.count(f"'{pipe}' ends here: no process reads it")


@pytest.mark.parametrize(("options", "shown"), [((), False), (("--show-values",), True)])
def test_values_are_shown_on_demand(options: tuple[str, ...], shown: bool) -> None:
    """Findings have none by default."""
    proxy = Proxy(*options)
    proxy.shake_hands()
    proxy.call(2, do=4711)
    proxy.receive()
    _, _, err = proxy.end()

    assert shown is ("4711" in err)


@pytest.mark.parametrize(("behavior", "expected"), [("exit", 3), ("die", 128 + signal.SIGKILL)])
def test_requests_that_the_server_leaves_open_are_answered(
    proxy: Proxy, behavior: str, expected: int
) -> None:
    """Each of them once, and the exit code is the server's."""
    proxy.call(2, do=behavior)
    proxy.call(3)
    code, responses, _ = proxy.end()

    error = {"code": -32603, "message": "the server ended the connection before it responded"}
    assert expected == code
    assert [(2, error), (3, error)] == sorted(
        (response["id"], response["error"]) for response in responses
    )


@pytest.mark.parametrize("options", [(), ("--enforce",)])
def test_a_message_that_is_not_in_utf_8(options: tuple[str, ...]) -> None:
    """In audit it passes; under enforcement it does not."""
    proxy = Proxy(*options)
    proxy.shake_hands()
    proxy.call(2, do="bytes")
    lines = [proxy.line()] if options else [proxy.line(), proxy.line()]
    _, rest, err = proxy.end()

    assert ([], 2) == (rest, json.loads(lines[-1])["id"])
    assert options or b'"data":"\xff"' in lines[0]
    action = "rejected" if options else "passed"
    assert f"server->client notifications/message PAYLOAD_NOT_JSON error, {action}" in codes(err)


def test_a_message_of_ten_megabytes(proxy: Proxy) -> None:
    """It passes in both directions."""
    proxy.call(2, text="x" * 10_000_000)
    response = proxy.receive()
    code, _, err = proxy.end()

    assert 10_000_000 < len(response["result"]["content"][0]["text"])
    assert (0, []) == (code, codes(err))


def test_a_thousand_calls_in_flight(proxy: Proxy) -> None:
    """Each is answered once, in order."""
    calls = range(2, 1002)
    lines = b"".join(
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": id_,
                "method": "tools/call",
                "params": {"name": "echo", "arguments": {"n": id_}},
            }
        ).encode()
        + b"\n"
        for id_ in calls
    )
    proxy.write(lines)
    responses = [proxy.receive() for _ in calls]
    code, rest, _ = proxy.end()

    assert [*calls] == [response["id"] for response in responses]
    assert (0, []) == (code, rest)


def test_the_last_line_needs_no_end() -> None:
    """It is forwarded as it is."""
    run = subprocess.run(
        [*PROXY, *SERVER],
        input=json.dumps({"jsonrpc": "2.0", **HANDSHAKE[0]}).encode(),
        capture_output=True,
        check=False,
    )

    assert (0, 1) == (run.returncode, json.loads(run.stdout)["id"])


@pytest.mark.parametrize(("options", "between"), [((), b"\r"), (("--arguments", "enforce"), b" ")])
@pytest.mark.parametrize(
    ("command", "received"),
    [
        ("cat >&2", "stderr"),
        (f"cat >/dev/null; printf '{_NOTIFICATION.decode()}' '\\r'", "stdout"),
    ],
    ids=["from the client", "from the server"],
)
def test_a_message_is_one_line_for_every_reader(
    command: str, received: str, options: tuple[str, ...], between: bytes
) -> None:
    """Text files of Python end a line at a carriage return too; audit changes nothing."""
    run = subprocess.run(
        [*PROXY[:-1], *options, "--", "/bin/sh", "-c", command],
        input=_NOTIFICATION % b"\r",
        capture_output=True,
        check=False,
        timeout=SECONDS,
    )

    assert _NOTIFICATION % between in getattr(run, received)


def test_files_are_as_good_as_pipes(tmp_path: Path) -> None:
    """Standard input and output may be redirected."""
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(json.dumps({"jsonrpc": "2.0", **HANDSHAKE[0]}) + "\n")
    with source.open("rb") as stdin, target.open("wb") as stdout:
        run = subprocess.run(
            [*PROXY, *SERVER],
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.DEVNULL,
            check=False,
        )

    assert (0, 1) == (run.returncode, json.loads(target.read_text())["id"])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_reach_the_server(proxy: Proxy, number: signal.Signals) -> None:
    """The server decides how it ends."""
    proxy.process.send_signal(number)
    code = proxy.process.wait(timeout=SECONDS)

    assert {signal.SIGTERM: 7, signal.SIGINT: 130, signal.SIGHUP: 129}[number] == code


def test_a_server_ends_when_its_client_is_gone(proxy: Proxy) -> None:
    """Its input ends, and it receives SIGTERM."""
    assert proxy.process.stdout is not None
    assert proxy.process.stdin is not None
    proxy.process.stdout.close()
    proxy.call(2)
    proxy.process.stdin.close()

    # 0 by the end of its input, 7 by its handler, or 143 as its interpreter ends without one.
    assert proxy.process.wait(timeout=SECONDS) in {0, 7, 143}


def test_a_command_that_cannot_be_run() -> None:
    """The exit code is that of a shell."""
    run = subprocess.run(
        [*PROXY, "/no/such/program"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )

    assert 127 == run.returncode
    assert "Error: /no/such/program: No such file or directory" in run.stderr
    assert "Traceback" not in run.stderr


def test_environment_of_the_server() -> None:
    """It is that of the proxy."""
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "sidecheck_server",
            "proxy",
            "--",
            "/bin/sh",
            "-c",
            "echo $MARK >&2",
        ],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "MARK": "marked"},
        check=False,
    )

    assert "marked\n" in run.stderr
