"""Definitions that every target takes: what they keep, what they lose, and their calls."""

import json
from typing import Any

import pytest
from sidecheck_server.core.convert.providers.mcp import DEFAULT_TARGETS
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.functions import convert_call, make_portable
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.portability.check import check_portability
from sidecheck_server.core.portability.target import Target

DRAFT_07 = "http://json-schema.org/draft-07/schema#"
HINTS = {
    "title": "Title",
    "readOnlyHint": True,
    "destructiveHint": False,
    "openWorldHint": False,
}


def tool(schema: dict[str, Any], **properties: Any) -> dict[str, Any]:
    """Return a definition that directories take, with an input schema."""
    return {
        "name": "search",
        "description": "Searches.",
        "inputSchema": {"type": "object", **schema},
        "annotations": HINTS,
        **properties,
    }


TOOLS: dict[str, dict[str, Any]] = {
    "union at the root": tool(
        {
            "properties": {"id": {"type": "integer"}, "slug": {"type": "string"}},
            "oneOf": [{"required": ["id"]}, {"required": ["slug"]}],
        }
    ),
    "references, tuples and definitions of draft 7": tool(
        {
            "$schema": DRAFT_07,
            "definitions": {"point": {"type": "array", "items": [{"type": "number"}] * 2}},
            "properties": {"at": {"$ref": "#/definitions/point"}},
            "dependencies": {"at": ["unit"]},
        }
    ),
    "recursion": tool({"properties": {"child": {"$ref": "#"}}}),
    "look-around": tool({"properties": {"key": {"type": "string", "pattern": "^(?!null$)"}}}),
    "list of types with a description": tool(
        {"properties": {"a": {"type": ["string", "integer", "null"], "description": "d"}}}
    ),
    "open object": tool({"properties": {"filter": {"type": "object"}}}),
    "true": tool({"properties": {"any": True, "list": {"type": "array"}}}),
    "names": tool(
        {"properties": {"a b": {"type": "string"}}, "required": ["a b"]}, name="n.a/me" * 20
    ),
    "output schema of draft 7": tool(
        {},
        outputSchema={
            "$schema": DRAFT_07,
            "type": "object",
            "definitions": {"a": {"type": "string"}},
            "properties": {"a": {"$ref": "#/definitions/a"}},
        },
    ),
    "output schema of an array": tool({}, outputSchema={"type": "array", "items": True}),
}


def portable(definition: dict[str, Any], targets: Any = DEFAULT_TARGETS) -> Any:
    """Return the converted tool."""
    (converted,) = make_portable([json.dumps(definition).encode()], targets)
    assert not isinstance(converted, RequestError), converted
    return converted


@pytest.mark.parametrize("case", TOOLS)
def test_no_target_refuses_a_portable_definition(case: str) -> None:
    """By the facts that `sidecheck check` reports."""
    converted = portable(TOOLS[case])
    targets = [Target(name) for name in DEFAULT_TARGETS]
    findings, _ = check_portability(json.loads(converted.json), targets, Limits())

    assert [] == [
        (finding.pointer, fact.target, fact.hazard.code)
        for finding in findings
        for fact in finding.facts
        if fact.effect.is_refusal
    ]


@pytest.mark.parametrize("target", sorted(DEFAULT_TARGETS | {"openai-strict"}))
@pytest.mark.parametrize("case", TOOLS)
def test_a_single_target_does_not_refuse_what_is_made_for_it(case: str, target: str) -> None:
    """Fewer targets keep more of a schema."""
    converted = portable(TOOLS[case], [target])
    findings, _ = check_portability(json.loads(converted.json), [Target(target)], Limits())

    assert [] == [
        (finding.pointer, fact.hazard.code)
        for finding in findings
        for fact in finding.facts
        if fact.effect.is_refusal
    ]


def test_a_portable_definition_stays_as_it_is() -> None:
    """With its title, annotations and output schema."""
    definition = tool(
        {"properties": {"query": {"type": "string"}}, "required": ["query"]},
        title="Search",
        outputSchema={"type": "object", "properties": {"count": {"type": "integer"}}},
    )
    converted = portable(definition)

    assert definition == json.loads(converted.json)
    assert () == converted.losses


@pytest.mark.parametrize(
    ("case", "arguments", "original"),
    [
        ("open object", {"filter": '{"a": [1]}'}, {"filter": {"a": [1]}}),
        ("names", {"a_b": "x"}, {"a b": "x"}),
    ],
)
def test_a_call_is_converted_back(
    case: str, arguments: dict[str, Any], original: dict[str, Any]
) -> None:
    """By the mapping, to the original names and values."""
    definition = TOOLS[case]
    converted = portable(definition)
    name = json.loads(converted.json)["name"]
    call = json.dumps({"name": name, "arguments": arguments}).encode()
    result = convert_call(call, [converted.mapping], json.dumps(definition).encode())

    assert (definition["name"], original, True) == (
        result.tool,
        json.loads(result.arguments),
        result.verdict.valid,
    )
