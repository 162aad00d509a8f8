"""`sidecheck registry export` and `import`, between files and databases."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck
from sidecheck_server.core.types import Document
from sidecheck_server.registry.location import PostgresLocation
from sidecheck_server.registry.opening import open_registry
from support.definitions import define_tool
from support.published_tools import published_tools
from support.running_postgres import RunningPostgres

A, B, C = map(define_tool, "abc")
REFERRING = define_tool(
    "météo \u2028\n", {"title": "<&>", "a": 1.50}, (Document("urn:\0", b"\xff\0"),), spaces=3
)
OLDER = define_tool("a", version="2024-11-05")


def run(*words: str, **environment: str) -> Result:
    """Run the command here; an exception of its own is the test's."""
    return CliRunner().invoke(
        sidecheck, ["registry", *words], env=environment, catch_exceptions=False
    )


def outcome_of(*words: str, **environment: str) -> tuple[int, str, str]:
    """Return how the command exits and what it says."""
    result = run(*words, **environment)
    return result.exit_code, result.stdout, result.stderr


def exported(location: str) -> bytes:
    """Return the export of the registry at *location*."""
    result = run("export", "--registry", location)
    assert (0, "") == (result.exit_code, result.stderr)
    return result.stdout_bytes


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


Place = Callable[[str], str]


@pytest.fixture
def place(postgres: RunningPostgres, folder: Path) -> Place:
    """Return a function that makes a place for a registry of a kind."""

    numbers = count()

    def make(kind: str) -> str:
        if kind == "file":
            return str(folder / f"{next(numbers)}.db")
        return postgres.uri(postgres.create_database())

    return make


@pytest.mark.parametrize("target", ["file", "database"])
@pytest.mark.parametrize("source", ["file", "database"])
def test_a_registry_moves_from_any_kind_to_any_other(
    place: Place, folder: Path, source: str, target: str
) -> None:
    """Texts are equal byte for byte; existing tools and other servers stay."""
    first, second = place(source), place(target)
    location = PostgresLocation(first) if source == "database" else Path(first)
    with closing(open_registry(location)) as registry:
        registry.register("sérvice \0", [REFERRING, B], keep=None)
        registry.register("a", [C, OLDER], keep=None)
        registry.register("a", [A, B], keep=None)
        expected = [
            (binding.server, binding.definition)
            for binding in registry.page(None, None, 99, 1 << 30)[0]
        ]
    text = exported(first)
    (folder / "tools.jsonl").write_bytes(text)
    location = PostgresLocation(second) if target == "database" else Path(second)
    with closing(open_registry(location)) as registry:
        registry.register("a", [define_tool("d")], keep=None)
        registry.register("other", [C], keep=None)
    options = ("tools.jsonl", "--registry", second)
    results = [outcome_of("import", *options) for _ in range(2)]

    assert [
        (0, f"5 tools of 2 servers imported: {changes}, revision 4\n", "")
        for changes in ("5 changed, 1 removed", "0 changed, 0 removed")
    ] == results
    with closing(open_registry(location)) as registry:
        assert expected == [
            (binding.server, binding.definition)
            for binding in registry.page(None, None, 99, 1 << 30)[0]
            if binding.server != "other"
        ]
        registry.delete("other", None)
    assert text == exported(second)


@pytest.mark.corpus
@pytest.mark.parametrize("source", ["file", "database"])
def test_the_published_tools_move(place: Place, folder: Path, source: str) -> None:
    """All of them move; a second import makes no revision."""
    servers = published_tools()
    first = place(source)
    location = PostgresLocation(first) if source == "database" else Path(first)
    with closing(open_registry(location)) as registry:
        for server, tools in servers.items():
            registry.register(server, tools, keep=None)
        revision, size = registry.revision, registry.count()
    text = exported(first)
    (folder / "tools.jsonl").write_bytes(text)
    second = place("file" if source == "database" else "database")
    options = ("tools.jsonl", "--registry", second)
    results = [outcome_of("import", *options) for _ in range(2)]

    counts = f"{size:,} tools of {len(servers):,} servers imported"
    assert [
        (0, f"{counts}: {changed:,} changed, 0 removed, revision {revision:,}\n", "")
        for changed in (size, 0)
    ] == results
    assert text == exported(second)


def lines(*tools: dict[str, object], announced: int | None = None) -> bytes:
    """Return the lines of an export of *tools*."""
    header = {
        "format": "sidecheck-registry",
        "version": 1,
        "tools": len(tools) if announced is None else announced,
    }
    return b"".join(json.dumps(line).encode() + b"\n" for line in (header, *tools))


def tool(server: str, name: str) -> dict[str, object]:
    """Return the line of a tool."""
    definition = define_tool(name)
    return {
        "server": server,
        "digest": definition.digest,
        "protocol_version": definition.protocol_version,
        "definition": definition.json.decode(),
        "documents": [],
    }


@pytest.mark.parametrize("kind", ["file", "database"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(
            lines(tool("s", "a")) + b'{"server',
            "line 3: is not JSON; expected an object on one line",
            id="a damaged line",
        ),
        pytest.param(
            lines(tool("s", "a"), announced=2),
            "line 2: is the last line, after 1 tools; the header says 2",
            id="a line that is missing",
        ),
    ],
)
def test_a_damaged_file_is_not_imported_at_all(
    place: Place, folder: Path, kind: str, content: bytes, message: str
) -> None:
    """The line is named; a registry in a file is not even made."""
    location = place(kind)
    (folder / "tools.jsonl").write_bytes(content)

    assert (2, "", f"Error: tools.jsonl: {message}; nothing was imported\n") == outcome_of(
        "import", "tools.jsonl", "--registry", location
    )
    if kind == "database":
        with closing(open_registry(PostgresLocation(location))) as registry:
            assert (0, 0) == (registry.revision, registry.count())
    else:
        assert not Path(location).exists()


def test_an_import_beyond_a_quota_may_be_repeated(place: Place, folder: Path) -> None:
    """Servers before it are done, it and those after it are not; the message says which."""
    location = place("database")
    tools = (tool("s", "a"), tool("t", "a"), tool("t", "b"), tool("u", "a"))
    (folder / "tools.jsonl").write_bytes(lines(*tools))
    options = ("import", "tools.jsonl", "--registry", location)
    limited = outcome_of(*options, SIDECHECK_REGISTRY_QUOTAS__SERVER_TOOLS="1")
    done = json.loads(run("status", "--registry", location, "--format", "json").stdout)
    repeated = outcome_of(*options)

    assert (
        1,
        "",
        (
            "Error: server 't': the registration would lead to 2 tools of the server, more than "
            "the quota of 1 (server_tools), so nothing was registered; delete tools that are not "
            "used, or raise the quota in the server's setting registry_quotas.server_tools; 1 of "
            "3 servers imported before it\n"
        ),
    ) == limited
    assert (1, 1) == (done["revision"], done["tools"])
    assert (0, "4 tools of 3 servers imported: 3 changed, 0 removed, revision 3\n", "") == repeated


def test_unreadable_and_unwritable_registries(place: Place, folder: Path) -> None:
    """It is an error of the command."""
    location = place("file")
    missing = outcome_of("import", "missing.jsonl", "--registry", location)
    is_folder = outcome_of("import", str(folder), "--registry", location)
    nothing = outcome_of("import", "-", "--registry", location)
    (folder / "tools.jsonl").write_bytes(lines(tool("s", "a")))
    outcome_of("import", "tools.jsonl", "--registry", location)
    with Path("/dev/full").open("wb") as full:
        written = subprocess.run(
            [sys.executable, "-m", "sidecheck_server", "registry", "export"],
            env={**os.environ, "SIDECHECK_REGISTRY": location},
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )

    imported = "nothing was imported"
    header = '{"format":"sidecheck-registry",…}'
    assert (
        2,
        "",
        f"Error: -: line 1: is not the header of an export; expected {header}; {imported}\n",
    ) == nothing
    assert (2, "Error: cannot read missing.jsonl: No such file or directory") == (
        missing[0],
        missing[2].splitlines()[-1],
    )
    assert (2, f"Error: cannot read {folder}: Is a directory") == (
        is_folder[0],
        is_folder[2].splitlines()[-1],
    )
    assert (2, b"Error: cannot write the result: No space left on device") == (
        written.returncode,
        written.stderr.splitlines()[-1],
    )
