"""The configurations in the pages about the proxy: commands that it accepts, and that work."""

import configparser
import json
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import mcp
import pytest
from sidecheck_server.cli import sidecheck
from sidecheck_server.cli.proxy import proxy
from support.stdio_proxy import SECONDS, SERVER

from docs.generate.pages import REPOSITORY

_GUIDES = REPOSITORY / "docs" / "guides"
_PAGES = (_GUIDES / "proxy.md", _GUIDES / "proxy-http.md", _GUIDES / "proxy-findings.md")
_SNIPPET = re.compile(
    r"^( *)```(json|toml|ini|dockerfile|sh)\n(.*?)^\1```", re.MULTILINE | re.DOTALL
)
_FILES = re.compile(r"(--report|--record|--pins-file)$")


def snippets(*languages: str) -> Iterator[tuple[str, str]]:
    """Yield the language and the text of the snippets in *languages*."""
    for page in _PAGES:
        for match in _SNIPPET.finditer(page.read_text(encoding="utf-8")):
            if match[2] in languages:
                yield match[2], match[3]


def configured(value: Any) -> Iterator[list[str]]:
    """Yield the commands, with arguments, of the servers in a client's configuration."""
    if isinstance(value, dict) and "command" in value:
        yield [value["command"], *value["args"]]
    elif isinstance(value, dict):
        for inner in value.values():
            yield from configured(inner)


def client_commands() -> list[list[str]]:
    """Return the commands in the configurations of clients."""
    read = {"json": json.loads, "toml": tomllib.loads}
    return [
        command
        for language, text in snippets("json", "toml")
        for command in configured(read[language](text))
    ]


def proxy_commands() -> list[list[str]]:
    """Return the commands of the pages that run the proxy."""
    commands = client_commands()
    for language, text in snippets("ini", "sh", "dockerfile"):
        if language == "ini":
            unit = configparser.ConfigParser()
            unit.read_string(text)
            assert ["Unit", "Service", "Install"] == unit.sections()
            commands.append(shlex.split(unit["Service"]["ExecStart"]))
        elif language == "dockerfile":
            commands += map(json.loads, re.findall(r"^ENTRYPOINT (.*)$", text, re.MULTILINE))
        else:
            commands += map(shlex.split, text.splitlines())
    return [
        command
        for command in commands
        if Path(command[0]).name == "sidecheck" and command[1] == "proxy"
    ]


@pytest.mark.parametrize("command", proxy_commands(), ids=shlex.join)
def test_the_proxy_accepts_a_command_of_a_page(command: list[str], tmp_path: Path) -> None:
    """It accepts each of its arguments."""
    _, name, *words = command
    for index, word in enumerate(words):
        if word == "--":
            break
        if _FILES.match(word):
            words[index + 1] = str(tmp_path / "file")

    assert name == "proxy"
    parent = click.Context(sidecheck, **sidecheck.context_settings)
    with proxy.make_context(name, words, parent) as context:
        assert bool(context.params["command"]) is not bool(context.params["upstream"])


async def test_a_client_starts_a_command_of_a_page(tmp_path: Path) -> None:
    """The command is run with another server."""
    commands = [command for command in client_commands() if command[0] == "sidecheck"]
    *words, _, _ = commands[0]
    report = tmp_path / "report.jsonl"
    words[words.index("--report") + 1] = str(report)
    arguments = ["-m", "sidecheck_server", *words[1:], *SERVER]
    parameters = mcp.StdioServerParameters(command=sys.executable, args=arguments)
    async with mcp.Client(parameters, read_timeout_seconds=SECONDS, mode="legacy") as client:
        listed = await client.list_tools()

    assert ["--", "uvx", "mcp-server-git"] == commands[0][-3:]
    assert ["echo"] == [tool.name for tool in listed.tools]
    assert not report.read_text()


def test_all_configurations_are_read() -> None:
    """There is one per form of client, and those of containers and systemd."""
    assert 7 == len(client_commands())
    assert 10 == len(proxy_commands())
