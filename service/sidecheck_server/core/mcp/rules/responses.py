"""Rules on error responses and on empty results."""

from collections.abc import Iterable
from typing import Any

from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Group, RuleSet, type_clause
from sidecheck_server.core.types import Severity

__all__ = [
    "DATA_MISSING",
    "DATA_TYPES",
    "DEFINED_CODES",
    "EMPTY_RESULT_WITH_DATA",
    "PING_RESULT_NOT_EMPTY",
]

_SINCE = "2026-07-28"
_CODES = Clause("basic", "error-codes")

_LEGACY = range(-32019, -31999)
_RESERVED = range(-32099, -32019)
_JSON_RPC = range(-32768, -31999)
_STANDARD = frozenset({-32700, *range(-32603, -32599)})
DEFINED_CODES = frozenset({-32020, -32021, -32022})
"""Codes that the specification defines since 2026-07-28."""

#: Meaning and replacement of the codes of earlier versions.
_RETIRED = {
    -32002: ("resource not found", -32602),
    -32042: ("URL elicitation required", None),
}

DATA_TYPES = {
    ("2025-11-25", -32042): "URLElicitationRequiredErrorData",
    ("2026-07-28", -32021): "MissingRequiredClientCapabilityErrorData",
    ("2026-07-28", -32022): "UnsupportedProtocolVersionErrorData",
}
"""Types of required error data, by version and code."""

_ERROR_RULES = RuleSet(Group.ERRORS, on="Error", since=_SINCE)


def _get_code(value: Any) -> int | None:
    code = value.get("code") if isinstance(value, dict) else None
    if type(code) is int:
        return code
    return int(code) if isinstance(code, float) and code.is_integer() else None


@_ERROR_RULES.rule(
    "ERROR_CODE_RETIRED",
    Severity.ERROR,
    _CODES,
    "The codes -32002 and -32042 of earlier versions MUST NOT be emitted.",
)
def _retired_code(value: Any, _context: Context) -> Iterable[Fault]:
    code = _get_code(value)
    if code not in _RETIRED:
        return ()
    meaning, replacement = _RETIRED[code]
    remedy = f"; use {replacement}" if replacement else ""
    suggestion = str(replacement) if replacement else ""
    message = f"{code} ({meaning}) is a code of earlier versions{remedy}"
    return (Fault(("code",), message, suggestion),)


@_ERROR_RULES.rule(
    "ERROR_CODE_RESERVED",
    Severity.ERROR,
    _CODES,
    "Codes from -32099 to -32020 MUST NOT be emitted unless the specification defines them.",
)
def _reserved_code(value: Any, _context: Context) -> Iterable[Fault]:
    code = _get_code(value)
    if code not in _RESERVED or code in DEFINED_CODES or code in _RETIRED:
        return ()
    message = f"{code} is reserved for the specification, which defines -32020, -32021 and -32022"
    return (Fault(("code",), message),)


@_ERROR_RULES.rule(
    "ERROR_CODE_LEGACY",
    Severity.WARNING,
    _CODES,
    "New implementations SHOULD NOT use codes from -32019 to -32000.",
)
def _legacy_code(value: Any, _context: Context) -> Iterable[Fault]:
    code = _get_code(value)
    if code not in _LEGACY or code in _RETIRED:
        return ()
    return (Fault(("code",), f"{code} is a legacy code without a defined meaning"),)


@_ERROR_RULES.rule(
    "ERROR_CODE_UNASSIGNED",
    Severity.WARNING,
    _CODES,
    "Codes of an implementation SHOULD lie outside of the range of JSON-RPC, -32768 to -32000.",
)
def _unassigned_code(value: Any, _context: Context) -> Iterable[Fault]:
    code = _get_code(value)
    if code not in _JSON_RPC or code in _STANDARD or code in _RESERVED or code in _LEGACY:
        return ()
    message = f"{code} lies in the range of JSON-RPC, which does not define it"
    return (Fault(("code",), message),)


DATA_MISSING = _ERROR_RULES.declare(
    "ERROR_DATA_MISSING",
    Severity.ERROR,
    Clause("schema"),
    "An error MUST have data if its code defines their type.",
    since="2025-11-25",
)

_EMPTY_RESULT_RULES = RuleSet(Group.EMPTY_RESULTS, until="2025-11-25")

PING_RESULT_NOT_EMPTY = _EMPTY_RESULT_RULES.declare(
    "PING_RESULT_NOT_EMPTY",
    Severity.ERROR,
    Clause("basic/utilities/ping", "behavior-requirements"),
    "The response to a ping MUST be empty, except for `_meta`.",
)
EMPTY_RESULT_WITH_DATA = _EMPTY_RESULT_RULES.declare(
    "EMPTY_RESULT_WITH_DATA",
    # The type of the result is open; only its description says that it is empty. The TypeScript
    # SDK rejects additional properties.
    Severity.WARNING,
    type_clause("EmptyResult"),
    "The result of logging/setLevel, resources/subscribe and resources/unsubscribe SHOULD carry"
    " no data, except for `_meta`.",
)
