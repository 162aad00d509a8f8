"""Connection to a running server, by the Python client."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final, TypedDict

import click
from sidecheck import BlockingClient, SidecheckError, Tls, Unavailable

from sidecheck_server.cli.rows import printable
from sidecheck_server.config.addresses import ClientTls

__all__ = [
    "ClientToken",
    "client_token",
    "connect",
    "make_tls",
    "resolve_tls",
    "tls_options",
    "usage_errors",
]


def tls_options(server: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator for the options of TLS; *server* names whose they are in the help.

    The command has the argument *tls*, None for plain text.
    """
    path = click.Path()
    options = (
        click.option(
            "--tls",
            is_flag=True,
            envvar="SIDECHECK_TLS",
            show_envvar=True,
            help=f"Use TLS with {server}, unless it is a unix socket. Implied by the others.",
        ),
        click.option(
            "--tls-ca",
            type=path,
            envvar="SIDECHECK_TLS_CA",
            show_envvar=True,
            help="Authorities of the server, in PEM.  [default: those of the system]",
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
            help="Its private key, in PEM.",
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


_VARIABLE: Final = "SIDECHECK_TOKEN"
_WITHOUT_TLS_VARIABLE: Final = "SIDECHECK_TOKEN_WITHOUT_TLS"


class ClientToken(TypedDict):
    """The arguments of a client that are about its token."""

    token: str | None
    token_without_tls: bool


def client_token() -> ClientToken:
    """Return the token of this environment."""
    return {
        "token": os.environ.get(_VARIABLE) or None,
        "token_without_tls": os.environ.get(_WITHOUT_TLS_VARIABLE, "").lower() in {"1", "true"},
    }


_OPTIONS = {
    "ca_certificates": "--tls-ca",
    "certificate": "--tls-client-cert",
    "private_key": "--tls-client-key",
}
"""The options of commands, by the settings of the client that its errors begin with."""


class _UnavailableError(click.ClickException):
    """The server does not respond."""

    exit_code = 2


@contextmanager
def connect(target: str, timeout: float, tls: ClientTls | None) -> Iterator[BlockingClient]:
    """Yield a client of the server at *target*, whose errors become one line.

    Its token is that of the environment.

    Raises:
        click.ClickException: an error of the server (exit code 1), no response, or an
            invalid *target* or file of *tls* (exit code 2).
    """
    with usage_errors():
        client = BlockingClient(
            target, timeout=timeout, tls=resolve_tls(target, tls), **client_token()
        )
    try:
        with client:
            yield client
    except Unavailable as error:
        # With TLS the message may say which certificate is wrong.
        reason = error.reason if tls is None else printable(str(error))
        raise _UnavailableError(
            f"{target} does not respond: {reason}; is a server running there?"
        ) from None
    except SidecheckError as error:
        raise click.ClickException(str(error)) from None
    except UnicodeEncodeError:
        raise click.UsageError("a name or the target is not UTF-8") from None
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def resolve_tls(target: str, tls: ClientTls | None) -> Tls | None:
    """Return *tls* for a client of the server at *target*; unix sockets are without TLS."""
    if tls is None or target.startswith("unix:"):
        return None
    return make_tls(tls)


def make_tls(settings: ClientTls) -> Tls:
    """Return *settings* as a client takes them."""
    return Tls(settings.ca, settings.certificate, settings.key, settings.server_name)


@contextmanager
def usage_errors() -> Iterator[None]:
    """Convert errors of the address and the TLS settings of a client.

    Raises:
        click.UsageError: the address is invalid, or a file cannot be used.
    """
    try:
        yield
    except OSError as error:
        raise click.UsageError(printable(f"{error.filename}: {error.strerror}")) from None
    except UnicodeEncodeError:
        raise click.UsageError("a name or the target is not UTF-8") from None
    except ValueError as error:
        subject, _, rest = str(error).partition(" ")
        raise click.UsageError(printable(f"{_OPTIONS.get(subject, subject)} {rest}")) from None
