"""The ways to name a database and to prove who connects, with a real libpq; and its answers."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from conformance.certificates import Certificates, make_certificates
from psycopg.abc import PQGen
from psycopg.waiting import Ready, Wait
from sidecheck_server.registry import RegistryUnusable
from sidecheck_server.registry.location import PostgresLocation
from sidecheck_server.registry.opening import open_registry
from sidecheck_server.registry.postgres.connection import _unless_silent, close, connect
from support.postgres_tls import tls_before
from support.running_postgres import RunningPostgres

PASSWORD = "s3/cr:e@t?#%"


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PG")]:
        monkeypatch.delenv(name)


@pytest.fixture
def role(postgres: RunningPostgres) -> str:
    """Return a role that needs the password."""
    return postgres.create_role(PASSWORD)


def connected(uri: str) -> tuple[str, str]:
    """Return the role and the database of a connection to *uri*."""
    connection = connect(PostgresLocation(uri))
    row = connection.execute("SELECT current_user, current_database()").fetchone()
    close(connection)
    assert row is not None
    return row[0], row[1]


@pytest.mark.parametrize(
    "uri",
    [
        "postgresql://{role}:{password}@/postgres?host={folder}",
        "postgres://{role}:{password}@/postgres?host={folder}",
        "postgresql://{role}:{password}@{quoted_folder}/postgres",
        "postgresql://{role}:{password}@{quoted_folder}:5432/postgres",
        "postgresql:///postgres?host={folder}&user={role}&password={password}",
        "postgresql://{role}:{password}@nowhere.invalid,127.0.0.1:1,{quoted_folder}/postgres",
        "postgresql://{role}:{password}@/postgres?host={folder}&application_name=x&sslmode=prefer",
        "postgresql://{role}:{password}@/postgres?host={folder}&target_session_attrs=read-write",
    ],
)
def test_uris(postgres: RunningPostgres, role: str, uri: str) -> None:
    """Both schemes, sockets, parameters, and several hosts are tested."""
    folder = str(postgres.folder)
    filled = uri.format(
        role=role,
        password=quote(PASSWORD, safe=""),
        folder=folder,
        quoted_folder=quote(folder, safe=""),
    )

    assert (role, "postgres") == connected(filled)


def with_variable(_folder: Path, monkeypatch: pytest.MonkeyPatch, _host: Path, _role: str) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)


def with_file(folder: Path, monkeypatch: pytest.MonkeyPatch, _host: Path, role: str) -> None:
    file = folder / "passwords"
    file.touch(0o600)
    file.write_text(f"*:*:postgres:{role}:{PASSWORD.replace(':', chr(92) + ':')}\n")
    monkeypatch.setenv("PGPASSFILE", str(file))


def with_service(folder: Path, monkeypatch: pytest.MonkeyPatch, host: Path, role: str) -> None:
    file = folder / "services.conf"
    file.write_text(f"[registry]\nhost={host}\ndbname=postgres\nuser={role}\npassword={PASSWORD}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(file))


@pytest.mark.parametrize(
    ("set_up", "uri"),
    [
        (with_variable, "postgresql://{role}@/postgres?host={folder}"),
        (with_file, "postgresql://{role}@/postgres?host={folder}"),
        (with_service, "postgresql://?service=registry"),
    ],
)
def test_the_password_need_not_be_in_the_uri(
    postgres: RunningPostgres,
    role: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    set_up: Callable[[Path, pytest.MonkeyPatch, Path, str], None],
    uri: str,
) -> None:
    """A variable, a password file or a service may have it."""
    filled = uri.format(role=role, folder=postgres.folder)
    with pytest.raises(RegistryUnusable, match=r"no password supplied|service.* not found"):
        connected(filled)
    set_up(tmp_path, monkeypatch, postgres.folder, role)

    assert (role, "postgres") == connected(filled)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Certificates of one authority, for localhost."""
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def tls_port(postgres: RunningPostgres, certificates: Certificates) -> Iterator[int]:
    """Return a port of localhost where that server speaks TLS, and nothing else."""
    with tls_before(postgres.folder / ".s.PGSQL.5432", certificates) as port:
        yield port


def test_a_registry_over_tls(
    postgres: RunningPostgres, certificates: Certificates, tls_port: int
) -> None:
    """The certificate of the server and its name are verified."""
    database = postgres.create_database()
    uri = (
        f"postgresql://postgres@localhost:{tls_port}/{database}"
        f"?sslmode=verify-full&sslrootcert={quote(str(certificates.authority))}"
    )
    with closing(open_registry(PostgresLocation(uri))) as registry:
        assert registry.delete("s", None).revision == 0


def test_a_variable_sets_the_authorities_of_the_system(
    certificates: Certificates, tls_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The OpenSSL of psycopg's wheel has no file of authorities; the image sets SSL_CERT_FILE."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates.authority))
    uri = f"postgresql://postgres@localhost:{tls_port}/postgres?sslmode=verify-full"

    assert ("postgres", "postgres") == connected(f"{uri}&sslrootcert=system")


def test_a_mode_in_the_uri_prevails(
    certificates: Certificates, tls_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over the variable that manifests set, so that their URI must not have one."""
    monkeypatch.setenv("PGSSLMODE", "verify-full")
    monkeypatch.setenv("PGSSLROOTCERT", str(certificates.authority))
    uri = f"postgresql://postgres@name.invalid:{tls_port}/postgres?hostaddr=127.0.0.1"
    with pytest.raises(RegistryUnusable, match="does not match host name"):
        connected(uri)

    assert ("postgres", "postgres") == connected(f"{uri}&sslmode=require")


@pytest.mark.parametrize(
    ("host", "parameters", "message"),
    [
        ("localhost", "sslmode=verify-full&sslrootcert={client}", "certificate verify failed"),
        (
            "localhost",
            "sslmode=verify-full&sslrootcert=/absent.pem",
            'root certificate file "/absent.pem" does not exist',
        ),
        (
            "name.invalid",
            "sslmode=verify-full&sslrootcert={authority}&hostaddr=127.0.0.1",
            'does not match host name "name.invalid"',
        ),
    ],
)
def test_a_server_with_another_certificate(
    certificates: Certificates, tls_port: int, host: str, parameters: str, message: str
) -> None:
    """It is rejected before a password is sent."""
    filled = parameters.format(client=certificates.client, authority=certificates.authority)
    with pytest.raises(RegistryUnusable, match=message):
        connected(f"postgresql://me:secret@{host}:{tls_port}/postgres?{filled}")


def test_an_answer_that_takes_long_to_receive() -> None:
    """It is silence that ends the wait for it, however long it takes in all."""

    def answer() -> PQGen[str]:
        for _ in range(3):
            assert (yield Wait.R) == Ready.R
        return "whole"

    waiting = _unless_silent(answer(), 0)
    assert next(waiting) == Wait.R
    assert [waiting.send(Ready.R) for _ in range(2)] == [Wait.R] * 2
    with pytest.raises(StopIteration, match="whole"):
        waiting.send(Ready.R)
    waiting = _unless_silent(answer(), 0)
    assert next(waiting) == Wait.R
    assert waiting.send(Ready.R) == Wait.R
    with pytest.raises(psycopg.OperationalError, match="no answer for 0 seconds"):
        waiting.send(Ready.NONE)
