"""`sidecheck registry export` and `import`, while servers use the same database."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event, Thread

import psutil
import pytest
from click.testing import CliRunner, Result
from sidecheck import BlockingClient
from sidecheck_server.cli import sidecheck
from sidecheck_server.registry.exchange import export_lines
from sidecheck_server.registry.opening import open_registry
from support.definitions import define_tool
from support.registry_replicas import Replicas, wait_until
from support.running import RunningServer
from support.running_postgres import RunningPostgres

PASSWORD = "s3cret"


def run(*words: str, **environment: str) -> Result:
    """Run the command here; an exception of its own is the test's."""
    return CliRunner().invoke(
        sidecheck, ["registry", *words], env=environment, catch_exceptions=False
    )


def test_an_export_is_of_one_revision(replicas: Replicas) -> None:
    """Tools that are registered together while it runs are exported together."""
    writer = replicas.open()
    is_done = Event()

    def write() -> None:
        number = 0
        while not is_done.is_set():
            number += 1
            version = {"description": str(number)}
            tools = [define_tool(name, version) for name in ("a", "z", f"n{number}")]
            writer.register("s", tools, keep=frozenset())

    def await_revision_after(revision: int) -> None:
        wait_until(lambda: writer.revision > revision)

    thread = Thread(target=write)
    thread.start()
    try:
        texts = []
        for _ in range(10):
            await_revision_after(writer.revision)
            texts.append(run("export", "--registry", replicas.location.uri).stdout_bytes)
    finally:
        is_done.set()
        thread.join()

    exports = []
    for text in texts:
        definitions = [json.loads(json.loads(line)["definition"]) for line in text.splitlines()[1:]]
        [version] = {definition["description"] for definition in definitions}
        assert ["a", f"n{version}", "z"] == [definition["name"] for definition in definitions]
        exports.append(int(version))
    assert sorted(set(exports)) == exports


@pytest.fixture
def followed(postgres: RunningPostgres, tmp_path: Path) -> Iterator[tuple[str, str, RunningServer]]:
    """The role, the URI, and a server of several processes, whose settings file has both."""
    database = postgres.create_database()
    role = postgres.create_role(PASSWORD)
    postgres.execute(f"GRANT ALL ON SCHEMA sidecheck TO {role}", database)
    postgres.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA sidecheck TO {role}", database)
    uri = postgres.uri(database).replace("postgres@", f"{role}:{PASSWORD}@")
    (tmp_path / "settings.toml").write_text(f"registry = {json.dumps(uri)}\n")
    running = RunningServer(
        tmp_path, "--config", str(tmp_path / "settings.toml"), "--processes", "2"
    )
    yield role, uri, running
    running.close()


def test_servers_follow_an_import(
    followed: tuple[str, str, RunningServer], postgres: RunningPostgres, tmp_path: Path
) -> None:
    """The password is neither in their logs nor in the list of processes."""
    role, uri, server = followed
    file = tmp_path / "tools.jsonl"
    with closing(open_registry(None)) as registry:
        registry.register("s", [define_tool("a")], keep=None)
        registry.register("t", [define_tool("b")], keep=None)
        file.write_text("".join(f"{line}\n" for line in export_lines(registry)))
    imported = run("import", str(file), SIDECHECK_REGISTRY=uri)
    with BlockingClient(server.address, timeout=120) as client:
        wait_until(lambda: len(list(client.list())) == 2)
        listed = [(tool.server, tool.name) for tool in client.list()]
    processes = [psutil.Process(server.process.pid)]
    processes += processes[0].children(recursive=True)
    commands = " ".join(word for process in processes for word in process.cmdline())
    postgres.execute(f"ALTER ROLE {role} PASSWORD 'other'")
    postgres.execute(
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{role}'"
    )
    unreachable = server.wait_for("registry.unreachable")

    assert "2 tools of 2 servers imported: 2 changed, 0 removed, revision 2\n" == imported.output
    assert [("s", "a"), ("t", "b")] == listed
    assert "password authentication failed" in unreachable["detail"]
    assert len(processes) > 2
    assert PASSWORD not in commands + server.log_text()
