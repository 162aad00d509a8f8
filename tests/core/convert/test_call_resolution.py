"""Resolution of arguments: interpretations are validated in order."""

import json
from typing import Any

import pytest
from sidecheck_server.core.compiler.compilation import CompiledSchema, compile_schema
from sidecheck_server.core.convert.mapping import ToolMapping
from sidecheck_server.core.convert.model_call import (
    CallResolution,
    ResolvedArguments,
    read_model_call,
)
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.dialects import SchemaSource

LIMITS = Limits()
OPTIONS = EvaluationOptions()
#: The property a is a text, or the JSON text of an array.
EITHER: Any = {
    "properties": {
        "a": {"any_of": [{"when": {}}, {"when": {"types": ["string"]}, "as": {"json_text": True}}]}
    }
}


def resolve(
    schema: Any,
    arguments: Any,
    decoder: Any = None,
    limits: Limits = LIMITS,
    options: EvaluationOptions = OPTIONS,
) -> ResolvedArguments:
    """Return the resolution of *arguments* for *schema*."""
    text = json.dumps({"type": "tool_use", "id": "1", "name": "t", "input": arguments})
    call = read_model_call(text.encode(), PROVIDERS[ModelApi.ANTHROPIC], LIMITS)
    mapping = ToolMapping(
        ModelApi.ANTHROPIC, "t", "", "t", "sha256:0", strict=False, decoder=decoder
    )
    source = SchemaSource(json.dumps(schema).encode())
    compiled = CompiledSchema(source, compile_schema(source, LIMITS), LIMITS)
    resolution = CallResolution(call, mapping, options, limits)
    step = resolution.advance(None)
    while not isinstance(step, ResolvedArguments):
        step = resolution.advance(evaluate(compiled, step.payload, step.options))
    return step


def of(a: Any) -> Any:
    return {"type": "object", "properties": {"a": a}}


@pytest.mark.parametrize(
    ("schema", "decoder", "arguments", "expected", "valid"),
    [
        pytest.param(of({"type": "string"}), EITHER, "[1]", "[1]", True, id="the first"),
        pytest.param(of({"type": "array"}), EITHER, "[1]", [1], True, id="the second"),
        pytest.param(of({"type": "array"}), None, "[1]", [1], True, id="decoded at last"),
        pytest.param(of({"type": "null"}), EITHER, "[1]", "[1]", False, id="none"),
        pytest.param(of({"type": "array"}), None, "[1", "[1", False, id="not JSON"),
    ],
)
def test_the_first_valid_interpretation_is_selected(
    schema: Any, decoder: Any, arguments: Any, expected: Any, *, valid: bool
) -> None:
    """Without one, the first interpretation is used, with its violations."""
    result = resolve(schema, {"a": arguments}, decoder)

    assert ({"a": expected}, valid) == (json.loads(result.payload), result.verdict.valid)
    assert (arguments != expected) == bool(result.changes)


JSON_OR_TEXT: Any = {
    "any_of": [
        {"when": {"types": ["string"]}, "as": {"json_text": True}},
        {"when": {"types": ["string"]}},
    ]
}
TEXT, NUMBER = {"type": "string"}, {"type": "number"}


@pytest.mark.parametrize(
    ("options", "properties", "arguments", "expected", "blamed"),
    [
        pytest.param(
            OPTIONS,
            {"q": TEXT, "n": {"type": "integer"}},
            {"q": "5", "n": "x"},
            {"q": "5", "n": "x"},
            ["/n"],
            id="the second reading of an argument",
        ),
        pytest.param(
            EvaluationOptions(max_violations=1),
            {"q": TEXT, "n": {"type": "integer"}},
            {"q": "5", "n": "x"},
            {"q": "5", "n": "x"},
            ["/n"],
            id="in a truncated verdict",
        ),
        pytest.param(
            OPTIONS,
            {"a": TEXT, "b": NUMBER, "c": TEXT, "n": {"type": "integer"}},
            {"a": "1", "b": "2", "c": "3", "n": "x"},
            {"a": "1", "b": 2, "c": "3", "n": "x"},
            ["/n"],
            id="different readings of each",
        ),
        pytest.param(
            OPTIONS,
            {"a": {"type": "object", "properties": {"b": TEXT, "n": TEXT}}},
            {"a": {"b": "1", "n": 2}},
            {"a": {"b": "1", "n": 2}},
            ["/a/n"],
            id="within an argument",
        ),
    ],
)
def test_a_valid_argument_is_not_blamed(
    options: EvaluationOptions, properties: Any, arguments: Any, expected: Any, blamed: list[str]
) -> None:
    """The fault is in another argument."""
    names = ("q", "a", "b", "c")
    decoder = {"properties": dict.fromkeys(names, JSON_OR_TEXT)}
    if isinstance(arguments.get("a"), dict):
        decoder["properties"]["a"] = {"properties": {"b": JSON_OR_TEXT}}
    schema = {"type": "object", "properties": properties}

    result = resolve(schema, arguments, decoder, options=options)

    assert expected == json.loads(result.payload)
    assert blamed == [violation.instance_location for violation in result.verdict.violations]
    assert len(result.changes) == sum(value != arguments[name] for name, value in expected.items())


def test_readings_of_many_arguments_are_combined() -> None:
    """There are more combinations of readings than are tried."""
    properties = {f"p{number}": (TEXT, NUMBER)[number % 2] for number in range(12)}
    decoder = {"properties": dict.fromkeys(properties, JSON_OR_TEXT)}
    arguments = dict.fromkeys(properties, "1")

    result = resolve({"type": "object", "properties": properties}, arguments, decoder)

    assert result.verdict.valid
    assert [1, "1"] == [json.loads(result.payload)[name] for name in ("p1", "p2")]


def test_decoding_beyond_the_step_limit_is_rejected() -> None:
    """The size of the decoded value does not matter."""
    with pytest.raises(RequestError) as excinfo:
        resolve(of({}), {"a": "[1]"}, EITHER, Limits(steps=10))

    assert (ErrorReason.LIMIT_EXCEEDED, "steps") == (
        excinfo.value.reason,
        excinfo.value.metadata["bound"],
    )
