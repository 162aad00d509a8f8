"""Error codes and error data."""

from collections.abc import Iterable
from typing import Any

from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule
from sidecheck_server.core.types import Severity

__all__ = ["DATA_MISSING", "DATA_TYPES", "DEFINED_CODES", "RULES"]

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

DATA_MISSING = Rule(
    "ERROR_DATA_MISSING",
    Severity.ERROR,
    Clause("schema"),
    "An error MUST have data if its code defines their type.",
    ("Error",),
    since="2025-11-25",
)


def _code_of(value: Any) -> int | None:
    code = value.get("code") if isinstance(value, dict) else None
    if type(code) is int:
        return code
    return int(code) if isinstance(code, float) and code.is_integer() else None


@rule(
    "ERROR_CODE_RETIRED",
    severity=Severity.ERROR,
    clause=_CODES,
    requirement="The codes -32002 and -32042 of earlier versions MUST NOT be emitted.",
    on="Error",
    since=_SINCE,
)
def _retired_code(value: Any, _context: Context) -> Iterable[Fault]:
    code = _code_of(value)
    if code not in _RETIRED:
        return ()
    meaning, replacement = _RETIRED[code]
    use = f"; use {replacement}" if replacement else ""
    suggestion = str(replacement) if replacement else ""
    message = f"{code} ({meaning}) is a code of earlier versions{use}"
    return (Fault(("code",), message, suggestion),)


@rule(
    "ERROR_CODE_RESERVED",
    severity=Severity.ERROR,
    clause=_CODES,
    requirement="Codes from -32099 to -32020 MUST NOT be emitted unless the specification "
    "defines them.",
    on="Error",
    since=_SINCE,
)
def _reserved_code(value: Any, _context: Context) -> Iterable[Fault]:
    code = _code_of(value)
    if code not in _RESERVED or code in DEFINED_CODES or code in _RETIRED:
        return ()
    message = f"{code} is reserved for the specification, which defines -32020, -32021 and -32022"
    return (Fault(("code",), message),)


@rule(
    "ERROR_CODE_LEGACY",
    severity=Severity.WARNING,
    clause=_CODES,
    requirement="New implementations SHOULD NOT use codes from -32019 to -32000.",
    on="Error",
    since=_SINCE,
)
def _legacy_code(value: Any, _context: Context) -> Iterable[Fault]:
    code = _code_of(value)
    if code not in _LEGACY or code in _RETIRED:
        return ()
    return (Fault(("code",), f"{code} is a legacy code without a defined meaning"),)


@rule(
    "ERROR_CODE_UNASSIGNED",
    severity=Severity.WARNING,
    clause=_CODES,
    requirement="Codes of an implementation SHOULD lie outside of the range of JSON-RPC, -32768 "
    "to -32000.",
    on="Error",
    since=_SINCE,
)
def _unassigned_code(value: Any, _context: Context) -> Iterable[Fault]:
    code = _code_of(value)
    if code not in _JSON_RPC or code in _STANDARD or code in _RESERVED or code in _LEGACY:
        return ()
    message = f"{code} lies in the range of JSON-RPC, which does not define it"
    return (Fault(("code",), message),)


RULES: tuple[Rule, ...] = (
    _retired_code,
    _reserved_code,
    _legacy_code,
    _unassigned_code,
    DATA_MISSING,
)
