"""Files of TLS: which are accepted, when they are read again, and what the log has."""

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from conformance.certificates import Authority
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from sidecheck_server.config.settings import Settings, UnusableSettingsError
from sidecheck_server.rpc import tls
from sidecheck_server.rpc.tls import ServerCertificates, read_certificates
from structlog.testing import capture_logs

HOSTS = ["localhost"]
AUTHORITY = Authority()
PAIR = AUTHORITY.issue("server", HOSTS)
OTHER_PAIR = AUTHORITY.issue("server", HOSTS)


class Files:
    """A folder with the files of TLS."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.paths = {
            name: folder / name for name in ("tls_certificate", "tls_key", "tls_client_ca")
        }
        self.write(PAIR, AUTHORITY.pem)

    def write(self, pair: tuple[bytes, bytes], authorities: bytes) -> None:
        """Write the files one after the other."""
        for path, content in zip(self.paths.values(), (*pair, authorities), strict=True):
            path.write_bytes(content)

    def open(self) -> ServerCertificates:
        """Return the certificates, as at the start of a server."""
        with capture_logs() as events:
            certificates = ServerCertificates(self.paths)
        assert ["tls.loaded"] == [event["event"] for event in events]
        return certificates


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Return files that can be used."""
    return Files(tmp_path)


def encrypted(form: PrivateFormat) -> bytes:
    key = load_pem_private_key(PAIR[1], None)
    return key.private_bytes(Encoding.PEM, form, BestAvailableEncryption(b"secret"))


def issued_for(key: Any) -> tuple[bytes, bytes]:
    return AUTHORITY.issue("server", HOSTS, key=key)


def make_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGED = PAIR[0].replace(b"M", b"N", 1)
NO_CERTIFICATES = "does not have certificates in PEM, or one of them is damaged"
NO_KEY = "does not have a private key in PEM"


@pytest.mark.parametrize(
    ("setting", "content", "reason"),
    [
        ("tls_certificate", b"", NO_CERTIFICATES),
        ("tls_certificate", PAIR[1], NO_CERTIFICATES),
        ("tls_certificate", DAMAGED, NO_CERTIFICATES),
        ("tls_certificate", PAIR[0] + DAMAGED, NO_CERTIFICATES),
        ("tls_client_ca", b"\n", NO_CERTIFICATES),
        ("tls_key", b"", NO_KEY),
        ("tls_key", PAIR[0], NO_KEY),
        ("tls_key", PAIR[1][:-60], NO_KEY),
        ("tls_key", encrypted(PrivateFormat.PKCS8), "is encrypted; decrypt it"),
        ("tls_key", encrypted(PrivateFormat.TraditionalOpenSSL), "is encrypted; decrypt it"),
        ("tls_key", OTHER_PAIR[1], "is not the private key of the first certificate in "),
        ("tls_key", b"x" * (1 << 20) + b"x", "has 1,048,577 bytes, more than the limit of "),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error(
    files: Files, setting: str, content: bytes, reason: str
) -> None:
    """It names the setting and the file."""
    files.paths[setting].write_bytes(content)

    with pytest.raises(UnusableSettingsError) as raised:
        ServerCertificates(files.paths)

    assert str(raised.value).startswith(f"{setting}: {files.paths[setting]} {reason}")


@pytest.mark.parametrize("setting", ["tls_certificate", "tls_key", "tls_client_ca"])
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (Path.unlink, "does not exist"),
        (make_folder, "is a folder; expected a regular file"),
        (make_fifo, "is a FIFO; expected a regular file"),
    ],
)
def test_a_special_file_is_an_error(
    files: Files, setting: str, make: Callable[[Path], object], reason: str
) -> None:
    """A FIFO would block the start, and later every handshake."""
    make(files.paths[setting])

    with pytest.raises(UnusableSettingsError) as raised:
        ServerCertificates(files.paths)

    assert f"{setting}: {files.paths[setting]} {reason}" == str(raised.value)


@pytest.mark.parametrize(
    ("key", "is_usable"),
    [
        pytest.param(ec.generate_private_key(ec.SECP256R1()), True, id="P-256"),
        pytest.param(ec.generate_private_key(ec.SECP384R1()), True, id="P-384"),
        pytest.param(rsa.generate_private_key(65537, 2048), True, id="RSA"),
        pytest.param(ec.generate_private_key(ec.SECP521R1()), False, id="P-521"),
        pytest.param(ed25519.Ed25519PrivateKey.generate(), False, id="Ed25519"),
    ],
)
def test_keys_are_of_kinds_that_clients_verify(files: Files, key: Any, is_usable: bool) -> None:
    """GRPC would serve the others to clients that reject them."""
    files.write(issued_for(key), AUTHORITY.pem)

    if is_usable:
        assert files.open().not_after > datetime.now(UTC).timestamp()
    else:
        with pytest.raises(
            UnusableSettingsError, match="a key of a kind that clients of gRPC do not verify"
        ):
            ServerCertificates(files.paths)


def test_without_a_certificate_there_is_no_tls(files: Files) -> None:
    """Clients need no certificates unless their authorities are set."""
    assert read_certificates(Settings()) is None
    settings = Settings(
        tls_certificate=files.paths["tls_certificate"], tls_key=files.paths["tls_key"]
    )
    with capture_logs() as events:
        assert read_certificates(settings) is not None
    assert [False] == [event["client_certificates"] for event in events]


def test_the_first_of_the_chain_to_expire_counts(files: Files) -> None:
    """The metric has its time in seconds since 1970; the log has it too."""
    soon, _ = AUTHORITY.issue("intermediate", HOSTS, days=1)
    files.write((PAIR[0] + soon, PAIR[1]), AUTHORITY.pem)

    expected = (datetime.now(UTC) + timedelta(days=1)).timestamp()

    assert expected - 3600 < files.open().not_after < expected + 3600


def test_an_expired_certificate_is_served_with_a_warning(files: Files) -> None:
    """The operator may have nothing better; clients say that it has expired."""
    certificates = files.open()
    files.write(AUTHORITY.issue("server", HOSTS, days=-1), AUTHORITY.pem)

    with capture_logs() as events:
        assert certificates.reload() is not None

    assert [("tls.reloaded", "warning")] == [
        (event["event"], event["log_level"]) for event in events
    ]
    assert certificates.not_after < datetime.now(UTC).timestamp()
    assert events[0]["not_after"] == datetime.fromtimestamp(certificates.not_after, UTC).isoformat()


def test_unchanged_certificates_are_not_reloaded(files: Files) -> None:
    """The modification times of the files do not matter."""
    certificates = files.open()
    for path in files.paths.values():
        os.utime(path, (1, 1))

    with capture_logs() as events:
        assert certificates.reload() is None

    assert [] == events


@pytest.mark.parametrize("setting", ["pair", "tls_client_ca"])
def test_content_is_compared_and_not_times(files: Files, setting: str) -> None:
    """A backup or a build that restores times may bring another certificate."""
    for path in files.paths.values():
        os.utime(path, (1, 1))
    certificates = files.open()
    if setting == "pair":
        files.write(OTHER_PAIR, AUTHORITY.pem)
    else:
        files.write(PAIR, Authority().pem)
    for path in files.paths.values():
        os.utime(path, (1, 1))

    with capture_logs() as events:
        assert certificates.reload() is not None
        assert certificates.reload() is None

    assert ["tls.reloaded"] == [event["event"] for event in events]


def test_a_folder_that_is_switched_is_read_again(tmp_path: Path) -> None:
    """Kubernetes switches the folder of a secret in this way."""
    for name, pair in (("first", PAIR), ("second", OTHER_PAIR)):
        (tmp_path / name).mkdir()
        Files(tmp_path / name).write(pair, AUTHORITY.pem)
    link = tmp_path / "..data"
    link.symlink_to("first")
    certificates = ServerCertificates(
        {"tls_certificate": link / "tls_certificate", "tls_key": link / "tls_key"}
    )
    (tmp_path / "switched").symlink_to("second")
    (tmp_path / "switched").rename(link)

    assert certificates.reload() is not None
    assert certificates.reload() is None


def test_a_switch_between_two_reads_is_not_a_mismatch(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files are switched between the read of the certificate and of the key."""
    certificates = files.open()
    third = AUTHORITY.issue("server", HOSTS)
    files.write(OTHER_PAIR, AUTHORITY.pem)
    read, reads = tls._read_file, []

    def switching(path: Path) -> bytes | str:
        reads.append(path)
        if len(reads) == 2:
            files.write(third, AUTHORITY.pem)
        return read(path)

    monkeypatch.setattr(tls, "_read_file", switching)
    with capture_logs() as events:
        assert certificates.reload() is not None

    assert ["tls.reloaded"] == [event["event"] for event in events]
    assert certificates.reload() is None


def test_files_that_keep_changing_end_no_handshake(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are looked at again by the next."""
    certificates = files.open()
    read, reads = tls._read_file, []

    def changing(path: Path) -> bytes | str:
        reads.append(path)
        return read(path) if path.name != "tls_key" else f"is busy {len(reads)}"

    with monkeypatch.context() as patch:
        patch.setattr(tls, "_read_file", changing)
        assert certificates.reload() is None

    assert 1 == certificates.failed_reloads
    assert certificates.reload() is not None


def test_the_last_good_files_stay_and_each_failure_is_logged_once(files: Files) -> None:
    """The number of handshakes in the meantime does not matter."""
    certificates = files.open()
    good = certificates.not_after
    details = []
    for path, content in (
        (files.paths["tls_certificate"], OTHER_PAIR[0]),
        (files.paths["tls_client_ca"], b""),
        (files.paths["tls_key"], None),
    ):
        if content is None:
            path.unlink()
        else:
            path.write_bytes(content)
        with capture_logs() as events:
            assert [None] * 3 == [certificates.reload() for _ in range(3)]
        assert ["tls.reload_failed"] == [event["event"] for event in events]
        details.append(events[0]["detail"].partition(":")[0])

    # The key is compared before the authorities are looked at.
    assert ["tls_key", "tls_key", "tls_key"] == details
    assert (3, good) == (certificates.failed_reloads, certificates.not_after)

    files.write(PAIR, AUTHORITY.pem)
    with capture_logs() as events:
        assert certificates.reload() is not None
    assert ["tls.reloaded"] == [event["event"] for event in events]
