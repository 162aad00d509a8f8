"""Elicitations in errors.

The error -32042 of 2025-11-25 tells which elicitations must be completed before a retry.
"""

from collections.abc import Iterable
from typing import Any

from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.capabilities import declared_by_client, is_declared
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule
from sidecheck_server.core.types import Severity

__all__ = ["RULES"]

_DATA = "URLElicitationRequiredErrorData"
_VERSION = "2025-11-25"


@rule(
    "ELICITATION_ERROR_EMPTY",
    severity=Severity.ERROR,
    clause=Clause("client/elicitation", "url-elicitation-required-error"),
    requirement="The error -32042 MUST list the elicitations to complete before a retry.",
    on=_DATA,
    since=_VERSION,
    until=_VERSION,
)
def _empty(data: Any, _context: Context) -> Iterable[Fault]:
    if isinstance(data, dict) and data.get("elicitations") == []:
        message = "expected the elicitations to complete before a retry, found none"
        return (Fault(("elicitations",), message),)
    return ()


@rule(
    "ELICITATION_ERROR_UNDECLARED",
    severity=Severity.ERROR,
    clause=Clause("client/elicitation", "capabilities"),
    requirement="A server MUST NOT request elicitations in an error from a client that did not"
    " declare elicitation. (ELICITATION_MODE_NOT_DECLARED is for those that did.)",
    on=_DATA,
    since=_VERSION,
    until=_VERSION,
)
def _undeclared(data: Any, context: Context) -> Iterable[Fault]:
    declared = declared_by_client(context)
    if declared is None or is_declared(declared, "elicitation"):
        return ()
    if isinstance(data, dict) and data.get("elicitations"):
        message = "the client did not declare the capability elicitation.url"
        return (Fault(("elicitations",), message),)
    return ()


RULES: tuple[Rule, ...] = (_empty, _undeclared)
