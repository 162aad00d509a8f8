"""Asking a running server, with the Python client."""

from collections.abc import Iterator
from contextlib import contextmanager

import click
from sidecheck import BlockingClient, SidecheckError, Unavailable

__all__ = ["asking"]


class _NotAsked(click.ClickException):
    """Nobody could be asked, so that nothing is known; the command exits with 2."""

    exit_code = 2


@contextmanager
def asking(target: str, timeout: float) -> Iterator[BlockingClient]:
    """Give a client of the server at *target*, and tell in one line what it cannot do.

    Raises:
        click.ClickException: the server refused (the command exits with 1), or did not
            answer, or *target* is no address (it exits with 2).
    """
    try:
        with BlockingClient(target, timeout=timeout) as client:
            yield client
    except Unavailable as refused:
        raise _NotAsked(
            f"{target} does not answer: {refused.reason}; is a server running there?"
        ) from None
    except SidecheckError as refused:
        raise click.ClickException(str(refused)) from None
    except UnicodeEncodeError:
        raise click.UsageError("a name or the target is not UTF-8") from None
    except ValueError as error:
        raise click.UsageError(str(error)) from None
