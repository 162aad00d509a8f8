"""Modules and names that Windows lacks occur only in files that choose by operating system."""

import ast
from collections.abc import Iterator
from pathlib import Path

from support.shared_material import REPOSITORY
from support.windows.posix_names import LOOP_METHODS, POSIX_MODULES, POSIX_NAMES

ROOTS = ("service/sidecheck_server", "clients/python/sidecheck")

#: Parts of the service, which runs on POSIX only, and of connections to unix sockets, which the
#: commands refuse. Other files import them, and call none of it.
POSIX_FILES = {
    "service/sidecheck_server/cli/health_probe.py",
    "service/sidecheck_server/cli/serve.py",
    "service/sidecheck_server/rpc/sockets.py",
    "service/sidecheck_server/server/processes/launcher.py",
}


def posix_parts(tree: ast.Module) -> Iterator[str]:
    """Yield the imports, attributes and methods in *tree* that Windows lacks."""
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                yield from (item.name for item in node.names if item.name in POSIX_MODULES)
            case ast.ImportFrom(module=str(module)):
                if module in POSIX_MODULES:
                    yield module
                names = POSIX_NAMES.get(module, frozenset())
                yield from (f"{module}.{item.name}" for item in node.names if item.name in names)
            case ast.Attribute(value=ast.Name(id=module), attr=name) if name in POSIX_NAMES.get(
                module, ()
            ):
                yield f"{module}.{name}"
            case ast.Attribute(attr=name) if name in LOOP_METHODS:
                yield name


def parts_of(path: Path) -> set[str]:
    return set(posix_parts(ast.parse(path.read_text("utf-8"))))


def test_only_files_that_choose_by_system_use_parts_of_posix() -> None:
    """They are named `operating_system.py`; the service itself runs on POSIX only."""
    found = {}
    for root in ROOTS:
        for path in (REPOSITORY / root).rglob("*.py"):
            name = path.relative_to(REPOSITORY).as_posix()
            if path.name != "operating_system.py" and name not in POSIX_FILES:
                parts = parts_of(path)
                if parts:
                    found[name] = parts

    assert {} == found


def test_the_exempt_files_use_parts_of_posix() -> None:
    """An exemption that is no longer needed is an error."""
    unneeded = {name for name in POSIX_FILES if not parts_of(REPOSITORY / name)}

    assert set() == unneeded
