"""What runs on Windows, shown on Linux: Sidecheck sees no part of POSIX, all else is real.

See `tests/support/windows`. A real Windows may differ in what the stub does not imitate: pipes,
consoles, the command interpreter, file locks.
"""

import json
from pathlib import Path

import pytest
from sidecheck_server.cli import sidecheck
from support.on_windows import run
from support.shared_material import REPOSITORY

SCRIPTS = REPOSITORY / "tests" / "windows"
COMMAND = ["-m", "sidecheck_server"]

TOOL = {
    "name": "größe",
    "description": "Returns the size — in 日本語",
    "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
}
LINES = (
    {"jsonrpc": "2.0", "id": 1, "method": "ping"},
    {"jsonrpc": "2.0", "id": 2, "result": {}},
)
FILES = {
    "tools.json": json.dumps([TOOL], ensure_ascii=False, indent=2).replace("\n", "\r\n"),
    "changed.json": json.dumps([TOOL | {"inputSchema": {"type": "object", "required": ["m"]}}]),
    "call.json": '{\r\n  "n": "ä"\r\n}\r\n',
    "session.jsonl": "".join(f"{json.dumps(line)}\r\n" for line in LINES),
    "server.py": 'def f(a: int) -> int:\r\n    """Größe.\r\n\r\n    Args:\r\n'
    '        a: Ä.\r\n    """\r\n    return a\r\n',
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the files."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8", newline="")
    return tmp_path


def test_all_modules_can_be_imported(tmp_path: Path) -> None:
    """Those of the proxy, of each command and of the Python client among them."""
    code, out, err = run([str(SCRIPTS / "import_modules.py")], tmp_path)

    assert (0, "True\r\n", "") == (code, out.decode(), err.decode())


@pytest.mark.parametrize("command", sidecheck.list_commands(None))  # type: ignore[arg-type]
def test_each_command_has_its_help(tmp_path: Path, command: str) -> None:
    """It is the same on both systems."""
    arguments = [*COMMAND, command, "--help"]

    assert run(arguments, tmp_path, on_windows=False) == run(arguments, tmp_path)


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["check", "tools.json"], id="check"),
        pytest.param(["check", "--format", "json", "tools.json"], id="check as JSON"),
        pytest.param(["check", "--for", "all", "tools.json"], id="check for all targets"),
        pytest.param(["validate", "--tools", "tools.json", "call.json"], id="validate"),
        pytest.param(["convert", "--to", "anthropic", "tools.json"], id="convert"),
        pytest.param(["adapt", "--protocol-version", "2024-11-05", "tools.json"], id="adapt"),
        pytest.param(["diff", "tools.json", "changed.json"], id="diff"),
        pytest.param(["lint-messages", "session.jsonl"], id="lint-messages"),
        pytest.param(["infer", "server.py"], id="infer"),
        pytest.param(["rules"], id="rules"),
        pytest.param(["completion", "bash"], id="completion"),
        pytest.param(["check", "missing.json"], id="a missing file"),
    ],
)
def test_a_command_writes_the_same(folder: Path, arguments: list[str]) -> None:
    """UTF-8 and line feeds, although the code page is 1252; files may have CRLF."""
    expected = run([*COMMAND, *arguments], folder, on_windows=False)
    actual = run([*COMMAND, *arguments], folder)

    assert expected == actual
    assert any(expected[1:])


def test_the_service_says_where_it_runs(tmp_path: Path) -> None:
    """It starts nothing."""
    code, out, err = run([*COMMAND, "serve"], tmp_path)

    assert (1, b"") == (code, out)
    assert (
        b"Error: the service runs on POSIX systems only, such as Linux: run it there, in WSL or in"
        b" a container, and give its host:port to the proxy, the commands and the clients\n"
    ) == err


@pytest.mark.parametrize(
    "arguments",
    [["info"], ["healthcheck"], ["tools", "list"]],
    ids=" ".join,
)
def test_commands_refuse_unix_sockets(tmp_path: Path, arguments: list[str]) -> None:
    """gRPC would say that the server does not respond."""
    code, _, err = run([*COMMAND, *arguments, "--target", "unix:/run/sidecheck.sock"], tmp_path)

    assert 2 == code
    assert err.endswith(b"gRPC has no unix sockets on Windows; use host:port\n")


def test_the_client_refuses_unix_sockets(tmp_path: Path) -> None:
    """At its creation, as other invalid addresses."""
    code, _, err = run(
        ["-c", "import sidecheck; sidecheck.BlockingClient('unix:/run/sidecheck.sock')"], tmp_path
    )

    assert 1 == code
    assert (
        "ValueError: invalid address 'unix:/run/sidecheck.sock': gRPC has no unix sockets on"
        " Windows; use host:port"
    ) == err.decode().splitlines()[-1]


def test_workers_end_in_time_and_are_replaced(tmp_path: Path) -> None:
    """The parent watches processor time, and polls idle processes."""
    code, out, err = run([str(SCRIPTS / "run_pool.py")], tmp_path)

    assert (0, "") == (code, err.decode())
    assert [
        "12",
        "WorkerTimeoutError",
        "WorkerDied(cause=<EndCause.TIME: 'time'>, exit='exit code 101', idle=False, alive=0)",
        "WorkerRestarted(alive=1)",
        "13",
        "WorkerDied(cause=<EndCause.CRASH: 'crash'>, exit='SIGKILL', idle=True, alive=0)",
        "WorkerRestarted(alive=1)",
        "101",
    ] == out.decode().splitlines()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param(["npx", "-y", "a b", "c&d"], ["shell", "-y", "a b", "c&d"], id="npx.cmd"),
        pytest.param(["uvx", "a", "%PATH%"], ["program", "a", "%PATH%"], id="uvx.exe"),
        pytest.param(
            ["npx", "-y", "%PATH%"],
            [
                (
                    "{folder}/npx.CMD is a batch file, and argument 2 has a variable between"
                    " percent signs, which cmd.exe does not pass on as it is; name the program"
                    " that it starts, such as node with its script"
                )
            ],
            id="an argument that cmd.exe would change",
        ),
    ],
)
def test_a_server_is_found_by_its_bare_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], expected: list[str]
) -> None:
    """Windows itself starts only programs with the suffix .exe so."""
    for name in ("npx.CMD", "uvx.EXE"):
        (tmp_path / name).write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("PATHEXT", ".COM;.EXE;.BAT;.CMD")
    code, out, err = run([str(SCRIPTS / "start_command.py"), *command], tmp_path)

    assert (0, "") == (code, err.decode())
    assert [line.format(folder=tmp_path) for line in expected] == out.decode().splitlines()
