"""`sidecheck wrap` and `unwrap`: the servers of a client behind the proxy, and back."""

import asyncio
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import mcp
import pytest
from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck
from sidecheck_server.cli.wrap import find_command
from support.shared_material import REPOSITORY

SERVER = REPOSITORY / "tests" / "support" / "scripted_server.py"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a `sidecheck` that clients find."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sidecheck_server.cli.wrap.find_command", lambda: ["sidecheck"])
    return tmp_path


def run(*words: str) -> Result:
    """Run the command here; an exception of its own is the test's."""
    return CliRunner().invoke(sidecheck, words, catch_exceptions=False)


def wrapped(text: str, *words: str) -> str:
    """Return the configuration *text* after `wrap`."""
    Path("mcp.json").write_bytes(text.encode())
    result = run("wrap", "mcp.json", *words)
    assert 0 == result.exit_code, result.stderr
    return Path("mcp.json").read_bytes().decode()


#: Configuration, options of the proxy, and the configuration after `wrap`.
FORMS = [
    pytest.param(
        '{"mcpServers": {"git": {"command": "uvx", "args": ["mcp-server-git"]}}}',
        [],
        '{"mcpServers": {"git": {"command": "sidecheck", '
        '"args": ["proxy", "--", "uvx", "mcp-server-git"]}}}',
        id="Claude Desktop",
    ),
    pytest.param(
        "{\n"
        "  // shared with the team\n"
        '  "inputs": [{"id": "key", "password": true,},],\n'
        '  "servers": {\n'
        '    "a": {\n'
        '      "type": "stdio",\n'
        '      "args": [\n'
        "        /* none */\n"
        '        "x//y", // path\n'
        "      ],\n"
        '      "command": "C:\\\\tools\\\\a.exe",\n'
        '      "env": {"KEY": "${input:key}"},\n'
        "    },\n"
        "  },\n"
        "}\n",
        ["--enforce", "--report", "/tmp/{server}.jsonl"],
        "{\n"
        "  // shared with the team\n"
        '  "inputs": [{"id": "key", "password": true,},],\n'
        '  "servers": {\n'
        '    "a": {\n'
        '      "type": "stdio",\n'
        '      "args": [\n'
        "        /* none */\n"
        '        "proxy", "--enforce", "--report", "/tmp/a.jsonl", "--", '
        '"C:\\\\tools\\\\a.exe", "x//y", // path\n'
        "      ],\n"
        '      "command": "sidecheck",\n'
        '      "env": {"KEY": "${input:key}"},\n'
        "    },\n"
        "  },\n"
        "}\n",
        id="VS Code, with comments",
    ),
    pytest.param(
        '{\r\n\t"mcpServers": {\r\n\t\t"a": {\r\n'
        '\t\t\t"command": "caf\\u00e9"\r\n\t\t}\r\n\t}\r\n}',
        [],
        '{\r\n\t"mcpServers": {\r\n\t\t"a": {\r\n\t\t\t"command": "sidecheck",\r\n'
        '\t\t\t"args": ["proxy", "--", "caf\\u00e9"]\r\n\t\t}\r\n\t}\r\n}',
        id="no arguments, tabs and Windows lines",
    ),
    pytest.param(
        '{"mcpServers": {"a": {"args": [ ], "command": "a", "env": {"K": "v"}}}}',
        [],
        '{"mcpServers": {"a": {"args": ["proxy", "--", "a"  ], "command": "sidecheck", '
        '"env": {"K": "v"}}}}',
        id="empty arguments",
    ),
    pytest.param(
        '\ufeff{"context_servers": {"a": {"command": "a", "args": ["--", "b"]}}}',
        [],
        '\ufeff{"context_servers": {"a": {"command": "sidecheck", '
        '"args": ["proxy", "--", "a", "--", "b"]}}}',
        id="Zed, a byte order mark and two dashes",
    ),
    pytest.param(
        '{\n  "servers": {\n    "r": {\n      "url": "https://example.com/mcp", // live\n'
        '      "headers": {"Authorization": "Bearer ${input:key}", "X-Team": "a", '
        '"Accept": "*/*"}\n    }\n  }\n}\n',
        ["--tools", "enforce"],
        '{\n  "servers": {\n    "r": {\n      "type": "stdio",\n      "command": "sidecheck",\n'
        '      "args": [\n        "proxy",\n        "--tools",\n        "enforce",\n'
        '        "--upstream",\n        "https://example.com/mcp",\n        "--header",\n'
        '        "X-Team: a"\n      ],\n      "env": {\n        "SIDECHECK_WRAPPED": '
        '"{\\n      \\"url\\": \\"https://example.com/mcp\\", // live\\n      \\"headers\\": '
        '{\\"Authorization\\": \\"Bearer ${input:key}\\", \\"X-Team\\": \\"a\\", '
        '\\"Accept\\": \\"*/*\\"}\\n    }",\n'
        '        "SIDECHECK_UPSTREAM_TOKEN": "${input:key}"\n      }\n    }\n  }\n}\n',
        id="a remote server",
    ),
    pytest.param(
        '{"mcpServers": {"r": {"type": "http", "url": "http://127.0.0.1:3000/mcp", "off": true}}}',
        [],
        '{"mcpServers": {"r": {"type": "stdio", "off": true, "command": "sidecheck", "args": '
        '["proxy", "--upstream", "http://127.0.0.1:3000/mcp"], "env": {"SIDECHECK_WRAPPED": '
        '"{\\"type\\": \\"http\\", \\"url\\": \\"http://127.0.0.1:3000/mcp\\", '
        '\\"off\\": true}"}}}}',
        id="a remote server in one line",
    ),
]


@pytest.mark.parametrize(("text", "options", "expected"), FORMS)
def test_a_configuration_is_wrapped_and_unwrapped(
    text: str, options: list[str], expected: str
) -> None:
    """All else keeps its bytes; a second `wrap` changes nothing, `unwrap` restores the file."""
    words = ["--", *options] if options else []
    path = Path("mcp.json")

    assert expected == wrapped(text, *words)
    assert text == Path("mcp.json.before-sidecheck").read_bytes().decode()
    assert expected == (run("wrap", "mcp.json", *words), path.read_bytes().decode())[1]
    assert 0 == run("unwrap", "mcp.json").exit_code
    assert text == path.read_bytes().decode()
    assert not Path("mcp.json.before-sidecheck").exists()


TWO = '{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b", "args": []}}}'


def test_some_servers_are_chosen_by_name() -> None:
    """The others stay as they are, both ways; the backup is that before the first change."""
    first = wrapped(TWO, "--server", "b")
    run("wrap", "mcp.json")
    both = json.loads(Path("mcp.json").read_text())["mcpServers"]
    backup = Path("mcp.json.before-sidecheck").read_text()
    run("unwrap", "mcp.json", "--server", "a")

    assert '"a": {"command": "a"}' in first
    assert {"sidecheck"} == {server["command"] for server in both.values()}
    assert TWO == backup
    assert first == Path("mcp.json").read_text()


def test_edits_made_meanwhile_stay() -> None:
    """Also those of the wrapped entries, and of a client that writes the file anew."""
    remote = {"type": "http", "url": "https://example.com/mcp", "timeout": 5}
    servers: dict[str, Any] = {
        "a": {"command": "a", "args": ["x"]},
        "b": {"command": "b"},
        "r": remote,
    }
    config = json.loads(wrapped(json.dumps({"mcpServers": servers})))
    config["mcpServers"]["a"]["args"].append("y")
    config["mcpServers"]["b"]["env"] = {"K": "v"}
    config["mcpServers"]["r"]["disabled"] = True
    config["mcpServers"]["c"] = {"command": "c"}
    Path("mcp.json").write_text(json.dumps({"theme": "dark", **config}, indent=4))
    run("unwrap", "mcp.json")

    assert {
        "theme": "dark",
        "mcpServers": {
            "a": {"command": "a", "args": ["x", "y"]},
            "b": {"command": "b", "env": {"K": "v"}},
            "r": {**remote, "disabled": True},
            "c": {"command": "c"},
        },
    } == json.loads(Path("mcp.json").read_text())
    assert Path("mcp.json.before-sidecheck").exists()


def test_a_dry_run_prints_the_difference() -> None:
    """Nothing is written."""
    Path("mcp.json").write_text('{"mcpServers": {\n"a": {"command": "a"}\n}}\n')
    result = run("wrap", "--dry-run", "mcp.json")

    assert (
        "--- mcp.json\n+++ mcp.json\n@@ -1,3 +1,3 @@\n"
        ' {"mcpServers": {\n-"a": {"command": "a"}\n'
        '+"a": {"command": "sidecheck", "args": ["proxy", "--", "a"]}\n }}\n'
    ) == result.stdout
    assert ["mcp.json"] == [path.name for path in Path().iterdir()]


def test_mode_and_link_are_kept(folder: Path) -> None:
    """The file may hold secrets, and may be in another folder."""
    (folder / "dotfiles").mkdir()
    target = folder / "dotfiles" / "claude.json"
    target.write_text(TWO)
    target.chmod(0o600)
    (folder / "mcp.json").symlink_to(target)
    run("wrap", "mcp.json")
    names = ["claude.json", "claude.json.before-sidecheck"]

    assert (folder / "mcp.json").is_symlink()
    assert names == sorted(path.name for path in target.parent.iterdir())
    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in target.parent.iterdir()}
    assert "sidecheck" in target.read_text()


WRONG = [
    pytest.param("{", [], "cannot rewrite mcp.json: Expecting property name", id="no JSON"),
    pytest.param('{"a": "\\x"}', [], "cannot rewrite mcp.json: Invalid \\escape", id="an escape"),
    pytest.param("\xff", [], "it is not UTF-8 at byte 0", id="not UTF-8"),
    pytest.param("[" * 100_000, [], "it nests too deeply", id="deep"),
    pytest.param("[]", [], 'it has no "mcpServers" or "servers" object', id="an array"),
    pytest.param('{"mcpServers": []}', [], 'it has no "mcpServers" or', id="an array of servers"),
    pytest.param('{"mcpServers": {"a": 1}}', [], 'server "a" is not an object', id="a number"),
    pytest.param(
        '{"mcpServers": {"a": {}}}', [], 'server "a" has neither a "command" nor a "url"', id="{}"
    ),
    pytest.param(
        '{"mcpServers": {"a": {"command": ["a"]}}}',
        [],
        'the command of server "a" is not a string',
        id="a command in an array",
    ),
    pytest.param(
        '{"mcpServers": {"a": {"command": "a", "args": "b"}}}',
        [],
        'the args of server "a" are not an array of strings',
        id="arguments in a string",
    ),
    pytest.param(
        '{"mcpServers": {"a": {"url": "http://a", "headers": {"b": 1}}}}',
        [],
        'the headers of server "a" are not an object of strings',
        id="a number as header",
    ),
    pytest.param(TWO, ["--server", "c"], 'mcp.json has no server "c"', id="no such server"),
    pytest.param(TWO, ["--", "--enforced"], "No such option '--enforced'", id="no such option"),
    pytest.param(TWO, ["--", "uvx"], "give options of `sidecheck proxy` only", id="a command"),
    pytest.param(
        TWO, ["--", "--upstream", "http://a"], "--upstream depends on the server", id="a URL"
    ),
]


@pytest.mark.parametrize(("text", "words", "fault"), WRONG)
def test_wrong_input_is_rejected(text: str, words: list[str], fault: str) -> None:
    """In one sentence; the file stays as it is."""
    Path("mcp.json").write_bytes(text.encode("latin-1"))
    result = run("wrap", "mcp.json", *words)

    assert 2 == result.exit_code
    assert fault in result.stderr
    assert text.encode("latin-1") == Path("mcp.json").read_bytes()
    assert not Path("mcp.json.before-sidecheck").exists()


def test_the_command_is_a_path_where_clients_may_not_find_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clients of the desktop have another PATH than a shell."""
    program = folder / "bin" / "sidecheck"
    program.parent.mkdir()
    program.touch(0o700)
    monkeypatch.setattr(sys, "argv", [str(program)])
    found = [find_command()]
    monkeypatch.setattr("sidecheck_server.cli.wrap._DESKTOP_PATH", str(program.parent))
    found.append(find_command())
    program.unlink()
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "executable", "/opt/bin/python")
    found.append(find_command())

    assert [
        [str(program)],
        ["sidecheck"],
        ["/opt/bin/python", "-m", "sidecheck_server"],
    ] == found


def test_a_missing_file_is_named() -> None:
    """For both commands."""
    for command in ("wrap", "unwrap"):
        result = run(command, "none.json")
        assert (2, True) == (result.exit_code, "File 'none.json' does not exist." in result.stderr)


def test_a_proxy_that_was_written_by_hand() -> None:
    """It counts as wrapped. A command comes out; without the former entry, a URL does not."""
    by_hand = {"command": "/opt/bin/sidecheck", "args": ["proxy", "--enforce", "--", "uvx", "git"]}
    remote = {"command": "sidecheck", "args": ["proxy", "--upstream", "http://127.0.0.1/mcp"]}
    text = json.dumps({"mcpServers": {"a": by_hand}})

    assert text == wrapped(text)
    run("unwrap", "mcp.json")
    expected = {"mcpServers": {"a": {"command": "uvx", "args": ["git"]}}}
    assert expected == json.loads(Path("mcp.json").read_text())
    Path("mcp.json").write_text(json.dumps({"mcpServers": {"a": remote}}))
    result = run("unwrap", "mcp.json")
    assert 2 == result.exit_code
    assert 'server "a" was not wrapped by this command; edit its entry' in result.stderr


async def list_tools(server: dict[str, Any]) -> list[Any]:
    """Return the tools that the client of the SDK gets from the command of *server*."""
    parameters = mcp.StdioServerParameters(**server, env=dict(os.environ))
    async with mcp.Client(parameters, mode="legacy") as client:
        return [tool.model_dump() for tool in (await client.list_tools()).tools]


@pytest.mark.parametrize("args", [[], ["-u"]])
def test_a_client_lists_the_tools_of_a_wrapped_server(
    args: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command in the file is one that a client can run."""
    command = [sys.executable, "-m", "sidecheck_server"]
    monkeypatch.setattr("sidecheck_server.cli.wrap.find_command", lambda: command)
    server = {"command": sys.executable, "args": [*args, str(SERVER)]}
    text = json.dumps({"mcpServers": {"scripted": server}}, indent=2)
    config = json.loads(wrapped(text, "--", "--enforce", "--report", "{server}.jsonl"))
    through = config["mcpServers"]["scripted"]

    assert "proxy" in through["args"]
    assert asyncio.run(list_tools(server)) == asyncio.run(list_tools(through))
    assert b"" == Path("scripted.jsonl").read_bytes()
    run("unwrap", "mcp.json")
    assert text == Path("mcp.json").read_text()
