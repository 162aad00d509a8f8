"""Tools that return their argument, with annotations and JSON to call them with."""

import datetime as dt
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

from hypothesis import strategies as st
from pydantic import BaseModel, Field
from sidecheck.inference import infer_tool

__all__ = ["ANNOTATIONS", "JSON", "Colour", "Point", "Shape", "echo_tool"]


class Colour(Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    y: int = 0


class Shape(BaseModel):
    points: list[Point] = Field(alias="at")
    note: str | None = None


def echo_tool(annotation: Any) -> Any:
    """Return a tool that returns its argument ``x`` of that type."""

    def echo(x: Any) -> Any:
        return x

    echo.__annotations__["x"] = annotation
    return infer_tool(echo, validate=True)


# Not Literal[1]: pydantic accepts true for it, since 1 == True in Python.
_SCALARS = st.sampled_from([int, float, bool, str, None, Colour, dt.date, Literal["a", 5], Point])
ANNOTATIONS = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        inner.map(lambda item: list[item]),  # type: ignore[valid-type]
        inner.map(lambda item: dict[str, item]),  # type: ignore[valid-type]
        st.tuples(inner, inner).map(
            lambda pair: pair[0] | pair[1] if pair[0] is not None else pair[1]
        ),
        st.tuples(inner, inner).map(lambda pair: tuple[pair[0], pair[1]]),  # type: ignore[valid-type]
    ),
    max_leaves=4,
)
#: JSON texts of objects and arrays, which are strings too.
_TEXTS = ("[1]", '["red", 5]', "[]", '{"x": 1}', '{"x": "[1]"}', '[{"x": 1, "y": 2}]', "{1}")
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.sampled_from([1.5, 2.0, "red", "2020-01-01", "a", "", "5", *_TEXTS]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["x", "y", "z"]), inner, max_size=3)
    ),
    max_leaves=5,
)
