"""Packages of the clients, built as the release publishes them."""

import json
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

from conformance.languages import LANGUAGES, Language
from support.shared_material import REPOSITORY, repository_files

__all__ = [
    "GO_MODULE",
    "GO_VERSION",
    "VERSION",
    "client_files",
    "deploy_artifacts",
    "unpack_crate",
    "unpack_source_distribution",
    "write_module_proxy",
]

_CLIENTS = REPOSITORY / "clients"
_SECONDS = 900

VERSION: str = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
GO_MODULE = "github.com/sidecheck/sidecheck/clients/go"
GO_VERSION = f"v{VERSION}"

_ARTIFACTS = REPOSITORY / "build" / "packages" / "java"
_JAVA = LANGUAGES["Java"]
#: `make publish-maven`, to a folder.
_DEPLOYMENT = Language(
    _JAVA.folder / "sidecheck",
    _JAVA.programs,
    (
        (
            *("mvn", "-B", "-q", "-P", "release", "deploy", "-DskipTests"),
            f"-DaltDeploymentRepository=build::file:{_ARTIFACTS}",
        ),
    ),
    test=(),
)


def client_files(client: str) -> set[str]:
    """Return the paths of the files of a client in the repository, relative to its folder."""
    start = f"clients/{client}/"
    return {name.removeprefix(start) for name in repository_files() if name.startswith(start)}


def deploy_artifacts() -> Path:
    """Return the folder of a Maven repository with the Java client.

    It is deployed once for each run of the tests.

    Raises:
        CommandFailed: The build failed.
    """
    _JAVA.make()
    _DEPLOYMENT.make()
    return _ARTIFACTS


def unpack_crate(folder: Path) -> Path:
    """Package the Rust client below *folder*, and return the folder of the unpacked crate."""
    # Without --no-verify, cargo would compile the crate, as its users in the tests do.
    command = ("cargo", "package", "--locked", "--quiet", "--no-verify", "--allow-dirty")
    _run(*command, "--target-dir", folder, directory=_CLIENTS / "rust")
    archive = folder / "package" / f"sidecheck-{VERSION}.crate"
    return _unpack(archive, folder)


def unpack_source_distribution(folder: Path) -> Path:
    """Build the sdist of the Python client in *folder*, and return the unpacked folder."""
    command = (sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", folder)
    _run(*command, directory=_CLIENTS / "python")
    return _unpack(folder / f"sidecheck-{VERSION}.tar.gz", folder)


def write_module_proxy(folder: Path) -> Path:
    """Write the Go client to *folder* as a module proxy serves it; return the module's archive.

    The layout is that of https://go.dev/ref/mod#goproxy-protocol.
    """
    versions = folder / GO_MODULE / "@v"
    versions.mkdir(parents=True)
    (versions / "list").write_text(f"{GO_VERSION}\n")
    info = {"Version": GO_VERSION, "Time": "2026-01-01T00:00:00Z"}
    (versions / f"{GO_VERSION}.info").write_text(json.dumps(info))
    (versions / f"{GO_VERSION}.mod").write_bytes((_CLIENTS / "go" / "go.mod").read_bytes())
    archive = versions / f"{GO_VERSION}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written:
        for name in sorted(client_files("go")):
            written.write(_CLIENTS / "go" / name, f"{GO_MODULE}@{GO_VERSION}/{name}")
    return archive


def _unpack(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / f"sidecheck-{VERSION}"


def _run(*command: str | Path, directory: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command,
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
