"""Commands that read the tools of a running MCP server in place of a file."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck
from support.http_mcp_server import HttpMcpServer, http_mcp_server
from support.running import RunningServer

#: A server with the pages of tools in the variable PAGES, which first asks its client for a ping.
SERVER = """
import json, sys
PAGES = json.loads(sys.argv[1])

def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        send({"id": "p", "method": "ping"})
        send({"id": "r", "method": "roots/list"})
        version = message["params"]["protocolVersion"]
        if "old" in sys.argv:
            version = "2025-03-26"
        if "modern" in sys.argv:
            send({"id": message["id"], "error": {"code": -32601, "message": "unknown"}})
            continue
        result = {"protocolVersion": version, "capabilities": {}, "serverInfo": {}}
        send({"id": message["id"], "result": result})
    elif message.get("method") == "tools/list":
        params = message["params"]
        if "modern" in sys.argv:
            assert params["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        cursor = params.get("cursor")
        page = 0 if cursor is None else int(cursor)
        result = {"tools": PAGES[page]}
        if page + 1 < len(PAGES):
            result["nextCursor"] = str(page + 1)
        if "endless" in sys.argv:
            result["nextCursor"] = "0"
        send({"id": message["id"], "result": result})
    elif message.get("id") == "p":
        assert message["result"] == {}, message
    elif message.get("id") == "r":
        assert message["error"]["code"] == -32601, message
"""

WEATHER = {"name": "weather", "inputSchema": {"type": "object"}}
WITHOUT_SCHEMA = {"name": "bare"}


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of the server."""
    path = tmp_path_factory.mktemp("server") / "server.py"
    path.write_text(SERVER)
    return path


def run(*arguments: str) -> Result:
    """Run a command of sidecheck in this process."""
    return CliRunner().invoke(sidecheck, arguments)


def command(script: Path, pages: Sequence[Sequence[Any]], *modes: str) -> list[str]:
    """Return the command of a server with *pages* of tools."""
    return ["--", sys.executable, str(script), json.dumps(pages), *modes]


def test_all_pages_are_checked(script: Path) -> None:
    result = run("check", "--format", "json", *command(script, [[WEATHER], [WITHOUT_SCHEMA]]))
    outcomes = json.loads(result.stdout)
    assert [(outcome["file"], outcome["name"], outcome["ok"]) for outcome in outcomes] == [
        (sys.executable, "weather", True),
        (sys.executable, "bare", False),
    ]
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("mode", "options", "version"),
    [
        ("", [], "2025-11-25"),
        ("", ["--protocol-version", "2025-06-18"], "2025-06-18"),
        ("old", [], "2025-03-26"),
        ("modern", [], "2026-07-28"),
        ("modern", ["--protocol-version", "2026-07-28"], "2026-07-28"),
    ],
)
def test_the_version_is_that_of_the_server(
    script: Path, mode: str, options: list[str], version: str
) -> None:
    """The rules of that version apply."""
    result = run("check", *options, "--format", "sarif", *command(script, [[WITHOUT_SCHEMA]], mode))
    [run_of_tool] = json.loads(result.stdout)["runs"]
    assert f"/specification/{version}/" in run_of_tool["tool"]["driver"]["rules"][0]["helpUri"]


FAILURES: list[tuple[str, str, str]] = [
    ("ends", "import sys; sys.exit(3)", "it ended with exit code 3 before it answered initialize"),
    (
        "writes rubbish",
        "print('Listening on port 80')",
        (
            "it ended with exit code 0 before it answered initialize; it wrote Listening on port "
            "80, which is no message"
        ),
    ),
    ("is silent", "import time; time.sleep(60)", "it did not answer initialize within 2 s"),
    (
        "echoes",
        "import sys\nfor line in sys.stdin: print(line, end='', flush=True)",
        "it sends back what it is sent",
    ),
]


@pytest.mark.parametrize(
    ("program", "fault"), [row[1:] for row in FAILURES], ids=[row[0] for row in FAILURES]
)
def test_a_server_that_fails(program: str, fault: str) -> None:
    result = run("check", "--server-timeout", "2", "--", sys.executable, "-c", program)
    assert (result.exit_code, result.stderr) == (2, f"Error: {sys.executable}: {fault}\n")


@pytest.mark.parametrize(
    ("pages", "modes", "options", "fault"),
    [
        (
            [[WEATHER]],
            ["endless"],
            [],
            "its list of tools has no end: 2 tools so far, and a further cursor",
        ),
        ([{}], [], [], 'its result of tools/list has no array "tools"'),
        (
            [[]],
            ["old"],
            ["--protocol-version", "2025-11-25"],
            "it does not have the protocol version 2025-11-25; it offers 2025-03-26",
        ),
        (
            [[]],
            ["modern"],
            ["--protocol-version", "2025-11-25"],
            "it answered initialize with error -32601: unknown",
        ),
    ],
    ids=["endless list", "no list", "another version", "no handshake"],
)
def test_a_server_that_does_not_list_its_tools(
    script: Path, pages: Any, modes: list[str], options: list[str], fault: str
) -> None:
    result = run("check", *options, *command(script, pages, *modes))
    assert (result.exit_code, result.stderr) == (2, f"Error: {sys.executable}: {fault}\n")


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--"], "-- needs the command of a server after it"),
        (["--url", "http://a", "--", "b"], "give --url or a command after --, not both"),
        (["--url", "ftp://a"], "--url ftp://a: expected a URL of http or https"),
        (["--header", "a:b", "tools.json"], "--header needs --url"),
        ([], "give a FILE, --url, or the command of a server after --"),
    ],
)
def test_wrong_options(arguments: list[str], fault: str) -> None:
    result = run("check", *arguments)
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (2, f"Error: {fault}")


def test_a_missing_program() -> None:
    result = run("check", "--", "no-such-program")
    assert (result.exit_code, result.stderr) == (
        2,
        "Error: no-such-program: No such file or directory\n",
    )


# Over HTTP


@pytest.fixture(scope="module")
def upstream() -> Iterator[HttpMcpServer]:
    """A server over Streamable HTTP."""
    with http_mcp_server() as server:
        yield server


def test_a_server_over_http(upstream: HttpMcpServer) -> None:
    result = run("check", "--format", "json", "--url", upstream.url, "--header", "x-key: s")
    [outcome] = json.loads(result.stdout)
    assert (outcome["file"], outcome["name"]) == (upstream.url, upstream.tools[0]["name"])
    assert {headers.get("x-key") for _, _, headers, _ in upstream.requests} == {"s"}


def test_an_unreachable_server_over_http() -> None:
    """Credentials of the URL are not shown."""
    result = run("check", "--url", "http://user:secret@127.0.0.1:9/mcp?token=secret")
    assert (result.exit_code, result.stderr) == (
        2,
        (
            "Error: http://127.0.0.1:9/mcp: the server at 127.0.0.1:9 cannot be reached: "
            "Connection refused\n"
        ),
    )


# Other commands


def test_convert(script: Path) -> None:
    result = run("convert", "--to", "anthropic", *command(script, [[WEATHER]]))
    assert [tool["name"] for tool in json.loads(result.stdout)] == ["weather"]


def test_diff(script: Path, tmp_path: Path) -> None:
    """The server has a property more that is required."""
    released = tmp_path / "released.json"
    released.write_text(json.dumps([WEATHER]))
    changed = {**WEATHER, "inputSchema": {"type": "object", "required": ["city"]}}
    result = run("diff", str(released), *command(script, [[changed]]))
    assert result.exit_code == 1
    assert "weather" in result.stdout


def test_register(script: Path, shared_server: RunningServer) -> None:
    arguments = ["tools", "register", "--server", "served", "--target", shared_server.address]
    result = run(*arguments, *command(script, [[WEATHER]]))
    assert result.exit_code == 0, result.output
    listed = run("tools", "list", "--server", "served", "--target", shared_server.address)
    assert "weather" in listed.output


def test_a_command_of_the_shell(script: Path) -> None:
    """Output is that of a file; the server's standard error is shown."""
    completed = subprocess.run(
        [sys.executable, "-m", "sidecheck_server", "check", *command(script, [[WEATHER]])],
        capture_output=True,
        text=True,
        check=True,
        timeout=180,
    )
    assert completed.stdout == "1 tool, no violations\n"
