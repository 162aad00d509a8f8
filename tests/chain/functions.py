"""Functions whose tools the chain takes: every pair of a parameter's and a return annotation."""

import json
from collections.abc import Mapping
from itertools import product
from types import MappingProxyType
from typing import Any

__all__ = ["FUNCTIONS", "SOURCE"]

_PARAMETERS: Mapping[str, Any] = MappingProxyType(
    {
        "int": 3,
        "float": 2.5,
        "str": "a b",
        "bool": False,
        "list[int]": [1, 2],
        "list[Point]": [{"x": 1, "y": 2}],
        "dict[str, float]": {"a": 0.5},
        "Point": {"x": 1, "y": -2},
        "Color": "red",
        "Literal['a', 'b', 3]": 3,
        "int | None": None,
        "int | list[str]": ["x"],
        "date": "2026-02-28",
        "Annotated[int, Field(ge=1, le=9)]": 9,
        "tuple[int, str]": [1, "one"],
    }
)
"""Arguments by annotation."""

_RETURNS: Mapping[str, Any] = MappingProxyType(
    {
        "int": 7,
        "float": 0.1,
        "str": "text",
        "bool": True,
        "None": None,
        "list[int]": [],
        "list[str]": ["a"],
        "list[Point]": [{"x": 1, "y": 2}],
        "dict[str, int]": {"result": 1},
        "dict[str, Any]": {"result": {"a": [None]}},
        "Point": {"x": 1, "y": 2},
        "Tree": {"name": "a", "children": [{"name": "b", "children": []}]},
        "Color": "green",
        "int | None": None,
        "int | str": "seven",
        "Point | None": {"x": 0, "y": 0},
        "list[Point] | dict[str, int]": {"result": 2},
        "datetime": "2026-02-28T12:00:00Z",
        "tuple[int, str]": [1, "one"],
        "Any": {"result": None},
    }
)
"""Return values by annotation, as JSON."""

_HEADER = """\
from datetime import date, datetime
from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field


class Point(BaseModel):
    x: int
    y: int = 0


class Color(Enum):
    RED = "red"
    GREEN = "green"


class Tree(BaseModel):
    name: str
    children: "list[Tree]" = []
"""

_PAIRS = tuple(product(_PARAMETERS, _RETURNS))

SOURCE: bytes = (
    _HEADER
    + "".join(
        f'\n\ndef tool_{number}(value: {parameter}) -> {result}:\n    """Tool {number}."""\n'
        for number, (parameter, result) in enumerate(_PAIRS)
    )
).encode()
"""The source text of the functions."""

FUNCTIONS: Mapping[str, tuple[bytes, bytes]] = MappingProxyType(
    {
        f"tool_{number}": (
            json.dumps({"value": _PARAMETERS[parameter]}).encode(),
            json.dumps(_RETURNS[result]).encode(),
        )
        for number, (parameter, result) in enumerate(_PAIRS)
    }
)
"""Arguments and return values by name of the function, as JSON texts."""
