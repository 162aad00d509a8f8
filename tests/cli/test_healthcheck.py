"""`sidecheck healthcheck`: whether a server serves."""

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from click.testing import CliRunner
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from sidecheck_server.cli import sidecheck
from support.running import RunningServer

SETTINGS = ("SIDECHECK_LISTEN", "SIDECHECK_UNIX_SOCKET")


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)


def check(*words: str, **environment: str) -> tuple[int, str, str]:
    """Return how the command exits and what it says."""
    result = CliRunner().invoke(
        sidecheck, ["healthcheck", *words], env=environment, catch_exceptions=False
    )
    return result.exit_code, result.stdout, result.stderr


@contextmanager
def rpc_handler(status: Any) -> Iterator[str]:
    """Run a server whose health is *status*, or which does not speak of health if None."""
    server = grpc.server(ThreadPoolExecutor(1))
    if status is not None:
        servicer = health.HealthServicer()
        servicer.set("", status)
        stock: Any = server
        health_pb2_grpc.add_HealthServicer_to_server(servicer, stock)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(None).wait()


def test_a_server_that_serves_is_healthy(shared_server: RunningServer) -> None:
    """The address may be TCP or a unix socket."""
    for target in (shared_server.address, shared_server.unix_address):
        assert (0, f"{target} is SERVING\n", "") == check("--target", target)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        pytest.param(
            health_pb2.HealthCheckResponse.NOT_SERVING, "is NOT_SERVING", id="it does not serve"
        ),
        pytest.param(
            None, "does not respond: UNIMPLEMENTED: Method not found!", id="it does not know health"
        ),
    ],
)
def test_a_server_that_does_not_serve_is_not_healthy(status: Any, message: str) -> None:
    """Any other answer than SERVING is unhealthy."""
    with rpc_handler(status) as target:
        assert (1, "", f"Error: {target} {message}\n") == check("--target", target)


def test_an_address_without_a_server_is_not_healthy(tmp_path: Path) -> None:
    """It is a port or a socket without a listener."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = f"127.0.0.1:{listener.getsockname()[1]}"
        for target, cause in (
            (port, "connection refused at"),
            (f"unix:{tmp_path}/none.sock", "no socket at"),
        ):
            assert (1, "", f"Error: UNAVAILABLE: {cause} {target}\n") == check("--target", target)


def test_a_server_that_hangs_is_not_healthy() -> None:
    """The command ends after the time it is given."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        target = f"127.0.0.1:{silent.getsockname()[1]}"

        assert (
            1,
            "",
            f"Error: DEADLINE_EXCEEDED: no response from {target} before the deadline\n",
        ) == check("--target", target, "--timeout", "0.2")


@pytest.mark.parametrize("variable", ["http_proxy", "grpc_proxy", "https_proxy"])
def test_environment_proxies_are_ignored(shared_server: RunningServer, variable: str) -> None:
    """Proxies of the environment do not apply to the health check."""
    proxied = check("--target", shared_server.address, **{variable: "http://127.0.0.1:9"})

    assert (0, f"{shared_server.address} is SERVING\n", "") == proxied


def test_the_servers_own_settings_name_the_target(shared_server: RunningServer) -> None:
    """A container's check needs no flags; a flag comes first."""
    path = str(shared_server.socket)
    tcp, unix = (f"{at} is SERVING\n" for at in (shared_server.address, f"unix:{path}"))

    assert (0, tcp, "") == check(SIDECHECK_LISTEN=shared_server.address)
    assert (0, unix, "") == check(SIDECHECK_LISTEN="", SIDECHECK_UNIX_SOCKET=path)
    assert (0, tcp, "") == check(
        SIDECHECK_LISTEN=shared_server.address, SIDECHECK_UNIX_SOCKET="/none"
    )
    assert (0, tcp, "") == check("--target", shared_server.address, SIDECHECK_LISTEN="here:1")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["--timeout", "0"], "is not in the range 0<x<=3600", id="no time"),
        pytest.param(["--timeout", "inf"], "is not in the range 0<x<=3600", id="all time"),
        pytest.param(["--timeout", "soon"], "is not a valid float", id="not a number"),
        pytest.param(["--target", "\udcff:1"], "the target is not UTF-8", id="not UTF-8"),
        pytest.param(["server:1"], "unexpected extra argument", id="an argument"),
    ],
)
def test_a_wrong_command_exits_with_2(words: list[str], message: str) -> None:
    """The message names the fault."""
    code, out, error = check(*words)

    assert (2, "") == (code, out)
    assert message in error
