"""Connection to a running server, through the Python client."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TypedDict

import click
from sidecheck import BlockingClient, SidecheckError, Tls, Unavailable

from sidecheck_server.cli.rows import escape
from sidecheck_server.config.addresses import ClientTls

__all__ = [
    "ClientToken",
    "client_token",
    "connect",
    "describe_unavailable",
    "make_tls",
    "resolve_tls",
    "usage_errors",
]


_VARIABLE: Final = "SIDECHECK_TOKEN"
_WITHOUT_TLS_VARIABLE: Final = "SIDECHECK_TOKEN_WITHOUT_TLS"


class ClientToken(TypedDict):
    """Keyword arguments of a client for its token."""

    token: str | None
    token_without_tls: bool


def client_token() -> ClientToken:
    """Return the token from the environment."""
    return {
        "token": os.environ.get(_VARIABLE) or None,
        "token_without_tls": os.environ.get(_WITHOUT_TLS_VARIABLE, "").lower() in {"1", "true"},
    }


_OPTIONS = {
    "ca_certificates": "--tls-ca",
    "certificate": "--tls-client-cert",
    "private_key": "--tls-client-key",
}
"""Command options, by the setting of the client at the start of its error texts."""


_REMEDIES = {
    "CONNECTION_CLOSED": "if it speaks TLS, use --tls",
    "TLS_CONNECTION_CLOSED": "if it requires a client certificate, use --tls-client-cert",
    "TLS_NOT_SPOKEN": "leave out --tls and the other TLS options",
    "UNTRUSTED_CERTIFICATE": "use --tls-ca",
    "MISNAMED_CERTIFICATE": "use --tls-server-name",
}
"""What a user of a command may do about a cause of `sidecheck.wire.connection_failures`."""


class _UnavailableError(click.ClickException):
    """The server does not respond."""

    exit_code = 2


@contextmanager
def connect(target: str, timeout: float, tls: ClientTls | None) -> Iterator[BlockingClient]:
    """Yield a client of the server at *target*, with the token from the environment.

    Raises:
        click.ClickException: the server returned an error (exit code 1), or does not respond, or
            *target* or a file of *tls* is invalid (exit code 2).
    """
    with usage_errors():
        client = BlockingClient(
            target, timeout=timeout, tls=resolve_tls(target, tls), **client_token()
        )
    try:
        with client:
            yield client
    except Unavailable as error:
        raise _UnavailableError(escape(describe_unavailable(error, target))) from None
    except SidecheckError as error:
        raise click.ClickException(str(error)) from None
    except UnicodeEncodeError:
        raise click.UsageError("a name or the target is not UTF-8") from None
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def describe_unavailable(error: Unavailable, target: str) -> str:
    """Return the text of *error* for a user of the command, with its options as the remedies."""
    cause = error.metadata.get("cause")
    if cause is None:
        return f"{target} does not respond: {error}"
    fault, separator, _ = error.message.rpartition(": ")
    remedy = _REMEDIES.get(cause)
    message = f"{fault}: {remedy}" if remedy and separator else error.message
    return f"{error.reason}: {message}"


def resolve_tls(target: str, tls: ClientTls | None) -> Tls | None:
    """Return *tls* for a client of the server at *target*, None for a unix socket."""
    if tls is None or target.startswith("unix:"):
        return None
    return make_tls(tls)


def make_tls(settings: ClientTls) -> Tls:
    """Return *settings* in the type of the Python client."""
    return Tls(settings.ca, settings.certificate, settings.key, settings.server_name)


@contextmanager
def usage_errors() -> Iterator[None]:
    """Translate errors of the address and the TLS settings of a client.

    Raises:
        click.UsageError: the address is invalid, or a file cannot be used.
    """
    try:
        yield
    except OSError as error:
        raise click.UsageError(escape(f"{error.filename}: {error.strerror}")) from None
    except UnicodeEncodeError:
        raise click.UsageError("a name or the target is not UTF-8") from None
    except ValueError as error:
        subject, _, rest = str(error).partition(" ")
        raise click.UsageError(escape(f"{_OPTIONS.get(subject, subject)} {rest}")) from None
