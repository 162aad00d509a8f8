"""Callables that can be made tools, and the scope of their annotations."""

import functools
from collections.abc import Callable
from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel
from sidecheck.inference import infer_tool, tool, tool_definition

STRING = {"type": "string"}
INTEGER = {"type": "integer"}


class Colour(Enum):
    """A colour of paint."""

    RED = "red"


class Shop:
    """A class with tools."""

    def sell(self, item: str) -> int:
        return len(item)

    def __call__(self, item: str) -> int:
        """Sell it."""
        return len(item)

    @tool
    def lend(self, item: str) -> int:
        return len(item)

    @tool()
    @staticmethod
    def close(now: bool) -> bool:
        return now

    @tool()
    @classmethod
    def open(cls, now: bool) -> bool:
        return now


def power(base: int, exponent: int) -> int:
    return base * exponent


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


@pytest.mark.parametrize(
    ("expected", "target"),
    [
        (("power", {"base": INTEGER, "exponent": INTEGER}), power),
        (("power", {"base": INTEGER, "exponent": INTEGER}), wrapped(power)),
        (("power", {"exponent": INTEGER}), functools.partial(power, 2)),
        (
            ("power", {"base": INTEGER, "exponent": {**INTEGER, "default": 2}}),
            functools.partial(power, exponent=2),
        ),
        (("sell", {"item": STRING}), Shop().sell),
        (("sell", {"item": STRING}), Shop.sell),
        (("Shop", {"item": STRING}), Shop()),
        (("sell", {"item": STRING}), functools.partial(Shop().sell)),
    ],
)
def test_a_callable_can_be_made_a_tool(expected: Any, target: Any) -> None:
    definition = tool_definition(infer_tool(target))
    name, properties = definition["name"], definition["inputSchema"]["properties"]
    assert expected == (name, properties)


@pytest.mark.parametrize(
    ("expected", "function"),
    [
        ({"item": STRING}, Shop().lend),
        ({"item": STRING}, Shop.lend),
        ({"now": {"type": "boolean"}}, Shop.close),
        ({"now": {"type": "boolean"}}, Shop.open),
    ],
)
def test_methods_are_decorated_in_their_class(expected: Any, function: Any) -> None:
    assert expected == tool_definition(function)["inputSchema"]["properties"]


def test_names_are_resolved_where_the_tool_is_made() -> None:
    class Local(BaseModel):
        n: int

    class Holder:
        Inner = Local

        @tool
        def use(self, first: "Local", second: "Inner") -> "Local | None":  # type: ignore[valid-type]
            return first

    assert {"first", "second"} == set(tool_definition(Holder.use)["inputSchema"]["properties"])


def paint(x: "Colour", y: "int") -> None: ...


def test_names_of_the_caller_do_not_shadow_those_of_the_function() -> None:
    Colour = int = str  # noqa: A001, N806, F841  (must not be resolved)
    properties = tool_definition(infer_tool(paint))["inputSchema"]["properties"]
    assert {"x": {"$ref": "#/$defs/Colour"}, "y": INTEGER} == properties
