"""Arguments have one answer, however a tool is called, and the service gives the same."""

import contextlib
import json
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field
from sidecheck import (
    BlockingClient,
    Change,
    Coercion,
    Options,
    ToolDefinition,
)
from sidecheck.inference import (
    InvalidArguments,
    call_tool,
    call_tool_result,
    tool_definition,
    validate_arguments,
)
from support.echo_tools import ANNOTATIONS, JSON, Colour, Point, Shape, echo_tool
from support.running import RunningServer

#: What the service does with the arguments: read strings as objects and arrays.
OPTIONS = Options(coercion=Coercion.JSON_STRINGS, assert_formats=True)


@pytest.fixture(scope="module")
def client(shared_server: RunningServer) -> Iterator[BlockingClient]:
    with BlockingClient(shared_server.address, timeout=120) as connected:
        yield connected


def outcomes(annotation: Any, argument: Any) -> dict[str, Any]:
    """Return by entry point the value that reaches the function and the changes, or None."""
    echo, arguments = echo_tool(annotation), {"x": argument}
    answers: dict[str, Any] = dict.fromkeys(["validate_arguments", "call_tool", "in Python"])
    try:
        valid = validate_arguments(echo, arguments)
        answers["validate_arguments"] = (valid.values["x"], list(valid.changes))
    except InvalidArguments:
        pass
    changes: list[Change] = []
    with contextlib.suppress(InvalidArguments):
        answers["call_tool"] = (call_tool(echo, arguments, changes=changes), changes)
    with contextlib.suppress(InvalidArguments):
        answers["in Python"] = (echo(**arguments), changes)
    is_error = call_tool_result(echo, arguments).get("isError", False)
    assert is_error is (answers["call_tool"] is None)
    return answers


def service_outcome(
    client: BlockingClient, annotation: Any, argument: Any
) -> tuple[bool, list[Change]]:
    """Return whether the service finds the argument valid, if need be repaired, and changes."""
    target = ToolDefinition(tool_definition(echo_tool(annotation)))
    verdict = client.validate(target, {"x": argument}, options=OPTIONS)
    if verdict.valid or verdict.repair is None:
        return verdict.valid, []
    return verdict.repair.valid, [*verdict.repair.changes] if verdict.repair.valid else []


@settings(max_examples=150)
@given(ANNOTATIONS, st.lists(JSON, min_size=1, max_size=8))
def test_every_entry_point_has_the_same_answer(annotation: Any, arguments: list[Any]) -> None:
    """The value that reaches the function is the same too, and so are the changes."""
    for argument in arguments:
        (expected, *others) = outcomes(annotation, json.loads(json.dumps(argument))).values()
        assert [repr(expected)] * 2 == [repr(answer) for answer in others], (annotation, argument)


@settings(max_examples=60)
@given(ANNOTATIONS, st.lists(JSON, min_size=1, max_size=8))
def test_the_service_has_the_same_answer(
    client: BlockingClient, annotation: Any, arguments: list[Any]
) -> None:
    """It has the same changes, in the order of their locations."""
    for argument in arguments:
        answer = outcomes(annotation, argument)["call_tool"]
        mine = (answer is not None, answer[1] if answer else [])
        assert service_outcome(client, annotation, argument) == mine, (annotation, argument)


FIVE = "5"


@pytest.mark.parametrize(
    ("valid", "annotation", "argument"),
    [
        (False, int, FIVE),
        (False, float, FIVE),
        (False, bool, "true"),
        (False, int | None, FIVE),
        (False, list[int], FIVE),
        (False, list[int], [FIVE]),
        (False, list[int], f'["{FIVE}"]'),
        (False, dict[str, int], {"a": FIVE}),
        (False, Point, {"x": FIVE}),
        (False, Point, f'{{"x": "{FIVE}"}}'),
        (True, list[int], "[5]"),
        (True, list[str], "[]"),
        (True, dict[str, list[int]], '{"a": "[5]"}'),
        (True, Point, '{"x": 5}'),
        (True, Shape, {"at": '[{"x": 5}]'}),
        (True, list[Point], ['{"x": 5}', {"x": 6}]),
        (True, int | list[int], "[5]"),
        (True, str | list[int], "[5]"),
        (True, list[int] | None, "[5]"),
        (True, tuple[int, list[int]], '[5, "[6]"]'),
        (True, Annotated[list[int], Field(min_length=1)], "[5]"),
        (False, Annotated[list[int], Field(min_length=2)], "[5]"),
        (True, Colour, "red"),
        (False, Colour, "[1]"),
        (True, Any, "[5]"),
        (True, str, "[5]"),
    ],
)
def test_an_answer(valid: bool, annotation: Any, argument: Any, client: BlockingClient) -> None:
    """Every entry point and the service are tested."""
    answers = outcomes(annotation, argument)
    assert [valid] * 3 == [outcome is not None for outcome in answers.values()]
    changes = answers["call_tool"][1] if valid else []
    assert (valid, changes) == service_outcome(client, annotation, argument)
