"""The servers of the matrix, and the steps of a session with each."""

import http.server
import json
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.published_servers import NODE, prepare
from support.shared_material import REPOSITORY

__all__ = [
    "BUILD",
    "MATRIX",
    "SERVERS",
    "Server",
    "Workplace",
    "listening",
    "missing_program",
    "serving_page",
]

MATRIX = REPOSITORY / "tests" / "matrix"
BUILD = REPOSITORY / "build" / "matrix"

_SECONDS = 300
_POLL_SECONDS = 0.05

#: The steps of a session with a server of `tests/matrix/servers`: each offers the same.
_WEATHER: list[list[Any]] = [
    *(["server"], ["tools"], ["resources"], ["templates"], ["prompts"]),
    ["call", "get_forecast", {"city": "Oslo", "days": 2}],
    ["call", "get_forecast", {"city": "Atlantis"}],
    ["invalid", "get_forecast", {"city": "Oslo", "days": "two"}, "days: expected an integer"],
    ["invalid", "get_forecast", {"days": 2}, '"city" is required'],
    ["read", "weather://cities"],
    ["read", "weather://none"],
    ["prompt", "ask", {"city": "Oslo"}],
    ["ping"],
]


def missing_program(program: str) -> str | None:
    """Return why *program* cannot be run; None if it can."""
    if not (BUILD / ".made").exists():
        return "build/matrix is not there; make build/matrix/.made installs clients and servers"
    if shutil.which(program) is None:
        return f"no {program}, which the matrix needs"
    return None


@dataclass(frozen=True, slots=True)
class Workplace:
    """What a session works on: a folder of its own, and the URL of a page."""

    folder: Path
    page: str

    @classmethod
    def make(cls, folder: Path, page: str) -> "Workplace":
        """Make *folder*, with a git repository in it."""
        folder.mkdir(parents=True)
        prepare(folder / "files")
        return cls(folder, page)

    def fill(self, value: Any) -> Any:
        """Return *value*, JSON, with the places of this workplace."""
        places = {
            "FOLDER": str(self.folder),
            "PAGE": self.page,
            "SERVERS": str(MATRIX / "servers"),
            "BUILD": str(BUILD),
        }
        text = json.dumps(value)
        for name, place in places.items():
            text = text.replace(name, place)
        return json.loads(text)

    def environment(self) -> dict[str, str]:
        """Return the environment of a server."""
        own = {"MEMORY_FILE_PATH": str(self.folder / "memory.jsonl"), "PYTHONUNBUFFERED": "1"}
        return {**os.environ, **own}


@dataclass(frozen=True, slots=True)
class Server:
    """A server, and requests with deterministic responses."""

    name: str
    #: The package whose server it is, or whose SDK the server uses.
    package: str
    #: The program, and its arguments over stdio.
    program: list[str]
    #: Each an operation of a client with its arguments. `invalid` is a call whose arguments
    #: break the schema of the tool, and has a part of Sidecheck's text.
    steps: list[list[Any]]
    #: The Python environment of the program; None for a program of another language.
    environment: str | None = None
    #: The arguments over Streamable HTTP; None if the server speaks only stdio.
    http: list[str] | None = None

    def command(self, workplace: Workplace) -> list[str]:
        """Return the command that starts the server over stdio."""
        program, *arguments = workplace.fill(self.program)
        return [self._path(program), *arguments]

    def http_command(self, workplace: Workplace, port: int) -> list[str]:
        """Return the command that starts the server on *port*, which it also has as PORT."""
        assert self.http is not None
        return [*self.command(workplace), *(self.http or [str(port)])]

    def _path(self, program: str) -> str:
        if self.environment is not None:
            return str(BUILD / self.environment / "bin" / program)
        node = NODE / "node_modules" / ".bin" / program
        return str(node) if node.exists() else program

    def missing(self) -> str | None:
        """Return why the server cannot be started; None if it can."""
        return missing_program(self._path(self.program[0].replace("BUILD", str(BUILD))))


def _read_servers() -> Iterator[Server]:
    described = json.loads((MATRIX / "sessions.json").read_text(encoding="utf-8"))
    for name, server in described.items():
        steps = _WEATHER if server["steps"] == "weather" else server["steps"]
        yield Server(name, **{**server, "steps": steps})


SERVERS = {server.name: server for server in _read_servers()}


@contextmanager
def listening(server: Server, workplace: Workplace) -> Iterator[str]:
    """Yield the URL of *server*, which runs in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**workplace.environment(), "PORT": str(port)}
    process = subprocess.Popen(
        server.http_command(workplace, port),
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _await_port(port, process)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait(timeout=_SECONDS)


def _await_port(port: int, process: subprocess.Popen[bytes]) -> None:
    """Return when something listens on *port*."""
    for _ in range(int(_SECONDS / _POLL_SECONDS)):
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} exited with {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=_SECONDS).close()
        except OSError:
            time.sleep(_POLL_SECONDS)
        else:
            return
    raise RuntimeError(f"{process.args!r} does not listen on port {port}")


class _Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        known = self.path == "/"
        body = b"<html><body><h1>Oslo</h1><p>It rains \xc3\xa5 lot.</p></body></html>"
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Write no log."""


@contextmanager
def serving_page() -> Iterator[str]:
    """Yield the URL of a web page for the server `fetch`."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join(timeout=_SECONDS)
