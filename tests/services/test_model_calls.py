"""Conversion of models' calls: mappings, tools, arguments and verdicts."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sidecheck_server.core.convert.mapping import ToolMapping, mapping_to_json
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.json_values import digest_of
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import DEFAULT_VERSION
from sidecheck_server.core.repair.types import Coercion, Repairs
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import ChangeRule
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Definition
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.model_calls import CallConverter, CallToConvert, ConvertedCall
from sidecheck_server.services.targets import InlineTool, RegisteredTool, Target
from sidecheck_server.services.validation import ValidationOptions, Validator
from support.checkers import run_in_process
from support.converting import inline, resolver_for

LIMITS = Limits()
SCHEMA: Any = {
    "type": "object",
    "properties": {
        "day": {"format": "date"},
        "places": {"type": "array"},
        "count": {"type": "integer"},
        "of": {"oneOf": [{"required": ["x"]}, {"required": ["y"]}]},
    },
    "required": ["day"],
}
TOOL: Any = {"name": "get.day", "inputSchema": SCHEMA}
INLINE = inline(TOOL)
DIGEST = digest_of(TOOL)
EVALUATION = EvaluationOptions()
OPTIONS = ValidationOptions(EVALUATION, DEFAULT_VERSION)
ARGUMENTS: Any = {"day": "?", "places": "[1]"}


def mapping(name: str = "get_day", **more: Any) -> bytes:
    """Return the JSON of a mapping; *more* overrides its fields."""
    fields: dict[str, Any] = {
        "api": ModelApi.ANTHROPIC,
        "server": "s",
        "tool": "get.day",
        "definition_digest": DIGEST,
        "strict": False,
        "decoder": None,
    }
    return mapping_to_json(ToolMapping(name=name, **{**fields, **more}))


def call(arguments: Any, name: str = "get_day") -> bytes:
    block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments}
    return json.dumps(block).encode()


@pytest.fixture
async def registry() -> AsyncIterator[Registry]:
    opened = open_registry(None)
    yield opened
    opened.close()


@pytest.fixture
def registered(registry: Registry) -> Registry:
    """Return a registry where the server s has the tool."""
    definition = Definition(
        DIGEST, "get.day", INLINE.json, (), digest_of(SCHEMA), None, "2025-11-25"
    )
    registry.register("s", [definition], keep=None)
    return registry


@pytest.fixture
def converter(registry: Registry) -> CallConverter:
    return CallConverter(
        resolver_for(registry, LIMITS), Validator(run_in_process), registry, LIMITS
    )


def request_for(
    arguments: Any,
    *mappings: bytes,
    target: Target | None = INLINE,
    evaluation: EvaluationOptions = EVALUATION,
    assert_formats: bool = False,
) -> CallToConvert:
    options = ValidationOptions(evaluation, DEFAULT_VERSION, assert_formats)
    return CallToConvert(call(arguments), mappings or (mapping(),), target, options)


def reported(outcome: ConvertedCall) -> list[tuple[str, str]]:
    return [
        (violation.instance_location, violation.code)
        for violation in outcome.verdict.verdict.violations
    ]


def params(outcome: ConvertedCall) -> Any:
    return json.loads(outcome.params)


async def test_a_call_has_the_name_of_its_tool(converter: CallConverter) -> None:
    """Arguments without an encoding are returned unchanged."""
    outcome = await converter.convert(request_for({"day": "2026-01-01"}))

    assert ("s", "get.day", "toolu_1", ()) == (
        outcome.server,
        outcome.tool,
        outcome.call_id,
        outcome.changes,
    )
    assert {"name": "get.day", "arguments": {"day": "2026-01-01"}} == params(outcome)
    verdict = outcome.verdict
    assert verdict.verdict.valid
    assert (DIGEST, digest_of(SCHEMA), True) == (
        verdict.definition_digest,
        verdict.schema_digest,
        verdict.enforced,
    )


async def test_arguments_are_validated_against_the_original(converter: CallConverter) -> None:
    """The validation options of the request apply."""
    outcome = await converter.convert(request_for({"day": "?"}, assert_formats=True))

    assert [("/day", "FORMAT")] == reported(outcome)
    assert {"day": "?"} == params(outcome)["arguments"]
    assert "get_day" == outcome.verdict.tool


async def test_the_mapping_is_selected_by_name(
    converter: CallConverter,
) -> None:
    """Mappings are matched by the name that the model uses."""
    others = [mapping(f"other_{count}", tool="x") for count in range(3)]
    outcome = await converter.convert(request_for({"day": ""}, *others, mapping()))

    assert "get.day" == outcome.tool


async def test_encoded_arguments_are_decoded(converter: CallConverter) -> None:
    """Changes are listed at the locations of the model's arguments."""
    decoder = {"nulls": ["count"], "renamed": {"the_day": "day"}}
    outcome = await converter.convert(
        request_for({"the_day": "", "count": None}, mapping(decoder=decoder))
    )

    assert {"day": ""} == params(outcome)["arguments"]
    assert [("/count", ChangeRule.SYNTHETIC_NULL_REMOVED)] == [
        (change.pointer, change.rule) for change in outcome.changes
    ]
    assert outcome.verdict.verdict.valid


READINGS = {"any_of": [{"when": {}}, {"when": {}, "as": {"renamed": {"z": "y"}}}]}


@pytest.mark.parametrize(
    ("value", "expected", "valid"),
    [
        ({"z": 1}, {"y": 1}, True),
        ({"x": 1, "z": 2}, {"x": 1, "z": 2}, True),
        ({"y": 1, "x": 1}, {"y": 1, "x": 1}, False),
        ({"w": 1}, {"w": 1}, False),
    ],
)
async def test_the_first_valid_alternative_is_decoded(
    converter: CallConverter, value: Any, expected: Any, valid: bool
) -> None:
    """Without a valid alternative, the first is used."""
    encoded = mapping(decoder={"properties": {"of": READINGS}})
    outcome = await converter.convert(request_for({"day": "", "of": value}, encoded))

    assert (expected, valid) == (params(outcome)["arguments"]["of"], outcome.verdict.verdict.valid)


async def test_strings_are_decoded_where_the_schema_requires_it(
    converter: CallConverter,
) -> None:
    """JSON strings are decoded without repair options; other strings are unchanged."""
    outcome = await converter.convert(request_for({"day": "{}", "places": '["here"]'}))

    assert {"day": "{}", "places": ["here"]} == params(outcome)["arguments"]
    assert (True, None) == (outcome.verdict.verdict.valid, outcome.verdict.verdict.repair)
    assert [("/places", ChangeRule.JSON_STRING_DECODED)] == [
        (change.pointer, change.rule) for change in outcome.changes
    ]


@pytest.mark.parametrize(
    ("evaluation", "valid", "expected"),
    [
        (EvaluationOptions(), False, '"3"'),
        (EvaluationOptions(repairs=Repairs(coercion=Coercion.SAFE_SCALARS)), True, "3"),
        (EvaluationOptions(repairs=Repairs(apply_defaults=True)), False, '"3"'),
    ],
)
async def test_requested_repairs_are_applied(
    converter: CallConverter, evaluation: EvaluationOptions, valid: bool, expected: str
) -> None:
    """Repairs are combined with the decoding of JSON strings."""
    arguments = {"day": "", "count": "3", "places": "[]"}
    outcome = await converter.convert(request_for(arguments, evaluation=evaluation))

    assert (valid, expected) == (
        outcome.verdict.verdict.valid,
        json.dumps(params(outcome)["arguments"]["count"]),
    )
    assert valid is ([] == params(outcome)["arguments"]["places"])


async def test_a_repair_that_stays_invalid_is_not_applied(converter: CallConverter) -> None:
    """Arguments and verdict are those of the model's call."""
    outcome = await converter.convert(request_for({"places": "[]"}))

    assert {"places": "[]"} == params(outcome)["arguments"]
    assert ([("", "REQUIRED"), ("/places", "TYPE")], ()) == (reported(outcome), outcome.changes)
    assert outcome.verdict.verdict.repair is None


@pytest.mark.parametrize("text", [b"{", call([]), call("{}"), b'{"name": 3, "input": {}}'])
async def test_an_unreadable_call_is_an_invalid_verdict(
    converter: CallConverter, text: bytes
) -> None:
    """The only mapping is used; there are no call params."""
    outcome = await converter.convert(CallToConvert(text, (mapping(),), INLINE, OPTIONS))

    assert ("s", "get.day", b"") == (outcome.server, outcome.tool, outcome.params)
    assert (False, DIGEST, "") == (
        outcome.verdict.verdict.valid,
        outcome.verdict.definition_digest,
        outcome.verdict.schema_digest,
    )


async def test_an_unreadable_call_with_several_mappings_has_no_tool(
    converter: CallConverter,
) -> None:
    """The mapping is ambiguous, so the response names no tool."""
    mappings = (mapping(), mapping("other"))
    outcome = await converter.convert(CallToConvert(b"[]", mappings, INLINE, OPTIONS))

    assert ("", "", [("", "CALL_NOT_AN_OBJECT")]) == (
        outcome.server,
        outcome.tool,
        reported(outcome),
    )


async def test_violations_for_the_model_are_relative_to_the_arguments(
    converter: CallConverter,
) -> None:
    """The model did not write the envelope of the call."""
    outcome = await converter.convert(request_for([]))
    assert outcome.verdict.part is not None

    assert (["/input"], [""]) == (
        [violation.instance_location for violation in outcome.verdict.verdict.violations],
        [violation.instance_location for violation in outcome.verdict.part.violations],
    )


async def test_the_definition_is_resolved_by_the_mapping(
    registered: Registry, converter: CallConverter
) -> None:
    """It is resolved by digest if the name is bound to another definition."""
    by_name = await converter.convert(request_for({"day": ""}, target=None))
    by_digest = await converter.convert(request_for({"day": ""}, mapping(server="t"), target=None))

    assert ("s", "t") == (by_name.server, by_digest.server)
    assert by_name.verdict == by_digest.verdict


async def test_report_only_servers_are_not_enforced(registered: Registry) -> None:
    """Calls of their tools are validated."""
    resolver = resolver_for(registered, LIMITS, frozenset({"s"}))
    converter = CallConverter(resolver, Validator(run_in_process), registered, LIMITS)
    outcome = await converter.convert(request_for({}, target=None))

    assert (False, False) == (outcome.verdict.verdict.valid, outcome.verdict.enforced)


REJECTED: Any = [
    pytest.param(
        CallToConvert(call({}), (), INLINE, OPTIONS),
        "INVALID_REQUEST",
        id="no mapping",
    ),
    pytest.param(request_for({}, b"{"), "INVALID_MAPPING", id="not JSON"),
    pytest.param(
        request_for({}, mapping(), b"{}"), "INVALID_MAPPING", id="one invalid mapping of several"
    ),
    pytest.param(
        request_for({}, mapping("other")), "MAPPING_MISMATCH", id="mapping of another tool"
    ),
    pytest.param(
        request_for({}, mapping(), mapping()), "INVALID_MAPPING", id="two mappings of one name"
    ),
    pytest.param(
        request_for({}, mapping(), mapping("other", api=ModelApi.OLLAMA)),
        "INVALID_REQUEST",
        id="two APIs",
    ),
    pytest.param(
        request_for({}, target=inline({**TOOL, "title": "?"})),
        "MAPPING_MISMATCH",
        id="another definition",
    ),
    pytest.param(request_for({}, target=SchemaSource(b"{}")), "INVALID_REQUEST", id="a schema"),
    pytest.param(
        request_for({}, target=RegisteredTool("s", "?")), "UNKNOWN_TOOL", id="unknown tool"
    ),
    pytest.param(request_for({}, target=InlineTool(b"{}")), "INVALID_TOOL", id="not a definition"),
    pytest.param(request_for({}, target=None), "UNKNOWN_DEFINITION", id="unknown definition"),
    pytest.param(request_for("x" * (1 << 20)), "LIMIT_EXCEEDED", id="too large"),
]


@pytest.mark.parametrize(("call_", "expected"), REJECTED)
async def test_ambiguous_or_invalid_requests_are_rejected(
    converter: CallConverter, call_: CallToConvert, expected: str
) -> None:
    """Each request has its error reason."""
    with pytest.raises(RequestError) as raised:
        await converter.convert(call_)

    assert expected == raised.value.reason.value


async def test_the_error_for_an_unknown_definition_has_a_remedy(converter: CallConverter) -> None:
    """The message suggests sending the tool inline."""
    with pytest.raises(RequestError, match="send the tool with the call, or register it") as raised:
        await converter.convert(request_for({}, target=None))

    assert (ErrorReason.UNKNOWN_DEFINITION, {"digest": DIGEST}) == (
        raised.value.reason,
        raised.value.metadata,
    )


async def test_decoding_is_bounded_by_steps(
    registry: Registry,
) -> None:
    """The limit of evaluation steps applies to decoders."""
    limits = Limits(steps=1000)
    resolver = resolver_for(registry, limits)
    converter = CallConverter(resolver, Validator(run_in_process), registry, limits)
    decoder = {"properties": {"places": {"items": {"json_text": True}}}}
    with pytest.raises(RequestError) as raised:
        await converter.convert(request_for({"places": ["1"] * 1000}, mapping(decoder=decoder)))

    assert "steps" == raised.value.metadata["bound"]
