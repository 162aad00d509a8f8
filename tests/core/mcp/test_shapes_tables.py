"""The tables of types are whole, and their schemas are judged by the fast engine."""

import re
from typing import Any

import pytest
from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.mcp.methods import INPUT_REQUESTS, METHODS
from sidecheck_server.core.mcp.rules import values
from sidecheck_server.core.mcp.types.model import ObjectType
from sidecheck_server.core.mcp.types.rendering import TYPES, render_schema
from support.published_types import types_of
from support.rule_cases import PROTOCOL_SCHEMAS

_ASSERTIONS = {
    "type",
    "required",
    "const",
    "enum",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "anyOf",
    "oneOf",
    "not",
    "pattern",
    "minLength",
    "uniqueItems",
}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_fast_engine_judges_every_type(version: str) -> None:
    why = {name: PROTOCOL_SCHEMAS(version, name).complete_only_reason for name in types_of(version)}
    assert dict.fromkeys(why, "") == why


def test_what_methods_carry_is_told_in_every_version_that_has_them() -> None:
    needed = {
        (version, name)
        for method in METHODS
        for version in VERSIONS
        if method.holds_in(version)
        for name in (method.params, method.result)
        if name is not None
    }
    needed |= {
        (VERSIONS[-1], name)
        for request in INPUT_REQUESTS.values()
        for name in (request.params, request.result)
    }
    known = {(version, name) for version in VERSIONS for name in types_of(version)}
    assert set() == needed - known


def test_a_member_is_told_once_for_a_version() -> None:
    twice = [
        (type_.name, field.name, version)
        for type_ in TYPES.values()
        if isinstance(type_, ObjectType)
        for version in VERSIONS
        for field in type_.properties
        if sum(f.name == field.name and f.since <= version <= f.until for f in type_.properties) > 1
    ]
    assert [] == twice


def test_there_is_a_rule_for_every_keyword_that_can_be_broken() -> None:
    """The rules also know their first version."""
    since: dict[str, str] = {}
    for version in VERSIONS:
        for name in types_of(version):
            for keyword in _keywords(render_schema(TYPES, name, version)):
                since.setdefault(_code(keyword), version)
    assert since == {rule.code: rule.since for rule in values.KEYWORD_RULES}


def _keywords(schema: Any) -> set[str]:
    found = {keyword for keyword in schema if keyword in _ASSERTIONS}
    if schema.get("additionalProperties") is False:
        found.add("additionalProperties")
    inner = [
        *schema.get("properties", {}).values(),
        *schema.get("$defs", {}).values(),
        *schema.get("anyOf", ()),
        *(schema[each] for each in ("items", "additionalProperties") if schema.get(each)),
    ]
    return found.union(*map(_keywords, inner))


def _code(keyword: str) -> str:
    return re.sub(r"(?=[A-Z])", "_", keyword).upper()
