"""How large schemas are, and beyond which limit."""

from typing import Any

import pytest
from sidecheck_server.core.convert.apis.api import SchemaLimits
from sidecheck_server.core.convert.counting import Counts, beyond, counts_of
from sidecheck_server.core.convert.part import Part
from support.core_conversion import read

STRING = {"type": "string"}
NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "v": STRING}}


def counts(**found: int) -> Counts:
    names = ("properties", "depth", "text", "enum_values", "enum_text", "optional", "unions")
    return Counts(**{name: found.get(name, 0) for name in names})


CASES: list[tuple[str, Any, Counts]] = [
    ("nothing", {}, counts()),
    ("an object", {"type": "object"}, counts(depth=1)),
    (
        "members",
        {"properties": {"ab": STRING, "cde": STRING}, "required": ["ab"]},
        counts(properties=2, depth=1, text=5, optional=1),
    ),
    (
        "objects and arrays on the way",
        {"properties": {"a": {"type": "array", "items": {"properties": {"b": STRING}}}}},
        counts(properties=2, depth=3, text=2, optional=2),
    ),
    (
        "branches are no levels",
        {"type": "object", "anyOf": [{"allOf": [{"not": STRING}]}]},
        counts(depth=1),
    ),
    (
        "unions",
        {
            "properties": {
                "a": {"type": ["string", "null"]},
                "b": {"anyOf": [STRING]},
                "c": {"type": ["string"]},
            },
            "required": ["a", "b", "c", "d"],
        },
        counts(properties=3, depth=1, text=3, unions=2),
    ),
    (
        "values",
        {"prefixItems": [{"enum": ["ab", 12, None]}, {"const": "xyz"}]},
        counts(depth=1, text=2 + 2 + 4 + 3, enum_values=3),
    ),
    (
        "250 values are not yet a large enum",
        {"enum": ["ab"] * 250},
        counts(text=500, enum_values=250),
    ),
    (
        "251 are",
        {"prefixItems": [{"enum": ["ab"] * 251}, {"enum": ["abc"] * 251}]},
        counts(depth=1, text=251 * 5, enum_values=502, enum_text=753),
    ),
    (
        "only strings count as a large enum",
        {"enum": ["ab"] * 251 + [1]},
        counts(text=503, enum_values=252),
    ),
    (
        "definitions are counted once, with their names",
        {
            "properties": {"a": {"$ref": "#/$defs/Node"}, "b": {"$ref": "#/$defs/Node"}},
            "$defs": {"Node": NODE},
        },
        counts(properties=4, depth=2, text=2 + 4 + 4 + 1, optional=4),
    ),
]


@pytest.mark.parametrize(
    ("schema", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_counts(schema: Any, expected: Counts) -> None:
    assert counts_of(read(schema)[0]) == expected


def test_what_is_shared_again_and_again_is_counted_once() -> None:
    part = Part((), {"type": "string"})
    for _ in range(60):
        part = Part((), {"properties": {"a": part, "b": part}})

    assert counts_of(part) == counts(properties=120, depth=60, text=120, optional=120)


def test_long_chains_are_counted() -> None:
    part = Part((), {"type": "string"})
    for _ in range(5000):
        part = Part((), {"type": "array", "items": Part((), {"$ref": part})})

    assert counts_of(part).depth == 5000


LIMITS = SchemaLimits(properties=2, depth=3, text=4, enum_values=1005, enum_text=15_000)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (counts(properties=2, depth=3, text=4, enum_values=1005, enum_text=15_000), ""),
        (counts(properties=3), "3 members, of all objects together, where 2 are taken"),
        (counts(depth=4), "4 levels of nesting, where 3 are taken"),
        (
            counts(text=5),
            "5 characters of names and of values of enum and const, where 4 are taken",
        ),
        (counts(enum_values=1006), "1,006 values of all enums together, where 1,005 are taken"),
        (
            counts(enum_text=15_001),
            "15,001 characters of the values of one enum, where 15,000 are taken",
        ),
        (counts(optional=100, unions=100), ""),
    ],
)
def test_beyond(found: Counts, expected: str) -> None:
    assert beyond(found, LIMITS) == expected
    assert beyond(found, SchemaLimits()) == ""
