"""Elicitation forms of pydantic model classes, checked by the server."""

from datetime import date
from enum import Enum, IntEnum, StrEnum
from typing import Annotated, Any, Literal

import pytest
from mcp.server.elicitation import render_elicitation_schema
from pydantic import AnyUrl, BaseModel, Field, create_model
from sidecheck import Client, ProtocolContext, Severity
from sidecheck.elicitation import form, raise_for_fields, schema_of


class Room(Enum):
    """An enumeration whose names only repeat the values."""

    SINGLE_BED = "single-bed"
    DOUBLE_BED = "double-bed"


class Plan(StrEnum):
    """An enumeration whose names become titles."""

    BASIC = "p1"
    FULL = "p2"


class Level(IntEnum):
    """An enumeration of integers."""

    LOW = 1


class Address(BaseModel):
    street: str


PLANS = [{"const": "p1", "title": "BASIC"}, {"const": "p2", "title": "FULL"}]
ROOMS = ["single-bed", "double-bed"]

FIELDS: list[Any] = [
    pytest.param({"type": "string"}, str, ..., id="str"),
    pytest.param({"type": "integer"}, int, ..., id="int"),
    pytest.param({"type": "number"}, float, ..., id="float"),
    pytest.param({"type": "boolean", "default": True}, bool, True, id="bool with a default"),
    pytest.param({"type": "string"}, str | None, None, id="optional"),
    pytest.param({"type": "string"}, str | None, ..., id="optional that is required"),
    pytest.param({"type": "string", "default": "x"}, str | None, "x", id="optional with default"),
    pytest.param(
        {"type": "integer", "minimum": 1, "maximum": 9},
        Annotated[int | None, Field(ge=1, le=9)],
        None,
        id="bounds of an optional",
    ),
    pytest.param(
        {"type": "string", "minLength": 1, "maxLength": 9},
        Annotated[str, Field(min_length=1, max_length=9)],
        ...,
        id="lengths",
    ),
    pytest.param({"type": "string", "format": "date"}, date, ..., id="date"),
    pytest.param({"type": "string", "format": "uri", "minLength": 1}, AnyUrl, ..., id="uri"),
    pytest.param({"type": "string", "enum": ["a", "b"]}, Literal["a", "b"], ..., id="literal"),
    pytest.param({"type": "string", "enum": ["a"]}, Literal["a"], ..., id="literal of one"),
    pytest.param({"type": "string", "enum": ["a"]}, Literal["a", None], None, id="literal or None"),
    pytest.param({"type": "string", "enum": ["p2"]}, Literal[Plan.FULL], ..., id="literal member"),
    pytest.param(
        {"type": "string", "enum": ROOMS, "default": "double-bed"},
        Room,
        Room.DOUBLE_BED,
        id="enumeration",
    ),
    pytest.param({"type": "string", "enum": ROOMS}, Room | None, None, id="optional enumeration"),
    pytest.param({"type": "string", "oneOf": PLANS}, Plan, ..., id="titled enumeration"),
    pytest.param(
        {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "default": []},
        list[Literal["a", "b"]],
        [],
        id="several literals",
    ),
    pytest.param(
        {"type": "array", "items": {"type": "string", "enum": ROOMS}, "maxItems": 2},
        Annotated[list[Room] | None, Field(max_length=2)],
        None,
        id="several members",
    ),
    pytest.param(
        {"type": "array", "items": {"anyOf": PLANS}, "default": ["p2"]},
        list[Plan],
        [Plan.FULL],
        id="several titled members",
    ),
]

#: Types without a form field.
UNKNOWN: list[Any] = [
    pytest.param(
        {"type": "array", "items": {"type": "string"}}, list[str], ..., id="list of texts"
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {"street": {"type": "string", "title": "Street"}},
            "required": ["street"],
        },
        Address,
        ...,
        id="nested model",
    ),
    pytest.param(
        {"type": "string", "pattern": "^a"},
        Annotated[str, Field(pattern="^a")],
        ...,
        id="pattern",
    ),
    pytest.param(
        {"type": "integer", "exclusiveMinimum": 0},
        Annotated[int, Field(gt=0)],
        ...,
        id="exclusive bound",
    ),
    pytest.param(
        {"anyOf": [{"type": "string"}, {"type": "integer"}]}, str | int | None, None, id="union"
    ),
    pytest.param({"type": "integer", "enum": [1]}, Level, ..., id="numbers to choose from"),
    pytest.param(
        {"type": "array", "uniqueItems": True, "items": {"type": "string", "enum": ["a"]}},
        set[Literal["a"]],
        ...,
        id="set",
    ),
]


def model(annotation: Any, default: Any) -> type[BaseModel]:
    """Return a model with one field, called first_name."""
    namespace = {
        "__annotations__": {"first_name": annotation},
        "__module__": __name__,
        "first_name": Field(default),
    }
    return type("CheckRequest", (BaseModel,), namespace)


@pytest.mark.parametrize(("expected", "annotation", "default"), [*FIELDS, *UNKNOWN])
def test_fields_get_the_form_that_elicitation_requires(
    expected: dict[str, Any], annotation: Any, default: Any
) -> None:
    """Schemas have no references, null types or titles of the class."""
    schema = schema_of(model(annotation, default))
    description = schema["properties"]["first_name"].pop("description", "")
    assert {
        "type": "object",
        "properties": {"first_name": {"title": "First Name", **expected}},
        **({"required": ["first_name"]} if default is ... else {}),
    } == schema
    assert description in {"", Room.__doc__, Plan.__doc__, Level.__doc__}


#: Cases that the SDK does not support; it renders a literal with one value differently.
ONLY_HERE = {
    "literal of one",
    "literal member",
    "literal or None",
    "enumeration",
    "optional enumeration",
    "titled enumeration",
    "several members",
    "several titled members",
}


def test_forms_equal_those_of_the_sdk() -> None:
    """The cases of `ONLY_HERE` are the only differences."""
    differing = set()
    for case in FIELDS:
        _, annotation, default = case.values
        model_class = model(annotation, default)
        actual = schema_of(model_class)
        try:
            sdk_schema = render_elicitation_schema(model_class)
        except TypeError:
            sdk_schema = {}
        sdk_schema.pop("title", None)
        if sdk_schema != actual:
            differing.add(case.id)
    assert ONLY_HERE == differing


@pytest.mark.parametrize(("expected", "annotation", "default"), FIELDS)
async def test_forms_are_valid(
    client: Client, expected: dict[str, Any], annotation: Any, default: Any
) -> None:
    """A model class may be passed as the params."""
    model_class = model(annotation, default)
    result = await client.protocol.check_elicitation(
        model_class, context=ProtocolContext("2025-11-25")
    )
    errors = [
        violation for violation in result.verdict.violations if violation.severity is Severity.ERROR
    ]
    assert [] == errors
    raise_for_fields(model_class, result.verdict)


@pytest.mark.parametrize(("expected", "annotation", "default"), UNKNOWN)
async def test_unsupported_fields_are_reported(
    client: Client, expected: dict[str, Any], annotation: Any, default: Any
) -> None:
    """The server reports violations; `raise_for_fields` raises the error of the SDK."""
    model_class = model(annotation, default)
    result = await client.protocol.check_elicitation(
        model_class, context=ProtocolContext("2025-11-25")
    )
    locations = [
        violation.instance_location
        for violation in result.verdict.violations
        if violation.severity is Severity.ERROR or violation.code == "ELICITATION_FIELD_KEYWORD"
    ]
    assert [] != locations
    assert all(
        location.startswith("/requestedSchema/properties/first_name") for location in locations
    )
    with pytest.raises(TypeError, match=r"^Elicitation schema field 'first_name' rendered as "):
        raise_for_fields(model_class, result.verdict)


class Booking(BaseModel):
    """A booking."""

    model_config = {"title": "Your trip"}

    city: str = Field(title="City!", description="Where to.", alias="to")
    nights: int = 1


BOOKING = {
    "type": "object",
    "properties": {
        "to": {"type": "string", "title": "City!", "description": "Where to."},
        "nights": {"type": "integer", "title": "Nights", "default": 1},
    },
    "required": ["to"],
}


def test_a_form_has_a_message() -> None:
    """The default is the title of the model."""
    assert {"message": "Your trip", "requestedSchema": BOOKING} == form(Booking)
    assert {"message": "Where to?", "requestedSchema": BOOKING} == form(Booking, "Where to?")


async def test_results_are_checked_against_a_model_class(client: Client) -> None:
    """The content is validated against the requested schema."""
    locations = []
    for content in ({"to": "Oslo"}, {"to": "Oslo", "nights": "two"}):
        result = await client.protocol.check_elicitation_result(
            {"action": "accept", "content": content},
            params=Booking,
            context=ProtocolContext("2025-11-25"),
        )
        locations.append([violation.instance_location for violation in result.verdict.violations])
    assert [[], ["/content/nights"]] == locations


class Node(BaseModel):
    children: list["Node"] = []


async def test_a_recursive_model_has_no_form(client: Client) -> None:
    """Its reference is kept and reported."""
    result = await client.protocol.check_elicitation(Node, context=ProtocolContext("2025-11-25"))
    with pytest.raises(TypeError, match="'children'"):
        raise_for_fields(Node, result.verdict)


def chain(depth: int) -> type[BaseModel]:
    """Return a model with 2**n paths to the model that is n levels below it."""
    below: type[BaseModel] = Address
    for level in range(depth):
        below = create_model(f"Level{level}", left=(below, ...), right=(below, ...))
    return below


def ring(count: int) -> type[BaseModel]:
    """Return one of *count* models that all refer to each other, with (count - 1)! paths."""
    namespace: dict[str, Any] = {}
    for number in range(count):
        others: dict[str, Any] = {
            f"to{target}": (f"M{target}", ...) for target in range(count) if target != number
        }
        namespace[f"M{number}"] = create_model(f"M{number}", **others)
    for member in namespace.values():
        member.model_rebuild(_types_namespace=namespace)
    first: type[BaseModel] = namespace["M0"]
    return first


def count_of(keyword: str, schema: Any) -> int:
    """Return how many objects in *schema* have *keyword*."""
    if isinstance(schema, list):
        return sum(count_of(keyword, item) for item in schema)
    if not isinstance(schema, dict):
        return 0
    return (keyword in schema) + sum(count_of(keyword, item) for item in schema.values())


@pytest.mark.parametrize(
    ("model_class", "models", "references"),
    [
        pytest.param(chain(3), 2**4 - 1, 0, id="few paths"),
        pytest.param(chain(12), 1_001, 6, id="many paths"),
        pytest.param(ring(8), 1_000, 6_001, id="many cyclic paths"),
    ],
)
def test_models_are_inlined_up_to_a_limit(
    model_class: type[BaseModel], models: int, references: int
) -> None:
    """The references beyond it are kept."""
    schema = schema_of(model_class)
    assert (models, references) == (count_of("properties", schema), count_of("$ref", schema))


@pytest.mark.parametrize("model_class", [dict, Room, Booking.model_construct()])
async def test_only_model_classes_have_forms(model_class: Any) -> None:
    """Other classes and instances are errors."""
    with pytest.raises(TypeError, match="a form must be a pydantic model class"):
        schema_of(model_class)
