"""Elicitations in errors.

The error -32042 of 2025-11-25 tells which elicitations must be completed before a retry.
"""

from collections.abc import Iterable
from typing import Any

from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.capabilities import declared_by_client, is_declared
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, RuleSet
from sidecheck_server.core.types import Severity

_DATA = "URLElicitationRequiredErrorData"
_VERSION = "2025-11-25"


_ERROR_RULES = RuleSet(
    Group.ELICITATION_ERRORS, on="URLElicitationRequiredErrorData", since=_VERSION, until=_VERSION
)


@_ERROR_RULES.rule(
    "ELICITATION_ERROR_EMPTY",
    Severity.ERROR,
    Clause("client/elicitation", "url-elicitation-required-error"),
    "The error -32042 MUST list the elicitations to complete before a retry.",
)
def _empty(data: Any, _context: Context) -> Iterable[Fault]:
    if isinstance(data, dict) and data.get("elicitations") == []:
        message = "expected the elicitations to complete before a retry, found none"
        return (Fault(("elicitations",), message),)
    return ()


@_ERROR_RULES.rule(
    "ELICITATION_ERROR_UNDECLARED",
    Severity.ERROR,
    Clause("client/elicitation", "capabilities"),
    "A server MUST NOT request elicitations in an error from a client that did not"
    " declare elicitation. (ELICITATION_MODE_NOT_DECLARED is for those that did.)",
)
def _undeclared(data: Any, context: Context) -> Iterable[Fault]:
    declared = declared_by_client(context)
    if declared is None or is_declared(declared, "elicitation"):
        return ()
    if isinstance(data, dict) and data.get("elicitations"):
        message = "the client did not declare the capability elicitation.url"
        return (Fault(("elicitations",), message),)
    return ()
