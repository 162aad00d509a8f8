"""The published MCP servers: what they offer, and calls to their tools."""

import json
import subprocess
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from demo.children import running

__all__ = ["PUBLISHED", "McpServer", "NoAnswer", "Offer", "Servers"]

_ASK: Final = Path(__file__).with_name("ask_tools.py")
_ANSWER_SECONDS: Final = 120.0
#: How much longer the asking process may take to end the server it asked.
_ENDING_SECONDS: Final = 60.0


class NoAnswer(Exception):
    """An MCP server gave no answer; the message says which and why."""


@dataclass(frozen=True, slots=True)
class McpServer:
    """A published MCP server."""

    #: The namespace under which the demo registers its tools.
    namespace: str
    #: The program that its distribution installs.
    program: str
    flags: tuple[str, ...] = ()


#: The time zone is given so that the definitions do not depend on the machine.
PUBLISHED: Final = (
    McpServer("git", "mcp-server-git"),
    McpServer("time", "mcp-server-time", ("--local-timezone", "UTC")),
)


@dataclass(frozen=True, slots=True)
class Offer:
    """What a server says of itself, and the tools that it offers."""

    server: McpServer
    name: str
    version: str
    protocol_version: str
    #: The entries of its ``tools/list``.
    tools: tuple[dict[str, Any], ...]

    def tool(self, name: str) -> dict[str, Any]:
        """Return the definition of one tool.

        Raises:
            NoAnswer: The server offers none of that name.
        """
        for definition in self.tools:
            if definition["name"] == name:
                return definition
        raise NoAnswer(f"{self.name} {self.version} offers no tool {name}")


class Servers:
    """The servers that are installed in *environment* and work in *folder*.

    Raises:
        NoAnswer: They are not installed.
    """

    def __init__(self, environment: Path, folder: Path) -> None:
        self._programs = environment.absolute() / "bin"
        self._folder = folder
        missing = [
            name
            for name in ("python", *(server.program for server in PUBLISHED))
            if not (self._programs / name).exists()
        ]
        if missing:
            raise NoAnswer(
                f"{', '.join(missing)} not found in {self._programs}; `make demo` installs the MCP "
                "servers there, out of clients/python/demo/requirements.lock"
            )

    def list_tools(self) -> list[Offer]:
        """Ask all servers at once for their tools, each in a process of its own.

        Raises:
            NoAnswer: One of them gave no answer.
        """
        with ExitStack() as stack:
            asked = [
                (server, stack.enter_context(self._asking(server, []))) for server in PUBLISHED
            ]
            answers = [(server, _answer(server, process)) for server, process in asked]
        return [
            Offer(
                server,
                answer["name"],
                answer["version"],
                answer["protocolVersion"],
                tuple(answer["tools"]),
            )
            for server, answer in answers
        ]

    def call_tool(self, server: McpServer, name: str, arguments: str) -> dict[str, Any]:
        """Call a tool with *arguments*, a JSON text, and return its ``CallToolResult``.

        Raises:
            NoAnswer: The server gave none.
        """
        call = ["--call", name, arguments]
        with self._asking(server, call) as process:
            result: dict[str, Any] = _answer(server, process)["result"]
            return result

    def _asking(
        self, server: McpServer, call: list[str]
    ) -> AbstractContextManager[subprocess.Popen[str]]:
        # Isolated: neither the caller's PYTHONPATH nor the modules beside the script
        # belong to the environment of the servers.
        command: list[str | Path] = [
            self._programs / "python",
            "-I",
            _ASK,
            *("--seconds", str(_ANSWER_SECONDS), *call),
            "--",
            self._programs / server.program,
            *server.flags,
        ]
        return running(command, folder=self._folder)


def _answer(server: McpServer, process: subprocess.Popen[str]) -> dict[str, Any]:
    try:
        output, messages = process.communicate(timeout=_ANSWER_SECONDS + _ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        raise NoAnswer(f"{server.program}: no answer, and no end") from None
    if process.returncode != 0:
        last = "\n".join(messages.strip().splitlines()[-8:])
        raise NoAnswer(f"{server.program}: {last}")
    answer: dict[str, Any] = json.loads(output)
    return answer
