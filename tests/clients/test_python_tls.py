"""TLS of the Python client, against a server that requires certificates of its clients."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
from conformance.certificates import Certificates, make_certificates
from sidecheck import Client, Tls, Unavailable
from sidecheck.v1 import info_service_pb2
from support.clients import CLIENT_KINDS, connect

INFO = info_service_pb2.GetServerInfoResponse(version="9.9.9", limits={"message_bytes": 1})


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Certificates of one authority."""
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def port(certificates: Certificates) -> Iterator[int]:
    """Port of a server that answers GetServerInfo to clients of the authority."""
    credentials = grpc.ssl_server_credentials(
        [(certificates.server_key.read_bytes(), certificates.server.read_bytes())],
        root_certificates=certificates.authority.read_bytes(),
        require_client_auth=True,
    )
    method: Any = grpc.unary_unary_rpc_method_handler(
        lambda _request, _context: INFO.SerializeToString()
    )
    handler = grpc.method_handlers_generic_handler(
        "sidecheck.v1.InfoService", {"GetServerInfo": method}
    )
    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers([handler])
    port = server.add_secure_port("127.0.0.1:0", credentials)
    server.start()
    yield port
    server.stop(None).wait()


@pytest.fixture
def settings(certificates: Certificates) -> dict[str, Any]:
    """Settings with which a client is let in."""
    return {
        "ca_certificates": certificates.authority,
        "certificate": certificates.client,
        "private_key": certificates.client_key,
    }


async def version_of(kind: str, address: str, **settings: Any) -> str:
    """Return the version that the server reports to a client with these TLS settings."""
    async with connect(kind, address, timeout=120, tls=Tls(**settings)) as client:
        return (await client.info()).version


@pytest.mark.parametrize("kind", CLIENT_KINDS)
@pytest.mark.parametrize("form", [Path, str, Path.read_bytes], ids=["path", "text", "bytes"])
async def test_both_sides_are_verified(
    kind: str, form: Any, settings: dict[str, Any], port: int
) -> None:
    """A client with a certificate of the authority is let in; PEM is given as such or by path."""
    settings = {name: form(path) for name, path in settings.items()}
    assert "9.9.9" == await version_of(kind, f"localhost:{port}", **settings)


@pytest.mark.parametrize("kind", CLIENT_KINDS)
@pytest.mark.parametrize("missing", [["certificate", "private_key"], ["ca_certificates"]])
async def test_an_untrusted_peer_is_unavailable(
    kind: str, missing: list[str], settings: dict[str, Any], port: int
) -> None:
    """A client without a certificate and a server of another authority are refused."""
    for name in missing:
        del settings[name]
    async with connect(kind, f"localhost:{port}", timeout=5, tls=Tls(**settings)) as client:
        with pytest.raises(Unavailable):
            await client.info()


@pytest.mark.parametrize("kind", CLIENT_KINDS)
async def test_plain_text_is_rejected(kind: str, port: int) -> None:
    """A client without TLS gets no answer from a server with it."""
    async with connect(kind, f"localhost:{port}", timeout=5) as client:
        with pytest.raises(Unavailable):
            await client.info()


@pytest.mark.parametrize("kind", CLIENT_KINDS)
async def test_the_name_is_verified(kind: str, settings: dict[str, Any], port: int) -> None:
    """The certificate must have the host of the address, or the name that is given."""
    # The certificate has 127.0.0.1 and not the other addresses of the loopback.
    assert "9.9.9" == await version_of(kind, f"127.0.0.1:{port}", **settings)
    with_name = {**settings, "server_name": "elsewhere"}
    async with connect(kind, f"localhost:{port}", timeout=5, tls=Tls(**with_name)) as client:
        with pytest.raises(Unavailable):
            await client.info()
    by_name = {**settings, "server_name": "localhost"}
    assert "9.9.9" == await version_of(kind, f"dns:///127.0.0.1:{port}", **by_name)


@pytest.mark.parametrize("kind", CLIENT_KINDS)
@pytest.mark.parametrize("source", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
async def test_system_authorities_are_the_default(
    kind: str,
    source: str,
    certificates: Certificates,
    settings: dict[str, Any],
    port: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """These are the authorities of OpenSSL's settings."""
    monkeypatch.delenv("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", raising=False)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    if source == "SSL_CERT_FILE":
        monkeypatch.setenv(source, str(certificates.authority))
    else:
        (tmp_path / "0a1b2c3d.0").write_bytes(certificates.authority.read_bytes())
    del settings["ca_certificates"]
    assert "9.9.9" == await version_of(kind, f"localhost:{port}", **settings)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"certificate": b"c"}, ValueError, "must be given together"),
        ({"private_key": b"k"}, ValueError, "must be given together"),
        ({"ca_certificates": 7}, TypeError, "ca_certificates must be PEM as bytes or a path"),
        ({"ca_certificates": "-----BEGIN "}, TypeError, "ca_certificates must be bytes if"),
        ({"server_name": b"host"}, TypeError, "server_name must be a str, not bytes"),
    ],
)
def test_invalid_settings_are_errors(
    settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    """`Tls` raises the error."""
    with pytest.raises(error, match=message):
        Tls(**settings)


@pytest.mark.parametrize("kind", CLIENT_KINDS)
def test_invalid_files_are_errors(kind: str, settings: dict[str, Any], tmp_path: Path) -> None:
    """The client raises the error at its creation."""
    swapped = {"certificate": settings["private_key"], "private_key": settings["certificate"]}
    with pytest.raises(ValueError, match="private_key must have an unencrypted private key"):
        connect(kind, "localhost:1", tls=Tls(**swapped))
    for kind_of_key in (b"ENCRYPTED ", b"RSA "):
        encrypted = b"-----BEGIN %sPRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n" % kind_of_key
        with pytest.raises(ValueError, match="private_key must have an unencrypted"):
            connect(kind, "localhost:1", tls=Tls(**{**settings, "private_key": encrypted}))
    with pytest.raises(ValueError, match="ca_certificates must have a certificate"):
        connect(kind, "localhost:1", tls=Tls(ca_certificates=b""))
    with pytest.raises(FileNotFoundError):
        connect(kind, "localhost:1", tls=Tls(ca_certificates=tmp_path / "none.pem"))
    settings_of_another_kind: Any = settings
    with pytest.raises(TypeError, match="tls must be a Tls, not dict"):
        connect(kind, "localhost:1", tls=settings_of_another_kind)


def test_the_key_is_not_shown(certificates: Certificates) -> None:
    """The representation of the settings, as in a log, is without the key."""
    key = certificates.client_key.read_bytes()
    assert "private_key" not in repr(Tls(certificate=b"c", private_key=key))
    assert Client("localhost:1", tls=Tls()).on_unavailable == "error"
