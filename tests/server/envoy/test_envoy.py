"""A service that Envoy serves: what differs from gRPC's server, and what must not.

The tests of the transport run over Envoy as well, with ``SIDECHECK_SERVER=envoy``.
"""

import gzip
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from conformance.certificates import make_certificates
from cryptography.x509 import load_pem_x509_certificate
from grpc_health.v1 import health_pb2
from sidecheck import BlockingClient, Schema, Tls
from sidecheck.v1 import info_service_pb2, registry_service_pb2, validation_service_pb2
from sidecheck.v1.info_service_pb2_grpc import InfoServiceStub
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck_server.config.settings import Settings, UnusableSettingsError
from sidecheck_server.server.envoy.certificate_files import write_certificates
from sidecheck_server.server.envoy.configuration import bootstrap
from sidecheck_server.server.envoy.installation import find_installation
from support.running import RunningServer

SECONDS = 180

VALIDATE = "/sidecheck.v1.ValidationService/Validate"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server on TCP and on a unix socket."""
    running = RunningServer(tmp_path_factory.mktemp("envoy"), "--server", "envoy")
    yield running
    running.close()


def request() -> bytes:
    """Return a request that validates an empty object."""
    message = validation_service_pb2.ValidateRequest()
    message.target.inline_schema.json = b'{"type": "object"}'
    message.subject.arguments = b"{}"
    serialized: bytes = message.SerializeToString()
    return serialized


def framed(message: bytes, flag: int = 0) -> bytes:
    """Return *message* with its prefix."""
    return bytes([flag]) + len(message).to_bytes(4) + message


# HTTP


@pytest.mark.parametrize(
    ("method", "content_type", "status", "header"),
    [
        ("GET", "application/grpc", 405, ("allow", "POST")),
        ("POST", "application/json", 415, ("accept-post", "application/grpc")),
        ("POST", "", 415, ("accept-post", "application/grpc")),
    ],
)
def test_requests_that_are_no_calls(
    server: RunningServer, method: str, content_type: str, status: int, header: tuple[str, str]
) -> None:
    headers = {"content-type": content_type} if content_type else {}
    response = httpx.request(
        method, f"http://{server.address}{VALIDATE}", headers=headers, timeout=SECONDS
    )
    assert (response.status_code, response.headers[header[0]]) == (status, header[1])


def test_a_browser_calls_by_grpc_web(server: RunningServer) -> None:
    """The body has the message, and then the trailers, in a frame of their own."""
    response = httpx.post(
        f"http://{server.address}{VALIDATE}",
        content=framed(request()),
        headers={"content-type": "application/grpc-web+proto", "x-grpc-web": "1"},
        timeout=SECONDS,
    )
    size = int.from_bytes(response.content[1:5])
    verdict = validation_service_pb2.ValidateResponse.FromString(response.content[5 : 5 + size])
    trailers = response.content[5 + size :]
    assert (response.status_code, response.content[0], verdict.verdict.valid) == (200, 0, True)
    assert trailers == b"\x80\0\0\0\x0fgrpc-status:0\r\n"


@pytest.mark.parametrize(
    ("encoding", "flag", "message", "status", "text"),
    [
        pytest.param("gzip", 1, gzip.compress(request()), "0", None, id="gzip"),
        pytest.param("identity", 0, request(), "0", None, id="identity"),
        pytest.param(
            "identity",
            1,
            request(),
            "13",
            "a message is compressed, but grpc-encoding is identity",
            id="flag without encoding",
        ),
        pytest.param(
            "snappy",
            1,
            request(),
            "12",
            "the grpc-encoding is not supported; use one of identity,deflate,gzip",
            id="unknown encoding",
        ),
        pytest.param(
            "gzip", 1, b"damaged", "13", "a message is not complete gzip data", id="damaged"
        ),
        pytest.param(
            "identity",
            7,
            request(),
            "13",
            "the compressed flag of a message is 7, not 0 or 1",
            id="unknown flag",
        ),
    ],
)
def test_compressed_messages(
    server: RunningServer, encoding: str, flag: int, message: bytes, status: str, text: str | None
) -> None:
    response = httpx.post(
        f"http://{server.address}{VALIDATE}",
        content=framed(message, flag),
        headers={"content-type": "application/grpc-web+proto", "grpc-encoding": encoding},
        timeout=SECONDS,
    )
    trailers = dict(response.headers)
    if "grpc-status" not in trailers:
        last = response.content.rpartition(b"\x80")[2][4:].decode().strip().splitlines()
        trailers = dict(line.split(":", 1) for line in last)
    assert (trailers["grpc-status"], trailers.get("grpc-message")) == (status, text)


# Calls


@pytest.mark.parametrize("transport", ["tcp", "unix"])
def test_a_client_validates(server: RunningServer, transport: str) -> None:
    address = server.address if transport == "tcp" else server.unix_address
    with BlockingClient(address, timeout=SECONDS) as client:
        schema = Schema({"required": ["a"]})
        assert client.validate(schema, {"a": 1}).valid
        assert not client.validate(schema, {}).valid


@pytest.mark.parametrize(
    ("path", "message", "code", "details"),
    [
        pytest.param(
            "/sidecheck.v1.ValidationService/None",
            b"",
            "UNIMPLEMENTED",
            "Method not found!",
            id="unknown method",
        ),
        pytest.param(
            VALIDATE,
            b"\xff",
            "INVALID_ARGUMENT",
            "the request is not a message of the type sidecheck.v1.ValidateRequest",
            id="no message",
        ),
        pytest.param(
            VALIDATE,
            b"0" * (5 << 20),
            "RESOURCE_EXHAUSTED",
            "SERVER: Received message larger than max (5242880 vs. 4194304)",
            id="too large",
        ),
    ],
)
def test_rejected_calls(
    server: RunningServer, path: str, message: bytes, code: str, details: str
) -> None:
    with grpc.insecure_channel(server.address) as channel:
        call: Any = channel.unary_unary(path)
        with pytest.raises(grpc.RpcError) as raised:
            call(message, timeout=SECONDS)
    assert (raised.value.code().name, raised.value.details()) == (code, details)


def test_a_deadline_ends_a_stream(server: RunningServer) -> None:
    with grpc.insecure_channel(server.address) as channel:
        stub: Any = RegistryServiceStub(channel)
        with pytest.raises(grpc.RpcError) as raised:
            list(stub.WatchTools(registry_service_pb2.WatchToolsRequest(), timeout=0.5))
    assert raised.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


def test_a_cancelled_stream_ends(server: RunningServer) -> None:
    with grpc.insecure_channel(server.address) as channel:
        stub: Any = RegistryServiceStub(channel)
        call = stub.WatchTools(registry_service_pb2.WatchToolsRequest(), timeout=SECONDS)
        next(call)
        call.cancel()
    event = server.wait_for("rpc.streamed")
    assert event["method"] == "WatchTools"


def test_health_and_reflection(server: RunningServer) -> None:
    with grpc.insecure_channel(server.address) as channel:
        check = channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
            response_deserializer=health_pb2.HealthCheckResponse.FromString,
        )
        response = check(health_pb2.HealthCheckRequest(), timeout=SECONDS)
    assert response.status == health_pb2.HealthCheckResponse.SERVING


# Processes


def envoys(server: RunningServer) -> list[int]:
    """Return the ids of the processes of Envoy."""
    threads = Path(f"/proc/{server.process.pid}/task").glob("*/children")
    ids = [int(id_) for thread in threads for id_ in thread.read_text(encoding="ascii").split()]
    return [id_ for id_ in ids if "envoy" in Path(f"/proc/{id_}/comm").read_text(encoding="ascii")]


def test_a_killed_envoy_is_replaced(tmp_path: Path) -> None:
    running = RunningServer(tmp_path, "--server", "envoy")
    try:
        with BlockingClient(running.address, timeout=SECONDS) as client:
            client.register("s", [{"name": "t", "inputSchema": {"type": "object"}}])
            [envoy] = envoys(running)
            os.kill(envoy, signal.SIGKILL)
            died = running.wait_for("process.died")
            running.wait_for("process.restarted")
            assert [tool.name for tool in client.list()] == ["t"]
        assert (died["number"], died["exit"]) == (1, "SIGKILL")
        assert running.terminate() == 0
    finally:
        running.close()


def test_a_stop_cleans_up(tmp_path: Path) -> None:
    folders = tmp_path / "t"
    folders.mkdir()
    running = RunningServer(tmp_path, "--server", "envoy", TMPDIR=str(folders))
    try:
        [envoy] = envoys(running)
        [folder] = folders.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        assert running.terminate() == 0
        assert not Path(f"/proc/{envoy}").exists()
        assert list(folders.iterdir()) == []
        assert not running.socket.exists()
    finally:
        running.close()


# TLS


def test_replaced_certificates_are_served(tmp_path: Path) -> None:
    certificates = make_certificates(tmp_path)
    running = RunningServer(
        tmp_path,
        *("--server", "envoy"),
        *("--tls-cert", str(certificates.server), "--tls-key", str(certificates.server_key)),
        *("--tls-client-ca", str(certificates.authority)),
    )
    try:
        port = int(running.address.rpartition(":")[2])
        tls = Tls(certificates.authority, certificates.client, certificates.client_key)
        with BlockingClient(f"localhost:{port}", timeout=SECONDS, tls=tls) as client:
            assert client.info().version
        before = served_certificate(port, certificates)
        make_certificates(tmp_path)  # in the same files, of another authority
        running.wait_for("tls.reloaded")
        deadline = time.monotonic() + SECONDS
        while served_certificate(port, certificates) == before and time.monotonic() < deadline:
            time.sleep(0.05)
        served = load_pem_x509_certificate(certificates.server.read_bytes()).serial_number
        assert served_certificate(port, certificates) == served != before
    finally:
        running.close()


def served_certificate(port: int, certificates: Any) -> int:
    """Return the serial number of the certificate at *port*."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.load_cert_chain(certificates.client, certificates.client_key)
    with (
        socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection,
        context.wrap_socket(connection) as secured,
    ):
        encoded = secured.getpeercert(binary_form=True)
    assert encoded is not None
    return load_pem_x509_certificate(ssl.DER_cert_to_PEM_cert(encoded).encode()).serial_number


# Settings


SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "a unix socket only": {"listen": "", "unix_socket": "sidecheck.sock"},
    "both": {"unix_socket": "sidecheck.sock", "unix_socket_mode": "600"},
    "all addresses": {"listen": "0.0.0.0:0"},
    "limits": {"transport": {"connections": 1, "connection_calls": 1, "metadata_bytes": 1024}},
    "TLS": {"tls_certificate": "server.pem", "tls_key": "server_key.pem"},
    "mutual TLS": {
        "tls_certificate": "server.pem",
        "tls_key": "server_key.pem",
        "tls_client_ca": "ca.pem",
    },
}


@pytest.mark.parametrize("name", SETTINGS)
def test_envoy_accepts_the_configuration(name: str, tmp_path: Path) -> None:
    """Envoy's own validation also loads the application."""
    certificates = make_certificates(tmp_path)
    paths = {
        "server.pem": certificates.server,
        "server_key.pem": certificates.server_key,
        "ca.pem": certificates.authority,
        "sidecheck.sock": tmp_path / "sidecheck.sock",
    }
    values: dict[str, Any] = {
        setting: paths.get(value, value) if isinstance(value, str) else value
        for setting, value in SETTINGS[name].items()
    }
    settings = Settings(server="envoy", **values)
    installation = find_installation()
    folder = None
    if settings.tls_certificate is not None:
        folder = tmp_path
        names = ("tls_certificate", "tls_key", "tls_client_ca")
        pems = {n: path.read_bytes() for n in names if (path := getattr(settings, n)) is not None}
        write_certificates(folder, pems)
        assert (folder / "certificate.json").stat().st_mode & 0o777 == 0o600
    configuration = bootstrap(settings, installation.module, tmp_path / "admin.sock", folder)
    completed = subprocess.run(
        [
            *(installation.envoy, "--mode", "validate"),
            *("--config-yaml", json.dumps(configuration)),
        ],
        env=installation.environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr


def test_tls_and_a_unix_socket_are_refused(tmp_path: Path) -> None:
    completed = subprocess.run(
        [
            *(sys.executable, "-m", "sidecheck_server", "serve", "--server", "envoy"),
            *("--unix-socket", str(tmp_path / "s"), "--tls-cert", "a", "--tls-key", "b"),
        ],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (completed.returncode, completed.stderr) == (
        2,
        (
            "Error: invalid settings: Value error, server: envoy cannot serve TLS and a unix "
            "socket together; leave out unix_socket, or set server to grpc\n"
        ),
    )


def test_a_long_path_of_the_temporary_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / ("f" * 100)
    folder.mkdir()
    completed = subprocess.run(
        [
            sys.executable,
            "-m",
            "sidecheck_server",
            "serve",
            "--server",
            "envoy",
            "--listen",
            "127.0.0.1:0",
        ],
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (completed.returncode, completed.stderr) == (
        2,
        (
            "Error: invalid settings: server: envoy needs a temporary folder with a path of at "
            "most 73 bytes, for sockets; set TMPDIR\n"
        ),
    )
    assert list(folder.iterdir()) == []


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "envoy", None)
    with pytest.raises(UnusableSettingsError) as raised:
        find_installation()
    assert str(raised.value) == (
        "invalid settings: server: envoy is not installed: pip install 'pyvoy>=1.3,<1.4' "
        "(Linux with glibc, and macOS), or set server to grpc"
    )


def test_the_server_names_itself(server: RunningServer) -> None:
    with grpc.insecure_channel(server.address) as channel:
        stub: Any = InfoServiceStub(channel)
        info = stub.GetServerInfo(info_service_pb2.GetServerInfoRequest(), timeout=SECONDS)
    assert info.server == "envoy"
    [ready] = [event for event in server.events if event["event"] == "server.ready"]
    assert ready["server"] == "envoy"
