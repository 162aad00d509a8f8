"""Connection to a running server, by the Python client."""

from collections.abc import Iterator
from contextlib import contextmanager

import click
from sidecheck import BlockingClient, SidecheckError, Unavailable

from sidecheck_server.cli.client_token import client_token

__all__ = ["connect"]


class _UnavailableError(click.ClickException):
    """The server does not respond."""

    exit_code = 2


@contextmanager
def connect(target: str, timeout: float) -> Iterator[BlockingClient]:
    """Yield a client of the server at *target*, whose errors become one line.

    Its token is that of the environment.

    Raises:
        click.ClickException: an error of the server (exit code 1), no response or an
            invalid *target* (exit code 2).
    """
    try:
        with BlockingClient(target, timeout=timeout, **client_token()) as client:
            yield client
    except Unavailable as error:
        raise _UnavailableError(
            f"{target} does not respond: {error.reason}; is a server running there?"
        ) from None
    except SidecheckError as error:
        raise click.ClickException(str(error)) from None
    except UnicodeEncodeError:
        raise click.UsageError("a name or the target is not UTF-8") from None
    except ValueError as error:
        raise click.UsageError(str(error)) from None
