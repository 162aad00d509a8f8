"""Makes a Python process look like one on Windows to the code of Sidecheck, and to that alone.

Python imports this module at its start if its folder is in PYTHONPATH. The modules of Sidecheck
then import faces of standard modules: without what exists on POSIX only, and with what exists on
Windows only. Libraries keep the real modules, so that everything runs. Event loops refuse what the
loop of Windows does not have, and `subprocess` accepts the flags of Windows.
"""

import asyncio
import builtins
import ctypes
import ctypes.wintypes
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from io import TextIOWrapper
from types import MappingProxyType, ModuleType
from typing import Any, NoReturn

import psutil
from support.windows.posix_names import LOOP_METHODS, POSIX_MODULES, POSIX_NAMES


class _Kernel:
    """The functions of kernel32 that Sidecheck calls."""

    def __init__(self, *_: Any, **_options: Any) -> None:
        for name in (
            "CloseHandle",
            "GetCurrentProcess",
            "GetProcessTimes",
            "OpenProcess",
            "SetPriorityClass",
        ):
            setattr(self, name, _Function(getattr(self, f"_{name}")))

    def _GetCurrentProcess(self) -> int:  # noqa: N802  (names of Windows)
        return os.getpid()

    def _SetPriorityClass(self, _handle: int, _priority: int) -> int:  # noqa: N802
        os.nice(10)
        return 1

    def _OpenProcess(self, _access: int, _inherit: bool, process_id: int) -> int | None:  # noqa: N802
        return process_id if psutil.pid_exists(process_id) else None

    def _CloseHandle(self, _handle: int) -> int:  # noqa: N802
        return 1

    def _GetProcessTimes(self, handle: int, *times: Any) -> int:  # noqa: N802
        try:
            used = psutil.Process(handle).cpu_times()
        except psutil.NoSuchProcess:
            return 0
        seconds = (0, 0, used.system, used.user)
        for time_, value in zip(times, seconds, strict=True):
            time_._obj.value = int(value * 10_000_000)
        return 1


class _Function:
    """A function that may have types of arguments, as those of ctypes."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)


def _which(command: str, *arguments: Any, **options: Any) -> str | None:
    """Find *command* by PATHEXT too, as `shutil.which` does on Windows."""
    names = (f"{command}{suffix}" for suffix in os.environ.get("PATHEXT", "").split(";"))
    return next(filter(None, (shutil.which(name, *arguments, **options) for name in names)), None)


#: Names that modules have on Windows only, or with other values.
WINDOWS_NAMES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "sys": {"platform": "win32"},
        "os": {"name": "nt"},
        # A program that has no handler of either ends.
        "signal": {"SIGBREAK": signal.SIGUSR2, "CTRL_BREAK_EVENT": signal.SIGTERM},
        "socket": {"SO_EXCLUSIVEADDRUSE": socket.SO_REUSEADDR},
        "subprocess": {"CREATE_NEW_PROCESS_GROUP": 0x200},
        "shutil": {"which": _which},
        "ctypes": {"WinDLL": _Kernel},
    }
)


class _Face(ModuleType):
    """A module without some names, and with others."""

    def __init__(self, module: ModuleType) -> None:
        super().__init__(module.__name__)
        hidden = POSIX_NAMES.get(module.__name__, frozenset())
        added = WINDOWS_NAMES.get(module.__name__, {})
        object.__setattr__(self, "_parts", (module, hidden, added))

    def __getattribute__(self, name: str) -> Any:
        module, hidden, added = object.__getattribute__(self, "_parts")
        if name in added:
            return added[name]
        if name in hidden:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        return getattr(module, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(object.__getattribute__(self, "_parts")[0], name, value)


_FACES = {
    module.__name__: _Face(module)
    for module in (ctypes, os, select, shutil, signal, socket, subprocess, sys, time)
}


def _import_on_windows(
    name: str,
    globals: Mapping[str, Any] | None = None,  # noqa: A002  (the name of the argument)
    locals: Mapping[str, Any] | None = None,  # noqa: A002
    fromlist: tuple[str, ...] = (),
    level: int = 0,
) -> Any:
    importer = (globals or {}).get("__package__") or ""
    if importer.partition(".")[0] in {"sidecheck", "sidecheck_server"}:
        if name in POSIX_MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if name in _FACES:
            return _FACES[name]
    return _import(name, globals, locals, fromlist, level)


def _refuse(*_arguments: Any, **_options: Any) -> NoReturn:
    raise NotImplementedError


def _start(popen: Any, *arguments: Any, **options: Any) -> None:
    """Start a process with the flags of Windows, which exclude the options of POSIX."""
    if options.pop("creationflags", 0):
        assert not {"preexec_fn", "process_group", "start_new_session"} & options.keys()
        options["process_group"] = 0
    _initialize_process(popen, *arguments, **options)


_import = builtins.__import__
_initialize_process = subprocess.Popen.__init__

setattr(builtins, "__import__", _import_on_windows)  # noqa: B010  (mypy knows its types)
setattr(subprocess.Popen, "__init__", _start)  # noqa: B010  (mypy knows it as a method)
for _name in LOOP_METHODS:
    setattr(asyncio.SelectorEventLoop, _name, _refuse)
for _stream in (sys.stdout, sys.stderr):
    if isinstance(_stream, TextIOWrapper):
        _stream.reconfigure(encoding="cp1252", newline="\r\n")
