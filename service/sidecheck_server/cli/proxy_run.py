"""What `sidecheck proxy` runs: the server, the services, and the relay between both pipes."""

import signal
from asyncio.subprocess import Process
from contextlib import AsyncExitStack
from functools import partial

import click
from sidecheck import Client, Severity

from sidecheck_server.app import running_client
from sidecheck_server.cli.rows import printable
from sidecheck_server.log import LOG_FLUSH_SECONDS, configure_log
from sidecheck_server.log_writer import LogWriter
from sidecheck_server.proxy.line_file import LineFile
from sidecheck_server.proxy.options import ProxyOptions
from sidecheck_server.proxy.pins import LockFileError
from sidecheck_server.proxy.pipes import open_reader, open_writer
from sidecheck_server.proxy.report import Report
from sidecheck_server.proxy.server_process import signal_group
from sidecheck_server.proxy.session import ProxySession
from sidecheck_server.proxy.stdio import StdioProxy
from sidecheck_server.proxy.transcript import Transcript
from sidecheck_server.settings import Settings, UnusableSettingsError, read_settings
from sidecheck_server.workers import WorkerStartError

__all__ = ["run_proxy"]

_ENVELOPE_BYTES = 1 << 20
"""Room in a request of the API for what is beside a message: the definition of a tool."""

_WORKER_SECONDS = 60
"""How long a message waits for the worker process, which starts when the proxy does."""


async def run_proxy(server: Process, options: ProxyOptions) -> int:
    """Relay between *server* and the client at descriptors 0 and 1; return the exit code.

    Raises:
        click.ClickException: the proxy cannot go on.
    """
    settings = _settings(options)
    log = configure_log(settings)
    report = _report(options, log)
    try:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(
                running_client(settings)
                if options.service is None
                else Client(options.service, on_unavailable=options.on_unavailable)
            )
            stdio = StdioProxy(
                server,
                await open_reader(0),
                await open_writer(1),
                partial(ProxySession, client, options.policies, options.pins, report),
                report,
                None
                if options.record is None
                else Transcript(LineFile(options.record, log.write).write),
                options.max_message_bytes,
            )
            return await stdio.run()
    except (WorkerStartError, LockFileError) as error:
        raise click.ClickException(printable(str(error))) from None
    finally:
        # Still running only if the proxy cannot go on.
        signal_group(server, signal.SIGKILL)
        log.write(f"sidecheck proxy: {report.summary()}\n")
        log.flush(LOG_FLUSH_SECONDS)


def _settings(options: ProxyOptions) -> Settings:
    try:
        return read_settings(
            workers=1,
            log_level="warning",
            limits={
                "payload_bytes": options.max_message_bytes,
                "message_bytes": options.max_message_bytes + _ENVELOPE_BYTES,
                "worker_wait_seconds": _WORKER_SECONDS,
            },
        )
    except UnusableSettingsError as error:
        raise click.UsageError(printable(str(error))) from None


def _report(options: ProxyOptions, log: LogWriter) -> Report:
    return Report(
        lambda line: log.write(f"{line}\n"),
        None if options.report is None else LineFile(options.report, log.write).write,
        show_values=options.show_values,
        minimum=Severity(options.min_severity),
    )
