"""A tripwire in every Python process that starts with this folder on its path.

Python imports a module of this name when it starts, so the hook stands before any
other code runs, in the server and in each worker that it spawns. It writes every event
that judging has no business with to the file that ``SIDECHECK_TRIPWIRE`` names, a JSON
array a line: process, event, subject. The first line of a process says that it is watched.
"""

import builtins
import json
import os
import sys
from pathlib import Path
from types import CodeType
from typing import Any

_MARKS = ("PWN", "pwned", "sidecheck-bait")
"""What stands in every injected text and bait."""

_TOUCHING = (
    "socket.connect",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.gethostbyaddr",
    "socket.sendto",
    "socket.sendmsg",
    "urllib.Request",
    "ftplib.connect",
    "http.client.connect",
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "os.remove",
    "os.rename",
    "os.link",
    "os.symlink",
    "os.mkdir",
    "os.rmdir",
    "os.truncate",
    "os.chdir",
    "os.putenv",
    "shutil.",
    "tempfile.",
    "glob.",
    "pty.spawn",
    "ctypes.",
    "webbrowser.open",
    "code.__new__",
    "pdb.Pdb",
    "sys._getframe.PWN",
)
_FOREIGN_MODULES = frozenset(
    "antigravity code codeop ctypes ftplib http.client http.server pdb poplib pty "
    "smtplib telnetlib this turtle urllib.request webbrowser xmlrpc.client".split()
)


def _install(log: str) -> None:
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.set_inheritable(file, False)  # noqa: FBT003
    repository = Path(__file__).resolve().parents[3]
    homes = tuple(
        {
            *(str(Path(root).resolve()) + os.sep for root in (sys.prefix, sys.base_prefix)),
            *(str(Path(path).resolve()) for path in sys.path if path),
            str(repository) + os.sep,
            *("/dev/null", "/dev/urandom", "/proc/self/", "/sys/fs/cgroup/"),
            *("/usr/lib/", "/usr/share/zoneinfo", "/etc/localtime"),
        }
    )

    def tell(event: str, subject: object) -> None:
        line = json.dumps([os.getpid(), event, str(subject)[:400]])
        os.write(file, line.encode() + b"\n")

    def is_home(path: str) -> bool:
        return path.startswith("<frozen") or os.path.abspath(path).startswith(homes)  # noqa: PTH100

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path = arguments[0]
            if isinstance(path, bytes):
                path = os.fsdecode(path)
            if isinstance(path, str) and not is_home(path):
                tell(event, path)
        elif event == "exec":
            if (said := _strange(arguments[0], is_home)) is not None:
                tell(event, said)
        elif event == "compile":
            source = arguments[0]
            if isinstance(source, bytes):
                source = source.decode("utf-8", "replace")
            name = str(arguments[1])
            if isinstance(source, str) and not is_home(name) and _is_marked(source):
                tell(event, source)
        elif event == "import":
            if arguments[0] in _FOREIGN_MODULES or _is_marked(str(arguments[0])):
                tell(event, arguments[0])
        elif event.startswith(_TOUCHING):
            tell(event, arguments)

    def called(*arguments: object) -> str:
        tell("PWN", arguments)
        return ""

    builtins.PWN = called  # type: ignore[attr-defined]
    sys.addaudithook(watch)
    tell("watched", sys.argv)


def _is_marked(text: str) -> bool:
    return any(mark in text for mark in _MARKS)


def _strange(code: CodeType, is_home: Any) -> str | None:
    """Return what is wrong with *code*, which is about to run, or None."""
    if code.co_filename == "<schema>":
        return _strange_in_generated(code)
    if code.co_filename == "<string>":  # dataclasses and named tuples are made so
        names = " ".join(code.co_names)
        return names if _is_marked(names) else None
    return None if is_home(code.co_filename) else code.co_filename


def _strange_in_generated(code: CodeType) -> str | None:
    # A name of a schema may be a constant of the code, and nothing else.
    names = (*code.co_names, *code.co_varnames, *code.co_freevars, code.co_name)
    for name in names:
        if name.startswith("__") or not name.isascii() or not name.isidentifier():
            return f"the name {name!r}"
        if _is_marked(name) or len(name) > 64:
            return f"the name {name!r}"
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return next(filter(None, map(_strange_in_generated, inner)), None)


if "SIDECHECK_TRIPWIRE" in os.environ:
    _install(os.environ["SIDECHECK_TRIPWIRE"])
