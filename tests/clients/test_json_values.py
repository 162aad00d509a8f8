"""Conversion of Python values to JSON values."""

from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from pydantic import BaseModel, Field
from pydantic.dataclasses import dataclass as pydantic_dataclass
from sidecheck.json_copies import NotJson
from sidecheck.json_values import json_value


class Colour(Enum):
    RED = "red"


class Rank(IntEnum):
    LOW = 1


class Pair(NamedTuple):
    a: int
    b: str


@dataclass
class Point:
    x: int
    inner: Any = None
    dates: list[date] = field(default_factory=list)


class Model(BaseModel):
    at: datetime
    size: int = Field(serialization_alias="Size")


@pydantic_dataclass
class CheckReport:
    raw: timedelta


MOMENT = datetime(2026, 7, 28, 12, 30, tzinfo=UTC)
ID = UUID(int=1)


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        (None, None),
        (True, True),
        (2**70, 2**70),
        (1.5, 1.5),
        ("a", "a"),
        ([1, [2]], (1, [2])),
        ([1, "b"], Pair(1, "b")),
        ({"a": {"b": 1}}, OrderedDict(a={"b": 1})),
        ("red", Colour.RED),
        (1, Rank.LOW),
        (
            {"x": 1, "inner": {"x": 2, "inner": None, "dates": []}, "dates": ["2026-07-28"]},
            Point(1, Point(2), [date(2026, 7, 28)]),
        ),
        ({"at": "2026-07-28T12:30:00Z", "Size": 3}, Model(at=MOMENT, size=3)),
        ({"raw": "PT1S"}, CheckReport(timedelta(seconds=1))),
        ("aGk=", b"hi"),
        ("aGk=", bytearray(b"hi")),
        ("aGk=", memoryview(b"hi")),
        ("2026-07-28T12:30:00Z", MOMENT),
        ("2026-07-28", MOMENT.date()),
        ("12:30:00", time(12, 30)),
        ("P1DT1.5S", timedelta(days=1, seconds=1, milliseconds=500)),
        ("-PT2S", timedelta(seconds=-2)),
        ("PT0S", timedelta(0)),
        ("P3DT1H", timedelta(days=3, hours=1)),
        ("PT1M0.05S", timedelta(minutes=1, milliseconds=50)),
        ("1.10", Decimal("1.10")),
        ("00000000-0000-0000-0000-000000000001", ID),
        ("a/b", PurePosixPath("a/b")),
        (["a", "b", "c"], {"c", "a", "b"}),
        ([1, 10, 2], frozenset({10, 2, 1})),
        (
            {"2": "a", "null": "b", "true": "c", "red": "d", "2026-07-28": "e"},
            {2: "a", None: "b", True: "c", Colour.RED: "d", MOMENT.date(): "e"},
        ),
    ],
)
def test_values_are_converted_by_their_types(expected: Any, value: Any) -> None:
    """Standard types, dataclasses, models and enumerations are supported."""
    assert expected == json_value(value)


def cyclic_list() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ("the value is NaN or infinite, which JSON cannot express", float("nan")),
        ("/a/0 is NaN or infinite, which JSON cannot express", {"a": [float("inf")]}),
        ("/0 is NaN or infinite, which JSON cannot express", [Decimal("NaN")]),
        ("/a~1b is of type object, which has no JSON form", {"a/b": object()}),
        ("the value is of type type, which has no JSON form", Point),
        ("the value is of type generator, which has no JSON form", (n for n in [1])),
        ("the value has two properties whose JSON name is '1'", {1: "a", "1": "b"}),
        ("the value has a property name of type tuple, which JSON cannot express", {(1, 2): "a"}),
        ("/0/0/0 nests deeper than the limit of 128", cyclic_list()),
        ("/inner is of type complex, which has no JSON form", Point(1, 1j)),
    ],
)
def test_values_that_json_cannot_express_are_errors(message: str, value: Any) -> None:
    """Messages name the location and the reason."""
    with pytest.raises(NotJson) as error:
        json_value(value)

    assert message == str(error.value)
