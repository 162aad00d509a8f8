"""The checks of the protocol, and the Python SDK's functions for the same work.

This is the one place of the benchmarks that calls the checks of the protocol in the core,
and the SDK's. The SDK reads a message as its transports and sessions do: bytes to an
envelope, the params or the result to the models of the version, and from there to the
model that a handler is given.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pydantic_core
from mcp.server.validation import validate_tool_use_result_messages
from mcp.shared.tool_name_validation import validate_tool_name
from mcp_types import jsonrpc_message_adapter, methods
from protocol_subjects import Given
from pydantic import ValidationError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import check, try_check_inline
from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.protocol_schemas import compile_protocol_schemas
from sidecheck_server.core.mcp.subjects import CheckRequest, ProtocolMessage, ReportLimits, Sampling
from sidecheck_server.core.mcp.tool_names import CheckedNames, check_names, sdk_warnings
from sidecheck_server.core.types import Verdict

__all__ = [
    "SDK",
    "SHAPE",
    "SIDECHECK",
    "is_at_once",
    "names_by_sdk",
    "names_by_us",
    "names_by_us_alone",
    "of_us",
    "request_of_message",
    "request_of_sampling",
    "sdk_finds",
    "sdk_history",
    "sdk_reader",
    "sdk_shape",
    "tells_same_of_names",
]

SIDECHECK = "Sidecheck"
SDK = "Python SDK"
SHAPE = "Python SDK, shape alone"

_LIMITS = Limits()
_SURFACES = compile_protocol_schemas(_LIMITS)
_HISTORY_VERSION = "2025-11-25"
Reader = Callable[[bytes], object]


# Sidecheck


def request_of_message(given: Given) -> CheckRequest:
    """Return the core's request to check a message."""
    context = Context(version=given.version, sender=Sender(given.sender))
    return CheckRequest(ProtocolMessage(given.json, request_method=given.answers), context)


def request_of_sampling(params: bytes) -> CheckRequest:
    """Return the core's request to check the params of a sampling request."""
    return CheckRequest(Sampling(params), Context(version=_HISTORY_VERSION))


def is_at_once(asked: CheckRequest) -> bool:
    """Return whether it takes but a moment, so that the server does not give it to a worker."""
    return try_check_inline(asked, _LIMITS, _SURFACES) is not None


def of_us(*, at_once: bool) -> Callable[[CheckRequest], Verdict]:
    """Return what checks, without compiling the schemas of the payload."""

    def in_a_moment(asked: CheckRequest) -> Verdict:
        checked = try_check_inline(asked, _LIMITS, _SURFACES)
        assert checked is not None
        return checked.findings.verdict()

    def at_length(asked: CheckRequest) -> Verdict:
        return check(asked, _LIMITS, _SURFACES).findings.verdict()

    return in_a_moment if at_once else at_length


def names_by_us(names: Sequence[str]) -> CheckedNames:
    """Check names by every rule, together."""
    return check_names(names, Context(budget=[_LIMITS.steps]), ReportLimits())


def names_by_us_alone(names: Sequence[str]) -> list[Any]:
    """Say of each name what the SDK says."""
    return [sdk_warnings(name) for name in names]


# The SDK


def names_by_sdk(names: Sequence[str]) -> list[Any]:
    """Have the SDK say of each name what it says."""
    return [validate_tool_name(name) for name in names]


def tells_same_of_names(names: Sequence[str]) -> bool:
    """Return whether both say the same of each name, word for word."""
    theirs = [(one.is_valid, tuple(one.warnings)) for one in names_by_sdk(names)]
    together = [(name.sdk_valid, name.sdk_warnings) for name in names_by_us(names).names]
    return theirs == names_by_us_alone(names) == together


def sdk_reader(given: Given) -> Reader:
    """Return what reads messages like *given*, up to the model that a handler is given."""
    version, answers = given.version, given.answers
    known = json.loads(given.json)
    if "method" in known:
        parse = _PARSERS[given.sender, "id" in known]

        def read_asking(text: bytes) -> object:
            message = _envelope(text)
            return parse(message.method, version, message.params)

        return read_asking
    if "result" in known:

        def read_result(text: bytes) -> object:
            return methods.parse_server_result(answers, version, _envelope(text).result)

        return read_result
    return _envelope


def sdk_shape(given: Given) -> Reader | None:
    """Return what holds messages like *given* against the version's models alone.

    None where the SDK has no function for that alone.
    """
    version, answers = given.version, given.answers
    known = json.loads(given.json)
    if "result" in known:

        def check_result(text: bytes) -> None:
            methods.validate_server_result(answers, version, _envelope(text).result)

        return check_result
    if given.sender != "client":
        return None

    def check_asking(text: bytes) -> None:
        message = _envelope(text)
        methods.validate_client_request(message.method, version, message.params)

    return check_asking


def sdk_finds(given: Given) -> str:
    """Return what the SDK says of a message: how many errors, or what else becomes of it."""
    known = json.loads(given.json)
    kinds = {"method": "notification", "result": "response", "error": "error"}
    meant = (
        "request"
        if {"id", "method"} <= set(known)
        else next(kind for member, kind in kinds.items() if member in known)
    )
    try:
        found = type(_envelope(given.json)).__name__.removeprefix("JSONRPC").lower()
        if found != meant:
            return f"reads {_with_article(found)}"
        sdk_reader(given)(given.json)
    except ValidationError as error:
        return f"{error.error_count()}"
    except KeyError:
        return "1 (KeyError)"
    return "0"


def sdk_history(params: bytes) -> None:
    """Read params of ``sampling/createMessage`` and check uses of tools against results."""
    known = pydantic_core.from_json(params)
    request = methods.parse_server_request("sampling/createMessage", _HISTORY_VERSION, known)
    asked: Any = request.params
    validate_tool_use_result_messages(asked.messages)


def _envelope(text: bytes) -> Any:
    return jsonrpc_message_adapter.validate_json(text, by_name=False)


def _with_article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


#: By the sender of what asks, and whether it is a request.
_PARSERS: dict[tuple[str, bool], Callable[..., object]] = {
    ("client", True): methods.parse_client_request,
    ("client", False): methods.parse_client_notification,
    ("server", True): methods.parse_server_request,
    ("server", False): methods.parse_server_notification,
}
