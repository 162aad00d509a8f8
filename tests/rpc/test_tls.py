"""TLS of a server: who is let in, what it presents, and how it takes other certificates."""

import socket
import ssl
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest
from conformance.certificates import Authority, Certificates, make_certificates
from cryptography.x509 import load_pem_x509_certificate
from sidecheck import BlockingClient, Tls, Unavailable
from sidecheck.v1 import info_service_pb2
from sidecheck.v1.info_service_pb2_grpc import InfoServiceStub
from support.running import RunningServer

HOSTS = ["localhost", "127.0.0.1"]
SECONDS = 300
THREADS = 4
CONNECTIONS = 10
"""Those of each thread between two changes."""


def events_of(server: RunningServer, prefix: str) -> list[str]:
    """Return the names of the events so far that start with *prefix*."""
    return [event["event"] for event in server.events if event["event"].startswith(prefix)]


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Certificates of one authority."""
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def mutual(
    certificates: Certificates, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    """A server on all addresses that requires certificates of its clients."""
    running = RunningServer(
        tmp_path_factory.mktemp("mutual"),
        *("--listen", "0.0.0.0:0"),
        *("--tls-cert", str(certificates.server), "--tls-key", str(certificates.server_key)),
        *("--tls-client-ca", str(certificates.authority)),
    )
    yield running
    running.close()


def port_of(server: RunningServer) -> str:
    """Return the TCP port of *server*."""
    return server.address.rpartition(":")[2]


def version(address: str, tls: Tls | None) -> str:
    """Return the version that a server tells a client with *tls*."""
    with BlockingClient(address, timeout=SECONDS, tls=tls) as client:
        return client.info().version


def test_a_client_of_the_authority_is_let_in(
    mutual: RunningServer, certificates: Certificates
) -> None:
    """It verifies the server by address or by name."""
    tls = Tls(certificates.authority, certificates.client, certificates.client_key)
    port = port_of(mutual)

    with BlockingClient(f"127.0.0.1:{port}", timeout=SECONDS, tls=tls) as client:
        known = client.info().version
    by_name = Tls(certificates.authority, certificates.client, certificates.client_key, "localhost")
    with BlockingClient(f"dns:///127.0.0.1:{port}", timeout=SECONDS, tls=by_name) as client:
        assert known == client.info().version


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"certificate": None, "private_key": None}, id="no certificate"),
        pytest.param({"ca_certificates": "other"}, id="a server of another authority"),
        pytest.param({"certificate": "other", "private_key": "other"}, id="another authority's"),
        pytest.param({"server_name": "elsewhere"}, id="another name"),
        pytest.param(None, id="plain text"),
    ],
)
def test_clients_of_other_authorities_are_rejected(
    mutual: RunningServer, certificates: Certificates, changes: dict[str, Any] | None
) -> None:
    """Their calls are UNAVAILABLE."""
    foreign_authority = Authority()
    certificate, key = foreign_authority.issue("client", ["client"])
    others = {
        "ca_certificates": foreign_authority.pem,
        "certificate": certificate,
        "private_key": key,
    }
    tls = None
    if changes is not None:
        settings: dict[str, Any] = {
            "ca_certificates": certificates.authority,
            "certificate": certificates.client,
            "private_key": certificates.client_key,
        }
        settings |= {
            name: others[name] if value == "other" else value for name, value in changes.items()
        }
        tls = Tls(**settings)

    with pytest.raises(Unavailable):
        version(f"127.0.0.1:{port_of(mutual)}", tls)


@pytest.mark.grpc_server
def test_the_unix_socket_is_without_tls(mutual: RunningServer) -> None:
    """Its file mode says who may call."""
    with BlockingClient(mutual.unix_address, timeout=SECONDS) as client:
        assert client.info().version


def test_tls_logs_its_certificate_and_no_plaintext_warning(
    mutual: RunningServer, certificates: Certificates
) -> None:
    """A listener beyond loopback with TLS causes no warning of plain text."""
    loaded = next(event for event in mutual.events if event["event"] == "tls.loaded")
    certificate = load_pem_x509_certificate(certificates.server.read_bytes())

    assert certificate.not_valid_after_utc.isoformat() == loaded["not_after"]
    assert ("info", True) == (loaded["level"], loaded["client_certificates"])
    assert [] == events_of(mutual, "server.plaintext")


def test_plain_text_beyond_the_loopback_is_a_warning(
    tmp_path: Path, shared_server: RunningServer
) -> None:
    """It is logged once at the start; loopback and unix sockets have none."""
    server = RunningServer(tmp_path, "--listen", "0.0.0.0:0")
    try:
        assert ["server.plaintext"] == events_of(server, "server.plaintext")
        assert [] == events_of(shared_server, "server.plaintext")
    finally:
        server.close()


@pytest.mark.grpc_server
def test_a_server_without_client_authorities_admits_all(tmp_path: Path) -> None:
    """It serves an expired certificate with a warning."""
    authority = Authority()
    for name, pem in zip(
        ("tls.crt", "tls.key"), authority.issue("server", HOSTS, days=-1), strict=True
    ):
        (tmp_path / name).write_bytes(pem)
    server = RunningServer(
        tmp_path,
        *("--tls-cert", str(tmp_path / "tls.crt"), "--tls-key", str(tmp_path / "tls.key")),
    )
    try:
        loaded = next(event for event in server.events if event["event"] == "tls.loaded")
        assert ("warning", False) == (loaded["level"], loaded["client_certificates"])
        with pytest.raises(Unavailable, match="certificate has expired"):
            version(server.address, Tls(authority.pem))

        for name, pem in zip(("tls.crt", "tls.key"), authority.issue("server", HOSTS), strict=True):
            (tmp_path / name).write_bytes(pem)
        with BlockingClient(server.address, timeout=SECONDS, tls=Tls(authority.pem)) as client:
            assert client.info().version
    finally:
        server.close()


@pytest.mark.grpc_server
@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--tls-cert", "tls.crt"], "tls_certificate is set without tls_key"),
        (["--tls-key", "tls.key"], "tls_key is set without tls_certificate"),
        (["--tls-client-ca", "ca.crt"], "tls_client_ca is set without tls_certificate"),
        (
            ["--tls-cert", "tls.crt", "--tls-key", "tls.key", "--listen", ""],
            "tls_certificate is set while listen is empty",
        ),
        (["--tls-cert", "none", "--tls-key", "tls.key"], "tls_certificate: none does not exist\n"),
        (
            ["--tls-cert", "ca.crt", "--tls-key", "tls.key"],
            "tls_key: tls.key is not the private key of the first certificate in tls_certificate\n",
        ),
    ],
)
def test_unusable_certificates_stop_the_start(
    tmp_path: Path, flags: list[str], message: str
) -> None:
    """The error is one line; the exit code is 2."""
    authority = Authority()
    certificate, key = authority.issue("server", HOSTS)
    for name, pem in (("tls.crt", certificate), ("tls.key", key), ("ca.crt", authority.pem)):
        (tmp_path / name).write_bytes(pem)

    done = subprocess.run(
        [
            *(sys.executable, "-m", "sidecheck_server", "serve"),
            *("--listen", "127.0.0.1:0", "--unix-socket", "sidecheck.sock", *flags),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )

    assert (2, "", 1) == (done.returncode, done.stdout, done.stderr.count("\n"))
    assert message in done.stderr


@dataclass
class Load:
    """Clients that connect, call once and leave, again and again, in threads."""

    address: str
    pair: tuple[bytes, bytes]
    authorities: bytes
    calls: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    is_over: bool = False
    changed: threading.Condition = field(default_factory=threading.Condition)

    def run(self, number: int) -> None:
        """Call until it is over; *number* tells the threads apart."""
        while not self.is_over:
            key_and_certificate = self.pair[::-1]
            credentials = grpc.ssl_channel_credentials(self.authorities, *key_and_certificate)
            # Without retries, which would hide a call that is lost, and with a connection of
            # its own, which gRPC would share among channels.
            options = [("grpc.enable_retries", 0), ("grpc.use_local_subchannel_pool", 1)]
            with grpc.secure_channel(self.address, credentials, options) as channel:
                try:
                    InfoServiceStub(channel).GetServerInfo(
                        info_service_pb2.GetServerInfoRequest(), timeout=SECONDS
                    )
                except grpc.RpcError as error:
                    self.failures.append(str(error))
            with self.changed:
                self.calls[number] += 1
                self.changed.notify_all()

    def wait_for_connections(self) -> None:
        """Wait until each thread has connected and called several times from now on."""
        with self.changed:
            # The first may have begun before.
            enough = {thread: self.calls[thread] + 1 + CONNECTIONS for thread in range(THREADS)}
            assert self.changed.wait_for(
                lambda: all(self.calls[thread] >= number for thread, number in enough.items()),
                SECONDS,
            )


def presented(address: str, pair: tuple[bytes, bytes], folder: Path) -> bytes:
    """Return the certificate that the server presents to a client with *pair*, in PEM."""
    file = folder / "presented.pem"
    file.write_bytes(b"".join(pair))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    context.load_cert_chain(file)
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), SECONDS) as plain:
        secured = context.wrap_socket(plain)
        certificate = secured.getpeercert(binary_form=True)
        secured.close()
    assert certificate is not None
    return ssl.DER_cert_to_PEM_cert(certificate).encode()


class Secret:
    """A folder of files of TLS, switched as a whole or changed file by file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._versions = 0
        self.link = folder / "secret"

    def switch(self, pair: tuple[bytes, bytes], authorities: bytes) -> None:
        """Replace all files at once, as Kubernetes does."""
        self._versions += 1
        folder = self._folder / f"version-{self._versions}"
        folder.mkdir()
        for name, pem in zip(("tls.crt", "tls.key", "ca.crt"), (*pair, authorities), strict=True):
            (folder / name).write_bytes(pem)
        link = self._folder / "next"
        link.symlink_to(folder)
        link.rename(self.link)

    def replace(self, name: str, pem: bytes) -> None:
        """Replace one file."""
        file = self._folder / "next"
        file.write_bytes(pem)
        file.rename(self.link / name)


def test_no_call_is_lost_while_certificates_and_authorities_change(tmp_path: Path) -> None:
    """Clients connect all the time; each handshake has a pair that was whole."""
    old, new = Authority(), Authority()
    both = old.pem + new.pem
    first, second, third, fourth = (
        authority.issue("server", HOSTS) for authority in (old, old, new, new)
    )
    old_client, new_client = (authority.issue("client", ["client"]) for authority in (old, new))
    secret = Secret(tmp_path)
    secret.switch(first, old.pem)
    server = RunningServer(
        tmp_path,
        *("--tls-cert", str(secret.link / "tls.crt"), "--tls-key", str(secret.link / "tls.key")),
        *("--tls-client-ca", str(secret.link / "ca.crt")),
        # A busy machine must not have calls shed.
        SIDECHECK_TRANSPORT__LOOP_LAG_MILLISECONDS="1000000",
    )
    load = Load(server.address, old_client, both)

    def change(event: str, make: Callable[..., None], *arguments: Any) -> None:
        make(*arguments)
        server.wait_for(event)
        load.wait_for_connections()

    try:
        with ThreadPoolExecutor(THREADS) as pool:
            threads = [pool.submit(load.run, number) for number in range(THREADS)]
            try:
                load.wait_for_connections()
                change("tls.reloaded", secret.switch, second, old.pem)
                assert second[0] == presented(server.address, old_client, tmp_path)
                # The certificate of the other authority comes before its key.
                change("tls.reload_failed", secret.replace, "tls.crt", third[0])
                assert second[0] == presented(server.address, old_client, tmp_path)
                change("tls.reloaded", secret.replace, "tls.key", third[1])
                assert third[0] == presented(server.address, old_client, tmp_path)
                change("tls.reloaded", secret.replace, "ca.crt", both)
                change("tls.reload_failed", secret.switch, (third[0], b"damaged"), both)
                load.pair = new_client
                load.wait_for_connections()
                change("tls.reloaded", secret.switch, fourth, new.pem)
                assert fourth[0] == presented(server.address, new_client, tmp_path)
            finally:
                load.is_over = True
        for thread in threads:
            thread.result()
        with pytest.raises(Unavailable):
            version(server.address, Tls(both, *old_client))
        server.log_text()
    finally:
        server.close()

    assert [] == load.failures
    expected = ["loaded", "reloaded", "reload_failed", "reloaded", "reloaded", "reload_failed"]
    assert [f"tls.{event}" for event in [*expected, "reloaded"]] == events_of(server, "tls.")
