"""The formats of the three keys of trace context: W3C Trace Context and W3C Baggage."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from sidecheck_server.core.budget import Budget, spend

__all__ = ["EXPECTED", "FORMATS", "is_baggage", "is_traceparent", "is_tracestate"]

EXPECTED = MappingProxyType(
    {
        "traceparent": "version, trace id, parent id and flags, as W3C Trace Context has them",
        "tracestate": "at most 32 keys with values, as W3C Trace Context has them",
        "baggage": "keys with values, as W3C Baggage has them",
    }
)
"""What each key is expected to be."""

# Later versions may have more after the flags (section 3.2.4 of Trace Context).
_TRACEPARENT = re.compile(
    "(?!ff)([0-9a-f]{2})-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?", re.DOTALL
)
_KEY = "[a-z0-9_*/-]"
_STATE = re.compile(
    rf"((?:[a-z]{_KEY}{{0,255}}|[a-z0-9]{_KEY}{{0,240}}@[a-z]{_KEY}{{0,13}}))"
    "=[ !-+\\--<>-~]{0,255}[!-+\\--<>-~]"
)
_MOST_STATES = 32

_TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]++"  # noqa: S105 - a token of HTTP
_SPACE = "[ \\t]*+"
_VALUE = "[!#-+\\--:<-\\[\\]-~]*+"
_PAIR = rf"{_SPACE}{_TOKEN}{_SPACE}={_SPACE}{_VALUE}{_SPACE}"
_PROPERTY = rf";{_SPACE}{_TOKEN}{_SPACE}(?:={_SPACE}{_VALUE}{_SPACE})?"
_MEMBER = re.compile(rf"{_PAIR}(?:{_PROPERTY})*+")


def is_traceparent(text: str, budget: Budget) -> bool:
    """Return whether *text* has the form of a `traceparent`."""
    spend(budget, 40)
    found = _TRACEPARENT.fullmatch(text)
    return bool(found and (found[1] != "00" or not found[2]))


def is_tracestate(text: str, budget: Budget) -> bool:
    """Return whether *text* has the form of a `tracestate`."""
    spend(budget, 40 + len(text))
    members = [member.strip(" \t") for member in text.split(",")]
    if len(members) > _MOST_STATES:
        return False
    # An empty member says nothing, and is allowed.
    found = [_STATE.fullmatch(member) for member in members if member]
    keys = {each[1] for each in found if each}
    return len(keys) == len(found)


def is_baggage(text: str, budget: Budget) -> bool:
    """Return whether *text* has the form of a `baggage`."""
    spend(budget, 40 + len(text))
    return all(map(_MEMBER.fullmatch, text.split(",")))


FORMATS: Mapping[str, Callable[[str, Budget], bool]] = MappingProxyType(
    {"traceparent": is_traceparent, "tracestate": is_tracestate, "baggage": is_baggage}
)
"""What tells whether a text has the form of each key."""
