"""Results that ask for input, and requests that bring it, since 2026-07-28."""

from sidecheck_server.core.mcp.types.model import (
    STRING,
    Alias,
    Alternative,
    Choice,
    Field,
    MapOf,
    ObjectType,
    Ref,
    Type,
    constant,
    optional,
    required,
)

__all__ = ["TYPES"]

_SINCE = "2026-07-28"


def _request(name: str, method: str, params: Field) -> ObjectType:
    return ObjectType(name, (required("method", constant(method)), params), since=_SINCE)


TYPES: tuple[Type, ...] = (
    _request(
        "CreateMessageRequest",
        "sampling/createMessage",
        required("params", Ref("CreateMessageRequestParams")),
    ),
    _request("ListRootsRequest", "roots/list", optional("params", Ref("ListRootsRequestParams"))),
    _request("ElicitRequest", "elicitation/create", required("params", Ref("ElicitRequestParams"))),
    Choice(
        "InputRequest",
        (
            Alternative("CreateMessageRequest"),
            Alternative("ListRootsRequest"),
            Alternative("ElicitRequest"),
        ),
        since=_SINCE,
    ),
    Alias("InputRequests", MapOf(Ref("InputRequest")), since=_SINCE),
    Choice(
        "InputResponse",
        (
            Alternative("CreateMessageResult"),
            Alternative("ListRootsResult"),
            Alternative("ElicitResult"),
        ),
        since=_SINCE,
    ),
    Alias("InputResponses", MapOf(Ref("InputResponse")), since=_SINCE),
    ObjectType(
        "InputRequiredResult",
        (optional("inputRequests", Ref("InputRequests")), optional("requestState", STRING)),
        bases=("Result",),
        since=_SINCE,
    ),
    ObjectType(
        "InputResponseRequestParams",
        (optional("inputResponses", Ref("InputResponses")), optional("requestState", STRING)),
        bases=("RequestParams",),
        since=_SINCE,
    ),
)
"""Multi round-trip requests."""
