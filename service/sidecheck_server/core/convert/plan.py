"""Plans: what any process needs to turn a model's call of a converted tool back.

A plan is a JSON object with ``sidecheck_plan``, the version of this format, ``api``,
``name``, ``server``, ``tool``, ``definition_digest``, ``strict`` and ``guide``. The server
and the guide may lack.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from sidecheck_server.core.convert.guide_checking import (
    check_guide,
    check_members,
    expect,
    invalid_plan,
)
from sidecheck_server.core.convert.guides import Guide
from sidecheck_server.core.convert.words import ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.explain.values import kind_of, listed, quoted
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.types import JsonValue

__all__ = ["Plan", "plan_from_json", "plan_to_json"]

_FORMAT = "sidecheck_plan"
_VERSION = 1

_LARGEST = Limits().schema_bytes
"""The largest plan that is written, in bytes."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What was changed of one tool."""

    api: ModelApi
    #: The name that the model knows the tool by.
    name: str
    #: The server that offers it, or "".
    server: str
    #: Its original name.
    tool: str
    #: The digest of the original definition.
    definition_digest: str
    #: Whether the API was asked to hold the model to the schema.
    strict: bool
    #: How arguments are turned back; None if they are as they were.
    guide: Guide | None


def plan_to_json(plan: Plan) -> bytes:
    """Return *plan* as JSON text.

    Raises:
        Refusal: NOT_CONVERTIBLE if it would be too large to be read again: names of tools
            may be as long as their definitions.
    """
    members = {
        _FORMAT: _VERSION,
        "api": plan.api,
        "name": plan.name,
        "server": plan.server or None,
        "tool": plan.tool,
        "definition_digest": plan.definition_digest,
        "strict": plan.strict,
        "guide": plan.guide,
    }
    text = msgspec.json.encode({name: each for name, each in members.items() if each is not None})
    if len(text) > _LARGEST:
        said = f"the plan would have {len(text):,} bytes, more than the {_LARGEST:,} that are read"
        raise RequestError(
            ErrorReason.NOT_CONVERTIBLE, said, {"bound": "plan", "limit": str(_LARGEST)}
        )
    return text


def plan_from_json(text: bytes, limits: Limits) -> Plan:
    """Return the plan whose JSON *text* is given; it may come from anywhere.

    It is as large as a schema may be, and nests twice as deep at the most.

    Raises:
        Refusal: INVALID_MAPPING, with the place and a code in its metadata; LIMIT_EXCEEDED.
    """
    if len(text) > limits.schema_bytes:
        raise exceeded("schema_bytes", limits.schema_bytes, "the plan", len(text))
    try:
        value = decode(text, max_depth=2 * limits.schema_depth, depth_bound="schema_depth", most=1)
    except MalformedError as error:
        fault = error.violations[0]
        raise invalid_plan((), fault.code, fault.message) from None
    members = _checked(value)
    guide = members.get("guide")
    if "guide" in members:
        check_guide(guide, ("guide",), limits)
    return Plan(
        api=ModelApi(members["api"]),
        name=members["name"],
        server=members.get("server", ""),
        tool=members["tool"],
        definition_digest=members["definition_digest"],
        strict=members["strict"],
        guide=guide,
    )


def _checked(value: JsonValue) -> dict[str, Any]:
    """Return the members of *value*, a plan whose guide is not checked yet."""
    expect(value, dict, "an object, a plan", ())
    assert isinstance(value, dict), "it was expected to be one"
    # Of another version, or of what was never a plan, nothing else is known.
    if _FORMAT not in value:
        said = f"a plan needs the member {quoted(_FORMAT)}: give what a conversion made as it is"
        raise invalid_plan((), "PLAN_MEMBER_MISSING", said)
    _version(value[_FORMAT], _FORMAT)
    check_members(value, _MEMBERS, _REQUIRED, "a plan", ())
    for name, member in value.items():
        _MEMBERS[name](member, name)
    return value


def _version(value: Any, at: str) -> None:
    if type(value) is not int or value != _VERSION:
        found = f"version {value}" if type(value) is int and 0 <= value < 1000 else kind_of(value)
        said = f"its version is not known: expected {_VERSION}, found {found}"
        raise invalid_plan((at,), "PLAN_VERSION", said)


def _api(value: Any, at: str) -> None:
    expect(value, str, "the name of an API, a string", (at,))
    if value not in _APIS:
        said = f"expected one of {listed(_APIS)}, found {quoted(value)}"
        raise invalid_plan((at,), "PLAN_WRONG_VALUE", said)


_APIS = [str(api) for api in ModelApi]


def _name(value: Any, at: str) -> None:
    expect(value, str, "a name, a string", (at,))
    if not value:
        raise invalid_plan((at,), "PLAN_WRONG_VALUE", "the name is empty")


def _digest(value: Any, at: str) -> None:
    expect(value, str, "a digest, a string", (at,))
    if _DIGEST.fullmatch(value) is None:
        said = 'expected "sha256:" and 64 hexadecimal digits in lower case'
        raise invalid_plan((at,), "PLAN_WRONG_VALUE", f"{said}, found {quoted(value)}")


_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def _boolean(value: Any, at: str) -> None:
    expect(value, bool, "true or false", (at,))


def _guide(value: Any, at: str) -> None:
    expect(value, dict, "an object, a guide", (at,))


_MEMBERS: Mapping[str, Callable[[Any, str], None]] = {
    _FORMAT: _version,
    "api": _api,
    "name": _name,
    "server": _name,
    "tool": _name,
    "definition_digest": _digest,
    "strict": _boolean,
    "guide": _guide,
}

_REQUIRED = (_FORMAT, "api", "name", "tool", "definition_digest", "strict")
