"""A real Envoy with the configuration of ``deploy/envoy``, in a process of its own."""

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import yaml
from support.shared_material import REPOSITORY, unavailable

__all__ = ["Configuration", "RunningEnvoy", "running_envoy"]

_BINARY = REPOSITORY / "build" / "envoy" / "bin" / "envoy"
_CONFIGURATION = REPOSITORY / "deploy" / "envoy" / "envoy.yaml"
_SECONDS = 180


class Configuration:
    """``envoy.yaml``, with the parts that tests replace."""

    def __init__(self) -> None:
        self.whole: Any = yaml.safe_load(_CONFIGURATION.read_text())
        resources = self.whole["static_resources"]
        self.listener: Any = resources["listeners"][0]
        self.http: Any = self.listener["filter_chains"][0]["filters"][0]["typed_config"]
        #: The filter that calls Sidecheck.
        self.processor: Any = self.http["http_filters"][0]["typed_config"]
        self.routes: Any = self.http["route_config"]["virtual_hosts"][0]["routes"]
        self.clusters: Any = {cluster["name"]: cluster for cluster in resources["clusters"]}

    def set_address(self, cluster: str, address: str) -> None:
        """Set the address of *cluster* to a host and port or ``unix:`` and a path."""
        endpoint = self.clusters[cluster]["load_assignment"]["endpoints"][0]["lb_endpoints"][0]
        if address.startswith("unix:"):
            place: Any = {"pipe": {"path": address.removeprefix("unix:")}}
        else:
            host, _, port = address.rpartition(":")
            place = {"socket_address": {"address": host, "port_value": int(port)}}
        endpoint["endpoint"]["address"] = place

    def add_route(self, path: str, metadata: Mapping[str, str]) -> None:
        """Add a route for *path* to the MCP server, with *metadata*."""
        route = deepcopy(self.routes[0])
        route["match"] = {"path": path}
        route["route"]["prefix_rewrite"] = "/mcp"
        self.routes.insert(1, route)
        self.set_metadata(metadata, 1)

    def set_metadata(self, metadata: Mapping[str, str], route: int = 0) -> None:
        """Replace the metadata of the calls for *route*."""
        settings = self.routes[route]["typed_per_filter_config"]["envoy.filters.http.ext_proc"]
        settings["overrides"]["grpc_initial_metadata"] = [
            {"key": f"sidecheck-{name}", "value": value} for name, value in metadata.items()
        ]


class RunningEnvoy:
    """An Envoy that accepts connections."""

    def __init__(self, process: "subprocess.Popen[str]", admin: str, url: str) -> None:
        self.process = process
        self.url = url
        self._admin = admin
        self._entries: list[Any] = []
        self._arrived = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def entries(self, count: int) -> list[Any]:
        """Return the access log since the last call, once it has *count* entries."""
        with self._arrived:
            self._arrived.wait_for(lambda: len(self._entries) >= count, _SECONDS)
            entries, self._entries = self._entries, []
        assert count == len(entries), entries
        return entries

    def forget(self) -> None:
        """Discard the entries of the access log so far."""
        with self._arrived:
            self._entries = []

    def statistic(self, name: str) -> int:
        """Return the value of the statistic *name*."""
        text = httpx.get(f"{self._admin}/stats?filter={name}", trust_env=False).text
        return sum(int(line.rpartition(":")[2]) for line in text.splitlines())

    def finish(self) -> None:
        """Read the rest of the access log."""
        self._reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._arrived:
                self._entries.append(json.loads(line))
                self._arrived.notify_all()


@contextmanager
def running_envoy(
    folder: Path,
    server_url: str,
    sidecheck: str,
    change: Callable[[Configuration], None] = lambda _: None,
) -> Iterator[RunningEnvoy]:
    """Run an Envoy between clients and *server_url*, with the service at *sidecheck*."""
    if not _BINARY.exists():
        unavailable("build/envoy is not there; make build/envoy/.made installs Envoy")
    configuration = Configuration()
    anywhere = {"socket_address": {"address": "127.0.0.1", "port_value": 0}}
    configuration.whole["admin"] = {"address": anywhere}
    configuration.listener["address"] = anywhere
    configuration.set_address("tools", urlsplit(server_url).netloc)
    configuration.set_address("sidecheck", sidecheck)
    change(configuration)
    (folder / "envoy.yaml").write_text(yaml.safe_dump(configuration.whole))
    admin_file = folder / "admin"
    admin_file.unlink(missing_ok=True)
    with (folder / "envoy.log").open("w") as log:
        process = subprocess.Popen(
            [
                *(str(_BINARY), "--config-path", str(folder / "envoy.yaml")),
                *("--admin-address-path", str(admin_file), "--disable-hot-restart"),
                *("--file-flush-interval-msec", "10", "--concurrency", "2"),
                *("--log-level", "warning"),
            ],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    running = None
    try:
        running = RunningEnvoy(process, *_addresses(process, admin_file, folder / "envoy.log"))
        yield running
    finally:
        process.terminate()
        try:
            process.wait(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if running is not None:
            running.finish()


def _addresses(process: "subprocess.Popen[str]", admin_file: Path, log: Path) -> tuple[str, str]:
    """Wait for the URLs of the administration and of the MCP server, and return them."""
    ends = time.monotonic() + _SECONDS
    while time.monotonic() < ends:
        if process.poll() is not None:
            raise AssertionError(f"Envoy ended: {log.read_text()}")
        if admin_file.exists() and (admin := admin_file.read_text()):
            listeners = httpx.get(f"http://{admin}/listeners", trust_env=False).text
            if "mcp::" in listeners:
                return f"http://{admin}", f"http://{listeners.strip().removeprefix('mcp::')}/mcp"
        time.sleep(0.02)
    raise AssertionError("Envoy did not listen in time")
