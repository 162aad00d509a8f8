"""Composition of `sidecheck proxy`: checks, report and relay."""

from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial

import click
from sidecheck import Client

from sidecheck_server.cli.connection import client_token, resolve_tls, usage_errors
from sidecheck_server.cli.rows import escape
from sidecheck_server.config.settings import Settings, UnusableSettingsError, read_settings
from sidecheck_server.core.types import Severity
from sidecheck_server.observability.log import LOG_FLUSH_SECONDS, configure_log
from sidecheck_server.observability.log_writer import LogWriter
from sidecheck_server.proxy.checks import Checks
from sidecheck_server.proxy.http import HttpProxy
from sidecheck_server.proxy.http_bounds import HttpBounds
from sidecheck_server.proxy.http_checks import CallerCheck
from sidecheck_server.proxy.http_connections import HttpConnections
from sidecheck_server.proxy.http_limits import HttpAddress
from sidecheck_server.proxy.http_listing import HttpListings
from sidecheck_server.proxy.http_serving import serve_http
from sidecheck_server.proxy.listings import Listings
from sidecheck_server.proxy.options import ProxyOptions
from sidecheck_server.proxy.pins import LockFileError
from sidecheck_server.proxy.pipes import open_reader, open_writer
from sidecheck_server.proxy.portable import PortableTools
from sidecheck_server.proxy.remote_checks import RemoteChecks
from sidecheck_server.proxy.report import Report
from sidecheck_server.proxy.server_process import kill_server
from sidecheck_server.proxy.session import ProxySession
from sidecheck_server.proxy.stdio import StdioProxy
from sidecheck_server.proxy.transcript import LineFile, Transcript
from sidecheck_server.proxy.upstream import Upstream
from sidecheck_server.server.service import running_checks
from sidecheck_server.workers import WorkerStartError

__all__ = ["run_http_proxy", "run_proxy"]

_ENVELOPE_BYTES = 1 << 20
"""Bytes of an API request beyond those of the message, for the definition of a tool."""

_WORKER_SECONDS = 60
"""Maximum seconds that a message waits for the start of the worker process."""


async def run_proxy(server: Process, options: ProxyOptions) -> int:
    """Relay between *server* and the client at the descriptors 0 and 1.

    Return the exit code of the server.

    Raises:
        click.ClickException: the proxy cannot continue.
    """
    settings = _settings(options)
    log = configure_log(settings)
    report = _report(options, log)
    try:
        async with AsyncExitStack() as stack:
            checks = await stack.enter_async_context(_running_checks(settings, options))
            stdio = StdioProxy(
                server,
                await open_reader(0),
                await open_writer(1),
                partial(Listings, checks, options.policies.tools, options.pins, report),
                partial(ProxySession, checks, options.policies, report),
                report,
                _transcript(options, log),
                options.max_message_bytes,
                PortableTools(options.portable_targets, report)
                if options.portable_targets
                else None,
            )
            return await stdio.run()
    except (WorkerStartError, LockFileError) as error:
        raise click.ClickException(escape(str(error))) from None
    finally:
        # The server is still running only if the proxy failed.
        await kill_server(server)
        log.write(f"sidecheck proxy: {report.summary()}\n")
        log.flush(LOG_FLUSH_SECONDS)


async def run_http_proxy(upstream: str, address: HttpAddress, options: ProxyOptions) -> int:
    """Relay between clients that connect to *address* and the server at *upstream*.

    Raises:
        click.ClickException: the proxy cannot continue.
    """
    settings = _settings(options)
    log = configure_log(settings)
    report = _report(options, log)
    policies = options.policies
    bounds = HttpBounds(options.http_limits, report)
    scheme = "http" if address.certificate is None else "https"

    def report_ready(port: int) -> None:
        bound_address = replace(address.address, port=port)
        log.write(f"sidecheck proxy: listening on {scheme}://{bound_address}\n")

    try:
        async with AsyncExitStack() as stack:
            checks = await stack.enter_async_context(_running_checks(settings, options))
            server = Upstream(upstream)
            stack.push_async_callback(server.close)
            make_listings = partial(Listings, checks, policies.tools, options.pins, report)
            listings = HttpListings(server, make_listings, options.max_message_bytes)
            make_session = partial(ProxySession, checks, policies, report)
            connections = HttpConnections(listings, make_session)
            stack.push_async_callback(connections.close)
            proxy = HttpProxy(
                server,
                connections,
                CallerCheck(
                    address.address.host, frozenset(options.origins), frozenset(options.hosts)
                ),
                report,
                _transcript(options, log),
                options,
                bounds,
            )
            await serve_http(proxy, address, bounds.clients, report_ready)
    except (OSError, LockFileError) as error:
        raise click.ClickException(escape(str(error))) from None
    finally:
        bounds.rejections.flush()
        log.write(f"sidecheck proxy: {report.summary()}\n")
        log.flush(LOG_FLUSH_SECONDS)
    return 0


@asynccontextmanager
async def _running_checks(settings: Settings, options: ProxyOptions) -> AsyncIterator[Checks]:
    if options.service is None:
        async with running_checks(settings) as local_checks:
            yield local_checks
        return
    with usage_errors():
        tls = resolve_tls(options.service, options.tls)
        on_unavailable = options.on_unavailable
        client = Client(options.service, tls=tls, on_unavailable=on_unavailable, **client_token())
    async with client:
        yield RemoteChecks(client)


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
        raise click.UsageError(escape(str(error))) from None


def _report(options: ProxyOptions, log: LogWriter) -> Report:
    return Report(
        lambda line: log.write(f"{line}\n"),
        None if options.report is None else LineFile(options.report, log.write).write,
        show_values=options.show_values,
        minimum=Severity(options.min_severity),
    )


def _transcript(options: ProxyOptions, log: LogWriter) -> Transcript | None:
    if options.record is None:
        return None
    return Transcript(LineFile(options.record, log.write).write)
