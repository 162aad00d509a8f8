"""Pages of a list (AIP-158): sizes, and tokens that say where to go on."""

import base64
import binascii
import json

from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = ["page_size", "place_of", "token_of"]

_DEFAULT_SIZE = 100
_LARGEST_SIZE = 1000


def page_size(wanted: int) -> int:
    """Return the size of the page for the size *wanted*, where 0 means the default.

    Raises:
        Refusal: INVALID_REQUEST for a negative size.
    """
    if wanted < 0:
        raise RequestError(
            ErrorReason.INVALID_REQUEST, "page_size must not be negative", {"field": "page_size"}
        )
    return min(wanted or _DEFAULT_SIZE, _LARGEST_SIZE)


def token_of(listed: str, server: str, name: str) -> str:
    """Return the token of the page after the tool *name* of *server*.

    *listed* is the namespace that the list was asked for, "" for all of them.
    """
    text = json.dumps([listed, server, name])
    return base64.urlsafe_b64encode(text.encode()).decode()


def place_of(token: str, listed: str) -> tuple[str, str] | None:
    """Return the server and name after which the page of *token* begins; None for "".

    Raises:
        Refusal: INVALID_REQUEST for a token that this list did not give out.
    """
    if not token:
        return None
    try:
        place = json.loads(base64.urlsafe_b64decode(token.encode()))
    except (binascii.Error, ValueError, RecursionError):
        place = None
    match place:
        case [str(asked), str(server), str(name)] if asked == listed:
            return server, name
        case _:
            raise RequestError(
                ErrorReason.INVALID_REQUEST,
                "page_token is not one that this list gave out; leave it empty to begin anew",
                {"field": "page_token"},
            )
