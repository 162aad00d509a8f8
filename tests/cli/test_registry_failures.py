"""`sidecheck registry` with what it cannot use: a sentence, an exit code, and no password."""

import socket
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck
from sidecheck_server.registry.postgres.migration import LAYOUT
from sidecheck_server.registry.sqlite import open_registry
from support.running_postgres import RunningPostgres

PASSWORD = "s3cret"
MIGRATE, STATUS, EXPORT = ("migrate",), ("status",), ("export",)
IMPORT = ("import", "tools.jsonl")
OPENING = [pytest.param(words, id=words[0]) for words in (STATUS, EXPORT, IMPORT)]
ALL = [pytest.param(MIGRATE, id="migrate"), *OPENING]


def run(*words: str, **environment: str) -> Result:
    """Run the command here; an exception of its own is the test's."""
    return CliRunner().invoke(
        sidecheck, ["registry", *words], env=environment, catch_exceptions=False
    )


def outcome_of(*words: str, **environment: str) -> tuple[int, str, str]:
    """Return how the command exits and what it says."""
    result = run(*words, **environment)
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture(autouse=True)
def _an_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tools.jsonl").write_text('{"format":"sidecheck-registry","version":1,"tools":0}\n')


@pytest.mark.parametrize("command", OPENING)
def test_a_file_that_a_server_has_open(tmp_path: Path, command: tuple[str, ...]) -> None:
    """The error says that the server uses it."""
    with closing(open_registry(tmp_path / "tools.db")):
        assert (
            1,
            "",
            "Error: tools.db is in use; a registry's file belongs to one server at a time\n",
        ) == outcome_of(*command, "--registry", "tools.db")


def no_registry(postgres: RunningPostgres) -> str:
    return postgres.uri(postgres.create_database(is_migrated=False))


def later_layout(postgres: RunningPostgres) -> str:
    database = postgres.create_database()
    postgres.execute(f"INSERT INTO sidecheck.schema_version VALUES ({LAYOUT + 1}, '')", database)
    return postgres.uri(database)


def stranger(postgres: RunningPostgres) -> str:
    """Return the URI of a role without any right."""
    role = postgres.create_role(PASSWORD)
    return as_role(postgres, f"{role}:{PASSWORD}")


def wrong_password(postgres: RunningPostgres) -> str:
    return as_role(postgres, f"{postgres.create_role('other')}:{PASSWORD}")


def no_password(postgres: RunningPostgres) -> str:
    return as_role(postgres, postgres.create_role(PASSWORD))


def no_database(postgres: RunningPostgres) -> str:
    return postgres.uri("absent")


def as_role(postgres: RunningPostgres, role: str) -> str:
    return postgres.uri(postgres.create_database()).replace("postgres@", f"{role}@")


def unreachable(_: RunningPostgres) -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"postgresql://me:{PASSWORD}@127.0.0.1:{listener.getsockname()[1]}/db"


def fixed_uri(uri: str) -> Callable[[RunningPostgres], str]:
    return lambda _: uri


UNREACHABLE = (
    "Error: postgresql://{} cannot be reached, or does not answer; check that it runs, the URI "
    "and the password"
)
NO_REGISTRY = "no registry: give --registry, or set SIDECHECK_REGISTRY"
EXPECTED = 'expected the path of a file, or "postgresql://user@host:port/database"'


@pytest.mark.parametrize(
    ("make", "code", "message"),
    [
        pytest.param(
            later_layout,
            1,
            f" has a registry of layout {LAYOUT + 1}, and this release reads layout {LAYOUT}; "
            "use the release that migrated it, or a later one",
            id="a later layout",
        ),
        pytest.param(
            stranger,
            1,
            " denies this role what it needs; grant it as docs/operations/postgres.md says "
            "(permission denied for schema sidecheck)",
            id="no right",
        ),
        pytest.param(wrong_password, 1, "FATAL: password authentication failed", id="password"),
        pytest.param(no_password, 1, "no password supplied", id="no password"),
        pytest.param(no_database, 1, 'FATAL: database "absent" does not exist', id="no database"),
        pytest.param(unreachable, 1, "Connection refused", id="unreachable"),
        pytest.param(
            fixed_uri(f"postgresql://me:{PASSWORD}@h:{PASSWORD}/db"),
            1,
            UNREACHABLE.format("…"),
            id="a wrong port",
        ),
        pytest.param(
            fixed_uri(f"postgresql://me:{PASSWORD}@h/db?sslmod=off"),
            1,
            "Error: postgresql://h/db is not a usable connection URI; expected "
            "postgresql://user@host:port/database",
            id="a wrong parameter",
        ),
        pytest.param(
            fixed_uri(f"postgresql+psycopg://me:{PASSWORD}@h/db"),
            2,
            f"Error: invalid settings: registry: Value error, {EXPECTED}",
            id="a URI of others",
        ),
        pytest.param(
            fixed_uri(f"host=db user=me password={PASSWORD}"),
            2,
            f"Error: invalid settings: registry: Value error, {EXPECTED}",
            id="keywords",
        ),
    ],
)
@pytest.mark.parametrize("command", ALL)
def test_unusable_registries_are_reported_in_a_sentence(
    postgres: RunningPostgres,
    command: tuple[str, ...],
    make: Callable[[RunningPostgres], str],
    code: int,
    message: str,
) -> None:
    """The message has no password."""
    uri = make(postgres)
    exit_code, stdout, stderr = outcome_of(*command, SIDECHECK_REGISTRY=uri)
    served = CliRunner().invoke(
        sidecheck, ["serve", "--listen", "127.0.0.1:0"], env={"SIDECHECK_REGISTRY": uri}
    )

    assert (code, "") == (exit_code, stdout)
    assert (code, stderr) == (served.exit_code, served.output)
    assert message in stderr
    assert ("Error: ", 1) == (stderr[:7], len(stderr.splitlines()))
    assert PASSWORD not in stderr
    assert {Path("tools.jsonl")} == set(Path().iterdir())


def test_a_role_that_may_not_create_tables(postgres: RunningPostgres) -> None:
    """It cannot migrate."""
    database = postgres.create_database(is_migrated=False)
    uri = postgres.uri(database).replace("postgres@", f"{postgres.create_role(PASSWORD)}@")
    shown = f"postgresql:///{database}"

    assert (
        1,
        "",
        (
            f"Error: {shown} denies this role what it needs; grant it as "
            f"docs/operations/postgres.md says (permission denied for database {database})\n"
        ),
    ) == outcome_of("migrate", SIDECHECK_REGISTRY=uri, PGPASSWORD=PASSWORD)
    assert [(None,)] == postgres.execute("SELECT to_regnamespace('sidecheck')", database)


@pytest.mark.parametrize("command", OPENING)
def test_a_database_without_a_registry(postgres: RunningPostgres, command: tuple[str, ...]) -> None:
    """The command that makes one is named."""
    uri = no_registry(postgres)
    shown = uri.replace("postgres@", "").split("?")[0]
    remedy = f"run `sidecheck registry migrate --registry {shown}`"

    assert (1, "", f"Error: {shown} has no registry yet; {remedy}\n") == outcome_of(
        *command, "--registry", uri
    )


@pytest.mark.parametrize(
    ("command", "location", "message"),
    [
        *((words, "", NO_REGISTRY) for words in (MIGRATE, STATUS, EXPORT, IMPORT)),
        (
            MIGRATE,
            "tools.db",
            "a registry in a file needs no migration; give --registry postgresql://…",
        ),
        (STATUS, "tools.db", "tools.db does not exist"),
        (EXPORT, "tools.db", "tools.db does not exist"),
    ],
)
def test_a_registry_in_memory_is_rejected(
    command: tuple[str, ...], location: str, message: str
) -> None:
    """A registry in memory exists neither before nor after the command."""
    code, stdout, stderr = outcome_of(*command, *(("--registry", location) if location else ()))

    assert (2, "") == (code, stdout)
    assert f"Error: {message}" == stderr.splitlines()[-1]
