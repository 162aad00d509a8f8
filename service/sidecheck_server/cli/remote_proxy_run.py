"""Composition of `sidecheck proxy` over stdio for a server over HTTP."""

from sidecheck_server.cli.proxy_run import relay_stdio
from sidecheck_server.proxy.http.headers import RawHeaders
from sidecheck_server.proxy.options import ProxyOptions
from sidecheck_server.proxy.remote.connection import connect_remote
from sidecheck_server.proxy.stdio.renewals import Renewals

__all__ = ["run_remote_proxy"]


async def run_remote_proxy(url: str, headers: RawHeaders, options: ProxyOptions) -> int:
    """Relay between the server at *url* and the client at the descriptors 0 and 1.

    *headers* go with each request.

    Raises:
        click.ClickException: the proxy cannot continue.
    """
    renewals = Renewals()
    return await relay_stdio(
        lambda report: connect_remote(url, headers, options, report, renewals),
        options,
        renewals.watch,
    )
