"""Composition of `sidecheck proxy` over stdio: checks, report and relay."""

from asyncio.subprocess import Process
from contextlib import AsyncExitStack
from functools import partial

import click

from sidecheck_server.cli.proxy_setup import (
    create_report,
    create_transcript,
    read_proxy_settings,
    running_checks,
)
from sidecheck_server.cli.rows import escape
from sidecheck_server.observability.deferred_log import DeferredLog
from sidecheck_server.observability.log_output import LOG_FLUSH_SECONDS
from sidecheck_server.proxy.listings import Listings
from sidecheck_server.proxy.options import ProxyOptions
from sidecheck_server.proxy.pins import LockFileError
from sidecheck_server.proxy.pipes import open_reader, open_writer
from sidecheck_server.proxy.portable import PortableTools
from sidecheck_server.proxy.server_process import kill_server
from sidecheck_server.proxy.session import ProxySession
from sidecheck_server.proxy.stdio import StdioProxy

__all__ = ["run_proxy"]


async def run_proxy(server: Process, options: ProxyOptions) -> int:
    """Relay between *server* and the client at the descriptors 0 and 1.

    Return the exit code of the server.

    Raises:
        click.ClickException: the proxy cannot continue.
    """
    settings = read_proxy_settings(options)
    events = DeferredLog(settings.log_format, settings.log_level)
    log = events.output
    report = create_report(options, log)
    try:
        async with AsyncExitStack() as stack:
            checks = await stack.enter_async_context(running_checks(settings, options, events))
            stdio = StdioProxy(
                server,
                await open_reader(0),
                await open_writer(1),
                partial(
                    Listings,
                    checks,
                    options.policies.tools,
                    options.pins,
                    report,
                    allow=options.policies.allow,
                ),
                partial(ProxySession, checks, options.policies, report),
                report,
                create_transcript(options, log),
                options.max_message_bytes,
                PortableTools(options.portable_targets, report)
                if options.portable_targets
                else None,
            )
            return await stdio.run()
    except LockFileError as error:
        raise click.ClickException(escape(str(error))) from None
    finally:
        # The server is still running only if the proxy failed.
        await kill_server(server)
        log.write(f"sidecheck proxy: {report.summary()}\n")
        log.flush(LOG_FLUSH_SECONDS)
