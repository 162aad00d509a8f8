"""Tools whose functions return values of every form of annotation."""

import datetime as dt
import inspect
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import pytest
from pydantic import BaseModel, Field, computed_field
from sidecheck.inference import (
    infer_tool,
    tool,
)

__all__ = [
    "CALLS",
    "MARKED",
    "PrivateUser",
    "PublicUser",
    "later",
    "numbers",
    "register_user",
    "returning",
]


class Colour(Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    y: float = 0.5
    tags: list[str] = field(default_factory=list)


class User(BaseModel):
    username: str = Field(min_length=3)
    born: dt.date = Field(alias="birthDate")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def initial(self) -> str:
        return self.username[0]


class PublicUser(BaseModel):
    username: str


class PrivateUser(PublicUser):
    password: str = "hunter2"


class Pair(NamedTuple):
    a: int
    b: str


class Row(TypedDict, total=False):
    id: int
    note: str


class Tree(BaseModel):
    kids: list["Tree"] = []


MARKED = {
    "type": "object",
    "properties": {"value": {"type": "integer"}},
    "required": ["value"],
    "x-dedalus-box": {"field": "value"},
}


def returning(annotation: Any, value: Any, **options: Any) -> Callable[..., Any]:
    """Return a tool whose function returns *value*."""

    def give() -> Any:
        return value

    give.__annotations__["return"] = annotation
    return infer_tool(give, **options)


@tool
def register_user(username: str, born: dt.date) -> User:
    return User(username=username, birthDate=born)


@tool
async def later(n: int) -> list[int]:
    return [n]


@tool
def count(n: int) -> Iterable[int]:
    yield from range(n)


async def numbers(n: int) -> AsyncIterator[int]:
    for number in range(n):
        yield number


#: Functions with arguments; each returns a valid value.
CALLS: list[Any] = [
    pytest.param(function, arguments, id=name)
    for name, function, arguments in (
        ("str", returning(str, "hé\n"), {}),
        ("empty str", returning(str, ""), {}),
        ("int", returning(int, 7), {}),
        ("float", returning(float, 1e-7), {}),
        ("float as int", returning(float, 72), {}),
        ("bool", returning(bool, False), {}),
        ("None", returning(None, None), {}),
        ("no annotation", returning(inspect.Parameter.empty, {"a": [1]}), {}),
        ("Any, a list", returning(Any, [1, "a"]), {}),
        ("Any, a str", returning(Any, "[1]"), {}),
        ("bytes", returning(bytes, b"hi"), {}),
        ("list", returning(list[int], []), {}),
        ("tuple for a list", returning(list[int], (1, 2)), {}),
        ("generator", count, {"n": 3}),
        ("dict", returning(dict[str, float], {"mean": 2.5}), {}),
        ("dict with int keys", returning(dict[int, str], {1: "a"}), {}),
        ("optional", returning(int | None, None), {}),
        ("optional model", returning(PublicUser | None, PublicUser(username="ada")), {}),
        ("union", returning(Point | User, Point(1)), {}),
        ("literal", returning(Literal["a", 5], 5), {}),
        ("enum", returning(Colour, Colour.RED), {}),
        ("date", returning(dt.date, dt.date(2026, 7, 28)), {}),
        ("datetime", returning(dt.datetime, dt.datetime(2026, 7, 28, 1, 2, 3, 4000)), {}),  # noqa: DTZ001  (subject of the test)
        ("datetime in UTC", returning(dt.datetime, dt.datetime(2026, 7, 28, tzinfo=dt.UTC)), {}),
        ("duration", returning(dt.timedelta, dt.timedelta(days=3, hours=1, milliseconds=5)), {}),
        ("set", returning(set[str], {"b", "a", "c"}), {}),
        ("decimal", returning(Decimal, Decimal("1.50")), {}),
        ("dataclass", returning(Point, Point(1, 2, ["a"])), {}),
        ("dataclass as dict", returning(Point, {"x": 1, "y": 2, "tags": []}), {}),
        ("model", register_user, {"username": "ada", "born": "1815-12-10"}),
        ("models", returning(list[User], [User(username="ada", birthDate=dt.date.min)]), {}),
        ("recursive model", returning(Tree, Tree(kids=[Tree()])), {}),
        ("named tuple", returning(Pair, Pair(1, "b")), {}),
        ("typed dict", returning(Row, {"id": 1}), {}),
        ("annotated", returning(Annotated[int, Field(ge=0)], 0), {}),
        ("coroutine", later, {"n": 2**70}),
        ("looks like a result", returning(dict[str, Any], {"content": [], "isError": True}), {}),
        ("given schema", returning(object, [1, {"a": None}], output_schema={"type": "array"}), {}),
        ("given marked schema", returning(int, 5, output_schema=MARKED), {}),
        (
            "given schema by reference",
            returning(
                int,
                {"a": 1},
                output_schema={"$ref": "#/$defs/o", "$defs": {"o": {"type": "object"}}},
            ),
            {},
        ),
        (
            "given schema of allOf",
            returning(int, {"a": 1}, output_schema={"allOf": [{"type": ["object"]}]}),
            {},
        ),
    )
]
