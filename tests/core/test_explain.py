"""Violations: each fault once, at its location, with a message that names the remedy."""

import json
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.limits import Exhausted, Limits
from sidecheck_server.core.types import Violation
from support.complete_engines import engine_for, violations
from support.counted_calls import count_calls

CASES = json.loads((Path(__file__).parent / "explanations.json").read_text("utf-8"))


def violations_of(schema: Any, payload: Any, **options: Any) -> list[Violation]:
    return list(violations(engine_for(schema, assert_formats=True), payload, **options))


def step_into(value: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        step = part.replace("~1", "/").replace("~0", "~")
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def texts_in(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value}
    if isinstance(value, dict):
        return set(value).union(*map(texts_in, value.values()))
    return set().union(*map(texts_in, value)) if isinstance(value, list) else set()


@pytest.mark.parametrize("case", [pytest.param(case, id=case["case"]) for case in CASES])
class TestCases:
    """Every case of explanations.json."""

    def test_a_fault_has_the_violation_of_its_case(self, case: dict[str, Any]) -> None:
        """Locations, code, message and suggestion equal those of the case."""
        violations_ = [
            [
                violation.instance_location,
                violation.keyword_location,
                violation.code,
                violation.message,
                violation.suggestion,
            ]
            for violation in violations_of(case["schema"], case["payload"])
        ]

        assert case["violations"] == violations_

    def test_a_code_is_the_keyword_in_capitals(self, case: dict[str, Any]) -> None:
        """The schema `false` has no keyword, and a code of its own."""
        for violation in violations_of(case["schema"], case["payload"]):
            assert (violation.keyword or "falseSchema").lower() == violation.code.replace(
                "_", ""
            ).lower()

    def test_pointers_resolve_in_the_payload(self, case: dict[str, Any]) -> None:
        """A violation is at a value of the payload."""
        for violation in violations_of(case["schema"], case["payload"]):
            step_into(case["payload"], violation.instance_location)

    def test_hidden_values_stay_hidden(self, case: dict[str, Any]) -> None:
        """hide_values keeps the number of violations and removes payload text from them."""
        shown = violations_of(case["schema"], case["payload"])
        hidden = violations_of(case["schema"], case["payload"], hide_values=True)
        secrets = {
            text
            for text in texts_in(case["payload"])
            if len(text) > 1 and text not in json.dumps(case["schema"], ensure_ascii=False)
        }

        assert [(violation.instance_location, violation.code) for violation in shown] == [
            (violation.instance_location, violation.code) for violation in hidden
        ]
        assert set() == {
            text
            for text in secrets
            for violation in hidden
            if text in violation.message or text in violation.suggestion
        }


@pytest.mark.parametrize(
    ("schema", "payload", "message"),
    [
        pytest.param({"maximum": 5}, 123456, "expected at most 5, found an integer", id="number"),
        pytest.param(
            {"enum": ["a"]}, "hunter2", 'expected "a", found a string of 7 characters', id="string"
        ),
        pytest.param({"type": "null"}, True, "expected null, found a boolean", id="boolean"),
        pytest.param(
            {"additionalProperties": False, "properties": {"token": {}}},
            {"tokn": 1},
            'unknown property; did you mean "token"?',
            id="name",
        ),
        pytest.param(
            {"properties": {"token": {"type": "string"}}, "required": ["token"]},
            {"tokn": 1},
            '"token" is required and missing; expected a string',
            id="name similar to a missing one",
        ),
        pytest.param(
            {"propertyNames": {"pattern": "^a"}},
            {"hunter2": 1},
            "the property name is not allowed: expected a string that matches the pattern ^a, "
            "found a string of 7 characters",
            id="name that is wrong",
        ),
        pytest.param(
            {"uniqueItems": True},
            ["hunter2", "hunter2"],
            "expected unique items, found item 1 equal to item 0",
            id="items",
        ),
        pytest.param(
            {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {"hunter2": 1},
            'expected "a" or "b" to be present, found an object with 1 property',
            id="names in a choice",
        ),
    ],
)
def test_hidden_values_become_their_kind(schema: Any, payload: Any, message: str) -> None:
    """The message still has what the schema alone implies."""
    assert [message] == [
        violation.message for violation in violations_of(schema, payload, hide_values=True)
    ]


LONG = "l" * 100_000


@pytest.mark.parametrize(
    ("schema", "payload"),
    [
        pytest.param({"type": "null"}, LONG, id="a long text"),
        pytest.param({"type": "null"}, [[LONG]] * 50_000, id="a large array"),
        pytest.param({"const": {LONG: LONG}}, {LONG: LONG, "a": 1}, id="a large object"),
        pytest.param({"enum": [LONG, LONG + "x"]}, LONG + "y", id="long constants"),
        pytest.param({"additionalProperties": False}, {LONG: 1}, id="a long name"),
        pytest.param(
            {"properties": {LONG + str(n): {} for n in range(20)}, "additionalProperties": False},
            {LONG: 1},
            id="long names that are allowed",
        ),
        pytest.param({"required": [LONG]}, {}, id="a long name that is missing"),
        pytest.param({"format": LONG, "type": "null"}, "x", id="a long format"),
        pytest.param({"pattern": "a" * 1000}, "x", id="a long pattern"),
        pytest.param({"anyOf": [{"const": LONG + str(n)} for n in range(500)]}, 1, id="a choice"),
        pytest.param(
            {"anyOf": [{"required": [f"{LONG}{n}"] * 20} for n in range(7)]}, {"a": 1}, id="names"
        ),
        pytest.param(
            {
                "anyOf": [
                    {"type": "object", "properties": {f"{LONG}{n}": {"const": LONG}}}
                    for n in range(9)
                ]
            },
            1,
            id="a choice among objects",
        ),
        pytest.param({"type": "string"}, 10**4299, id="a huge integer"),
        pytest.param({"maximum": 10**4299}, 10**4299 + 1, id="a huge bound"),
        pytest.param({"uniqueItems": True}, [LONG, LONG], id="repeated long texts"),
    ],
)
def test_messages_are_short(schema: Any, payload: Any) -> None:
    """The length and cost of a message are independent of payload and schema size."""
    engine = engine_for(schema)
    messages: list[str] = []

    def explain() -> None:
        messages.extend(violation.message for violation in violations(engine, payload))

    assert count_calls(explain) < 50_000
    assert messages
    assert max(map(len, messages)) <= 1000
    assert all(message.isprintable() for message in messages)


def test_the_first_violations_do_not_wait_for_the_last() -> None:
    """Violations are reported one by one; a caller takes as many as it wants."""
    engine = engine_for(
        {"items": {"properties": {"a": {"type": "integer"}}, "additionalProperties": False}}
    )
    payload: Any = [{"a": "x", "b": 1}] * 50_000
    first_violations: list[Violation] = []

    def take_first() -> None:
        first_violations.extend(islice(violations(engine, payload), 20))

    assert count_calls(take_first) < 10_000
    assert "/9/b" == first_violations[-1].instance_location


def test_a_large_choice_is_reported_in_one_violation() -> None:
    """The faults of the branches are not collected first."""
    branches = [{"type": "array", "items": {"type": kind}} for kind in ("string", "boolean")]
    engine = engine_for({"anyOf": branches})
    payload: Any = [None] * 200_000
    codes: list[str] = []

    def explain() -> None:
        codes.extend(violation.code for violation in violations(engine, payload))

    assert count_calls(explain) < 10_000
    assert ["ANY_OF"] == codes


def test_choices_are_looked_into_up_to_a_bound() -> None:
    """Beyond it one violation says that the cause is deeper."""
    schema = {
        "anyOf": [
            {"type": "integer"},
            {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        ]
    }
    payload: Any = "x"
    for _ in range(40):
        payload = {"a": payload}
    (violation,) = violations_of(schema, payload)

    assert "/a" * 24 == violation.instance_location
    assert (
        "none of the alternatives matches, for a deeply nested reason; "
        "found an object with 1 property" == violation.message
    )


def test_comparing_branches_takes_at_most_half_of_the_steps() -> None:
    """The others are left to report that no branch matches."""
    branches = [
        {"properties": {"a": {"items": {"type": "integer"}}, "b": {"type": type_}}}
        for type_ in ("string", "boolean")
    ]
    payload: Any = {"a": [1] * 1000, "b": 5}
    messages = [
        [
            (violation.instance_location, violation.message)
            for violation in violations(
                engine_for({"anyOf": branches}, limits=Limits(steps=steps)), payload
            )
        ]
        for steps in (1_000_000, 400_000)
    ]

    assert [
        [("/b", "expected a string or a boolean, found 5")],
        [
            (
                "",
                (
                    "none of 2 alternatives matches; explaining why takes too many steps; "
                    "found an object with 2 properties"
                ),
            )
        ],
    ] == messages


def test_the_search_for_the_nearest_branch_takes_steps() -> None:
    """References make thousands of branches; the limit of steps ends the search."""
    choices = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 30} for n in range(3)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**choices, "d3": {"const": 1}}}
    engine = engine_for(schema, limits=Limits(steps=10_000_000))

    assert not engine.is_valid("x")
    with pytest.raises(Exhausted):
        list(violations(engine, "x"))


@pytest.mark.slow
def test_explanations_do_not_depend_on_the_order_of_hashes() -> None:
    """The same payload is reported the same way by every process."""
    program = (
        "import json, sys; from pathlib import Path\n"
        "from support.complete_engines import engine_for, violations\n"
        "for case in json.loads(Path(sys.argv[1]).read_text('utf-8')):\n"
        "    for each in violations(engine_for(case['schema']), case['payload']): print(each)"
    )
    data = str(Path(__file__).parent / "explanations.json")
    printed = {
        subprocess.run(
            [sys.executable, "-c", program, data],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert 1 == len(printed)
    assert all(printed)


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        pytest.param("colour", ["size", "color"], "color", id="a letter more"),
        pytest.param("nmae", ["name", "age"], "name", id="letters in another order"),
        pytest.param("userId", ["user_id"], "user_id", id="another case and separator"),
        pytest.param("USER-ID", ["id", "user_id"], "user_id", id="nothing but case before all"),
        pytest.param("q", ["limit", "query"], "query", id="the beginning"),
        pytest.param("repository", ["repo", "owner"], "repo", id="more than the beginning"),
        pytest.param("path", ["file_path", "mode"], "file_path", id="one of the words"),
        pytest.param("id", ["user_id", "repo_id"], "", id="one of the words of several"),
        pytest.param("cliend_id", ["client_id", "order_id"], "client_id", id="in one word"),
        pytest.param("travel_class", ["travel_cost"], "", id="a shared word is not enough"),
        pytest.param("start_date", ["end_date"], "", id="another word"),
        pytest.param("line_2", ["line_3"], "", id="another number"),
        pytest.param("from", ["to", "subject"], "", id="nothing alike"),
        pytest.param("", ["a"], "", id="no name"),
        pytest.param("a", [], "", id="no candidates"),
        pytest.param("x" * 65, ["x" * 66], "", id="a name too long to compare"),
        pytest.param("größe", ["groesse", "GRÖSSE"], "GRÖSSE", id="case beyond ASCII"),
        pytest.param("名前", ["名", "住所"], "名", id="other scripts"),
        pytest.param("--", ["__", "-"], "-", id="nothing but separators"),
    ],
)
def test_the_nearest_name_is_suggested(name: str, candidates: list[str], expected: str) -> None:
    """A distant name is not suggested, since it would mislead."""
    assert expected == find_nearest(name, candidates)


def test_looking_for_the_nearest_name_is_bounded() -> None:
    """No more than 200 candidates are compared, and none that is long."""
    candidates = (f"{'abc' * 20}{n}" for n in range(1_000_000))

    assert count_calls(lambda: find_nearest("abd" * 20, candidates)) < 10_000
    assert "" == find_nearest("name", [*(f"x{n}" for n in range(200)), "name"])
