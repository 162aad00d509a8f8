"""Visitors reach every part of a value and visit it as its type."""

import json
import random
import re
from typing import Any

import pytest
from sidecheck_server.core.mcp.context import VERSIONS, Context
from sidecheck_server.core.mcp.rules.rule import Clause, Fault, Path, Rule
from sidecheck_server.core.mcp.rules.visitors import Visitors
from sidecheck_server.core.mcp.types.rendering import TYPES, render_schema
from sidecheck_server.core.types import Severity, as_pointer
from support.published_types import official_examples, types_of
from support.rule_cases import PROTOCOL_SCHEMAS
from support.typed_values import mutations, variants

_CLAUSE = Clause("basic")


def _rule(name: str) -> Rule:
    return Rule(name, Severity.INFO, _CLAUSE, "", (name,), lambda _value, _context: [Fault((), "")])


_VISITORS = {version: Visitors(TYPES, map(_rule, TYPES), version) for version in VERSIONS}


def _visited(version: str, name: str, value: Any) -> list[tuple[str, Path]]:
    """Return type and path of every visited part, in order."""
    visited: list[tuple[str, Path]] = []
    visit = _VISITORS[version].of(name)
    assert visit is not None
    visit(value, (), Context(version), lambda rule, path, _: visited.append((rule.code, path)))
    return visited


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_visited_parts_are_valid_as_their_types(
    version: str,
) -> None:
    reached = set()
    invalid = []
    for name in types_of(version):
        schema = render_schema(TYPES, name, version)
        values = variants(schema, schema.get("$defs", {}))
        if version == VERSIONS[-1]:
            values += [value for type_, value in official_examples() if type_ == name]
        for value in values:
            for type_, path in _visited(version, name, value):
                reached.add((name, type_))
                schema_of_part = PROTOCOL_SCHEMAS(version, type_).fast
                assert schema_of_part is not None
                if not schema_of_part.is_valid(_at(value, path)):
                    invalid.append((name, type_, path, value))
    assert [] == invalid[:5]
    referenced = {
        (name, type_) for name in types_of(version) for type_ in _referenced_types(version, name)
    }
    # An enumeration is visited as the first matching type, which is the untitled one.
    untitled = {(name, "LegacyTitledEnumSchema") for name in ("EnumSchema", "StringFieldSchema")}
    assert set() == referenced - reached - (untitled if version >= "2025-11-25" else set())


def _referenced_types(version: str, name: str) -> set[str]:
    """Return the types that the schema of type *name* refers to directly."""
    schema = render_schema(TYPES, name, version)
    schema.pop("$defs", None)
    return set(re.findall(r"#/[$]defs/(\w+)", json.dumps(schema)))


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_visitors_accept_any_value(version: str) -> None:
    rng = random.Random(version)
    for name in types_of(version):
        schema = render_schema(TYPES, name, version)
        for value in variants(schema, schema.get("$defs", {}))[:2]:
            for mutation in mutations(value, rng, 20):
                assert _visited(version, name, mutation)[0] == (name, ())


@pytest.mark.parametrize(
    ("version", "name", "value", "parts"),
    [
        (
            "2025-11-25",
            "CallToolResult",
            {"content": [{"type": "text", "annotations": {}}, {"type": "no"}, 5], "_meta": {}},
            [
                "CallToolResult",
                "ResultMetaObject/_meta",
                "ContentBlock/content/0",
                "TextContent/content/0",
                "Annotations/content/0/annotations",
                "ContentBlock/content/1",
                "ContentBlock/content/2",
            ],
        ),
        (
            # A discriminator selects the type even if required properties are missing.
            "2025-11-25",
            "SamplingMessage",
            {"content": [{"type": "tool_result", "content": [{"type": "image"}]}]},
            [
                "SamplingMessage",
                "SamplingMessageContentBlock/content/0",
                "ToolResultContent/content/0",
                "ContentBlock/content/0/content/0",
                "ImageContent/content/0/content/0",
            ],
        ),
        (
            "2025-11-25",
            "SamplingMessage",
            {"content": {"type": "tool_use", "_meta": {}}},
            [
                "SamplingMessage",
                "SamplingMessageContentBlock/content",
                "ToolUseContent/content",
                "MetaObject/content/_meta",
            ],
        ),
        (
            # This version has no lists of content blocks, so none is visited.
            "2025-06-18",
            "SamplingMessage",
            {"content": [{"type": "text"}]},
            ["SamplingMessage", "SamplingMessageContentBlock/content"],
        ),
        (
            "2025-11-25",
            "ElicitRequestParams",
            {"mode": "form", "message": "Who are you?"},
            ["ElicitRequestParams", "ElicitRequestFormParams"],
        ),
        (
            "2025-11-25",
            "ElicitRequestParams",
            {"message": "Who are you?"},
            ["ElicitRequestParams", "ElicitRequestFormParams"],
        ),
        (
            "2025-11-25",
            "ElicitRequestParams",
            {"mode": "url"},
            ["ElicitRequestParams", "ElicitRequestURLParams"],
        ),
        ("2025-11-25", "ElicitRequestParams", {"mode": "voice"}, ["ElicitRequestParams"]),
        (
            "2025-11-25",
            "RequestedSchema",
            {
                "properties": {
                    "age": {"type": "integer"},
                    "size": {"type": "string", "enum": ["S"]},
                    "colour": {"type": "string", "oneOf": []},
                    "tags": {"type": "array"},
                    "odd": {"type": ["string"]},
                }
            },
            [
                "RequestedSchema",
                "PrimitiveSchemaDefinition/properties/age",
                "NumberSchema/properties/age",
                "PrimitiveSchemaDefinition/properties/size",
                "StringFieldSchema/properties/size",
                "UntitledSingleSelectEnumSchema/properties/size",
                "PrimitiveSchemaDefinition/properties/colour",
                "StringFieldSchema/properties/colour",
                "TitledSingleSelectEnumSchema/properties/colour",
                "PrimitiveSchemaDefinition/properties/tags",
                "MultiSelectEnumSchema/properties/tags",
                "PrimitiveSchemaDefinition/properties/odd",
            ],
        ),
        (
            "2026-07-28",
            "InputRequiredResult",
            {"inputRequests": {"a/b": {"method": "roots/list", "params": {"_meta": {}}}}},
            [
                "InputRequiredResult",
                "InputRequests/inputRequests",
                "InputRequest/inputRequests/a~1b",
                "ListRootsRequest/inputRequests/a~1b",
                "ListRootsRequestParams/inputRequests/a~1b/params",
                "MetaObject/inputRequests/a~1b/params/_meta",
            ],
        ),
        (
            "2026-07-28",
            "InputResponses",
            {"a": {"roots": []}, "b": {"action": "accept"}, "c": {}},
            [
                "InputResponses",
                "InputResponse/a",
                "ListRootsResult/a",
                "InputResponse/b",
                "ElicitResult/b",
                "InputResponse/c",
            ],
        ),
        (
            "2025-11-25",
            "ReadResourceResult",
            {"contents": [{"uri": "a:b", "text": "", "blob": ""}, {"uri": "a:b"}]},
            [
                "ReadResourceResult",
                "AnyResourceContents/contents/0",
                "TextResourceContents/contents/0",
                "AnyResourceContents/contents/1",
            ],
        ),
    ],
)
def test_parts_are_visited_in_order(version: str, name: str, value: Any, parts: list[str]) -> None:
    visited = _visited(version, name, value)
    values = {"ProgressToken", "RequestId", "Role", "TitledValue", "SelectItems"}
    assert parts == [t + as_pointer(path) for t, path in visited if t not in values]
