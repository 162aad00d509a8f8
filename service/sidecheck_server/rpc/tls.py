"""TLS of the TCP address; certificate files are read at each handshake.

Before each handshake gRPC fetches the certificate in a separate thread, one handshake at a time.
The fetch reads the files and compares their contents with the previous ones; modification times
are unreliable, since Kubernetes switches folders by a symbolic link. Open connections keep the
certificates of their handshakes.
"""

import logging
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import grpc
import structlog

from sidecheck_server.config.input_files import UnusableFileError, check_file
from sidecheck_server.config.settings import Settings, UnusableSettingsError

if TYPE_CHECKING:
    from sidecheck_server.rpc.certificates import Validity

__all__ = ["ServerCertificates", "read_certificates"]

_MAX_FILE_BYTES = 1 << 20
"""Maximum size of each file."""

_MAX_READS = 4
"""Maximum reads of changing files until two consecutive reads agree."""

_Files: TypeAlias = Mapping[str, bytes | str]
"""The content of each file, by its setting, or a text with the reason why it is unreadable."""

_log = structlog.get_logger("sidecheck.tls")


def read_certificates(settings: Settings) -> "ServerCertificates | None":
    """Return the certificates of the TCP address, or None without TLS.

    Raises:
        UnusableSettingsError: a file cannot be used.
    """
    paths = {
        name: path
        for name in ("tls_certificate", "tls_key", "tls_client_ca")
        if (path := getattr(settings, name)) is not None
    }
    return ServerCertificates(paths) if paths else None


# Decision 0063: gRPC fetches the files at each handshake, and contents decide, not times.
class ServerCertificates:
    """The certificate of the server, its key, and the authorities of its clients.

    The files are used together or not at all: while any is unreadable, damaged or does not
    match, the last usable files stay in use. Thread-safe.
    """

    def __init__(self, paths: Mapping[str, Path]) -> None:
        """Read the files at *paths*, by the settings that name them.

        Raises:
            UnusableSettingsError: a file cannot be used; the message has the file and the fault.
        """
        self._paths = paths
        self._lock = threading.Lock()
        self._files = self._read()
        self._usable, validity = self._check(self._files)
        self.not_after = validity.not_after.timestamp()
        """Earliest expiry of the chain in use, in seconds since 1970."""
        self.failed_reloads = 0
        """Number of changes of the files that could not be used."""
        _log.log(_level(validity), "tls.loaded", **self._describe(validity))

    def credentials(self) -> grpc.ServerCredentials:
        """Return credentials that present the current certificate at each handshake."""
        # The type stubs of gRPC do not allow None, which keeps the current configuration.
        fetch: Any = self.reload
        return grpc.dynamic_ssl_server_credentials(
            _configuration(self._usable),
            fetch,
            require_client_authentication="tls_client_ca" in self._paths,
        )

    @property
    def pems(self) -> Mapping[str, bytes]:
        """Content of the files in use, by setting."""
        return self._usable

    def reload(self) -> grpc.ServerCertificateConfiguration | None:
        """Read the files; return the next configuration, or None to keep the current."""
        with self._lock:
            files = self._read()
            if files == self._files:
                return None
            self._files = files = self._read_until_stable(files)
            try:
                self._usable, validity = self._check(files)
            except UnusableSettingsError as error:
                self.failed_reloads += 1
                _log.error("tls.reload_failed", detail=str(error))
                return None
            self.not_after = validity.not_after.timestamp()
            _log.log(_level(validity), "tls.reloaded", **self._describe(validity))
            return _configuration(self._usable)

    def _read(self) -> _Files:
        return {setting: _read_file(path) for setting, path in self._paths.items()}

    def _read_until_stable(self, files: _Files) -> _Files:
        """Read *files* again until they no longer change, and return the last content.

        During a replacement of the files, a read may return a certificate and the key of
        another one. If the files keep changing, the next handshake reads them again.
        """
        for _ in range(_MAX_READS):
            again = self._read()
            if again == files:
                break
            files = again
        return files

    def _check(self, files: _Files) -> "tuple[Mapping[str, bytes], Validity]":
        """Return the content of *files*, and the validity of the certificate.

        Raises:
            UnusableSettingsError: a file cannot be used.
        """
        # Imported here because it takes 0.1 seconds and 16 MB, which only TLS needs.
        from sidecheck_server.rpc.certificates import (  # noqa: PLC0415
            InvalidPemError,
            check_certificates,
        )

        pems: dict[str, bytes] = {}
        for setting, content in files.items():
            if isinstance(content, str):
                raise UnusableSettingsError(f"{setting}: {self._paths[setting]} {content}")
            pems[setting] = content
        try:
            return pems, check_certificates(pems)
        except InvalidPemError as error:
            path = self._paths[error.setting]
            raise UnusableSettingsError(f"{error.setting}: {path} {error.reason}") from None

    def _describe(self, validity: "Validity") -> dict[str, Any]:
        return {
            "not_before": validity.not_before.isoformat(),
            "not_after": validity.not_after.isoformat(),
            "client_certificates": "tls_client_ca" in self._paths,
        }


def _level(validity: "Validity") -> int:
    is_valid = validity.not_before <= datetime.now(UTC) <= validity.not_after
    return logging.INFO if is_valid else logging.WARNING


def _read_file(path: Path) -> bytes | str:
    """Return the content of *path*, or a text with the reason why it is unreadable."""
    try:
        check_file(path, _MAX_FILE_BYTES)
        return path.read_bytes()
    except FileNotFoundError:
        return "does not exist"
    except UnusableFileError as error:
        return str(error)
    except OSError as error:
        return f"cannot be read: {error.strerror}"


def _configuration(pems: Mapping[str, bytes]) -> grpc.ServerCertificateConfiguration:
    pair = (pems["tls_key"], pems["tls_certificate"])
    return grpc.ssl_server_certificate_configuration([pair], pems.get("tls_client_ca"))
