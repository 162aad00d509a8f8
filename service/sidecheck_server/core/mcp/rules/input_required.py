"""Rules on result types, and on results that request input."""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.methods import INPUT_REQUESTS, TASKS_EXTENSION
from sidecheck_server.core.mcp.rules.capabilities import (
    find_client_capabilities,
    is_declared,
    lacks_extension,
)
from sidecheck_server.core.mcp.rules.metadata import RESULTS
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, RuleSet
from sidecheck_server.core.types import Severity

__all__ = ["FORBIDDEN", "RETRY_MISPLACED", "allows_extensions"]

_SINCE = "2026-07-28"
_PAGE = "basic/patterns/mrtr"
_SERVER_REQUIREMENTS = Clause(_PAGE, "server-requirements-basic-workflow")

_TYPES = ("complete", "input_required")

_INPUT_RULES = RuleSet(Group.INPUT_REQUIRED, since=_SINCE)


def allows_extensions(context: Context) -> bool:
    """Return whether a peer declares extensions, which may define methods and types."""
    return any(
        isinstance(capabilities, dict)
        and bool(capabilities.get("extensions") or capabilities.get("experimental"))
        for capabilities in (context.client_capabilities, context.server_capabilities)
    )


def _may_be_declared(type_: str, context: Context) -> bool:
    """Return whether a declared extension may define the result type *type_*."""
    if type_ == "task":
        # SEP-2663 reserves the type for the tasks extension.
        return not lacks_extension(context, TASKS_EXTENSION)
    return allows_extensions(context)


@_INPUT_RULES.rule(
    "RESULT_TYPE_UNKNOWN",
    Severity.ERROR,
    Clause("basic", "resulttype"),
    'The type of a result MUST be "complete", "input_required", or one of a declared extension.',
    on=RESULTS,
)
def _result_type(value: Any, context: Context) -> Iterator[Fault]:
    type_ = value.get("resultType") if isinstance(value, dict) else None
    if type(type_) is str and type_ not in _TYPES and not _may_be_declared(type_, context):
        spend(context.budget, 400)
        description = Values(hidden=context.hide_values).describe(type_)
        nearest = "" if context.hide_values else find_nearest(type_, _TYPES)
        yield Fault(
            ("resultType",),
            f'expected "complete" or "input_required", found {description}',
            nearest,
        )


@_INPUT_RULES.rule(
    "INPUT_REQUIRED_TYPE",
    Severity.ERROR,
    Clause("basic", "resulttype"),
    'A result that requests input MUST have the type "input_required".',
    on="InputRequiredResult",
)
def _input_required_type(value: Any, _context: Context) -> Iterator[Fault]:
    if isinstance(value, dict) and value.get("resultType") == "complete":
        message = 'expected "input_required" for a result with inputRequests, found "complete"'
        yield Fault(("resultType",), message, "input_required")


@_INPUT_RULES.rule(
    "INPUT_REQUIRED_EMPTY",
    Severity.ERROR,
    _SERVER_REQUIREMENTS,
    "A result that requests input MUST have `inputRequests`, `requestState` or both.",
    on="InputRequiredResult",
)
def _empty_input_required(value: Any, _context: Context) -> Iterator[Fault]:
    if isinstance(value, dict) and not ("inputRequests" in value or "requestState" in value):
        yield Fault((), "expected inputRequests or requestState, found neither")


@_INPUT_RULES.rule(
    "INPUT_REQUEST_UNDECLARED",
    Severity.ERROR,
    _SERVER_REQUIREMENTS,
    "A server MUST NOT request input for which the client did not declare the capability.",
    on="InputRequiredResult",
)
def _undeclared_input(value: Any, context: Context) -> Iterator[Fault]:
    requests = value.get("inputRequests") if isinstance(value, dict) else None
    capabilities = find_client_capabilities(context)
    if not isinstance(requests, dict) or capabilities is None:
        return
    spend(context.budget, 20 * len(requests))
    for key, request in requests.items():
        method = request.get("method") if isinstance(request, dict) else None
        input_request = INPUT_REQUESTS.get(method) if isinstance(method, str) else None
        if input_request is None:
            continue
        capability = input_request.needs.path
        if not is_declared(capabilities, capability):
            yield Fault(
                ("inputRequests", key, "method"),
                f"{method} needs the capability {capability}, which the client did not declare",
            )


FORBIDDEN = _INPUT_RULES.declare(
    "INPUT_REQUIRED_FORBIDDEN",
    Severity.ERROR,
    Clause(_PAGE, "supported-requests"),
    "A result MUST NOT request input, except for tools/call, prompts/get and resources/read.",
)
RETRY_MISPLACED = _INPUT_RULES.declare(
    "INPUT_RESPONSES_MISPLACED",
    Severity.ERROR,
    Clause(_PAGE, "client-requirements-basic-workflow"),
    "`inputResponses` and `requestState` MUST NOT be in a request other than the retry of one"
    " whose result requested input.",
)
