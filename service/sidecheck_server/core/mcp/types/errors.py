"""Errors: the object in a response, and the data of those that the protocol names.

The envelope around them is not here.
"""

from sidecheck_server.core.mcp.types.model import (
    ANY,
    INTEGER,
    STRING,
    ListOf,
    ObjectType,
    Ref,
    Type,
    constant,
    optional,
    required,
)

__all__ = ["TYPES"]

_SINCE = "2026-07-28"


def _standard(name: str, code: int) -> ObjectType:
    return ObjectType(name, (required("code", constant(code)),), bases=("Error",), since=_SINCE)


TYPES: tuple[Type, ...] = (
    ObjectType(
        "Error",
        (required("code", INTEGER), required("message", STRING), optional("data", ANY)),
    ),
    _standard("ParseError", -32700),
    _standard("InvalidRequestError", -32600),
    _standard("MethodNotFoundError", -32601),
    _standard("InvalidParamsError", -32602),
    _standard("InternalError", -32603),
    # The published schemas name the responses, not their data.
    ObjectType(
        "URLElicitationRequiredErrorData",
        (required("elicitations", ListOf(Ref("ElicitRequestURLParams"))),),
        since="2025-11-25",
        until="2025-11-25",
    ),
    ObjectType(
        "MissingRequiredClientCapabilityErrorData",
        (required("requiredCapabilities", Ref("ClientCapabilities")),),
        since=_SINCE,
    ),
    ObjectType(
        "UnsupportedProtocolVersionErrorData",
        (required("supported", ListOf(STRING)), required("requested", STRING)),
        since=_SINCE,
    ),
)
"""Errors."""
