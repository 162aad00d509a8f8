"""`sidecheck proxy` on Windows, shown on Linux; see `tests/support/windows`."""

import signal
from pathlib import Path

import pytest
from support.http_mcp_server import http_mcp_server
from support.http_proxy import proxied
from support.on_windows import environment
from support.stdio_proxy import SECONDS, SERVER, Proxy, codes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with npx.CMD, which runs Python with its arguments."""
    script = tmp_path / "npx.CMD"
    script.write_text(f'#!/bin/sh\nexec {SERVER[0]} "$@"\n')
    script.chmod(0o755)
    return tmp_path


def windows(folder: Path) -> dict[str, str]:
    """Return the variables of a proxy that finds npx.CMD in *folder*."""
    variables = environment()
    return variables | {"PATH": f"{folder}:{variables['PATH']}", "PATHEXT": ".EXE;.CMD"}


@pytest.mark.parametrize("options", [(), ("--enforce",)], ids=["audit", "enforced"])
def test_stdio(folder: Path, options: tuple[str, ...]) -> None:
    """A call passes, and an invalid one is reported or rejected."""
    proxy = Proxy(*options, server=["npx", *SERVER[1:]], env=windows(folder))
    proxy.shake_hands()
    proxy.send({"id": 2, "method": "tools/list"})
    proxy.receive()
    proxy.call(3, text="größe")
    answer = proxy.receive()
    proxy.call(4, do=5)
    other = proxy.receive()
    code, rest, err = proxy.end()

    assert {"content": [{"type": "text", "text": '{"text": "größe"}'}]} == answer["result"]
    assert bool(options) is other["result"].get("isError", False)
    assert (0, []) == (code, rest)
    action = "rejected" if options else "passed"
    call = "client->server tools/call echo"
    assert [f"{call} TYPE /params/arguments/do error, {action}"] == codes(err)


def test_an_argument_that_the_command_interpreter_would_change(folder: Path) -> None:
    """The server is not started; the exit code is that of shells."""
    proxy = Proxy(server=["npx", "%PATH%"], env=windows(folder))
    code, rest, err = proxy.end()

    assert (127, []) == (code, rest)
    assert err.startswith(f"Error: {folder}/npx.CMD is a batch file, and argument 1 has a variable")


def test_http(tmp_path: Path) -> None:
    """A signal ends the proxy in order."""
    with (
        http_mcp_server() as server,
        proxied(server, "--record", str(tmp_path / "record"), env=environment()) as proxy,
    ):
        proxy.initialize()
        response = proxy.call(2, do="")
        proxy.client.close()
        proxy.process.send_signal(signal.SIGINT)
        _, err = proxy.process.communicate(timeout=SECONDS)

    assert 200 == response.status_code
    assert 0 == proxy.process.returncode
    assert err.splitlines()[-1].startswith("sidecheck proxy: ")
    assert 5 == len((tmp_path / "record").read_bytes().splitlines())
