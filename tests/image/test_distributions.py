"""Whether the distributions that `make dist` builds are complete, and work when installed."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from packages.published import VERSION, client_files
from support.shared_material import REPOSITORY, unavailable

PROJECTS = (REPOSITORY, REPOSITORY / "clients" / "python")
EXAMPLE = """
from sidecheck import ToolDefinition
from sidecheck.v1.validation_service_pb2 import ValidateRequest
import sidecheck, sidecheck_server
print(sidecheck.__file__, sidecheck_server.__file__, sep="\\n")
"""


def run(*command: str | Path, folder: Path) -> str:
    """Return what *command* prints; fail the test with its messages if it fails."""
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=folder, env=surroundings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the distributions of the server and the client."""
    folder = tmp_path_factory.mktemp("dist")
    for project in PROJECTS:
        options = ("--no-isolation", "--outdir", folder)
        run(sys.executable, "-m", "build", *options, project, folder=folder)
    return folder


@pytest.fixture(scope="module")
def environment(distributions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a new environment that has the wheels and what the service needs."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder, folder=folder)
    pip = (sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install", "--quiet")
    lock = REPOSITORY / "deploy" / "runtime.lock"
    run(*pip, "--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", lock, folder=folder)
    run(*pip, "--no-deps", "--no-index", *distributions.glob("*.whl"), folder=folder)
    return folder


def test_wheels_hold_their_package_alone(distributions: Path) -> None:
    """The client's wheel has every file of it, the marker of typed packages too."""
    content = {
        wheel.name.partition("-")[0]: set(zipfile.ZipFile(wheel).namelist())
        for wheel in distributions.glob("*.whl")
    }
    information = f"sidecheck-{VERSION}.dist-info"
    metadata = {
        f"{information}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "licenses/LICENSE")
    }
    folders = {name.partition("/")[0] for name in content["sidecheck_server"]}

    assert content["sidecheck"] == _client_sources() | metadata
    assert folders == {f"sidecheck_server-{VERSION}.dist-info", "sidecheck_server"}


def test_source_distributions_have_the_files_of_the_wheel(distributions: Path) -> None:
    """They have no other files of the repository."""
    content = {}
    for archive in distributions.glob("*.tar.gz"):
        with tarfile.open(archive) as source:
            content[archive.name.rpartition("-")[0]] = {
                member.name.partition("/")[2] for member in source if member.isfile()
            }
    folders = {name.partition("/")[0] for name in content["sidecheck_server"]}
    # The build adds the settings of git that apply to the folder.
    common = {"LICENSE", "README.md", "PKG-INFO", "pyproject.toml", ".gitignore"}

    assert content["sidecheck"] == _client_sources() | common
    assert folders == common | {"CHANGELOG.md", "service"}


def _client_sources() -> set[str]:
    return {
        name
        for name in client_files("python")
        if name.startswith("sidecheck/") or name == "sidecheck_docstrings.py"
    }


def test_the_page_is_in_both_distributions(distributions: Path) -> None:
    """All of its files are included."""
    package = "sidecheck_server/admin/page"
    folder = REPOSITORY / "service" / package
    written = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    [wheel] = distributions.glob("sidecheck_server-*.whl")
    [archive] = distributions.glob("sidecheck_server-*.tar.gz")
    with tarfile.open(archive) as source:
        paths = [*zipfile.ZipFile(wheel).namelist(), *source.getnames()]
    # Licences of others are among the metadata, too.
    files = [path for path in paths if ".dist-info/" not in path and not path.endswith("/")]
    packaged_paths = Counter(
        path.partition(f"{package}/")[2] for path in files if f"{package}/" in path
    )

    assert "index.html" in written
    assert Counter(dict.fromkeys(written, 2)) == packaged_paths


def test_distributions_are_reproducible(distributions: Path, tmp_path: Path) -> None:
    """A copy with other times and modes has the same bytes."""
    copy = tmp_path / "copy"
    for part in ("service", "clients/python"):
        shutil.copytree(REPOSITORY / part, copy / part, copy_function=_copy_restricted)
    for path in REPOSITORY.iterdir():
        if path.is_file() and path.name != ".git":
            _copy_restricted(path, copy / path.name)
    # Where the search for .gitignore ends.
    (copy / ".git").mkdir()
    for project in PROJECTS:
        options = ("--no-isolation", "--outdir", tmp_path / "dist")
        source = copy / project.relative_to(REPOSITORY)
        run(sys.executable, "-m", "build", *options, source, folder=tmp_path)
    built = {path.name: path.read_bytes() for path in (tmp_path / "dist").iterdir()}
    expected = {path.name: path.read_bytes() for path in distributions.iterdir()}

    assert len(expected) == 4
    assert built.keys() == expected.keys()
    assert [name for name in built if built[name] != expected[name]] == []


def _copy_restricted(source: str | Path, destination: str | Path) -> None:
    """Copy a file, with the time of now, for its owner alone."""
    shutil.copyfile(source, destination)
    Path(destination).chmod(0o600)


def test_installed_packages_are_used(environment: Path, tmp_path: Path) -> None:
    """The command and the import run in the new environment."""
    version = run(environment / "bin" / "sidecheck", "--version", folder=tmp_path)
    files = run(environment / "bin" / "python", "-I", "-c", EXAMPLE, folder=tmp_path).split()

    assert version.startswith("sidecheck, version ")
    assert len(files) == 2
    assert all(Path(file).is_relative_to(environment) for file in files)


@pytest.mark.server
def test_the_demo_runs_with_installed_packages(environment: Path, tmp_path: Path) -> None:
    """It runs as from a checkout."""
    if not (REPOSITORY / ".venv-demo" / "bin" / "mcp-server-git").exists():
        unavailable("the MCP servers of the demo are not installed; `make demo` installs them")
    demo = REPOSITORY / "clients" / "python" / "demo"
    output = run(environment / "bin" / "python", demo, folder=tmp_path)

    assert "as expected; 2 tools were called." in output
