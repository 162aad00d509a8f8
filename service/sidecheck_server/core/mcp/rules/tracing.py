"""Trace context in `_meta`.

The three keys follow W3C Trace Context and W3C Baggage.
"""

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.metadata import META, METADATA_TYPES
from sidecheck_server.core.mcp.rules.rule import Fault, Group, RuleSet
from sidecheck_server.core.types import Severity

__all__ = ["is_baggage", "is_traceparent", "is_tracestate"]

_TRACE_RULES = RuleSet(Group.TRACE_CONTEXT, on=METADATA_TYPES, since="2026-07-28")

# Later versions may append fields to the flags (Trace Context, section 3.2.4).
_TRACEPARENT = re.compile(
    "(?!ff)([0-9a-f]{2})-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?", re.DOTALL
)
_KEY = "[a-z0-9_*/-]"
_STATE = re.compile(
    rf"((?:[a-z]{_KEY}{{0,255}}|[a-z0-9]{_KEY}{{0,240}}@[a-z]{_KEY}{{0,13}}))"
    "=[ !-+\\--<>-~]{0,255}[!-+\\--<>-~]"
)
_MAX_STATES = 32

_TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]++"  # noqa: S105 - a token of HTTP
_SPACE = "[ \\t]*+"
_VALUE = "[!#-+\\--:<-\\[\\]-~]*+"
_PAIR = rf"{_SPACE}{_TOKEN}{_SPACE}={_SPACE}{_VALUE}{_SPACE}"
_PROPERTY = rf";{_SPACE}{_TOKEN}{_SPACE}(?:={_SPACE}{_VALUE}{_SPACE})?"
_MEMBER = re.compile(rf"{_PAIR}(?:{_PROPERTY})*+")


def is_traceparent(text: str, budget: Budget) -> bool:
    """Return whether *text* is a `traceparent`."""
    spend(budget, 40)
    match = _TRACEPARENT.fullmatch(text)
    return bool(match and (match[1] != "00" or not match[2]))


def is_tracestate(text: str, budget: Budget) -> bool:
    """Return whether *text* is a `tracestate`."""
    spend(budget, 40 + len(text))
    members = [member.strip(" \t") for member in text.split(",")]
    if len(members) > _MAX_STATES:
        return False
    # Empty members are allowed.
    matches = [_STATE.fullmatch(member) for member in members if member]
    keys = {match[1] for match in matches if match}
    return len(keys) == len(matches)


def is_baggage(text: str, budget: Budget) -> bool:
    """Return whether *text* is a `baggage`."""
    spend(budget, 40 + len(text))
    return all(map(_MEMBER.fullmatch, text.split(",")))


def _check(
    name: str,
    is_valid: Callable[[str, Budget], bool],
    expected: str,
    value: Any,
    context: Context,
) -> Iterable[Fault]:
    if type(value) is not dict or name not in value:
        return ()
    text = value[name]
    if isinstance(text, str) and is_valid(text, context.budget):
        return ()
    found = Values(hidden=context.hide_values).describe(text)
    return (Fault((name,), f"expected {expected}, found {found}"),)


for _name, _standard, _is_valid, _contents in (
    (
        "traceparent",
        "W3C Trace Context",
        is_traceparent,
        "version, trace id, parent id and flags",
    ),
    ("tracestate", "W3C Trace Context", is_tracestate, "at most 32 keys with values"),
    ("baggage", "W3C Baggage", is_baggage, "keys with values"),
):
    _TRACE_RULES.declare(
        f"META_{_name.upper()}",
        Severity.ERROR,
        META,
        f"`{_name}` MUST have the format of {_standard}.",
        check=partial(_check, _name, _is_valid, f"{_contents} as in {_standard}"),
    )
