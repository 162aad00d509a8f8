"""The type tables are complete, and their schemas compile for the fast engine."""

import re
from typing import Any

import pytest
from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.mcp.methods import EXTENSION_METHODS, INPUT_REQUESTS, METHODS
from sidecheck_server.core.mcp.rules.messages import KEYWORD_RULES
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
def test_every_type_compiles_for_the_fast_engine(version: str) -> None:
    reasons = {
        name: PROTOCOL_SCHEMAS(version, name).complete_only_reason for name in types_of(version)
    }
    assert dict.fromkeys(reasons, "") == reasons


def test_params_and_results_of_methods_have_types_in_every_version() -> None:
    needed = {
        (version, name)
        for method in (*METHODS, *EXTENSION_METHODS)
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


def test_a_property_is_defined_once_per_version() -> None:
    duplicates = [
        (type_.name, field.name, version)
        for type_ in TYPES.values()
        if isinstance(type_, ObjectType)
        for version in VERSIONS
        for field in type_.properties
        if sum(f.name == field.name and f.since <= version <= f.until for f in type_.properties) > 1
    ]
    assert [] == duplicates


def test_every_asserted_keyword_has_a_rule() -> None:
    """Rule.since is the first version whose schemas use the keyword."""
    since: dict[str, str] = {}
    for version in VERSIONS:
        for name in types_of(version):
            for keyword in _keywords(render_schema(TYPES, name, version)):
                since.setdefault(_code(keyword), version)
    assert since == {rule.code: rule.since for rule in KEYWORD_RULES}


def _keywords(schema: Any) -> set[str]:
    keywords = {keyword for keyword in schema if keyword in _ASSERTIONS}
    if schema.get("additionalProperties") is False:
        keywords.add("additionalProperties")
    inner = [
        *schema.get("properties", {}).values(),
        *schema.get("$defs", {}).values(),
        *schema.get("anyOf", ()),
        *(schema[keyword] for keyword in ("items", "additionalProperties") if schema.get(keyword)),
    ]
    return keywords.union(*map(_keywords, inner))


def _code(keyword: str) -> str:
    return re.sub(r"(?=[A-Z])", "_", keyword).upper()
