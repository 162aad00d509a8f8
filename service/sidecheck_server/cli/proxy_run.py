"""Composition of `sidecheck proxy` over stdio: checks, report and relay."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import click

from sidecheck_server.cli.proxy_setup import (
    create_client,
    create_report,
    create_transcript,
    read_proxy_settings,
    running_checks,
)
from sidecheck_server.cli.rows import escape
from sidecheck_server.observability.deferred_log import DeferredLog
from sidecheck_server.observability.log_output import LOG_FLUSH_SECONDS
from sidecheck_server.proxy.options import ProxyOptions
from sidecheck_server.proxy.report import Report
from sidecheck_server.proxy.rulings.listing_pages import ListTools
from sidecheck_server.proxy.rulings.listings import Listings
from sidecheck_server.proxy.rulings.pins import LockFileError
from sidecheck_server.proxy.rulings.session import ProxySession
from sidecheck_server.proxy.stdio.endpoint import ServerEndpoint
from sidecheck_server.proxy.stdio.pipes import DescriptorReader, DescriptorWriter, take_descriptor
from sidecheck_server.proxy.stdio.portable import PortableTools
from sidecheck_server.proxy.stdio.proxy import StdioProxy
from sidecheck_server.proxy.stdio.renewals import Renewals
from sidecheck_server.proxy.stdio.restarting_server import RestartingServer
from sidecheck_server.proxy.stdio.server_process import ServerProcess
from sidecheck_server.proxy.stdio.timed_server import TimedServer

__all__ = ["relay_stdio", "run_proxy"]


async def run_proxy(
    server: ServerProcess,
    options: ProxyOptions,
    start_again: Callable[[], Awaitable[ServerProcess]],
) -> int:
    """Relay between *server* and the client at the descriptors 0 and 1.

    Return the exit code of the server; with `ProxyOptions.restart`, that of the last one.

    Raises:
        click.ClickException: the proxy cannot continue.
    """
    renewals = Renewals()

    @asynccontextmanager
    async def connect(report: Report) -> AsyncIterator[ServerEndpoint]:
        endpoint: ServerEndpoint = server
        if options.restart:
            endpoint = RestartingServer(
                server, start_again, renewals.begin_anew, report, options.max_message_bytes
            )
        try:
            yield endpoint
        finally:
            await endpoint.end()

    return await relay_stdio(connect, options, renewals.watch)


@asynccontextmanager
async def _limited(
    server: ServerEndpoint, options: ProxyOptions, report: Report
) -> AsyncIterator[ServerEndpoint]:
    """Yield *server* with the time limit of the *options*, if there is one."""
    if options.timeout is None:
        yield server
        return
    timed = TimedServer(server, options.timeout, report, options.max_message_bytes)
    try:
        yield timed
    finally:
        await timed.end()


async def relay_stdio(
    connect: Callable[[Report], AbstractAsyncContextManager[ServerEndpoint]],
    options: ProxyOptions,
    on_session: Callable[[Listings, ProxySession], None] = lambda _listings, _session: None,
) -> int:
    """Relay between the server of *connect* and the client at the descriptors 0 and 1.

    *on_session* is called with the session once there is one. Return the exit code of the server.

    Raises:
        click.ClickException: the proxy cannot continue.
    """
    settings = read_proxy_settings(options)
    events = DeferredLog(settings.log_format, settings.log_level)
    log = events.output
    report = create_report(options, log)

    @asynccontextmanager
    async def open_session(list_tools: ListTools) -> AsyncIterator[ProxySession]:
        policies = options.policies
        hide_values = not options.show_values
        async with running_checks(settings, client, events, hide_values=hide_values) as checks:
            listings = Listings(
                checks, policies.tools, options.pins, report, list_tools, allow=policies.allow
            )
            async with ProxySession(checks, policies, report, listings) as session:
                on_session(listings, session)
                yield session

    try:
        # A server is still running at the end only if the proxy failed.
        async with (
            connect(report) as unlimited,
            _limited(unlimited, options, report) as server,
        ):
            # Before anything is relayed, so that invalid options are errors.
            client = create_client(options)
            targets = options.portable_targets
            stdio = StdioProxy(
                server,
                DescriptorReader(take_descriptor(0, os.O_RDONLY)),
                DescriptorWriter(take_descriptor(1, os.O_WRONLY)),
                open_session,
                report,
                create_transcript(options, log),
                options.max_message_bytes,
                observes=options.observes,
                lists_tools=options.lists_tools,
                finish_seconds=options.finish_seconds,
                portable=PortableTools(targets, report) if targets else None,
            )
            return await stdio.run()
    except LockFileError as error:
        raise click.ClickException(escape(str(error))) from None
    finally:
        log.write(f"sidecheck proxy: {report.summary()}\n")
        log.flush(LOG_FLUSH_SECONDS)
