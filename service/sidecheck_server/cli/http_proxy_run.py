"""Composition of `sidecheck proxy --upstream`: checks, report and relay over HTTP."""

from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial

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
from sidecheck_server.proxy.http.bounds import HttpBounds
from sidecheck_server.proxy.http.checks import CallerCheck
from sidecheck_server.proxy.http.connections import HttpConnections
from sidecheck_server.proxy.http.listing import HttpListings
from sidecheck_server.proxy.http.proxy import HttpProxy
from sidecheck_server.proxy.http.serving import serve_http
from sidecheck_server.proxy.http.session_renewal import RenewingUpstream, begin_anew
from sidecheck_server.proxy.http.sse_transport import SseTransport
from sidecheck_server.proxy.http.upstream import Upstream
from sidecheck_server.proxy.http_limits import HttpAddress
from sidecheck_server.proxy.options import ProxyOptions
from sidecheck_server.proxy.rulings.listings import Listings
from sidecheck_server.proxy.rulings.pins import LockFileError
from sidecheck_server.proxy.rulings.session import ProxySession

__all__ = ["run_http_proxy"]


async def run_http_proxy(upstream: str, address: HttpAddress, options: ProxyOptions) -> int:
    """Relay between clients that connect to *address* and the server at *upstream*.

    Raises:
        click.ClickException: the proxy cannot continue.
    """
    settings = read_proxy_settings(options)
    events = DeferredLog(settings.log_format, settings.log_level)
    log = events.output
    report = create_report(options, log)
    policies = options.policies
    bounds = HttpBounds(options.http_limits, report)
    scheme = "http" if address.certificate is None else "https"

    def report_ready(port: int) -> None:
        bound_address = replace(address.address, port=port)
        log.write(f"sidecheck proxy: listening on {scheme}://{bound_address}\n")

    try:
        async with AsyncExitStack() as stack:
            checks = await stack.enter_async_context(
                running_checks(
                    settings,
                    create_client(options),
                    events,
                    hide_values=not options.show_values,
                )
            )
            server = RenewingUpstream(upstream, report) if options.reconnect else Upstream(upstream)
            stack.push_async_callback(server.close)
            make_listings = partial(
                Listings, checks, policies.tools, options.pins, report, allow=policies.allow
            )
            listings = HttpListings(server, make_listings, options.max_message_bytes)
            make_session = partial(ProxySession, checks, policies, report)
            connections = HttpConnections(listings, make_session)
            stack.push_async_callback(connections.close)
            if isinstance(server, RenewingUpstream):
                server.on_renewed = partial(begin_anew, connections)
            transcript = create_transcript(options, log)
            proxy = HttpProxy(
                server,
                connections,
                CallerCheck(
                    address.address.host, frozenset(options.origins), frozenset(options.hosts)
                ),
                report,
                transcript,
                options,
                bounds,
                SseTransport(server, make_listings, make_session, report, transcript, options),
            )
            await serve_http(proxy, address, bounds.clients, report_ready)
    except (OSError, LockFileError) as error:
        raise click.ClickException(escape(str(error))) from None
    finally:
        bounds.rejections.flush()
        log.write(f"sidecheck proxy: {report.summary()}\n")
        log.flush(LOG_FLUSH_SECONDS)
    return 0
