"""Fields of several services' messages: pages, severities, limits."""

import base64
import binascii
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sidecheck.v1 import info_service_pb2, verdict_pb2

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import DEFAULT_VIOLATIONS, Limits
from sidecheck_server.core.types import Severity

__all__ = [
    "SEVERITIES",
    "limits_to_proto",
    "max_violations_from_proto",
    "page_size",
    "position_from_token",
    "token_for_position",
    "unknown_value",
]

_DEFAULT_SIZE = 100
_MAX_SIZE = 1000


def page_size(requested: int) -> int:
    """Return the page size for *requested* items; 0 requests the default.

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
        RequestError: INVALID_REQUEST for a token that does not belong to the list *list_id*.
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


SEVERITIES: Mapping[Severity, verdict_pb2.Severity] = MappingProxyType(
    {
        Severity.ERROR: verdict_pb2.SEVERITY_ERROR,
        Severity.WARNING: verdict_pb2.SEVERITY_WARNING,
        Severity.INFO: verdict_pb2.SEVERITY_INFO,
    }
)


def unknown_value(field: str) -> RequestError:
    """Return the error for a number in an enum *field* that the API does not define."""
    return RequestError(ErrorReason.INVALID_REQUEST, f"unknown value for {field}", {"field": field})


def max_violations_from_proto(requested: int, limits: Limits) -> int:
    """Return the maximum violations of a verdict; *requested* 0 is the default."""
    return min(requested or DEFAULT_VIOLATIONS, limits.violations)


def limits_to_proto(limits: Limits) -> info_service_pb2.Limits:
    """Return the message of the limits that callers can act on."""
    names = info_service_pb2.Limits.DESCRIPTOR.fields_by_name
    values: dict[str, Any] = {name: getattr(limits, name) for name in names}
    return info_service_pb2.Limits(**values)
