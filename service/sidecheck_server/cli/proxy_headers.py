"""Headers of the requests of `sidecheck proxy` to a server over HTTP."""

import os
import re

import click

from sidecheck_server import __version__
from sidecheck_server.cli.rows import escape

__all__ = ["UPSTREAM_TOKEN", "upstream_headers"]

UPSTREAM_TOKEN = "SIDECHECK_UPSTREAM_TOKEN"  # noqa: S105
"""Environment variable with the token for the server."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]++")
"""A name of a header (RFC 9110, section 5.1)."""

_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]*+")
_OWN_HEADERS = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host"}
    | {"last-event-id", "mcp-protocol-version", "mcp-session-id", "transfer-encoding"}
)
"""Headers that the proxy sets itself."""


def upstream_headers(texts: tuple[str, ...]) -> list[tuple[bytes, bytes]]:
    """Return the headers in *texts*, and that of the token in the environment.

    Raises:
        click.UsageError: a text is not a header, or a header of the transport.
    """
    headers = [_parse(text) for text in texts]
    token = os.environ.get(UPSTREAM_TOKEN, "").strip()
    if not _VALUE.fullmatch(token):
        raise click.UsageError(f"{UPSTREAM_TOKEN} has control characters")
    names = {name for name, _ in headers}
    if token and b"authorization" not in names:
        headers.append((b"authorization", f"Bearer {token}".encode()))
    if b"user-agent" not in names:
        headers.append((b"user-agent", f"sidecheck-proxy/{__version__}".encode()))
    return headers


def _parse(text: str) -> tuple[bytes, bytes]:
    name, colon, value = text.partition(":")
    # The value may be a secret, so only the name is named.
    if not colon or not _NAME.fullmatch(name):
        raise click.UsageError('--header: expected "NAME:VALUE", such as "X-Api-Key: abc"')
    if name.lower() in _OWN_HEADERS:
        raise click.UsageError(f"--header {escape(name)}: the proxy sets this header itself")
    value = value.strip(" \t")
    if not _VALUE.fullmatch(value):
        raise click.UsageError(f"--header {escape(name)}: the value has control characters")
    return name.lower().encode(), value.encode()
