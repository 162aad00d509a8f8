"""Simplification of unions, where ``anyOf`` and ``oneOf`` mean the same."""

from random import Random
from typing import Any

import pytest
from sidecheck_server.core.compiler.generation import generate_code
from sidecheck_server.core.compiler.unions import Definitions, merge_branches, simplify_unions
from sidecheck_server.core.engines.fast import FastEngine
from sidecheck_server.core.schemas.canonical import Constant, LoweredSchema
from support.compiling import LIMITS, compile_value, evaluate_all

NULL, STRING = {"type": ["null"]}, {"type": ["string"]}
NUMBER = {"type": ["number"]}
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
    """Keywords of a branch must not apply to the types of others."""
    assert expected == merge_branches(branches)


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
    code = generate_code(LoweredSchema({"d0": canonical}), LIMITS)
    engine = FastEngine(code, "2020-12", LIMITS)
    return [engine.is_valid(payload) for payload in PAYLOADS]


@pytest.mark.slow
def test_a_merged_union_accepts_the_same_values() -> None:
    """The union is anyOf or oneOf, with random branches and payloads of every type."""
    merged = 0
    for number in range(3000):
        random = Random(number)
        branches = [random_branch(random) for _ in range(random.randint(1, 3))]
        plain = merge_branches(branches)
        if plain is not None:
            merged += 1
            expected = verdicts(plain)
            assert expected == verdicts({"anyOf": branches}), branches
            assert expected == verdicts({"oneOf": branches}), branches

    assert merged > 300


def tagged(value: Any, name: str = "kind", **keywords: Any) -> dict[str, Any]:
    """Return an object whose property *name* has one value, or one of a list of values."""
    values = value if isinstance(value, list) else [value]
    return {
        "type": ["object"],
        "properties": {name: {"enum": values}},
        "required": [name],
        **keywords,
    }


def by_property(*cases: Any, name: str = "kind") -> dict[str, Any]:
    """Return the ``byProperty`` of the property *name*, from its values and other keywords."""
    alternatives = [
        [values, {"type": ["object"], "properties": {name: True}, "required": [name], **keywords}]
        for values, keywords in cases
    ]
    return {"type": ["object"], "byProperty": {"name": name, "cases": alternatives}}


A, B = tagged("a"), tagged("b")
A_OR_B = by_property((["a"], {}), (["b"], {}))
DEFINITIONS: dict[str, Any] = {
    "d1": tagged("a"),
    "d2": {"$ref": "#/definitions/d3"},
    "d3": tagged("b"),
    "d4": {"type": ["object"], "properties": {"x": {"$ref": "#/definitions/d4"}}},
    "d5": {"$ref": "#/definitions/d5"},
}
D1, D2, D4, D5 = ({"$ref": f"#/definitions/{name}"} for name in ("d1", "d2", "d4", "d5"))


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param({"oneOf": [A, B]}, A_OR_B, id="a member tells"),
        pytest.param(
            {"anyOf": [tagged(["a", "c"]), tagged([True, None, False])]},
            by_property((["a", "c"], {}), ([True, None, False], {})),
            id="by several values of several types",
        ),
        pytest.param(
            {"anyOf": [tagged("a", minProperties=2), B]},
            by_property((["a"], {"minProperties": 2}), (["b"], {})),
            id="with more to judge",
        ),
        pytest.param(
            {"anyOf": [D1, D2]},
            {
                "type": ["object"],
                "byProperty": {"name": "kind", "cases": [[["a"], D1], [["b"], D2]]},
            },
            id="through references",
        ),
        pytest.param(
            {"oneOf": [A, NULL, B]},
            {"type": ["null", "object"], "byProperty": A_OR_B["byProperty"]},
            id="beside null",
        ),
        pytest.param(
            {"anyOf": [{"anyOf": [A, B]}, {"not": {}}, False]}, A_OR_B, id="a union in a union"
        ),
        pytest.param(
            {"anyOf": [A, tagged("b"), {"minProperties": 1}]},
            {"anyOf": [{"minProperties": 1}, A_OR_B]},
            id="beside a branch that does not exclude them",
        ),
        pytest.param(
            {"oneOf": [A, B, tagged(["b", "c"])]},
            {"oneOf": [tagged(["b", "c"]), A_OR_B]},
            id="beside one that shares a value",
        ),
        pytest.param(
            {"type": ["object"], "required": ["kind"], "oneOf": [A | {"required": []}, B]},
            {
                "type": ["object"],
                "required": ["kind"],
                "byProperty": by_property((["a"], {"required": []}), (["b"], {}))["byProperty"],
            },
            id="with siblings of the union",
        ),
        pytest.param(
            {"oneOf": [{"allOf": [A, {"required": ["x"]}]}, B]},
            {
                "type": ["object"],
                "byProperty": {
                    "name": "kind",
                    "cases": [
                        [["a"], {"allOf": [A, {"required": ["x"]}]}],
                        A_OR_B["byProperty"]["cases"][1],
                    ],
                },
            },
            id="through conjunctions",
        ),
        pytest.param(
            {"anyOf": [D1, NULL]}, {"byType": [[["object"], D1], [["null"], NULL]]}, id="types tell"
        ),
        pytest.param(
            {"oneOf": [{"enum": ["a", "b"]}, D4, {"type": ["integer"], "not": {"enum": [1]}}]},
            {
                "byType": [
                    [["string"], {"enum": ["a", "b"]}],
                    [["object"], D4],
                    [["integer"], {"type": ["integer"], "not": {"enum": [1]}}],
                ]
            },
            id="types of constants tell",
        ),
        pytest.param({"anyOf": [D5, NULL]}, {"anyOf": [D5, NULL]}, id="nothing tells"),
        pytest.param(
            {"anyOf": [tagged(1), tagged(2)]}, {"anyOf": [tagged(1), tagged(2)]}, id="numbers"
        ),
        pytest.param(
            {"anyOf": [A, B | {"required": []}]},
            {"anyOf": [A, B | {"required": []}]},
            id="a member that may be absent",
        ),
        pytest.param(
            {"anyOf": [A, {k: v for k, v in B.items() if k != "type"}]},
            {"anyOf": [A, {k: v for k, v in B.items() if k != "type"}]},
            id="a branch for values of other types",
        ),
        pytest.param(
            {"additionalProperties": False, "anyOf": [tagged("a", properties={}), NULL]},
            {
                "allOf": [
                    {"additionalProperties": False},
                    {"type": ["object", "null"], "properties": {}, "required": ["kind"]},
                ]
            },
            id="a keyword that would change its sibling",
        ),
        pytest.param(
            {"properties": {"x": {"items": [{"not": {"oneOf": [A, B]}}]}}},
            {"properties": {"x": {"items": [{"not": A_OR_B}]}}},
            id="deep inside",
        ),
    ],
)
def test_distinguishable_branches_are_skipped(schema: Any, expected: Any) -> None:
    """Only the selected branch is evaluated."""
    assert expected == simplify_unions(schema, Definitions(DEFINITIONS))


TAGS = ["a", "b", "c", True, False, None]
MEMBERS: list[Any] = [*TAGS, 0, 1, 1.0, "d", [], {}]
OBJECTS: list[Any] = [
    *PAYLOADS,
    *({"kind": tag, **more} for tag in MEMBERS for more in ({}, {"n": 1}, {"n": "x"}, {"m": 1})),
    *({"sort": tag, "kind": kind} for tag in MEMBERS[:6] for kind in MEMBERS[:3]),
]


def random_object(random: Random) -> Any:
    if random.random() < 0.1:
        return random.choice([NULL, STRING, NUMBER, {"minProperties": 2}, {"not": {}}, {}, True])
    name = "kind" if random.random() < 0.8 else "sort"
    constraint: dict[str, Any] = {"enum": random.sample(TAGS, k=random.choice([1, 1, 1, 2]))}
    if random.random() < 0.3:
        constraint["type"] = random.choice([["string"], ["string", "boolean"], ["null"]])
    branch: dict[str, Any] = {
        "type": ["object"],
        "properties": {name: constraint},
        "required": [name],
    }
    if random.random() < 0.5:
        branch["properties"]["n"] = random.choice([NUMBER, STRING, False])
    if random.random() < 0.3:
        branch["additionalProperties"] = random.choice([False, NUMBER])
    if random.random() < 0.15:
        del branch[random.choice(["type", "required", "properties"])]
    if random.random() < 0.15:
        return {"allOf": [branch, random.choice([{"required": ["n"]}, {"type": ["object"]}])]}
    return branch


def message(definitions: dict[str, Any]) -> list[bool]:
    engine = FastEngine(generate_code(LoweredSchema(definitions), LIMITS), "2020-12", LIMITS)
    return [engine.is_valid(payload) for payload in OBJECTS]


@pytest.mark.slow
def test_skipped_branches_do_not_change_the_verdict() -> None:
    """Random branches have references and sibling keywords."""
    rewritten = 0
    for number in range(1500):
        random = Random(number)
        definitions: dict[str, Any] = {}
        branches = []
        for index in range(1, random.randint(2, 6)):
            branch = random_object(random)
            if random.random() < 0.3:
                definitions[f"d{index}"] = branch
                branch = {"$ref": f"#/definitions/d{index}"}
            branches.append(branch)
        root: dict[str, Any] = {random.choice(["anyOf", "oneOf"]): branches}
        if random.random() < 0.3:
            root |= random.choice(
                [{"type": ["object"]}, {"required": ["kind"]}, {"minProperties": 1}]
            )
        simpler = simplify_unions(root, Definitions(definitions))
        rewritten += "byProperty" in repr(simpler) or "byType" in repr(simpler)
        assert message({"d0": root, **definitions}) == message({"d0": simpler, **definitions}), root

    assert rewritten > 500


def test_unions_of_models_are_reported_by_their_property() -> None:
    """pydantic writes them as references with a constant in each."""
    names = [f"model-{number}" for number in range(60)]
    schema = {
        "$defs": {
            name: {
                "type": "object",
                "properties": {"type": {"const": name, "type": "string"}, "x": {"type": "integer"}},
                "required": ["type", "x"],
                "additionalProperties": False,
            }
            for name in names
        },
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in names],
        "discriminator": {"propertyName": "type"},
    }
    payloads: list[Any] = [{"type": name, "x": x} for name in names for x in (1, "1")]
    others: list[Any] = [{"x": 1}, {"type": "model-60", "x": 1}, {"type": ["model-1"], "x": 1}, []]

    assert compile_value(schema).artifact.fast is not None
    assert [True, False] * 60 + [False] * 4 == evaluate_all(schema, payloads + others)
