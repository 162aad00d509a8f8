"""Definitions of functions: schemas, descriptions, and warnings."""

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import pytest
from pydantic import BaseModel, ConfigDict, Field, computed_field
from sidecheck.inference import (
    infer_tool,
    tool_config,
    tool_definition,
)
from typing_extensions import Doc

NULL = {"type": "null"}
STRING = {"type": "string"}
INTEGER = {"type": "integer"}
INTEGER_FIELD = {"type": "object", "properties": {"width": INTEGER}, "required": ["width"]}


class Colour(Enum):
    """A colour of paint."""

    RED = "red"
    BLUE = "blue"


class Size(Enum):
    S = 1


class Tree(BaseModel):
    title: str
    kids: list["Tree"] = []


class Book(BaseModel):
    model_config = ConfigDict(title="A book", extra="forbid")
    name: str = Field(alias="bookName", title="Name of the book")
    pages: int = Field(serialization_alias="pageCount")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def long(self) -> bool:
        return self.pages > 300


class Old(TypedDict, total=False):
    name: str
    others: "list[Old]"


class Point(NamedTuple):
    x: int
    y: int


@dataclass
class TextContent:
    text: str


# In the module of the function, a class of this name would be data.
TextContent.__module__ = "mcp_types"


class Image:
    """Not a model; the SDKs have such helpers for content."""


class File:
    """The same."""


Image.__module__ = "mcp.server.mcpserver.utilities.types"
File.__module__ = "fastmcp.utilities.types"


@dataclass
class ImageContent:
    width: int


def arguments_of(function: Callable[..., Any], **options: Any) -> Any:
    """Return the properties of the input schema of a function."""
    return tool_definition(infer_tool(function, **options))["inputSchema"]["properties"]


def warnings_of(function: Callable[..., Any], **options: Any) -> list[tuple[str, str]]:
    """Return the codes and parameters of the warnings about a function."""
    config = tool_config(infer_tool(function, **options))
    return [(warning.code, warning.parameter) for warning in config.diagnostics]


def annotated(annotation: Any, default: Any = ...) -> Callable[..., Any]:
    """Return a function with one parameter ``x``."""

    def without(x: Any) -> None: ...

    def defaulted(x: Any = default) -> None: ...

    function = without if default is ... else defaulted
    function.__annotations__["x"] = annotation
    return function


@pytest.mark.parametrize(
    ("expected", "annotation"),
    [
        (INTEGER, int),
        ({}, Any),
        ({"type": "object", "additionalProperties": True}, dict),
        ({"type": "array", "items": STRING}, Sequence[str]),
        ({"type": "array", "items": INTEGER, "uniqueItems": True}, set[int]),
        ({"type": "string", "format": "date-time"}, dt.datetime),
        ({"type": "string", "format": "path"}, Path),
        ({"type": "string", "const": "a"}, Literal["a"]),
        ({"enum": ["a", 2]}, Literal["a", 2]),
        ({"anyOf": [INTEGER, NULL]}, int | None),
        ({"anyOf": [INTEGER, STRING]}, int | str),
        ({"$ref": "#/$defs/Colour"}, Colour),
        ({**INTEGER, "minimum": 1, "title": "N"}, Annotated[int, Field(ge=1, title="N")]),
        ({**INTEGER, "description": "how many"}, Annotated[int, "how many"]),
        ({**INTEGER, "description": "how many"}, Annotated[int, Doc("how many")]),
        (
            {**INTEGER, "description": "field"},
            Annotated[int, "text", Field(description="field")],
        ),
        (
            {**INTEGER, "examples": [{"title": "x"}]},
            Annotated[int, Field(examples=[{"title": "x"}])],
        ),
    ],
)
def test_a_parameter_is_described_by_its_type(expected: Any, annotation: Any) -> None:
    assert {"x": expected} == arguments_of(annotated(annotation))


@pytest.mark.parametrize(
    ("expected", "codes", "annotation", "default"),
    [
        (3, [], int, 3),
        ("red", [], Colour, Colour.RED),
        ("2020-01-01", [], dt.date, dt.date(2020, 1, 1)),
        ([], [], set[int], set()),
        ([1, 2], [], tuple[int, ...], (1, 2)),
        ("1.50", [], Decimal, Decimal("1.50")),
        (None, [], int | None, None),
        ({"title": "oak", "kids": []}, [], Tree, Tree(title="oak")),
        ({"title": "x", "$ref": 5}, [], dict[str, Any], {"title": "x", "$ref": 5}),
        (..., ["DEFAULT_NOT_JSON"], Any, object()),
        (..., ["DEFAULT_NOT_JSON"], float, float("inf")),
        (..., ["DEFAULT_NOT_JSON"], int, "5"),
        (..., ["IMPLICIT_OPTIONAL"], int, None),
        (..., ["IMPLICIT_OPTIONAL"], list[str], None),
        (4, [], int, Field(4, description="d")),
        (..., [], list[int], Field(default_factory=list)),
    ],
)
def test_a_default_is_written_as_json_or_omitted(
    expected: Any, codes: list[str], annotation: Any, default: Any
) -> None:
    tool_function = infer_tool(annotated(annotation, default))
    schema = tool_definition(tool_function)["inputSchema"]
    assert expected == schema["properties"]["x"].get("default", ...)
    assert "required" not in schema
    assert codes == [warning.code for warning in tool_config(tool_function).diagnostics]


def test_parameters_may_have_the_names_of_keywords() -> None:
    """Properties are not confused with keywords."""

    def awkward(
        title: str,
        type: int,  # noqa: A002
        properties: int,
        default: int,
        required: int,
        schema: int,
        json: int,
        copy: int,
        model_config: int,
        ref: Annotated[int, Field(alias="$ref")],
        _x: int = 1,
    ) -> None: ...

    schema = tool_definition(infer_tool(awkward))["inputSchema"]
    names = ["title", "type", "properties", "default", "required", "schema", "json", "copy"]
    names += ["model_config", "$ref", "_x"]
    assert names == list(schema["properties"])
    assert names[:-1] == schema["required"]
    assert STRING == schema["properties"]["title"]


def test_an_unannotated_parameter_admits_any_value_with_a_warning() -> None:
    def loose(x, *, y=3): ...  # type: ignore[no-untyped-def]

    assert {"x": {}, "y": {"default": 3}} == arguments_of(loose)
    assert [("MISSING_ANNOTATION", "x"), ("MISSING_ANNOTATION", "y")] == warnings_of(loose)


def test_a_recursive_root_is_inlined_and_keeps_its_definition() -> None:
    def grow(tree: Tree, old: Old | None = None) -> Tree:
        return tree

    definition = tool_definition(infer_tool(grow))
    tree = {
        "type": "object",
        "properties": {
            "title": STRING,
            "kids": {"type": "array", "items": {"$ref": "#/$defs/Tree"}, "default": []},
        },
        "required": ["title"],
    }
    old = {
        "type": "object",
        "properties": {
            "name": STRING,
            "others": {"type": "array", "items": {"$ref": "#/$defs/Old"}},
        },
    }
    assert {"Old": old, "Tree": tree} == definition["inputSchema"]["$defs"]
    assert {**tree, "$defs": {"Tree": tree}} == definition["outputSchema"]


def test_results_are_described_as_they_are_serialized() -> None:
    """Schemas use aliases, computed fields and explicit titles."""

    def read(book: Book) -> Book:
        return book

    definition = tool_definition(infer_tool(read))
    name = {**STRING, "title": "Name of the book"}
    closed = {"type": "object", "title": "A book", "additionalProperties": False}
    assert {
        **closed,
        "properties": {"bookName": name, "pages": INTEGER},
        "required": ["bookName", "pages"],
    } == definition["inputSchema"]["$defs"]["Book"]
    assert {
        **closed,
        "properties": {
            "bookName": name,
            "pageCount": INTEGER,
            "long": {"type": "boolean", "readOnly": True},
        },
        "required": ["bookName", "pageCount", "long"],
    } == definition["outputSchema"]


class Shown(BaseModel):
    """A result with content among its fields."""

    parts: list[TextContent]


@pytest.mark.parametrize(
    ("expected", "annotation"),
    [
        (None, None),
        (None, Any),
        (None, bytes),
        (None, list),
        (None, list[Any]),
        (None, tuple[Any, ...]),
        (None, TextContent),
        (None, list[TextContent]),
        (None, str | TextContent),
        (None, Image | None),
        (None, list[Image | str]),
        (None, File),
        (None, dict[str, bytes]),
        (None, Annotated[list, "x"]),
        (None, Any | None),
        (None, list[Any] | None),
        (None, int | Any),
        (None, list[Shown]),
        ({"anyOf": [{"type": "array", "items": {}}, INTEGER]}, list[Any] | int),
        (INTEGER_FIELD, ImageContent),
        (STRING, str),
        ({"type": "string", "enum": ["red", "blue"], "description": "A colour of paint."}, Colour),
        ({"type": "integer", "enum": [1]}, Size),
        ({"type": "object", "additionalProperties": True}, dict[str, Any]),
        ({"type": "array", "items": INTEGER}, list[int]),
        (
            {"type": "array", "prefixItems": [INTEGER, INTEGER], "minItems": 2, "maxItems": 2},
            Point,
        ),
    ],
)
def test_a_result_has_a_schema_unless_it_is_content(expected: Any, annotation: Any) -> None:
    def give() -> None: ...

    give.__annotations__["return"] = annotation
    tool_function = infer_tool(give)
    assert expected == tool_definition(tool_function).get("outputSchema")
    assert () == tool_config(tool_function).diagnostics


def test_the_order_of_a_union_is_that_of_the_annotation() -> None:
    """This holds even if another annotation has an equal type."""

    def integer_first(x: int | str, *, y: int | str = 1, **z: int | str) -> None: ...
    def string_first(x: str | int, *, y: str | int = 1, **z: str | int) -> None: ...

    for function, branches in (
        (integer_first, [INTEGER, STRING]),
        (string_first, [STRING, INTEGER]),
    ):
        schema = tool_definition(infer_tool(function))["inputSchema"]
        assert [branches] * 3 == [
            schema["properties"]["x"]["anyOf"],
            schema["properties"]["y"]["anyOf"],
            schema["additionalProperties"]["anyOf"],
        ]
