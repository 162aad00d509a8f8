"""The proxy over stdio where something is broken: a server, a file, or the service."""

import subprocess
from pathlib import Path

import pytest
from sidecheck_server.config.policies import Pinning
from sidecheck_server.proxy.rulings.pins import open_pins
from support.stdio_proxy import HANDSHAKE, PROXY, SECONDS, SERVER, Proxy


def test_a_server_that_closes_its_output_and_lives_on(proxy: Proxy) -> None:
    """Requests before and after are answered at once."""
    proxy.call(2, do="close")
    first = proxy.receive()
    proxy.call(3)
    second = proxy.receive()
    _, rest, _ = proxy.end()

    assert [2, 3] == [first["id"], second["id"]]
    assert {-32603} == {first["error"]["code"], second["error"]["code"]}
    assert [] == rest


def test_a_server_that_ends_at_once() -> None:
    """Each request is answered, however long the first takes to be validated."""
    proxy = Proxy(server=["true"])
    proxy.send(HANDSHAKE[0])
    for id_ in range(2, 20):
        proxy.call(id_)
    code, responses, _ = proxy.end()

    assert (0, [*range(1, 20)]) == (code, [response["id"] for response in responses])
    assert {-32603} == {response["error"]["code"] for response in responses}


@pytest.mark.parametrize("option", ["--report", "--record"])
def test_a_full_disk_does_not_end_the_session(option: str) -> None:
    """It is reported once, and messages continue."""
    proxy = Proxy(option, "/dev/full")
    proxy.shake_hands()
    proxy.call(2, do=5)
    proxy.call(3, do=5)
    received = [proxy.receive()["id"], proxy.receive()["id"]]
    code, _, err = proxy.end()

    assert (0, [2, 3]) == (code, received)
    assert 1 == err.count("'/dev/full' ends here: No space left on device")
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "options",
    [
        ("--record", "/no/such/folder/file"),
        ("--record", "-"),
        ("--pins", "first-use", "--pins-file", "/no/such/folder/file"),
    ],
)
def test_files_that_cannot_be_written(options: tuple[str, ...]) -> None:
    """They are errors before the server starts; `-` would be the client's messages."""
    run = subprocess.run(
        [*PROXY[:-1], *options, "--", *SERVER],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
    )

    assert (2, "") == (run.returncode, run.stdout)
    assert "Error: " in run.stderr


def test_a_lock_file_that_cannot_be_written(tmp_path: Path) -> None:
    """The call that it is written for is answered."""
    folder = tmp_path / "folder"
    folder.mkdir()
    proxy = Proxy("--pins", "first-use", "--pins-file", str(folder / "pins.json"))
    proxy.shake_hands()
    folder.rmdir()
    proxy.call(2)
    code, responses, err = proxy.end()

    assert (1, [2]) == (code, [response["id"] for response in responses])
    assert "pins.json: No such file or directory" in err


def test_a_server_ends_with_a_proxy_that_is_killed() -> None:
    """Clients kill what does not end otherwise; here the server holds standard error."""
    server = ["/bin/sh", "-c", "trap '' TERM; echo ready >&2; exec sleep 600"]
    with Proxy(server=server).process as process:
        assert process.stderr is not None
        assert b"ready\n" == process.stderr.readline()
        process.kill()

        assert b"" == process.stderr.read()


def test_a_lock_file_that_another_proxy_writes_meanwhile(tmp_path: Path) -> None:
    """Its tools count, also for the list that was to be pinned."""
    path = tmp_path / "pins.json"
    pins = [open_pins(Pinning.FIRST_USE, path) for _ in range(2)]
    pins[0].note_definition("a", b'{"name":"a"}')
    pins[1].note_definition("b", b'{"name":"b"}')
    pins[0].complete({"a"})
    pins[1].complete({"b"})

    assert pins[1].admits("a", b'{"name":"a"}')
    assert not pins[1].admits("b", b'{"name":"b"}')
    assert [path] == list(tmp_path.iterdir())


def test_a_lock_file_by_a_link(tmp_path: Path) -> None:
    """The file that the link names is written, and found again."""
    link, path = tmp_path / "link.json", tmp_path / "pins.json"
    link.symlink_to(path)
    pins = open_pins(Pinning.FIRST_USE, link)
    pins.note_definition("a", b'{"name":"a"}')
    pins.complete({"a"})

    assert link.is_symlink()
    assert not open_pins(Pinning.LOCKED, link).admits("b", b'{"name":"b"}')


def test_no_input(tmp_path: Path) -> None:
    """`/dev/null` is at its end, and so is the server's input."""
    run = subprocess.run(
        [*PROXY, *SERVER],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=SECONDS,
    )

    assert (0, "") == (run.returncode, run.stdout)
    assert run.stderr.startswith("end of input\nsidecheck proxy: ")


def test_a_failed_tools_list_is_requested_once() -> None:
    """Under `audit` calls pass, and only the first waits for the list."""
    proxy = Proxy(env={"LISTS": "no"})
    proxy.shake_hands()
    for id_ in range(2, 40):
        proxy.call(id_)
    received = [proxy.receive()["id"] for _ in range(2, 40)]
    _, rest, err = proxy.end()

    assert ([*range(2, 40)], []) == (received, rest)
    assert 38 == err.count(" (TOOLS_NOT_LISTED, error, passed)")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--arguments", "enforce"), "not validated by Sidecheck: UNAVAILABLE; try again later"),
        (
            ("--arguments", "enforce", "--messages", "off", "--on-unavailable", "deny"),
            "This could not be validated and was rejected. Try again later.",
        ),
        (("--arguments", "enforce", "--on-unavailable", "allow"), None),
        ((), None),
    ],
)
def test_without_the_service(options: tuple[str, ...], error: str | None, tmp_path: Path) -> None:
    """Enforced messages do not pass; others are audited."""
    proxy = Proxy("--service", f"unix:{tmp_path}/none.sock", *options)
    proxy.shake_hands()
    proxy.call(2)
    response = proxy.receive()
    proxy.end()

    assert error == response.get("error", {}).get("message")
