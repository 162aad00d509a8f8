"""What the arguments of a call mean: what can be meant is judged in order."""

import json
from typing import Any

import pytest
from sidecheck_server.core.compiler.compilation import compile_source
from sidecheck_server.core.compiler.compiled_schema import CompiledSchema
from sidecheck_server.core.convert.apis import APIS
from sidecheck_server.core.convert.calls import Meaning, Meant, read_call
from sidecheck_server.core.convert.plan import Plan
from sidecheck_server.core.convert.words import ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, judge
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.source import SchemaSource

LIMITS = Limits()
#: The member a is a text, or the JSON text of an array.
EITHER: Any = {
    "members": {
        "a": {"any_of": [{"when": {}}, {"when": {"types": ["string"]}, "as": {"json_text": True}}]}
    }
}


def meant(schema: Any, arguments: Any, guide: Any = None, limits: Limits = LIMITS) -> Meant:
    """Return what *arguments* mean under *schema*, judged one by one."""
    text = json.dumps({"type": "tool_use", "id": "1", "name": "t", "input": arguments})
    call = read_call(text.encode(), APIS[ModelApi.ANTHROPIC], LIMITS)
    plan = Plan(ModelApi.ANTHROPIC, "t", "", "t", "sha256:0", strict=False, guide=guide)
    source = SchemaSource(json.dumps(schema).encode())
    compiled = CompiledSchema(source, compile_source(source, LIMITS), LIMITS)
    meaning = Meaning(call, plan, EvaluationOptions(), limits)
    step = meaning.after(None)
    while not isinstance(step, Meant):
        step = meaning.after(judge(compiled, step.payload, step.how))
    return step


def of(a: Any) -> Any:
    return {"type": "object", "properties": {"a": a}}


@pytest.mark.parametrize(
    ("schema", "guide", "given", "expected", "valid"),
    [
        pytest.param(of({"type": "string"}), EITHER, "[1]", "[1]", True, id="the first"),
        pytest.param(of({"type": "array"}), EITHER, "[1]", [1], True, id="the second"),
        pytest.param(of({"type": "array"}), None, "[1]", [1], True, id="decoded at last"),
        pytest.param(of({"type": "null"}), EITHER, "[1]", "[1]", False, id="none"),
        pytest.param(of({"type": "array"}), None, "[1", "[1", False, id="not JSON"),
    ],
)
def test_the_first_that_is_valid_is_meant(
    schema: Any, guide: Any, given: Any, expected: Any, *, valid: bool
) -> None:
    """Or else the first of all, with what is wrong with it."""
    found = meant(schema, {"a": given}, guide)

    assert ({"a": expected}, valid) == (json.loads(found.payload), found.verdict.valid)
    assert (given != expected) == bool(found.changes)


def test_what_takes_too_long_is_refused() -> None:
    """However little of it is left to judge."""
    with pytest.raises(RequestError) as caught:
        meant(of({}), {"a": "[1]"}, EITHER, Limits(steps=10))

    assert (ErrorReason.LIMIT_EXCEEDED, "steps") == (
        caught.value.reason,
        caught.value.metadata["bound"],
    )
