"""Start of serving processes that are Envoy."""

import asyncio
import json
import os
import shutil
import tempfile
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sidecheck_server.config.settings import Settings, UnusableSettingsError
from sidecheck_server.rpc.tls import ServerCertificates
from sidecheck_server.server.envoy.admin import EnvoyAdmin
from sidecheck_server.server.envoy.certificate_files import write_certificates
from sidecheck_server.server.envoy.configuration import bootstrap
from sidecheck_server.server.envoy.installation import find_installation
from sidecheck_server.server.envoy.log import LOG_FORMAT, EnvoyLog
from sidecheck_server.server.processes.launcher import blocked_signals

__all__ = ["ADMIN_VARIABLE", "LINK_VARIABLE", "EnvoyLauncher", "launch_configuration"]

LINK_VARIABLE: Final = "SIDECHECK_LINK_DESCRIPTOR"
ADMIN_VARIABLE: Final = "SIDECHECK_ENVOY_ADMIN"
"""Variables of an Envoy: the descriptor of its link, and the path of its admin socket."""

_NAME_BYTES: Final = len("/sidecheck-01234567")
_LONGEST_FOLDER: Final = 107 - len("/admin-256.sock")
"""Bytes of the folder's own name, and of its path: that of a socket has 107 (unix(7))."""

_READY_POLL_SECONDS: Final = 0.02
_RELOAD_SECONDS: Final = 1.0


def launch_configuration(settings: Settings, number: int, folder: Path) -> Mapping[str, Any]:
    """Return the configuration of the Envoy *number*, whose files are in *folder*.

    Raises:
        UnusableSettingsError: Envoy is not installed.
    """
    certificates = None if settings.tls_certificate is None else folder
    module = find_installation().module
    return bootstrap(settings, module, _admin_socket(folder, number), certificates)


def _admin_socket(folder: Path, number: int) -> Path:
    return folder / f"admin-{number}.sock"


class EnvoyLauncher:
    """Starts processes of Envoy, which present *certificates*, or speak plain text for None."""

    def __init__(self, certificates: ServerCertificates | None) -> None:
        """Create a folder for the sockets and certificates of Envoy.

        Raises:
            UnusableSettingsError: Envoy is not installed, or the folder cannot be made.
        """
        self._installation = find_installation()
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="sidecheck-"))
        except OSError as error:
            raise UnusableSettingsError(
                f"invalid settings: server: envoy needs a temporary folder: {error.strerror}; "
                "set TMPDIR to a folder that can be written"
            ) from None
        if len(os.fsencode(self._folder)) > _LONGEST_FOLDER:
            self._folder.rmdir()
            raise UnusableSettingsError(
                "invalid settings: server: envoy needs a temporary folder with a path of at most "
                f"{_LONGEST_FOLDER - _NAME_BYTES} bytes, for sockets; set TMPDIR"
            )
        self._logs: dict[int, EnvoyLog] = {}
        self._reloading: asyncio.Task[None] | None = None
        if certificates is not None:
            write_certificates(self._folder, certificates.pems)
            self._reloading = asyncio.create_task(self._reload(certificates))

    async def launch(self, number: int, settings: Settings, descriptor: int) -> Process:
        """Start an Envoy; see `Launcher`."""
        log = self._logs[number] = EnvoyLog(number)
        admin = _admin_socket(self._folder, number)
        admin.unlink(missing_ok=True)
        configuration = launch_configuration(settings, number, self._folder)
        environment = {
            **self._installation.environment(),
            LINK_VARIABLE: str(descriptor),
            ADMIN_VARIABLE: str(admin),
        }
        try:
            with blocked_signals():
                return await asyncio.create_subprocess_exec(
                    self._installation.envoy,
                    *("--config-yaml", json.dumps(configuration)),
                    # The event loop of Python uses one processor, and Envoy a tenth of another.
                    *("--concurrency", "1", "--disable-hot-restart"),
                    *("--drain-strategy", "immediate"),
                    *("--log-level", "warning", "--log-format", LOG_FORMAT),
                    *("--log-path", f"/dev/fd/{log.write_end}"),
                    env=environment,
                    stdin=DEVNULL,
                    pass_fds=[descriptor, log.write_end],
                )
        finally:
            log.start()

    async def wait_until_serving(self, number: int) -> None:
        """Wait until Envoy accepts connections."""
        admin = EnvoyAdmin(_admin_socket(self._folder, number))
        while not await admin.is_live():  # noqa: ASYNC110  (of another process)
            await asyncio.sleep(_READY_POLL_SECONDS)
        self._logs[number].is_serving = True

    async def start_fault(self, number: int) -> str:
        """Return the last error that Envoy has logged."""
        log = self._logs[number]
        await log.wait()
        return log.fault

    async def close(self) -> None:
        """Remove the folder, and end the reading of the logs."""
        if self._reloading is not None:
            self._reloading.cancel()
        await asyncio.gather(*(log.wait() for log in self._logs.values()))
        shutil.rmtree(self._folder, ignore_errors=True)

    async def _reload(self, certificates: ServerCertificates) -> None:
        while True:
            await asyncio.sleep(_RELOAD_SECONDS)
            if await asyncio.to_thread(certificates.reload) is not None:
                write_certificates(self._folder, certificates.pems)
