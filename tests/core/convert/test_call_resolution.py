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
#: The property a is a text, or the JSON text of an array.
EITHER: Any = {
    "properties": {
        "a": {"any_of": [{"when": {}}, {"when": {"types": ["string"]}, "as": {"json_text": True}}]}
    }
}


def resolve(
    schema: Any, arguments: Any, decoder: Any = None, limits: Limits = LIMITS
) -> ResolvedArguments:
    """Return the resolution of *arguments* for *schema*."""
    text = json.dumps({"type": "tool_use", "id": "1", "name": "t", "input": arguments})
    call = read_model_call(text.encode(), PROVIDERS[ModelApi.ANTHROPIC], LIMITS)
    mapping = ToolMapping(
        ModelApi.ANTHROPIC, "t", "", "t", "sha256:0", strict=False, decoder=decoder
    )
    source = SchemaSource(json.dumps(schema).encode())
    compiled = CompiledSchema(source, compile_schema(source, LIMITS), LIMITS)
    resolution = CallResolution(call, mapping, EvaluationOptions(), limits)
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


def test_decoding_beyond_the_step_limit_is_rejected() -> None:
    """The size of the decoded value does not matter."""
    with pytest.raises(RequestError) as excinfo:
        resolve(of({}), {"a": "[1]"}, EITHER, Limits(steps=10))

    assert (ErrorReason.LIMIT_EXCEEDED, "steps") == (
        excinfo.value.reason,
        excinfo.value.metadata["bound"],
    )
