"""The token of commands that call a server, from the environment.

Not from an option: everybody on the machine can see the arguments of a process.
"""

import os
from typing import Final, TypedDict

__all__ = ["ClientToken", "client_token"]

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
