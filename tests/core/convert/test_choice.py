"""Choice of the rules that concern a node, and what a transformation costs without any."""

from typing import Any

import pytest
from sidecheck_server.core.convert.providers.openai import COMPATIBLE, STRICT
from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.transforms.pipeline import STAGES, transform_schema
from sidecheck_server.core.convert.transforms.rules import (
    DROPPING_DEFAULTS,
    Choice,
    Rule,
    Stage,
    choice_for,
    has,
    kind_of,
)
from sidecheck_server.core.convert.types import LossLog
from support.compiling import LIMITS
from support.core_conversion import read

from .transforms import CLOSED, transformed

NONE: frozenset[str] = frozenset()
STRUCTURE, REFERENCES, FORM, ARRANGE, CHECK = range(5)


def concerned(keywords: dict[str, Any], subset: Subset, common: frozenset[str] = NONE) -> set[int]:
    return choice_for(STAGES, subset, common).stages([kind_of(keywords)])


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        pytest.param({"type": "string", "description": "d"}, set(), id="a plain string"),
        pytest.param({"type": "object", "properties": {}, "required": []}, set(), id="an object"),
        pytest.param({"anyOf": []}, set(), id="a union"),
        pytest.param({"type": "string", "pattern": "a"}, {FORM}, id="a pattern"),
        pytest.param({"type": "array"}, {FORM}, id="an array without items"),
        pytest.param({"type": "array", "items": {}}, set(), id="an array"),
        pytest.param({"type": ["string", "null"]}, {FORM}, id="several types"),
        pytest.param({"type": "string", "items": {}}, {STRUCTURE, FORM}, id="a stray keyword"),
        pytest.param({"type": "integer", "minimum": 0}, set(), id="a bound of integers"),
        pytest.param({"allOf": []}, {STRUCTURE}, id="allOf"),
    ],
)
def test_a_stage_concerns_nodes_by_their_keywords(
    keywords: dict[str, Any], expected: set[int]
) -> None:
    """Most nodes concern none where the provider takes nearly all of JSON Schema."""
    assert expected == concerned(keywords, COMPATIBLE)


def test_the_subset_determines_the_nodes_of_a_stage() -> None:
    """In strict mode it covers references with siblings, and unions."""
    assert REFERENCES in concerned({"$ref": None}, STRICT)
    assert concerned({"anyOf": []}, STRICT) >= {STRUCTURE, ARRANGE, CHECK}


def test_a_stage_concerns_nodes_by_the_options() -> None:
    default = {"type": "string", "default": ""}

    assert concerned(default, COMPATIBLE) == set()
    assert concerned(default, COMPATIBLE, frozenset({DROPPING_DEFAULTS})) == {FORM}


def test_the_next_rule_is_chosen_for_the_changed_node() -> None:
    """Nodes with many traits are not cached."""
    rules = tuple(Rule(lambda _node, _context: None, has(name)) for name in "abca")
    choice = Choice((Stage(rules),), COMPATIBLE, NONE)
    many = tuple(f"x{number}" for number in range(40))

    for rest in ((), many):
        assert choice.rule(0, ("a", *rest), 0) == 0
        assert choice.rule(0, ("a", *rest), 1) == 3
        assert choice.rule(0, ("c", *rest), 1) == 2
        assert choice.rule(0, ("a", *rest), 4) is None
        assert choice.rule(0, rest, 0) is None
        assert choice.stages([("b", *rest), rest]) == {0}


@pytest.mark.parametrize("subset", [COMPATIBLE, STRICT], ids=["compatible", "strict"])
@pytest.mark.parametrize("extra", [{}, {"pattern": "^a"}], ids=["nothing to do", "a pattern"])
def test_every_stage_takes_steps_for_every_node(subset: Subset, extra: dict[str, Any]) -> None:
    """Skipped nodes take steps too, so that the limit is the same for every schema."""
    string = {"type": "string", **extra}
    names = [f"p{number}" for number in range(9)]
    steps = []
    for count in (4, 9):
        schema = {
            "type": "object",
            "properties": dict.fromkeys(names[:count], string),
            "required": names[:count],
            "additionalProperties": False,
        }
        root, _ = read(schema)
        log = LossLog([LIMITS.steps])
        transform_schema(root, subset, {}, log)
        steps.append(LIMITS.steps - log.budget[0])

    per_node = (steps[1] - steps[0]) / 5
    assert per_node >= sum(stage.steps for stage in STAGES)


def test_rules_apply_to_references_to_impossible_schemas() -> None:
    """The reference may be the only subschema."""
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/none"}},
        "required": ["a"],
        "additionalProperties": False,
        "$defs": {"none": False},
    }

    (written,) = transformed(schema, CLOSED).schema["$defs"].values()
    assert written["type"] == "string"
    assert "no value is valid here" in written["description"]
