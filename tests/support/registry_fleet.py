"""Servers that share a registry on PostgreSQL, and clients that register tools."""

import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from time import monotonic, sleep
from typing import TypeAlias

from sidecheck import BlockingClient, SidecheckError
from sidecheck.registry import Tool
from support.metrics import MeteredServer
from support.registry_replicas import wait_until
from support.running_postgres import PostgresAddress, RunningPostgres

__all__ = ["AGE", "CALL_SECONDS", "Fleet", "Writers"]

AGE = "sidecheck_registry_age_seconds"
CALL_SECONDS = 120.0

#: Server and name of a tool.
ToolName: TypeAlias = tuple[str, str]


class Fleet:
    """Servers on a database of their own."""

    def __init__(
        self,
        postgres: RunningPostgres,
        folder: Path,
        flags: Sequence[Sequence[str]],
        address: PostgresAddress | None = None,
    ) -> None:
        """Start a server for each of *flags*; they connect to *address* if it is given."""
        self.postgres = postgres
        self.database = postgres.create_database()
        self._uri = (address or postgres).uri(self.database)
        self._folder = folder
        self._flags = flags
        self.servers: list[MeteredServer] = []
        try:
            for number in range(len(flags)):
                self.servers.append(self._start(number))
        except BaseException:
            self.close()
            raise

    def _start(self, number: int) -> MeteredServer:
        folder = self._folder / str(number)
        folder.mkdir(exist_ok=True)
        registry = ("--registry", self._uri, "--workers", "1")
        # Event loops lag on a busy machine.
        patient = {"SIDECHECK_TRANSPORT__LOOP_LAG_MILLISECONDS": "60000"}
        return MeteredServer(folder, *registry, *self._flags[number], **patient)

    def kill(self, number: int) -> None:
        """Kill a server."""
        self.servers[number].process.kill()
        self.servers[number].process.wait()
        self.servers[number].close()

    def restart(self, number: int) -> None:
        """Start a killed server again."""
        self.servers[number] = self._start(number)

    def client(self, number: int) -> BlockingClient:
        """Return a client of a server, with a connection of its own."""
        return BlockingClient(self.servers[number].address, timeout=CALL_SECONDS)

    def listed(self) -> list[Tool]:
        """Return the tools of all servers, which must be equal at the same revision.

        No client may write meanwhile.
        """
        wait_until(lambda: len({self._revision(number) for number in self._numbers}) == 1)
        lists = [self._list(number) for number in self._numbers]
        assert lists.count(lists[0]) == len(lists)
        return lists[0]

    def await_revision(self, revision: int) -> None:
        """Wait until all servers have *revision*."""
        wait_until(lambda: all(self._revision(number) >= revision for number in self._numbers))

    def check_health(self) -> None:
        """Check that all servers answer reads, and report that they are ready."""
        for number, server in enumerate(self.servers):
            with urllib.request.urlopen(f"{server.admin_url}/readyz", timeout=CALL_SECONDS) as page:
                assert page.status == 200
            assert self._list(number)

    def await_age(self, seconds: float) -> None:
        """Wait until all servers report an age over *seconds*."""
        for server in self.servers:
            server.series_when(AGE, lambda series: max(series.values()) > seconds)

    def await_no_age(self) -> None:
        """Wait until all servers report that they are up to date."""
        for server in self.servers:
            server.series_when(AGE, lambda series: max(series.values()) < 2)

    def close(self) -> None:
        """Stop the servers."""
        for server in self.servers:
            server.close()

    @property
    def _numbers(self) -> range:
        return range(len(self.servers))

    def _revision(self, number: int) -> int:
        with self.client(number) as client:
            return client.info().registry_revision

    def _list(self, number: int) -> list[Tool]:
        with self.client(number) as client:
            return list(client.list())


class Writers:
    """Threads that each register tools at a server of *fleet*, until `finish`.

    A failed registration is repeated at the next server until a server acknowledges it.
    """

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._stopped = Event()
        count = len(fleet.servers)
        #: The acknowledged tools of each writer, in order.
        self.acknowledged: list[list[ToolName]] = [[] for _ in range(count)]
        #: The last acknowledged revision of each writer.
        self._revisions = [0] * count
        self.errors: list[SidecheckError] = []
        self._threads = ThreadPoolExecutor(count)
        self._running = [self._threads.submit(self._write, writer) for writer in range(count)]

    def _write(self, writer: int) -> None:
        written = self.acknowledged[writer]
        at = writer
        while not self._stopped.is_set():
            tool = {"name": f"t{len(written)}", "inputSchema": {"type": "object"}}
            deadline = monotonic() + CALL_SECONDS
            while True:
                try:
                    with self._fleet.client(at) as client:
                        registered = client.register(f"s{writer}", [tool], timeout=CALL_SECONDS)
                    break
                except SidecheckError as error:
                    self.errors.append(error)
                    if monotonic() > deadline:
                        raise
                    at = (at + 1) % len(self._revisions)
                    sleep(0.02)  # backoff of a client
            self._revisions[writer] = registered.registry_revision
            written.append((f"s{writer}", f"t{len(written)}"))

    def go_on(self, count: int = 5) -> None:
        """Wait until each writer has *count* more acknowledgements."""
        goals = [len(written) + count for written in self.acknowledged]

        def have_gone_on() -> bool:
            for running in self._running:
                if running.done():
                    running.result()
            return all(
                len(written) >= goal for written, goal in zip(self.acknowledged, goals, strict=True)
            )

        wait_until(have_gone_on)

    def seconds_until_equal(self) -> float:
        """Return the seconds until each writer succeeds and all servers have its tools."""
        began = monotonic()
        self.go_on(2)  # the first may be in flight
        self._fleet.await_revision(max(self._revisions))
        return round(monotonic() - began, 2)

    def finish(self) -> set[ToolName]:
        """Finish the registrations in flight; return all acknowledged tools."""
        self._stopped.set()
        for running in self._running:
            running.result()
        self._threads.shutdown()
        return {tool for written in self.acknowledged for tool in written}
