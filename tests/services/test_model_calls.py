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
from support.checkers import validate_in_process
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
GIVEN: Any = {"day": "?", "places": "[1]"}


def plan(name: str = "get_day", **more: Any) -> bytes:
    given: dict[str, Any] = {
        "api": ModelApi.ANTHROPIC,
        "server": "s",
        "tool": "get.day",
        "definition_digest": DIGEST,
        "strict": False,
        "decoder": None,
    }
    return mapping_to_json(ToolMapping(name=name, **{**given, **more}))


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
    """A registry where the server s has the tool."""
    definition = Definition(DIGEST, "get.day", INLINE.json, (), digest_of(SCHEMA), None)
    registry.register("s", [definition], keep=None)
    return registry


@pytest.fixture
def converter(registry: Registry) -> CallConverter:
    return CallConverter(
        resolver_for(registry, LIMITS), Validator(validate_in_process), registry, LIMITS
    )


def request_for(
    arguments: Any,
    *plans: bytes,
    target: Target | None = INLINE,
    evaluation: EvaluationOptions = EVALUATION,
    assert_formats: bool = False,
) -> CallToConvert:
    options = ValidationOptions(evaluation, DEFAULT_VERSION, assert_formats)
    return CallToConvert(call(arguments), plans or (plan(),), target, options)


def reported(outcome: ConvertedCall) -> list[tuple[str, str]]:
    return [(entry.instance_location, entry.code) for entry in outcome.verdict.verdict.violations]


def params(outcome: ConvertedCall) -> Any:
    return json.loads(outcome.params)


async def test_a_call_is_named_as_its_tool_is(converter: CallConverter) -> None:
    """With its arguments as they were, if there is nothing to undo."""
    outcome = await converter.convert(request_for({"day": "2026-01-01"}))

    assert ("s", "get.day", "toolu_1", ()) == (
        outcome.server,
        outcome.tool,
        outcome.call_id,
        outcome.changes,
    )
    assert {"name": "get.day", "arguments": {"day": "2026-01-01"}} == params(outcome)
    whole = outcome.verdict
    assert whole.verdict.valid
    assert (DIGEST, digest_of(SCHEMA), True) == (
        whole.definition_digest,
        whole.schema_digest,
        whole.enforced,
    )


async def test_arguments_are_validated_under_the_original(converter: CallConverter) -> None:
    """By whatever is asked for."""
    outcome = await converter.convert(request_for({"day": "?"}, assert_formats=True))

    assert [("/day", "FORMAT")] == reported(outcome)
    assert {"day": "?"} == params(outcome)["arguments"]
    assert "get_day" == outcome.verdict.tool


async def test_the_mapping_that_a_call_means_is_found_among_others(
    converter: CallConverter,
) -> None:
    """By the name that the model knows."""
    others = [plan(f"other_{count}", tool="x") for count in range(3)]
    outcome = await converter.convert(request_for({"day": ""}, *others, plan()))

    assert "get.day" == outcome.tool


async def test_what_a_mapping_encodes_is_turned_back(converter: CallConverter) -> None:
    """And told, at the places where the model put it."""
    decoder = {"nulls": ["count"], "renamed": {"the_day": "day"}}
    outcome = await converter.convert(
        request_for({"the_day": "", "count": None}, plan(decoder=decoder))
    )

    assert {"day": ""} == params(outcome)["arguments"]
    assert [("/count", ChangeRule.SYNTHETIC_NULL_REMOVED)] == [
        (entry.pointer, entry.rule) for entry in outcome.changes
    ]
    assert outcome.verdict.verdict.valid


BOTH = {"any_of": [{"when": {}}, {"when": {}, "as": {"renamed": {"z": "y"}}}]}


@pytest.mark.parametrize(
    ("given", "converted", "valid"),
    [
        ({"z": 1}, {"y": 1}, True),
        ({"x": 1, "z": 2}, {"x": 1, "z": 2}, True),
        ({"y": 1, "x": 1}, {"y": 1, "x": 1}, False),
        ({"w": 1}, {"w": 1}, False),
    ],
)
async def test_of_several_readings_the_first_that_is_valid_counts(
    converter: CallConverter, given: Any, converted: Any, valid: bool
) -> None:
    """And if none is, the first."""
    entry = plan(decoder={"properties": {"of": BOTH}})
    outcome = await converter.convert(request_for({"day": "", "of": given}, entry))

    assert (converted, valid) == (params(outcome)["arguments"]["of"], outcome.verdict.verdict.valid)


async def test_strings_are_decoded_where_the_schema_demands_it(
    converter: CallConverter,
) -> None:
    """Whether or not repairs are asked for; other strings stay."""
    outcome = await converter.convert(request_for({"day": "{}", "places": '["here"]'}))

    assert {"day": "{}", "places": ["here"]} == params(outcome)["arguments"]
    assert (True, None) == (outcome.verdict.verdict.valid, outcome.verdict.verdict.repair)
    assert [("/places", ChangeRule.JSON_STRING_DECODED)] == [
        (entry.pointer, entry.rule) for entry in outcome.changes
    ]


@pytest.mark.parametrize(
    ("evaluation", "valid", "converted"),
    [
        (EvaluationOptions(), False, '"3"'),
        (EvaluationOptions(repairs=Repairs(coercion=Coercion.SAFE_SCALARS)), True, "3"),
        (EvaluationOptions(repairs=Repairs(apply_defaults=True)), False, '"3"'),
    ],
)
async def test_other_repairs_are_made_if_they_are_asked_for(
    converter: CallConverter, evaluation: EvaluationOptions, valid: bool, converted: str
) -> None:
    """Together with the decoding of strings."""
    given = {"day": "", "count": "3", "places": "[]"}
    outcome = await converter.convert(request_for(given, evaluation=evaluation))

    assert (valid, converted) == (
        outcome.verdict.verdict.valid,
        json.dumps(params(outcome)["arguments"]["count"]),
    )
    assert valid is ([] == params(outcome)["arguments"]["places"])


async def test_a_repair_that_does_not_help_is_not_made(converter: CallConverter) -> None:
    """The arguments are those that the model gave, and so is the verdict."""
    outcome = await converter.convert(request_for({"places": "[]"}))

    assert {"places": "[]"} == params(outcome)["arguments"]
    assert ([("", "REQUIRED"), ("/places", "TYPE")], ()) == (reported(outcome), outcome.changes)
    assert outcome.verdict.verdict.repair is None


@pytest.mark.parametrize("text", [b"{", call([]), call("{}"), b'{"name": 3, "input": {}}'])
async def test_a_call_that_cannot_be_read_is_an_invalid_verdict(
    converter: CallConverter, text: bytes
) -> None:
    """Of the one mapping there is; there are no arguments that anybody could be sent."""
    outcome = await converter.convert(CallToConvert(text, (plan(),), INLINE, OPTIONS))

    assert ("s", "get.day", b"") == (outcome.server, outcome.tool, outcome.params)
    assert (False, DIGEST, "") == (
        outcome.verdict.verdict.valid,
        outcome.verdict.definition_digest,
        outcome.verdict.schema_digest,
    )


async def test_a_call_that_names_no_tool_may_mean_any_of_several(converter: CallConverter) -> None:
    """So the answer names none."""
    several = (plan(), plan("other"))
    outcome = await converter.convert(CallToConvert(b"[]", several, INLINE, OPTIONS))

    assert ("", "", [("", "CALL_NOT_AN_OBJECT")]) == (
        outcome.server,
        outcome.tool,
        reported(outcome),
    )


async def test_what_is_wrong_with_arguments_is_told_the_model_as_if_they_stood_alone(
    converter: CallConverter,
) -> None:
    """It did not write what is around them."""
    outcome = await converter.convert(request_for([]))
    assert outcome.verdict.part is not None

    assert (["/input"], [""]) == (
        [entry.instance_location for entry in outcome.verdict.verdict.violations],
        [entry.instance_location for entry in outcome.verdict.part.violations],
    )


async def test_the_registered_definition_is_found_by_the_mapping(
    registered: Registry, converter: CallConverter
) -> None:
    """By its digest alone, if another has its name now."""
    named = await converter.convert(request_for({"day": ""}, target=None))
    by_digest = await converter.convert(request_for({"day": ""}, plan(server="t"), target=None))

    assert ("s", "t") == (named.server, by_digest.server)
    assert named.verdict == by_digest.verdict


async def test_a_server_that_only_reports_does_so_here_too(registered: Registry) -> None:
    """Its tools are validated, and not enforced."""
    resolver = resolver_for(registered, LIMITS, frozenset({"s"}))
    converter = CallConverter(resolver, Validator(validate_in_process), registered, LIMITS)
    outcome = await converter.convert(request_for({}, target=None))

    assert (False, False) == (outcome.verdict.verdict.valid, outcome.verdict.enforced)


REFUSED: Any = [
    pytest.param(
        CallToConvert(call({}), (), INLINE, OPTIONS),
        "INVALID_REQUEST",
        id="no plan",
    ),
    pytest.param(request_for({}, b"{"), "INVALID_MAPPING", id="no JSON"),
    pytest.param(request_for({}, plan(), b"{}"), "INVALID_MAPPING", id="one of several is none"),
    pytest.param(request_for({}, plan("other")), "MAPPING_MISMATCH", id="another tool's plan"),
    pytest.param(request_for({}, plan(), plan()), "INVALID_MAPPING", id="two plans of one name"),
    pytest.param(
        request_for({}, plan(), plan("other", api=ModelApi.OLLAMA)),
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
    pytest.param(request_for({}, target=InlineTool(b"{}")), "INVALID_TOOL", id="no definition"),
    pytest.param(request_for({}, target=None), "UNKNOWN_DEFINITION", id="unknown definition"),
    pytest.param(request_for("x" * (1 << 20)), "LIMIT_EXCEEDED", id="too large"),
]


@pytest.mark.parametrize(("call_", "expected"), REFUSED)
async def test_calls_whose_meaning_nobody_can_tell_are_rejected(
    converter: CallConverter, call_: CallToConvert, expected: str
) -> None:
    """Each for its reason."""
    with pytest.raises(RequestError) as raised:
        await converter.convert(call_)

    assert expected == raised.value.reason.value


async def test_a_definition_that_is_not_known_can_be_inline(converter: CallConverter) -> None:
    """Which the error says."""
    with pytest.raises(RequestError, match="send the tool with the call, or register it") as raised:
        await converter.convert(request_for({}, target=None))

    assert (ErrorReason.UNKNOWN_DEFINITION, {"digest": DIGEST}) == (
        raised.value.reason,
        raised.value.metadata,
    )


async def test_arguments_may_not_need_a_workerer_to_turn_back_than_to_validate(
    registry: Registry,
) -> None:
    """Whatever a decoder asks for."""
    limits = Limits(steps=1000)
    resolver = resolver_for(registry, limits)
    converter = CallConverter(resolver, Validator(validate_in_process), registry, limits)
    decoder = {"properties": {"places": {"items": {"json_text": True}}}}
    with pytest.raises(RequestError) as raised:
        await converter.convert(request_for({"places": ["1"] * 1000}, plan(decoder=decoder)))

    assert "steps" == raised.value.metadata["bound"]
