"""Bearer tokens of a client's calls (RFC 6750)."""

import re
from collections.abc import Callable
from ipaddress import ip_address
from typing import Final, TypeAlias

from sidecheck._transport.trace_context import trace_metadata
from sidecheck.tls import Tls

__all__ = ["Metadata", "Token", "call_metadata", "check_token_address"]

#: A token, or a function that returns the token of the next call without blocking.
Token: TypeAlias = str | Callable[[], str]

#: Metadata of a call.
Metadata: TypeAlias = tuple[tuple[str, str], ...]

TOKEN: Final = re.compile(r"[\x21-\x7e]+")


def call_metadata(token: Token | None) -> Callable[[], Metadata]:
    """Return a function that returns metadata: *token* and the current span.

    Raises:
        TypeError: *token* is of another type.
        ValueError: *token* has invalid characters.
    """
    if token is None:
        return trace_metadata
    if isinstance(token, str):
        metadata = bearer(token)
        return lambda: metadata + trace_metadata()
    if callable(token):
        return lambda: bearer(token()) + trace_metadata()
    raise TypeError(f"token must be a str or a function, not {type(token).__name__}")


def bearer(token: str) -> Metadata:
    """Return the metadata with *token*; errors do not repeat it."""
    if not isinstance(token, str):
        raise TypeError(f"a token must be a str, not {type(token).__name__}")
    if TOKEN.fullmatch(token) is None:
        raise ValueError("token must have one or more visible ASCII characters, and no spaces")
    return (("authorization", f"Bearer {token}"),)


def check_token_address(target: str, tls: Tls | None) -> None:
    """Check that a token is not sent to the gRPC target *target* in plain text.

    Raises:
        ValueError: The token would cross a network in plain text.
    """
    if tls is None and not target.startswith("unix:") and not is_loopback(target):
        raise ValueError(
            f"token would be sent to {target} in plain text; set tls, or set token_without_tls"
            " where the network itself is encrypted"
        )


def is_loopback(target: str) -> bool:
    """Return whether ``host:port`` or ``dns:///host:port`` is certainly this machine."""
    host = target.removeprefix("dns:///").rpartition(":")[0].strip("[]")
    try:
        return host.lower() == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
