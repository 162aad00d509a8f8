"""Pages of lists (AIP-158): page sizes, and tokens for the position of the next page."""

import base64
import binascii
import json

from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = ["page_size", "position_from_token", "token_for_position"]

_DEFAULT_SIZE = 100
_MAX_SIZE = 1000


def page_size(requested: int) -> int:
    """Return the size of the page if *requested* items are; 0 requests the default.

    Raises:
        RequestError: INVALID_REQUEST for a negative size.
    """
    if requested < 0:
        raise RequestError(
            ErrorReason.INVALID_REQUEST, "page_size must not be negative", {"field": "page_size"}
        )
    return min(requested or _DEFAULT_SIZE, _MAX_SIZE)


def token_for_position(list_id: str, server: str, name: str) -> str:
    """Return the token of the page after the item *name* of *server*.

    *list_id* identifies the list; for tools it is the requested server, "" for all.
    """
    text = json.dumps([list_id, server, name])
    return base64.urlsafe_b64encode(text.encode()).decode()


def position_from_token(token: str, list_id: str) -> tuple[str, str] | None:
    """Return the server and name after which the page of *token* begins; None for "".

    Raises:
        RequestError: INVALID_REQUEST for a token that is not from the list *list_id*.
    """
    if not token:
        return None
    try:
        position = json.loads(base64.urlsafe_b64decode(token.encode()))
    except (binascii.Error, ValueError, RecursionError):
        position = None
    match position:
        case [str(token_list), str(server), str(name)] if token_list == list_id:
            return server, name
        case _:
            raise RequestError(
                ErrorReason.INVALID_REQUEST,
                "page_token is not from this list; leave it empty to start from the first page",
                {"field": "page_token"},
            )
