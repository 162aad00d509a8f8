"""Refusals of values that a message may hold and the API does not define."""

from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = ["no_such_value"]


def no_such_value(field: str) -> RequestError:
    """Return the refusal of an enum's value that does not exist."""
    return RequestError(
        ErrorReason.INVALID_REQUEST,
        f"the value of {field} is none that the API defines",
        {"field": field},
    )
