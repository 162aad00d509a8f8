"""Audit hook for every Python process that starts with this folder on its path.

Python imports a module of this name at its start, so the hook is installed before any other
code runs, in the server and in each worker. It writes every event that validation must not
cause to the file that ``SIDECHECK_TRIPWIRE`` names, one JSON array per line: process, event,
subject. The first event of a process is ``watched``.
"""

import builtins
import json
import os
import sys
from pathlib import Path
from types import CodeType
from typing import Any

__all__ = ["Tripwire"]

_MARKS = ("PWN", "pwned", "sidecheck-bait")
"""Marks of every injected text and bait."""

_TOUCHING = (
    *("socket.connect", "socket.getaddrinfo", "socket.gethostby", "socket.send"),
    *("urllib.Request", "ftplib.connect", "http.client.connect", "webbrowser.open"),
    *("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn"),
    *("os.remove", "os.rename", "os.link", "os.symlink", "os.mkdir", "os.rmdir", "os.truncate"),
    *("os.putenv", "shutil.", "tempfile.", "glob.", "pty.spawn", "ctypes.", "pdb.Pdb"),
)
"""Prefixes of the events that reach beyond the process, except for opening files."""

_FOREIGN_MODULES = {
    *("antigravity", "code", "codeop", "ctypes", "ftplib", "http.client", "http.server"),
    *("pdb", "poplib", "pty", "smtplib", "telnetlib", "this", "turtle", "urllib.request"),
    *("webbrowser", "xmlrpc.client"),
}


class Tripwire:
    """Writes forbidden events to a log."""

    def __init__(self, log: str) -> None:
        self._file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        roots = (sys.prefix, sys.base_prefix, Path(__file__).resolve().parents[3], "/usr/lib")
        self._homes = (
            *(str(Path(root).resolve()) + os.sep for root in roots),
            *(str(Path(path).resolve()) for path in sys.path if path),
            *("/dev/null", "/dev/urandom", "/proc/self/", "/sys/fs/cgroup/"),
            *("/usr/share/zoneinfo", "/etc/localtime"),
        )
        self._watched = {
            "open": self._open,
            "exec": self._exec,
            "compile": self._compile,
            "import": self._import,
        }

    def tell(self, event: str, subject: object) -> None:
        """Write a line to the log."""
        line = json.dumps([os.getpid(), event, str(subject)[:400]])
        os.write(self._file, line.encode() + b"\n")

    def watch(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Look at an event; this is the audit hook (PEP 578)."""
        watched = self._watched.get(event)
        if watched is not None:
            watched(arguments)
        elif event.startswith(_TOUCHING):
            # The object of a socket differs each time; its address does not.
            self.tell(event, arguments[1:] if event == "socket.connect" else arguments)

    def _open(self, arguments: tuple[Any, ...]) -> None:
        path = arguments[0]
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        # A number is an open file. Python looks for the line of a syntax error in the file "".
        if isinstance(path, str) and path and not str(Path(path).resolve()).startswith(self._homes):
            self.tell("open", path)

    def _exec(self, arguments: tuple[Any, ...]) -> None:
        code: CodeType = arguments[0]
        if code.co_filename == "<schema>":
            strange = _strange_name(code)
            if strange is not None:
                self.tell("exec", f"the name {strange!r}")
        elif code.co_filename.startswith(("<string>", "<attrs generated ")):  # Data classes.
            if _is_marked(" ".join(code.co_names)):
                self.tell("exec", code.co_names)
        elif not self._is_ours(code.co_filename):
            self.tell("exec", code.co_filename)

    def _compile(self, arguments: tuple[Any, ...]) -> None:
        source, name = arguments
        if isinstance(source, bytes):
            source = source.decode("utf-8", "replace")
        # Source that is only parsed has such a name; `_exec` examines code that runs.
        if str(name) in {"", "<unknown>"} or self._is_ours(str(name)):
            return
        if isinstance(source, str) and _is_marked(source):
            self.tell("compile", source)

    def _import(self, arguments: tuple[Any, ...]) -> None:
        if arguments[0] in _FOREIGN_MODULES or _is_marked(str(arguments[0])):
            self.tell("import", arguments[0])

    def _is_ours(self, code_name: str) -> bool:
        return code_name.startswith(("<frozen", *self._homes))


def _is_marked(text: str) -> bool:
    return any(mark in text for mark in _MARKS)


def _strange_name(code: CodeType) -> str | None:
    """Return a name in *code* that the code generator does not write, or None.

    A text of a schema may only be a constant of the code.
    """
    for name in (*code.co_names, *code.co_varnames, *code.co_freevars):
        if name.startswith("__") or not name.isidentifier() or len(name) > 64 or _is_marked(name):
            return name
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return next(filter(None, map(_strange_name, inner)), None)


def _install(log: str) -> None:
    tripwire = Tripwire(log)

    def called(*arguments: object) -> str:
        tripwire.tell("PWN", arguments)
        return ""

    builtins.PWN = called  # type: ignore[attr-defined]
    sys.addaudithook(tripwire.watch)
    tripwire.tell("watched", "")


if "SIDECHECK_TRIPWIRE" in os.environ:
    _install(os.environ["SIDECHECK_TRIPWIRE"])
