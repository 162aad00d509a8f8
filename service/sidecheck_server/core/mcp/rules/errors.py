"""The codes of errors, and the data that some of them need."""

from collections.abc import Iterable
from typing import Any

from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Rule, rule, sparing
from sidecheck_server.core.types import Severity

__all__ = ["DATA_MISSING", "DATA_TYPES", "RULES"]

_SINCE = "2026-07-28"
_CODES = Clause("basic", "error-codes")

_LEGACY = range(-32019, -31999)
_RESERVED = range(-32099, -32019)
_JSON_RPC = range(-32768, -31999)
_STANDARD = frozenset({-32700, *range(-32603, -32599)})
_DEFINED = frozenset({-32020, -32021, -32022})
_RETIRED = {
    -32002: ("resource not found", -32602),
    -32042: ("URL elicitation required", None),
}

DATA_TYPES = {
    ("2025-11-25", -32042): "URLElicitationRequiredErrorData",
    ("2026-07-28", -32021): "MissingRequiredClientCapabilityErrorData",
    ("2026-07-28", -32022): "UnsupportedProtocolVersionErrorData",
}
"""The type of the data that the error of a code has in a version, where it must have some."""

DATA_MISSING = Rule(
    "ERROR_DATA_MISSING",
    Severity.ERROR,
    Clause("schema"),
    "An error whose code says what its data are has them.",
    ("Error",),
    since="2025-11-25",
)


def _code(value: Any) -> int | None:
    code = value.get("code") if isinstance(value, dict) else None
    if type(code) is int:
        return code
    return int(code) if type(code) is float and code.is_integer() else None


@rule(
    "ERROR_CODE_RETIRED",
    severity=Severity.ERROR,
    clause=_CODES,
    sentence="The codes of earlier versions, -32002 and -32042, are not emitted any more.",
    on="Error",
    since=_SINCE,
)
def _retired(value: Any, _context: Context) -> Iterable[Fault]:
    code = _code(value)
    if code not in _RETIRED:
        return ()
    meaning, instead = _RETIRED[code]
    told = f"; {instead} took its place" if instead else ""
    near = str(instead) if instead else ""
    return (Fault(("code",), f"{code} ({meaning}) is a code of earlier versions{told}", near),)


@rule(
    "ERROR_CODE_RESERVED",
    severity=Severity.ERROR,
    clause=_CODES,
    sentence="Of the codes from -32099 to -32020, only those are emitted that are defined.",
    on="Error",
    since=_SINCE,
)
def _reserved(value: Any, _context: Context) -> Iterable[Fault]:
    code = _code(value)
    if code not in _RESERVED or code in _DEFINED or code in _RETIRED:
        return ()
    said = f"{code} is reserved for the specification, which defines -32020, -32021 and -32022"
    return (Fault(("code",), said),)


@rule(
    "ERROR_CODE_LEGACY",
    severity=Severity.WARNING,
    clause=_CODES,
    sentence="New implementations use no codes from -32019 to -32000.",
    on="Error",
    since=_SINCE,
)
def _legacy(value: Any, _context: Context) -> Iterable[Fault]:
    code = _code(value)
    if code not in _LEGACY or code in _RETIRED:
        return ()
    return (Fault(("code",), f"{code} is a legacy code, and says nothing to who receives it"),)


@rule(
    "ERROR_CODE_UNASSIGNED",
    severity=Severity.WARNING,
    clause=_CODES,
    sentence="Codes of one's own lie outside the range of JSON-RPC, -32768 to -32000.",
    on="Error",
    since=_SINCE,
)
def _unassigned(value: Any, _context: Context) -> Iterable[Fault]:
    code = _code(value)
    if code not in _JSON_RPC or code in _STANDARD or code in _RESERVED or code in _LEGACY:
        return ()
    return (Fault(("code",), f"{code} lies in the range of JSON-RPC, which does not define it"),)


def _is_ordinary(value: Any, _context: Context) -> bool:
    """Return whether the code of *value* is one of JSON-RPC, or lies outside its range."""
    code = value.get("code") if isinstance(value, dict) else None
    return type(code) is int and (code in _STANDARD or code not in _JSON_RPC)


RULES: tuple[Rule, ...] = (
    *sparing(_is_ordinary, (_retired, _reserved, _legacy, _unassigned)),
    DATA_MISSING,
)
