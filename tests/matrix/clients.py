"""The clients of the matrix, each in an environment of its own."""

import json
import subprocess
from dataclasses import dataclass
from typing import Any

from support.published_servers import NODE

from matrix.servers import BUILD, MATRIX, missing_program

__all__ = ["CLIENTS", "Client", "ClientFailed"]

_SECONDS = 900
"""For a client that hangs."""

_OUTPUT_CHARACTERS = 4_000


class ClientFailed(Exception):
    """A client ended without its outcomes; the text has the end of what it wrote."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client, and the command that runs its sessions."""

    name: str
    package: str
    #: The Python environment; None for Node.
    environment: str | None
    #: The script that runs sessions with the client, as `tests/matrix/clients/driver.py` says.
    script: str

    def command(self) -> list[str]:
        """Return the command that runs the sessions of standard input."""
        if self.environment is None:
            return ["node", str(NODE / self.script)]
        python = BUILD / self.environment / "bin" / "python"
        return [str(python), str(MATRIX / "clients" / self.script)]

    def missing(self) -> str | None:
        """Return why the client cannot be run; None if it can."""
        return missing_program(self.command()[0])

    def run(self, sessions: list[dict[str, Any]]) -> list[Any]:
        """Return the outcomes of the steps of each of *sessions*.

        Raises:
            ClientFailed: The client wrote none.
        """
        run = subprocess.run(
            self.command(),
            input=json.dumps(sessions),
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=_SECONDS,
        )
        if run.returncode != 0:
            written = f"{run.stdout}\n{run.stderr}"[-_OUTPUT_CHARACTERS:]
            raise ClientFailed(f"{self.name} exited with {run.returncode}:\n{written}")
        documents: list[Any] = json.loads(run.stdout)
        return documents


CLIENTS = {
    client.name: client
    for client in (
        Client("Python SDK 1", "mcp", "python-sdk-1", "python_sdk_1.py"),
        Client("Python SDK 2", "mcp", "python-sdk-2", "python_sdk_2.py"),
        Client("TypeScript SDK 1", "@modelcontextprotocol/sdk", None, "sdk_1.mjs"),
        Client("TypeScript SDK 2", "@modelcontextprotocol/client", None, "sdk_2.mjs"),
        Client("FastMCP", "fastmcp", "fastmcp-4", "fastmcp_client.py"),
        Client("OpenAI Agents", "openai-agents", "openai-agents", "openai_agents.py"),
        Client("Pydantic AI", "pydantic-ai-slim", "pydantic-ai", "pydantic_ai_toolset.py"),
        Client(
            "LangChain",
            "langchain-mcp-adapters",
            "langchain-mcp-adapters",
            "langchain_adapters.py",
        ),
    )
}
