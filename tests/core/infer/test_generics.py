"""Generic classes, type variables, and names that ``import *`` binds."""

from typing import Any

import pytest
from support.inference import infer, infer_definition

SOURCE = """
from dataclasses import *
from datetime import *
from enum import *
from typing import *
from pydantic import *
T = TypeVar("T")
B = TypeVar("B", bound="Item")
C = TypeVar("C", int, str)

class Item(BaseModel):
    n: int
class Page(BaseModel, Generic[T]):
    '''A page.'''
    items: List[T]
    following: Optional["Page[T]"] = None
class Pair(BaseModel, Generic[T, C]):
    a: T
    b: C
class Half(Pair[T, str], Generic[T]):
    c: T
@dataclass
class Box(Generic[T]):
    '''A box.'''
    value: T
class Root(RootModel[List[T]], Generic[T]): ...
class Whole(Root[int]): ...
class Colour(str, Enum):
    RED = "red"
Ints = Page[int]
Rows = Dict[str, List[T]]
class Loop(BaseModel, Generic[T]):
    inner: Optional["Loop[List[T]]"] = None
class Own(Own[int], Generic[T]): ...
Endless = List["Endless"]
"""
INTEGER = {"type": "integer"}
STRING = {"type": "string"}


def schema_of(annotation: str) -> dict[str, Any]:
    """Return the schema of the parameter, and the definitions."""
    schema = infer_definition(f"{SOURCE}@tool\ndef f(x: {annotation}): ...")["inputSchema"]
    return {**schema["properties"]["x"], "$defs": schema.get("$defs", {})}


def page(name: str, items: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the definition of a page."""
    return {
        **more,
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": items},
            "following": {
                "anyOf": [{"$ref": f"#/$defs/{name}"}, {"type": "null"}],
                "default": None,
            },
        },
        "required": ["items"],
    }


def pair(**properties: Any) -> dict[str, Any]:
    """Return the definition of an object that requires *properties*."""
    return {"type": "object", "properties": properties, "required": [*properties]}


@pytest.mark.parametrize(
    ("annotation", "name", "definitions"),
    [
        ("Page[int]", "Page_int_", {"Page_int_": page("Page_int_", INTEGER)}),
        ("Ints", "Page_int_", {"Page_int_": page("Page_int_", INTEGER)}),
        ("'Page[int]'", "Page_int_", {"Page_int_": page("Page_int_", INTEGER)}),
        ("Page", "Page", {"Page": page("Page", {}, description="A page.")}),
        (
            "Page['Item']",
            "Page_Item_",
            {
                "Item": pair(n=INTEGER),
                "Page_Item_": page("Page_Item_", {"$ref": "#/$defs/Item"}),
            },
        ),
        (
            "Page[Optional[int]]",
            "Page_Union_int__NoneType__",
            {
                "Page_Union_int__NoneType__": page(
                    "Page_Union_int__NoneType__", {"anyOf": [INTEGER, {"type": "null"}]}
                )
            },
        ),
        ("Pair[date, int]", "Pair_date_int_", {
            "Pair_date_int_": pair(a={"type": "string", "format": "date"}, b=INTEGER)
        }),
        ("Half[bool]", "Half_bool_", {
            "Half_bool_": pair(a={"type": "boolean"}, b=STRING, c={"type": "boolean"})
        }),
        ("Box[int]", "Box_int_", {"Box_int_": {"description": "A box.", **pair(value=INTEGER)}}),
        ("Root[int]", "Root_int_", {"Root_int_": {"type": "array", "items": INTEGER}}),
        ("Whole", "Whole", {"Whole": {"type": "array", "items": INTEGER}}),
        ("Page[Page[int]]", "Page_Page_int__", {
            "Page_int_": page("Page_int_", INTEGER),
            "Page_Page_int__": page("Page_Page_int__", {"$ref": "#/$defs/Page_int_"}),
        }),
    ],
)  # fmt: skip
def test_a_generic_class_has_a_schema_for_each_list_of_arguments(
    annotation: str, name: str, definitions: dict[str, Any]
) -> None:
    """With the names of pydantic."""
    assert {"$ref": f"#/$defs/{name}", "$defs": definitions} == schema_of(annotation)


@pytest.mark.parametrize(
    ("expected", "annotation"),
    [
        ({}, "T"),
        ({"type": "array", "items": {}}, "List[T]"),
        ({"anyOf": [INTEGER, STRING]}, "C"),
        ({"$ref": "#/$defs/Item"}, "B"),
        ({"$ref": "#/$defs/Colour"}, "Colour"),
        (
            {"type": "object", "additionalProperties": {"type": "array", "items": INTEGER}},
            "Rows[int]",
        ),
        ({"type": "integer", "exclusiveMinimum": 0}, "PositiveInt"),
        ({"type": "string", "format": "date-time"}, "datetime"),
    ],
)
def test_type_variables_and_names_of_star_imports_are_read(
    expected: dict[str, Any], annotation: str
) -> None:
    """A variable without an argument is its bound, or any value."""
    schema = schema_of(annotation)
    del schema["$defs"]
    assert expected == schema


@pytest.mark.parametrize(
    ("code", "annotation"),
    [
        ("UNSUPPORTED_TYPE", "Page[int, str]"),
        ("UNSUPPORTED_TYPE", "Item[int]"),
        ("UNSUPPORTED_TYPE", "Rows[int, str]"),
        ("UNRESOLVED_NAME", "Page[Missing]"),
        ("UNRESOLVED_NAME", "OrderedSet"),
        ("TOO_DEEP", "Page[Endless]"),
        ("TOO_DEEP", "Loop[int]"),
        ("TOO_DEEP", "Own[int]"),
    ],
)
def test_a_fault_in_arguments_is_a_diagnostic(code: str, annotation: str) -> None:
    """Also where the arguments never end."""
    result = infer(f"{SOURCE}@tool\ndef f(x: {annotation}): ...")

    assert [code] == [diagnostic.code for diagnostic in result.diagnostics]


def test_a_binding_of_the_source_precedes_a_star_import() -> None:
    """And an unknown module may bind any name, but none that is known."""
    source = (
        "from typing import *\nfrom elsewhere import *\nclass List(BaseModel): ...\n"
        "from pydantic import BaseModel\n@tool\ndef f(x: List, y: Optional[int]): ..."
    )
    properties = infer_definition(source)["inputSchema"]["properties"]

    assert {"$ref": "#/$defs/List"} == properties["x"]
    assert {"anyOf": [INTEGER, {"type": "null"}]} == properties["y"]
