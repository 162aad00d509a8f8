"""`sidecheck tools`: what it asks a real server, and what it tells; `info` if none is there."""

import json
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck
from support.running import RunningServer

LOG = b'{"name": "log",  "inputSchema": {"type": "object"}}'
DIFF = b'{"name": "diff", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}}'
BAD = b'{"name": "bad", "inputSchema": {"type": "integr"}}'
INTEGR = 'expected "object", found "integr"'
COMMANDS = [
    pytest.param(["info"], id="info"),
    pytest.param(["tools", "list"], id="list"),
    pytest.param(["tools", "get", "git", "log"], id="get"),
    pytest.param(["tools", "delete", "git", "log"], id="delete"),
    pytest.param(["tools", "register", "tools.json", "--server", "git"], id="register"),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with three tools, one of which is refused."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.json").write_bytes(b"[" + b",\n".join([LOG, DIFF, BAD]) + b"]")
    (tmp_path / "log.json").write_bytes(LOG)
    return tmp_path


def run(*words: str, **environment: str) -> Result:
    """Run the command here; an exception of its own is the test's."""
    return CliRunner().invoke(sidecheck, words, env=environment, catch_exceptions=False)


def run_tools(*words: str) -> tuple[int, str, str]:
    """Return how the command exits and what it says."""
    result = run(*words)
    return result.exit_code, result.stdout, result.stderr


def test_tools_are_registered_listed_shown_and_deleted(server: RunningServer) -> None:
    """All of it in text; a part that is refused shows in the exit code."""
    to = ("--target", server.address)

    assert (
        1,
        (
            "created    log\n"
            "created    diff\n"
            "rejected   bad\n"
            f"tools.json:3:41: error  CONST  bad /inputSchema/type  {INTEGR}\n"
            "3 tools, 2 created, 1 rejected, 1 error\n"
        ),
        "",
    ) == run_tools("tools", "register", "tools.json", "--server", "git", *to)
    listed_tools = json.loads(run("tools", "list", *to, "--format", "json").stdout)
    digests = {tool["name"]: tool["definition_digest"] for tool in listed_tools}
    assert (
        0,
        (
            "SERVER  NAME  REVISION  DEFINITION\n"
            f"git     diff  1         {digests['diff'][:19]}\n"
            f"git     log   1         {digests['log'][:19]}\n"
            "2 tools of 1 server\n"
        ),
        "",
    ) == run_tools("tools", "list", *to)
    assert (0, "0 tools of 0 servers\n", "") == run_tools("tools", "list", "--server", "other", *to)
    assert (
        0,
        (
            "server               git\n"
            "name                 log\n"
            f"definition digest    {digests['log']}\n"
            f"input schema digest  {listed_tools[1]['input_schema_digest']}\n"
            "revision             1\n"
            "\n"
            "{\n"
            '  "name": "log",\n'
            '  "inputSchema": {\n'
            '    "type": "object"\n'
            "  }\n"
            "}\n"
        ),
        "",
    ) == run_tools("tools", "get", "git", "log", *to)
    assert (1, "deleted  log\nunknown  gone\n", "") == run_tools(
        "tools", "delete", "git", "gone", "log", *to
    )
    assert (1, "", "Error: UNKNOWN_TOOL: no tool 'log' is registered for the server 'git'\n") == (
        run_tools("tools", "get", "git", "log", *to)
    )


def test_json_has_all_fields(server: RunningServer) -> None:
    """The fields have the names of the Python client."""
    to = ("--target", server.address, "--format", "json")
    done = json.loads(run("tools", "register", "tools.json", "--server", "git", *to).stdout)
    tool = json.loads(run("tools", "get", "git", "diff", *to).stdout)
    listed = json.loads(run("tools", "list", *to).stdout)
    refused = done["outcomes"][2]

    assert [("log", "created"), ("diff", "created"), ("bad", "rejected")] == [
        (outcome["name"], outcome["action"]) for outcome in done["outcomes"]
    ]
    assert ([], 1) == (done["removed"], done["registry_revision"])
    assert ("tools.json", 3, 41) == (
        refused["file"],
        refused["violations"][0]["line"],
        refused["violations"][0]["column"],
    )
    assert (json.loads(DIFF), []) == (tool.pop("definition"), tool.pop("documents"))
    assert tool == listed[0]
    assert tool["definition_digest"] == done["outcomes"][1]["definition_digest"]
    assert {"deleted": ["diff"], "unknown": ["x"], "registry_revision": 2} == json.loads(
        run("tools", "delete", "git", "diff", "x", *to).stdout
    )


def test_definitions_go_byte_for_byte_and_with_their_documents(
    server: RunningServer, folder: Path
) -> None:
    """The order of properties, and white space, are the author's."""
    from sidecheck import BlockingClient

    (folder / "refers.json").write_text(
        '{"name":"r", "inputSchema": {"type": "object", "$ref": "urn:d"}}'
    )
    document = ("--document", "urn:d", "log.json")
    to = ("--server", "git", "--target", server.address)

    assert 0 == run("tools", "register", "refers.json", *document, *to).exit_code
    with BlockingClient(server.address, timeout=120) as client:
        tool = client.get("git", "r")
    assert b'{"name":"r", "inputSchema": {"type": "object", "$ref": "urn:d"}}' == tool.json
    assert [("urn:d", LOG)] == [(document.uri, document.json) for document in tool.documents]


def test_a_dry_run_reports_actions_and_changes_nothing(server: RunningServer, folder: Path) -> None:
    """--validate-only lists created and removed tools."""
    to = ("--server", "git", "--target", server.address)
    run("tools", "register", "log.json", *to)
    (folder / "diff.json").write_bytes(DIFF)
    replacing = ("tools", "register", "diff.json", "--replace", *to)

    assert (
        0,
        (
            "created    diff\n"
            "removed    log\n"
            "1 tool, 1 created, 1 removed, nothing was registered (--validate-only)\n"
        ),
        "",
    ) == run_tools(*replacing, "--validate-only")
    assert (0, "created    diff\nremoved    log\n1 tool, 1 created, 1 removed\n", "") == (
        run_tools(*replacing)
    )


@pytest.mark.parametrize(
    ("change_policy", "code", "action", "problem"),
    [
        pytest.param("accept", 0, "changed", "", id="accept"),
        pytest.param("report", 0, "changed", "warning  DEFINITION_CHANGED", id="report"),
        pytest.param("reject", 1, "rejected", "error  DEFINITION_CHANGED", id="reject"),
    ],
)
def test_the_option_decides_about_changed_definitions(
    server: RunningServer, folder: Path, change_policy: str, code: int, action: str, problem: str
) -> None:
    """The policies are those of the API."""
    to = ("--server", "git", "--target", server.address)
    run("tools", "register", "log.json", *to)
    (folder / "log.json").write_bytes(LOG.replace(b'"object"', b'"object", "title": "L"'))
    result = run("tools", "register", "log.json", *to, "--change-policy", change_policy)

    assert code == result.exit_code
    assert result.stdout.startswith(f"{action:<9}  log\n")
    assert problem in result.stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"{oops", "it:1:2: PAYLOAD_NOT_JSON: not JSON: ", id="not JSON"),
        pytest.param(b"", "it:1:1: PAYLOAD_NOT_JSON: not JSON: it is empty", id="nothing"),
        pytest.param(b'{"tools": 3}', "it:1:11: TOOLS_NOT_A_LIST: ", id="tools that are no list"),
        pytest.param(b"[" * 10_000, "it:1:1: LIMIT_EXCEEDED: ", id="10,000 deep"),
    ],
)
def test_a_file_without_tools_registers_nothing(
    server: RunningServer, folder: Path, content: bytes, message: str
) -> None:
    """The other files are not registered either."""
    (folder / "it").write_bytes(content)
    to = ("--target", server.address)
    result = run("tools", "register", "log.json", "it", "--server", "git", *to)

    assert (2, "") == (result.exit_code, result.stdout)
    assert result.stderr.startswith(f"Error: {message}")
    assert 1 == result.stderr.count("\n")
    assert "0 tools of 0 servers\n" == run("tools", "list", *to).stdout


@pytest.mark.parametrize("words", COMMANDS)
def test_an_absent_server_is_reported_in_a_line(words: list[str]) -> None:
    """The exit code is 2."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        target = f"127.0.0.1:{listener.getsockname()[1]}"

        assert (
            2,
            "",
            f"Error: UNAVAILABLE: connection refused at {target}\n",
        ) == run_tools(*words, "--target", target)


@pytest.mark.parametrize("words", COMMANDS)
@pytest.mark.parametrize(
    ("target", "message"),
    [
        pytest.param("server", "invalid address 'server'; expected host:port", id="no address"),
        pytest.param("\udcff:1", "is not UTF-8", id="not UTF-8"),
    ],
)
def test_an_invalid_target_is_a_wrong_command(words: list[str], target: str, message: str) -> None:
    """The message names valid targets."""
    result = run(*words, "--target", target)

    assert (2, "") == (result.exit_code, result.stdout)
    assert message in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["register", "log.json"], "Missing option '--server'", id="no server"),
        pytest.param(
            ["register", "--server", "x"],
            "give a FILE, --url, or the command of a server after --",
            id="no file",
        ),
        pytest.param(
            ["register", "-", "-", "--server", "x"], "can be read only once", id="stdin twice"
        ),
        pytest.param(["register", "gone", "--server", "x"], "cannot read gone", id="gone"),
        pytest.param(["delete", "git"], "Missing argument 'NAME...'", id="no name"),
        pytest.param(["get", "git"], "Missing argument 'NAME'", id="no tool"),
        pytest.param(["get", "git", "\udcff"], "is not UTF-8", id="a name not in UTF-8"),
    ],
)
def test_a_wrong_command_exits_with_2(
    shared_server: RunningServer, words: list[str], message: str
) -> None:
    """Standard error has the fault only."""
    result = run("tools", *words, "--target", shared_server.address)

    assert (2, "") == (result.exit_code, result.stdout)
    assert message in result.stderr


def test_a_rejected_request_is_reported(shared_server: RunningServer) -> None:
    """The message has the reason."""
    message = (
        "Error: INVALID_REQUEST: the server's name must have 1 to 256 characters; it has 257\n"
    )

    assert (1, "", message) == run_tools(
        *("tools", "register", "log.json", "--server", "s" * 257),
        *("--target", shared_server.address),
    )


def test_names_do_not_control_the_terminal(server: RunningServer, folder: Path) -> None:
    """Control characters of registered names are escaped."""
    name = "\nx\x1b[2J\u202e"
    (folder / "log.json").write_text(
        json.dumps({"name": name, "inputSchema": {"type": "object", "title": name}})
    )
    to = ("--target", server.address)
    for words in (
        ("register", "log.json", "--server", name),
        ("list",),
        ("get", name, name),
        ("delete", name, name),
    ):
        result = run("tools", *words, *to)

        assert 0 == result.exit_code
        assert result.stdout.replace("\n", "").isprintable()
