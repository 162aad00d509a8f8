"""Unions become plainer schemas only where both keywords mean the same by them."""

from random import Random
from typing import Any

import pytest
from compiling import LIMITS
from sidecheck_server.core.engines.fast import FastEngine
from sidecheck_server.core.engines.generation import generate
from sidecheck_server.core.schemas.canonical import Constant, Lowered
from sidecheck_server.core.schemas.unions import merged

NULL, STRING = {"type": ["null"]}, {"type": ["string"]}
TYPES = ["null", "boolean", "string", "array", "object", "number", "integer", "int"]
KEYWORDS: dict[str, list[Any]] = {
    "minLength": [0, 2],
    "maxLength": [1],
    "minimum": [0, 1.5],
    "exclusiveMaximum": [2],
    "multipleOf": [2, 0.5],
    "minItems": [1],
    "uniqueItems": [True],
    "items": [{"type": ["string"]}, False],
    "required": [["a"]],
    "properties": [{"a": {"type": ["null"]}}],
    "additionalProperties": [False],
    "minProperties": [1],
    "enum": [["a"], ["b", "c"], ["a", None], [], [1, "x"], ["a", "a"]],
    "not": [{"enum": ["a"]}],
}
PAYLOADS: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    1.0,
    1.5,
    2,
    -3,
    2**70,
    "",
    "a",
    "b",
    "cc",
    "x",
    [],
    [1],
    ["a"],
    ["a", "a"],
    [[], {}],
    {},
    {"a": None},
    {"a": 1},
    {"b": 1, "a": None},
]


@pytest.mark.parametrize(
    ("branches", "expected"),
    [
        pytest.param(
            [{"type": ["string"], "minLength": 1}, NULL],
            {"type": ["string", "null"], "minLength": 1},
            id="types that exclude each other",
        ),
        pytest.param(
            [{"type": ["array", "integer"], "minimum": 1, "minItems": 2}, {"type": ["boolean"]}],
            {"type": ["array", "integer", "boolean"], "minimum": 1, "minItems": 2},
            id="more types in a branch",
        ),
        pytest.param(
            [{"enum": ["a", "b", "a"]}, {"type": ["string"], "enum": ["c"]}, NULL],
            {"enum": ["a", "b", "c", None]},
            id="enumerations of strings, and null",
        ),
        pytest.param([STRING], STRING, id="one branch"),
        pytest.param([{"enum": []}, {"enum": ["a"]}], {"enum": ["a"]}, id="an empty enumeration"),
        pytest.param([STRING, {"type": ["string", "null"]}], None, id="types in common"),
        pytest.param([{"type": ["integer"]}, {"type": ["number"]}], None, id="types of numbers"),
        pytest.param([{"type": ["int"]}, {"type": ["integer"]}], None, id="integers"),
        pytest.param([STRING, {"minLength": 1}], None, id="no type"),
        pytest.param([STRING, True], None, id="a boolean"),
        pytest.param([STRING, {"type": ["null"], "minLength": 1}], None, id="another type's"),
        pytest.param([STRING, {"type": ["null"], "not": True}], None, id="any type's"),
        pytest.param(
            [NULL, {"type": ["object"], "$ref": "#/definitions/d1"}], None, id="a reference"
        ),
        pytest.param([{"enum": ["a"]}, {"enum": ["a"]}], None, id="a value in common"),
        pytest.param([NULL, NULL, {"enum": ["a"]}], None, id="null in common"),
        pytest.param([{"enum": ["a"]}, {"enum": [1]}], None, id="a number"),
        pytest.param([{"enum": ["a"]}, {"enum": [Constant(0)]}], None, id="an array"),
        pytest.param([{"enum": ["a"]}, {"enum": ["b"], "minLength": 1}], None, id="a condition"),
        pytest.param([{"enum": ["a"]}, STRING], None, id="any string"),
    ],
)
def test_unions_merge_if_their_branches_exclude_each_other(branches: Any, expected: Any) -> None:
    """And say nothing about the types of others."""
    assert expected == merged(branches)


def random_branch(random: Random) -> Any:
    if random.random() < 0.05:
        return random.choice([True, False, {}])
    branch: dict[str, Any] = {}
    if random.random() < 0.85:
        branch["type"] = random.sample(TYPES, k=random.choice([1, 1, 1, 2]))
    if random.random() < 0.6:
        keywords = ["enum"] if random.random() < 0.5 else random.sample(sorted(KEYWORDS), k=2)
        branch |= {keyword: random.choice(KEYWORDS[keyword]) for keyword in keywords}
    return branch


def verdicts(canonical: Any) -> list[bool]:
    code = generate(Lowered({"d0": canonical}), LIMITS)
    engine = FastEngine(code, "2020-12", LIMITS)
    return [engine.is_valid(payload) for payload in PAYLOADS]


def test_what_is_merged_accepts_what_the_union_accepts() -> None:
    """Be it anyOf or oneOf; random branches decide about payloads of every type."""
    found = 0
    for number in range(3000):
        random = Random(number)
        branches = [random_branch(random) for _ in range(random.randint(1, 3))]
        plain = merged(branches)
        if plain is not None:
            found += 1
            expected = verdicts(plain)
            assert expected == verdicts({"anyOf": branches}), branches
            assert expected == verdicts({"oneOf": branches}), branches

    assert found > 300
