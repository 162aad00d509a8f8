"""Imported and declared packages of the service and the Python client."""

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.shared_material import REPOSITORY

PROJECTS = {
    "service": (REPOSITORY, ["service/sidecheck_server"]),
    "client": (
        REPOSITORY / "clients" / "python",
        ["clients/python/sidecheck", "clients/python/sidecheck_docstrings.py"],
    ),
}

#: Distributions of modules that have another name.
DISTRIBUTIONS = {
    "google.protobuf": "protobuf",
    "google.rpc": "googleapis-common-protos",
    "griffe": "griffelib",
    "grpc": "grpcio",
    "grpc_health": "grpcio-health-checking",
    "grpc_reflection": "grpcio-reflection",
    "opentelemetry.sdk": "opentelemetry-sdk",
    "opentelemetry": "opentelemetry-api",
    "re2": "google-re2",
    "sidecheck_docstrings": "sidecheck",
    "sidecheck_server": "sidecheck-server",
}

#: What is used without an import of this project.
UNIMPORTED = {
    "service": {
        # Imported by sidecheck_docstrings, which the client has without its extras.
        "griffelib",
        # Named by settings, and by variables of OpenTelemetry.
        "pyvoy",
        "uvloop",
        "opentelemetry-exporter-otlp-proto-grpc",
        "opentelemetry-exporter-otlp-proto-http",
    },
    "client": set(),
}

#: What is imported only in a process that has imported it already, or that is a part of version 2
#: of a declared package, of which version 1 is accepted too.
UNDECLARED = {"service": set(), "client": {"mcp-types", "opentelemetry-api"}}


def declared(project: str) -> Iterator[Requirement]:
    """Yield the requirements of *project* and of its extras."""
    metadata = tomllib.loads((PROJECTS[project][0] / "pyproject.toml").read_text())["project"]
    for requirements in (
        metadata["dependencies"],
        *metadata["optional-dependencies"].values(),
    ):
        yield from map(Requirement, requirements)


def modules(path: Path) -> Iterator[str]:
    """Yield the names of the modules that the file at *path* imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            # Submodules are imported from packages too.
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported(project: str) -> set[str]:
    """Return the distributions that the code of *project* imports."""
    files = [
        file
        for root in PROJECTS[project][1]
        for file in [REPOSITORY / root, *(REPOSITORY / root).rglob("*.py")]
        if file.is_file()
    ]
    distributions: set[str] = set()
    for module in {module for file in files for module in modules(file)}:
        if module.partition(".")[0] in sys.stdlib_module_names:
            continue
        names = (name for name in DISTRIBUTIONS if f"{module}.".startswith(f"{name}."))
        name = next(names, None)
        distributions.add(
            canonicalize_name(DISTRIBUTIONS[name] if name else module.partition(".")[0])
        )
    return distributions - {"sidecheck-server" if project == "service" else "sidecheck"}


@pytest.mark.parametrize("project", PROJECTS)
def test_imported_packages_are_declared(project: str) -> None:
    """A transitive dependency may disappear in the next release."""
    names = {canonicalize_name(requirement.name) for requirement in declared(project)}

    assert names | UNDECLARED[project] == names | imported(project)


@pytest.mark.parametrize("project", PROJECTS)
def test_declared_packages_are_imported(project: str) -> None:
    """No dependency is superfluous."""
    names = {canonicalize_name(requirement.name) for requirement in declared(project)}

    assert names == (names & imported(project)) | UNIMPORTED[project]


@pytest.mark.parametrize("project", PROJECTS)
def test_every_dependency_has_an_upper_bound(project: str) -> None:
    """Installations use tested releases only."""
    unbounded = [
        str(requirement)
        for requirement in declared(project)
        if not any(bound.operator in {"<", "=="} for bound in requirement.specifier)
    ]

    assert [] == unbounded


@pytest.mark.parametrize("project", PROJECTS)
def test_no_private_module_of_a_package_is_imported(project: str) -> None:
    """Their names begin with an underscore, or with `google.protobuf.internal`."""
    private = {
        module
        for root in PROJECTS[project][1]
        for file in (REPOSITORY / root).rglob("*.py")
        if not file.stem.endswith(("_pb2", "_pb2_grpc"))
        for module in modules(file)
        if module.partition(".")[0] not in {"sidecheck", "sidecheck_server"}
        if module.partition(".")[0] not in sys.stdlib_module_names
        if "._" in module or ".internal." in module
    }

    assert set() == private
