"""TLS options of the commands that call a server."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from sidecheck_server.config.addresses import ClientTls

__all__ = ["tls_options"]


def tls_options(server: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator for the TLS options; their help calls the server *server*.

    The command must have the parameter *tls*, which is None for plain text.
    """
    path = click.Path()
    options = (
        click.option(
            "--tls",
            is_flag=True,
            envvar="SIDECHECK_TLS",
            show_envvar=True,
            help=f"Use TLS with {server}, except for a unix socket. Implied by the other TLS "
            "options.",
        ),
        click.option(
            "--tls-ca",
            type=path,
            envvar="SIDECHECK_TLS_CA",
            show_envvar=True,
            help="Certificate authorities of the server, in PEM.  [default: those of the system]",
        ),
        click.option(
            "--tls-client-cert",
            type=path,
            envvar="SIDECHECK_TLS_CLIENT_CERT",
            show_envvar=True,
            help="Certificate for a server that requires one, in PEM.",
        ),
        click.option(
            "--tls-client-key",
            type=path,
            envvar="SIDECHECK_TLS_CLIENT_KEY",
            show_envvar=True,
            help="Private key of the client certificate, in PEM.",
        ),
        click.option(
            "--tls-server-name",
            metavar="NAME",
            envvar="SIDECHECK_TLS_SERVER_NAME",
            show_envvar=True,
            help="Name in the server's certificate.  [default: the host of the address]",
        ),
    )

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def run(
            *args: Any,
            tls: bool,
            tls_ca: str | None,
            tls_client_cert: str | None,
            tls_client_key: str | None,
            tls_server_name: str | None,
            **rest: Any,
        ) -> Any:
            if (tls_client_cert is None) != (tls_client_key is None):
                raise click.UsageError("--tls-client-cert and --tls-client-key belong together")
            is_used = tls or tls_ca or tls_client_cert or tls_server_name
            settings = ClientTls(tls_ca, tls_client_cert, tls_client_key, tls_server_name or "")
            return command(*args, tls=settings if is_used else None, **rest)

        decorated: Callable[..., Any] = run
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate
