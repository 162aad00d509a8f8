"""Parts that the proxies over stdio and HTTP have in common."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import click

from sidecheck_server.cli.rows import escape
from sidecheck_server.config.check_settings import (
    CheckSettings,
    read_check_settings,
)
from sidecheck_server.config.setting_names import UnusableSettingsError
from sidecheck_server.core.types import Severity
from sidecheck_server.observability.deferred_log import DeferredLog
from sidecheck_server.observability.log_writer import LogWriter
from sidecheck_server.proxy.checks import Checks
from sidecheck_server.proxy.options import ProxyOptions
from sidecheck_server.proxy.report import Report
from sidecheck_server.proxy.transcript import LineFile, Transcript

if TYPE_CHECKING:
    from sidecheck import Client

    from sidecheck_server.proxy.checks.local import LocalChecks

__all__ = [
    "create_client",
    "create_report",
    "create_transcript",
    "read_proxy_settings",
    "running_checks",
]


@asynccontextmanager
async def running_checks(
    settings: CheckSettings, client: "Client | None", log: DeferredLog, *, hide_values: bool
) -> AsyncIterator[Checks]:
    """Run the checks, by *client* or in this process.

    Their modules are imported here: relaying needs none of them.
    """
    if client is None:
        # In a thread, so that the event loop relays meanwhile.
        running_local_checks = await asyncio.to_thread(
            _import_local_checks, hide_values=hide_values
        )
        with running_local_checks(settings, log.configure) as local_checks:
            yield local_checks
        return
    from sidecheck_server.proxy.checks.remote import RemoteChecks  # noqa: PLC0415

    async with client:
        yield RemoteChecks(client, hide_values=hide_values)


def create_client(options: ProxyOptions) -> "Client | None":
    """Return the client of the service that *options* name; None to validate in this process.

    Raises:
        click.UsageError: the options of the service are invalid.
    """
    if options.service is None:
        return None
    from sidecheck import Client  # noqa: PLC0415

    from sidecheck_server.cli.connection import (  # noqa: PLC0415
        client_token,
        resolve_tls,
        usage_errors,
    )

    with usage_errors():
        tls = resolve_tls(options.service, options.tls)
        on_unavailable = options.on_unavailable
        return Client(options.service, tls=tls, on_unavailable=on_unavailable, **client_token())


def _import_local_checks(
    *, hide_values: bool
) -> "Callable[[CheckSettings, Callable[[], None]], AbstractContextManager[LocalChecks]]":
    from sidecheck_server.server import checks  # noqa: PLC0415

    return partial(checks.running_checks, hide_values=hide_values)


def read_proxy_settings(options: ProxyOptions) -> CheckSettings:
    """Return the settings of the checks.

    Raises:
        click.UsageError: they cannot be used.
    """
    try:
        return read_check_settings(options.max_message_bytes)
    except UnusableSettingsError as error:
        raise click.UsageError(escape(str(error))) from None


def create_report(options: ProxyOptions, log: LogWriter) -> Report:
    """Return the report of findings, which writes to *log* and the file of *options*."""
    return Report(
        lambda line: log.write(f"{line}\n"),
        None if options.report is None else LineFile(options.report, log.write).write,
        show_values=options.show_values,
        minimum=Severity(options.min_severity),
    )


def create_transcript(options: ProxyOptions, log: LogWriter) -> Transcript | None:
    """Return the record of messages, or None without a file in *options*."""
    if options.record is None:
        return None
    return Transcript(LineFile(options.record, log.write).write)
