"""What a result is, by its own account, and results that ask for input."""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.explain.nearest import nearest
from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.methods import INPUT_REQUESTS
from sidecheck_server.core.mcp.rules.capabilities import declared_by_client, is_declared
from sidecheck_server.core.mcp.rules.metadata import RESULTS
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule
from sidecheck_server.core.types import Severity

__all__ = ["FORBIDDEN", "RETRY_MISPLACED", "RULES", "extended"]

_SINCE = "2026-07-28"
_PAGE = "basic/patterns/mrtr"
_SERVERS = Clause(_PAGE, "server-requirements-basic-workflow")

_TYPES = ("complete", "input_required")

FORBIDDEN = Rule(
    "INPUT_REQUIRED_FORBIDDEN",
    Severity.ERROR,
    Clause(_PAGE, "supported-requests"),
    "Only tools/call, prompts/get and resources/read are answered by asking for input.",
    ("JSONRPCMessage",),
    since=_SINCE,
)
RETRY_MISPLACED = Rule(
    "INPUT_RESPONSES_MISPLACED",
    Severity.ERROR,
    Clause(_PAGE, "client-requirements-basic-workflow"),
    "`inputResponses` and `requestState` stand only in the retry of a request whose answer"
    " asked for input.",
    ("JSONRPCMessage",),
    since=_SINCE,
)


def extended(context: Context) -> bool:
    """Return whether a peer declares extensions, which may add methods and types of results."""
    return any(
        isinstance(capabilities, dict)
        and bool(capabilities.get("extensions") or capabilities.get("experimental"))
        for capabilities in (context.client_capabilities, context.server_capabilities)
    )


@rule(
    "RESULT_TYPE_UNKNOWN",
    severity=Severity.ERROR,
    clause=Clause("basic", "resulttype"),
    sentence='The type of a result is "complete", "input_required", or one of an extension'
    " that was declared.",
    on=RESULTS,
    since=_SINCE,
)
def _result_type(value: Any, context: Context) -> Iterator[Fault]:
    type_ = value.get("resultType") if isinstance(value, dict) else None
    if type(type_) is str and type_ not in _TYPES and not extended(context):
        spend(context.budget, 400)
        found = Values(hidden=context.hide_values).found(type_)
        near = "" if context.hide_values else nearest(type_, _TYPES)
        yield Fault(
            ("resultType",), f'expected "complete" or "input_required", found {found}', near
        )


@rule(
    "INPUT_REQUIRED_TYPE",
    severity=Severity.ERROR,
    clause=Clause("basic", "resulttype"),
    sentence='A result that asks for input has the type "input_required".',
    on="InputRequiredResult",
    since=_SINCE,
)
def _type(value: Any, _context: Context) -> Iterator[Fault]:
    if isinstance(value, dict) and value.get("resultType") == "complete":
        said = 'expected "input_required" beside inputRequests, found "complete"'
        yield Fault(("resultType",), said, "input_required")


@rule(
    "INPUT_REQUIRED_EMPTY",
    severity=Severity.ERROR,
    clause=_SERVERS,
    sentence="A result that asks for input has `inputRequests`, `requestState` or both.",
    on="InputRequiredResult",
    since=_SINCE,
)
def _empty(value: Any, _context: Context) -> Iterator[Fault]:
    if isinstance(value, dict) and not ("inputRequests" in value or "requestState" in value):
        yield Fault((), "expected inputRequests or requestState, found neither")


@rule(
    "INPUT_REQUEST_UNDECLARED",
    severity=Severity.ERROR,
    clause=_SERVERS,
    sentence="Input is asked for only as the client declared that it can give it.",
    on="InputRequiredResult",
    since=_SINCE,
)
def _undeclared(value: Any, context: Context) -> Iterator[Fault]:
    requests = value.get("inputRequests") if isinstance(value, dict) else None
    capabilities = declared_by_client(context)
    if not isinstance(requests, dict) or capabilities is None:
        return
    spend(context.budget, 20 * len(requests))
    for key, request in requests.items():
        method = request.get("method") if isinstance(request, dict) else None
        asked = INPUT_REQUESTS.get(method) if isinstance(method, str) else None
        if asked is not None and not is_declared(capabilities, asked.needs.path):
            yield Fault(
                ("inputRequests", key, "method"),
                f"{method} needs the client's capability {asked.needs.path},"
                " which it did not declare",
            )


RULES: tuple[Rule, ...] = (
    _result_type,
    _type,
    _empty,
    _undeclared,
    FORBIDDEN,
    RETRY_MISPLACED,
)
