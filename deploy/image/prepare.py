"""Prepares the root of the image: removes what only a build needs, and compiles all modules.

Runs as root in the build, by the interpreter of the image. Modules get bytecode that is valid
without a look at their source (PEP 552, unchecked hashes): the root is read-only at run time, so
that every process would otherwise compile them again, and bytecode by time stamps would differ
between two builds.
"""

import compileall
import os
import shutil
import stat
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from py_compile import PycInvalidationMode

_SERVICE = Path("/opt/sidecheck")
_KEPT_PROGRAMS = ("health_probe.py", "python", "sidecheck")

_BUILD_MODULES = (
    *("ensurepip", "idlelib", "lib2to3", "pydoc_data", "test", "tkinter", "turtledemo"),
    *("_distutils_hack", "pip", "pkg_resources", "setuptools", "wheel"),
)
"""Modules of the interpreter, and of its site-packages, that the service never imports."""

_BUILD_PROGRAMS = ("2to3*", "idle*", "pip*", "pydoc*", "python*-config", "wheel")

_SYSTEM_FILES = (
    *("/usr/share/info", "/usr/share/locale", "/usr/share/man", "/usr/share/python-wheels"),
    *("/var/cache", "/var/lib/apt", "/var/log"),
)
"""Folders of the system whose content the service does not need."""


def main() -> None:
    """Prepare the root of the file system."""
    for folder in _SYSTEM_FILES:
        _empty(Path(folder))
    _remove_documents()
    libraries = {Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib")}
    libraries.update(
        Path(entry) for entry in sys.path if entry.endswith(("-packages", "lib-dynload"))
    )
    for library in sorted(libraries):
        _remove_modules(library)
    for folder in {Path(sysconfig.get_path("scripts")), Path(sys.executable).resolve().parent}:
        for pattern in _BUILD_PROGRAMS:
            for program in folder.glob(pattern):
                program.unlink()
    _reduce_service()
    for file in _regular_files(Path("/")):
        mode = file.lstat().st_mode
        if mode & (stat.S_ISUID | stat.S_ISGID):
            file.chmod(stat.S_IMODE(mode) & ~(stat.S_ISUID | stat.S_ISGID))
    for library in (Path(sysconfig.get_path("stdlib")), _SERVICE / "lib"):
        compileall.compile_dir(
            library,
            maxlevels=20,
            quiet=1,
            force=True,
            invalidation_mode=PycInvalidationMode.UNCHECKED_HASH,
        )


def _empty(folder: Path) -> None:
    for path in folder.glob("*"):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _remove_documents() -> None:
    """Remove documents of Debian's packages, but not their licences."""
    for file in _regular_files(Path("/usr/share/doc")):
        if file.name != "copyright":
            file.unlink()


def _remove_modules(library: Path) -> None:
    for name in _BUILD_MODULES:
        for path in [library / name, *library.glob(f"{name}-*.dist-info")]:
            if path.is_dir():
                shutil.rmtree(path)
    for path in library.glob("config-*"):
        shutil.rmtree(path)


def _reduce_service() -> None:
    """Remove the tests of packages, and the programs that the image does not run."""
    for folder in sorted((_SERVICE / "lib").rglob("tests")):
        if folder.is_dir():
            shutil.rmtree(folder)
    for program in (_SERVICE / "bin").iterdir():
        if not program.name.startswith(_KEPT_PROGRAMS):
            program.unlink()


def _regular_files(root: Path) -> Iterator[Path]:
    """Yield the regular files below *root* on its file system."""
    device = root.stat().st_dev
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if os.lstat(Path(folder, name)).st_dev == device]
        for name in names:
            path = Path(folder, name)
            if stat.S_ISREG(path.lstat().st_mode):
                yield path


if __name__ == "__main__":
    main()
