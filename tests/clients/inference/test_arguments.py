"""Validation and conversion of the arguments of tool calls."""

import datetime as dt
import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import AliasChoices, BaseModel, Field
from sidecheck import Change
from sidecheck.inference import (
    InvalidArguments,
    acall_tool,
    call_tool,
    dump_result,
    infer_tool,
    tool,
    tool_definition,
    validate_arguments,
)
from sidecheck.inference.output_schema import InvalidResult
from support.echo_tools import ANNOTATIONS, JSON, Colour, Point, Shape, echo_tool


@pytest.mark.parametrize(
    ("expected", "annotation", "argument"),
    [
        (5, int, 5),
        (5, int, 5.0),
        (1.0, float, 1),
        ("5", str, "5"),
        (dt.date(2020, 1, 2), dt.date, "2020-01-02"),
        (Decimal("1.5"), Decimal, "1.5"),
        (Path("a"), Path, "a"),
        (UUID(int=1), UUID, "00000000-0000-0000-0000-000000000001"),
        (Colour.RED, Colour, "red"),
        (Colour.RED, Literal[Colour.RED], "red"),
        ([Colour.RED, "blue"], list[Literal[Colour.RED, "blue"]], ["red", "blue"]),
        (Point(1), Point, {"x": 1}),
        ({1, 2}, set[int], [1, 2]),
        ((1, "a"), tuple[int, str], [1, "a"]),
        ({1: "a"}, dict[int, str], {"1": "a"}),
        (Shape(at=[Point(1, 2)]), Shape, {"at": [{"x": 1, "y": 2}]}),
        ([Point(1)], Sequence[Point], [{"x": 1}]),
    ],
)
def test_arguments_are_converted_to_the_types_of_the_function(
    expected: Any, annotation: Any, argument: Any
) -> None:
    value = call_tool(echo_tool(annotation), {"x": argument})
    assert (expected, type(expected)) == (value, type(value))


@pytest.mark.parametrize(
    ("expected", "annotation", "argument"),
    [
        ([("/x", "Input should be a valid integer")], int, "five"),
        ([("/x", "Input should be a valid integer")], int, True),
        ([("/x", "Input should be a valid integer")], int, '"5"'),
        ([("/x", "Input should be a valid boolean")], bool, 1),
        ([("/x", "Input should be a valid string")], str, 5),
        ([("/x/1", "Input should be a valid integer")], list[int], [1, None]),
        ([("/x/at/0", "'x' is required")], Shape, {"at": [{}]}),
        ([("/x/a~1b", "Input should be a valid integer")], dict[str, int], {"a/b": "?"}),
        ([("/x", "Input should be 'a'")], Literal["a"], "b"),
        ([("/x", "Input should be 'red'")], Literal[Colour.RED], ["red"]),
        (
            [("/x", "Input should be a valid integer"), ("/x", "Input should be a valid array")],
            int | list[int],
            "?",
        ),
        ([("", "/arguments/x is NaN or infinite, which JSON cannot express")], float, float("nan")),
        ([("", "/arguments/x is of type Point, which JSON cannot express")], Point, Point(1)),
    ],
)
def test_invalid_arguments_are_violations_with_a_location(
    expected: list[tuple[str, str]], annotation: Any, argument: Any
) -> None:
    with pytest.raises(InvalidArguments) as caught:
        call_tool(echo_tool(annotation), {"x": argument})
    assert expected == [
        (violation.instance_location, violation.message) for violation in caught.value.violations
    ]


def test_missing_and_unknown_arguments_are_violations() -> None:
    with pytest.raises(InvalidArguments) as caught:
        call_tool(echo_tool(int), {"y/": 1})
    assert (
        "Invalid arguments for tool 'echo':\n- arguments: 'x' is required\n- /y~1: unknown argument"
    ) == str(caught.value)


def decoded(location: str, keyword_location: str, noun: str) -> Change:
    """Return the change of a string that was decoded."""
    return Change(
        instance_location=location,
        code="JSON_STRING_DECODED",
        keyword_location=keyword_location,
        message=f"decoded a string that holds the JSON text of {noun}",
    )


AT_X = "/properties/x"


@pytest.mark.parametrize(
    ("expected", "changes", "annotation", "argument"),
    [
        ([1], [decoded("/x", f"{AT_X}/type", "an array")], list[int], "[1]"),
        (Point(1), [decoded("/x", f"{AT_X}/$ref/type", "an object")], Point, '{"x": 1}'),
        ([1], [decoded("/x", f"{AT_X}/anyOf/1/type", "an array")], int | list[int], "[1]"),
        ({1, 2}, [decoded("/x", f"{AT_X}/type", "an array")], set[int], " [1, 2]"),
        (
            [[1], [2]],
            [
                decoded("/x", f"{AT_X}/type", "an array"),
                decoded("/x/1", f"{AT_X}/items/type", "an array"),
            ],
            list[list[int]],
            '[[1], "[2]"]',
        ),
        (
            Shape(at=[Point(1)]),
            [decoded("/x/at", f"{AT_X}/$ref/properties/at/type", "an array")],
            Shape,
            {"at": '[{"x": 1}]'},
        ),
        (
            {"a": [1]},
            [decoded("/x/a", f"{AT_X}/additionalProperties/type", "an array")],
            dict[str, list[int]],
            {"a": "[1]"},
        ),
        (
            (1, Point(2)),
            [decoded("/x/1", f"{AT_X}/prefixItems/1/$ref/type", "an object")],
            tuple[int, Point],
            [1, '{"x": 2}'],
        ),
    ],
)
def test_a_string_is_read_where_an_object_or_array_is_required(
    expected: Any, changes: list[Change], annotation: Any, argument: Any
) -> None:
    """Both ways in report it as the service does: a change with its locations."""
    echo, arguments = echo_tool(annotation), {"x": argument}
    valid, reported_changes = validate_arguments(echo, arguments), list[Change]()
    assert expected == call_tool(echo, arguments, changes=reported_changes)
    assert ({"x": expected}, tuple(changes), changes) == (
        valid.values,
        valid.changes,
        reported_changes,
    )


@pytest.mark.parametrize(
    ("annotation", "argument"),
    [
        (int, "5"),
        (float, "1.5"),
        (bool, "true"),
        (None, "null"),
        (int | None, "null"),
        (list[int], "5"),
        (list[int], '"[1]"'),
        (list[int], '[1, "2"]'),
        (list[int], "[1"),
        (list[int], "[NaN]"),
        (dict[str, int], "[1]"),
        (dict[str, int], '{"a": 1, "a": 2}'),
        (dt.date, "5"),
        (Colour, "[1]"),
    ],
)
def test_no_other_string_is_read(annotation: Any, argument: str) -> None:
    """Every entry point has the same result."""
    echo, arguments = echo_tool(annotation), {"x": argument}
    for call in (call_tool, validate_arguments, lambda function, arguments: function(**arguments)):
        with pytest.raises(InvalidArguments):
            call(echo, arguments)


@pytest.mark.parametrize(
    ("annotation", "argument"),
    [
        (str, "[1]"),
        (str | None, "null"),
        (str | None, '["0x"]'),
        (str | list[str], '["a"]'),
        (str | int, "5"),
        (Any, '{"x": 1}'),
        (Annotated[str, Field(pattern="5")], "5"),
        (dict[str, str], {"a": "true"}),
    ],
)
def test_a_valid_string_is_not_decoded(annotation: Any, argument: Any) -> None:
    valid = validate_arguments(echo_tool(annotation), {"x": argument})
    assert ({"x": argument}, ()) == (valid.values, valid.changes)


@tool(validate=True)
def order(
    item: Annotated[str, Field(alias="$item")],
    count: int = Field(2, ge=1, description="how many"),
    tags: list[str] = Field(default_factory=list),  # noqa: B008  (subject of the test)
    **notes: int,
) -> dict[str, Any]:
    """Order it."""
    return {"item": item, "count": count, "tags": tags, "notes": notes}


def order_result(item: str, count: int = 2, tags: Any = (), **notes: int) -> dict[str, Any]:
    """Return the result of `order` for these arguments."""
    return {"item": item, "count": count, "tags": list(tags), "notes": notes}


@pytest.mark.parametrize(
    ("expected", "arguments"),
    [
        (order_result("a"), {"$item": "a"}),
        (order_result("a", 5, ["b"]), {"$item": "a", "count": 5, "tags": ["b"]}),
        (order_result("a", left=1), {"$item": "a", "left": 1}),
        (order_result("a", tags=["b"]), {"$item": "a", "tags": '["b"]'}),
    ],
)
def test_defaults_of_fields_and_typed_additional_arguments(
    expected: Any, arguments: dict[str, Any]
) -> None:
    assert expected == call_tool(order, arguments)


def test_defaults_of_fields_without_validation() -> None:
    @tool(validate=False)
    def plain(
        a: int = Field(3, validation_alias=AliasChoices("A", "first")),
        b: Annotated[int, Field(alias="B")] = 4,
    ) -> tuple[int, int]:
        return a, b

    assert [(3, 4), (1, 4)] == [plain(), plain(1)]
    assert [(3, 4), (1, 5)] == [call_tool(plain, {}), call_tool(plain, {"A": 1, "B": 5})]


def test_a_call_in_python_is_validated_too() -> None:
    assert order_result("a", 3, left=1) == order("a", 3, left=1)
    assert order_result("a") == order(item="a")
    with pytest.raises(InvalidArguments) as caught:
        order("a", 0, left="x")  # type: ignore[arg-type]
    assert ["/count", "/left"] == [
        violation.instance_location for violation in caught.value.violations
    ]


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, "order() missing a required argument: 'item'"),
        (("a",), {"item": "b"}, "order() multiple values for argument 'item'"),
    ],
)
def test_a_call_in_python_that_does_not_match_the_signature_names_the_tool(
    args: tuple[Any, ...], kwargs: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError) as caught:
        order(*args, **kwargs)
    assert message == str(caught.value)


class User(BaseModel):
    username: str = Field(..., min_length=3, max_length=20)
    email: str = Field(..., pattern=r"^[\w\.-]+@[\w\.-]+\.\w+$")
    age: int = Field(..., ge=0, le=120)


@tool()
def register_user(user: User) -> str:
    return f"Registered {user.username}"


ADA: Any = {"username": "ada", "email": "ada@lovelace.uk", "age": 36}


def test_every_entry_point_passes_a_model_to_the_function() -> None:
    """The argument may be JSON, JSON text, or the model itself."""
    assert ["Registered ada"] * 4 == [
        register_user(User(**ADA)),
        register_user(ADA),
        call_tool(register_user, {"user": ADA}),
        call_tool(register_user, {"user": json.dumps(ADA)}),
    ]
    user = User(**ADA)
    assert user is call_in_python(User, user)
    for call in (
        lambda arguments: register_user(**arguments),
        lambda arguments: call_tool(register_user, arguments),
    ):
        with pytest.raises(InvalidArguments) as caught:
            call({"user": {**ADA, "age": "36", "email": "ada"}})
        assert ["/user/email", "/user/age"] == [
            violation.instance_location for violation in caught.value.violations
        ]


def call_in_python(annotation: Any, value: Any) -> Any:
    """Return what reaches the function for a value in Python."""
    return echo_tool(annotation)(value)


@pytest.mark.parametrize(
    ("expected", "annotation", "value"),
    [
        (dt.date(2020, 1, 2), dt.date, dt.date(2020, 1, 2)),
        (Colour.RED, Colour, Colour.RED),
        ([Point(1), Point(2)], list[Point], [Point(1), Point(2)]),
        ([Point(1)], list[Point], ({"x": 1},)),
        ([1, 2], list[int], (1, 2)),
        ((1, 2), Sequence[int], (1, 2)),
        ((1, "a"), tuple[int, str], [1, "a"]),
        ({1}, set[int], {1}),
        ({1}, set[int], [1]),
        ({1: "a"}, dict[int, str], {1: "a"}),
        ([1, 2], Iterable[int], [1, 2]),
        ((1, 2), Iterable[int], (1, 2)),
        (Path("a"), Path, Path("a")),
        (Path("a"), Path, "a"),
        (Decimal("1.5"), Decimal, Decimal("1.5")),
        (1.0, float, 1),
    ],
)
def test_a_value_in_python_is_of_its_type_or_json(
    expected: Any, annotation: Any, value: Any
) -> None:
    value_or_error = call_in_python(annotation, value)
    assert (expected, type(expected)) == (value_or_error, type(value_or_error))


@pytest.mark.parametrize(
    ("expected", "annotation", "value"),
    [
        ("/x: Input should be a valid string", str, dt.date(2020, 1, 2)),
        ("/x: Input should be a valid string", str, b"a"),
        ("/x: Input should be a valid integer", int, Decimal(1)),
        ("/x: Input should be a valid integer", int, Point(1)),
        ("/x: Input should be a valid list", list[int], {1}),
        ("/x/1: Input should be a valid integer", list[int], (1, "2")),
        ("/x/0: Input should be a valid integer", Iterable[int], ["1"]),
        ("/x: Input should be an object", Point, 5),
    ],
)
def test_no_value_in_python_is_of_another_type(expected: str, annotation: Any, value: Any) -> None:
    with pytest.raises(InvalidArguments) as caught:
        call_in_python(annotation, value)
    assert f"Invalid arguments for tool 'echo':\n- {expected}" == str(caught.value)


GIVEN = {
    "type": "object",
    "properties": {
        "custom_field": {"type": "string", "enum": ["a", "b"]},
        "numbers": {"type": "array", "items": {"$ref": "#/$defs/number"}},
        "word": {"type": "string", "pattern": r"^\p{L}+$"},
    },
    "required": ["custom_field"],
    "additionalProperties": False,
    "$defs": {"number": {"type": "integer", "minimum": 0}},
}


@tool(input_schema=GIVEN)
def custom_tool(**kwargs: Any) -> Any:
    return kwargs


@pytest.mark.parametrize(
    ("expected", "arguments"),
    [
        ({"custom_field": "a"}, {"custom_field": "a"}),
        ({"custom_field": "a", "numbers": [1]}, {"custom_field": "a", "numbers": "[1]"}),
        ({"custom_field": "a", "word": "é"}, {"custom_field": "a", "word": "é"}),
        (['/custom_field must satisfy "enum": ["a", "b"]'], {"custom_field": "c"}),
        ([" 'custom_field' is required"], {}),
        (
            [" has a property that the schema does not declare"],
            {"custom_field": "a", "other": "hunter2"},
        ),
        (
            ['/numbers/0 must satisfy "type": "integer"', '/numbers/1 must satisfy "minimum": 0'],
            {"custom_field": "a", "numbers": ["5", -1]},
        ),
        (['/numbers must satisfy "type": "array"'], {"custom_field": "a", "numbers": "[-1]"}),
        ([" /arguments/x is of type set, which JSON cannot express"], {"x": {1}}),
        ([" must be an object"], [1]),
    ],
)
def test_a_given_schema_decides_alone(expected: Any, arguments: Any) -> None:
    """Coercions are reported, and no values are converted."""
    if isinstance(expected, dict):
        valid = validate_arguments(custom_tool, arguments)
        assert (expected, expected) == (call_tool(custom_tool, arguments), valid.values)
        assert ["/numbers"] * (valid.values != arguments) == [
            change.instance_location for change in valid.changes
        ]
        return
    with pytest.raises(InvalidArguments) as caught:
        call_tool(custom_tool, arguments)
    assert expected == [
        f"{violation.instance_location} {violation.message}"
        for violation in caught.value.violations
    ]


def test_an_unresolvable_reference_is_an_error() -> None:
    """Documents are never fetched."""
    schema = {"type": "object", "properties": {"x": {"$ref": "https://example.com/x"}}}
    broken = infer_tool(lambda x: x, name="broken", input_schema=schema)
    with pytest.raises(ValueError, match=r"^input_schema refers to 'https://example.com/x', which"):
        call_tool(broken, {"x": 1})


def test_validation_can_be_switched_off() -> None:
    """Then the function has the passed arguments for which it has parameters."""

    @tool(validate=False)
    def echo(x: int, *, day: dt.date | None = None) -> Any:
        return x, day

    assert ("5", "today") == call_tool(echo, {"x": "5", "day": "today"})
    assert ("5", None) == echo("5")  # type: ignore[arg-type]
    with pytest.raises(InvalidArguments) as caught:
        call_tool(echo, {"y": 1})
    assert ["'x' is required", "unknown argument"] == [
        violation.message for violation in caught.value.violations
    ]
    with pytest.raises(InvalidArguments):
        validate_arguments(echo, {"x": "?"})


async def test_coroutine_functions_are_awaited() -> None:
    @tool(validate=True)
    async def later(x: int) -> int:
        return x + 1

    assert 2 == await later(1)
    assert 3 == await acall_tool(later, {"x": 2})
    assert order_result("a") == await acall_tool(order, {"$item": "a"})
    with pytest.raises(TypeError, match="await acall_tool"):
        call_tool(later, {"x": 1})


def test_results_are_dumped_by_their_schema() -> None:
    @tool
    def shape() -> Shape:
        return Shape(at=[Point(1, 2)])

    assert {"at": [{"x": 1, "y": 2}], "note": None} == dump_result(shape, shape())
    with pytest.raises(InvalidResult):
        dump_result(shape, {"points": []})
    with pytest.raises(InvalidResult):
        dump_result(half, half())


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ("/result/a is NaN or infinite, which JSON cannot express", {"a": float("inf")}),
        ("'utf-8' codec can't decode byte 0xff in position 0: invalid utf-8", {"b": b"\xff"}),
    ],
)
def test_a_result_without_a_json_form_is_invalid(expected: str, value: dict[str, Any]) -> None:
    class Row(TypedDict, total=False):
        a: float
        b: Any

    @tool
    def row() -> Row:
        return {}

    with pytest.raises(InvalidResult) as caught:
        dump_result(row, value)
    assert f"the result violates the output schema: {expected}" == str(caught.value)


@tool
def half() -> float:
    """Return a value that JSON cannot express."""
    return float("nan")


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(ANNOTATIONS, st.lists(JSON, min_size=1, max_size=8))
def test_the_schema_and_the_validation_agree(annotation: Any, values: list[Any]) -> None:
    """The schema admits exactly the arguments that are valid without changes."""
    echo = echo_tool(annotation)
    schema = tool_definition(echo)["inputSchema"]
    Draft202012Validator.check_schema(schema)
    checker = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    for value in values:
        arguments = json.loads(json.dumps({"x": value}))
        try:
            is_valid = not validate_arguments(echo, arguments).changes
        except InvalidArguments:
            is_valid = False
        assert checker.is_valid(arguments) == is_valid, (schema, arguments)
