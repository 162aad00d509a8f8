"""Evaluation of payloads, by either engine and up to every limit."""

import json
from dataclasses import asdict
from typing import Any

import pytest
from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema, compile_schema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import (
    DETAILS_UNAVAILABLE,
    DISAGREEMENT,
    EvaluationOptions,
    evaluate,
    try_evaluate_inline,
)
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.repair.types import Repairs, UnknownArguments
from sidecheck_server.core.types import Severity, Verdict, Violation
from support.compiling import D2019, LIMITS, compile_value, source_of

# The first runs on the complete engine only; the second is equivalent on the fast engine.
COMPLETE = {"anyOf": [True], "unevaluatedProperties": {"type": "string"}}
FAST = {"additionalProperties": {"type": "string"}}
BOTH = [pytest.param(FAST, id="by both"), pytest.param(COMPLETE, id="by the complete engine")]
MANY = json.dumps({f"k{number}": number for number in range(9, -1, -1)}).encode()


def verdict_on(schema: Any, payload: Any, *, limits: Limits = LIMITS, **options: Any) -> Verdict:
    text = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return evaluate(compile_value(schema, limits=limits), text, EvaluationOptions(**options))


def places(verdict: Verdict) -> list[str]:
    return [violation.instance_location for violation in verdict.violations]


@pytest.mark.parametrize("schema", BOTH)
def test_a_valid_payload_has_no_violations(schema: Any) -> None:
    """The verdict is not truncated."""
    assert Verdict((), truncated=False) == verdict_on(schema, {"a": "b"})


@pytest.mark.parametrize("schema", BOTH)
def test_an_invalid_payload_has_all_of_them_in_order(schema: Any) -> None:
    """Violations are ordered by location, regardless of the payload's order."""
    verdict = verdict_on(schema, MANY)

    assert ([f"/k{number}" for number in range(10)], False) == (places(verdict), verdict.truncated)
    assert not verdict.valid


@pytest.mark.parametrize("schema", BOTH)
@pytest.mark.parametrize(
    ("expected", "count", "truncated"),
    [
        pytest.param(1, 1, True, id="one"),
        pytest.param(9, 9, True, id="one too few"),
        pytest.param(10, 10, False, id="just enough"),
        pytest.param(11, 10, False, id="enough"),
    ],
)
def test_max_violations(schema: Any, expected: int, count: int, truncated: bool) -> None:
    """A verdict with omitted violations is truncated."""
    verdict = verdict_on(schema, MANY, max_violations=expected)

    assert (count, truncated, False) == (len(verdict.violations), verdict.truncated, verdict.valid)


def test_max_violations_is_at_least_one() -> None:
    """Without violations the verdict would be valid."""
    for expected in (0, -1):
        with pytest.raises(ValueError, match="at least 1"):
            EvaluationOptions(max_violations=expected)


def test_repeated_keys_are_reported_up_to_the_number_wanted() -> None:
    """The first ones are reported, in the order of the text."""
    payload = b'{"c": 1, "c": 1, "b": 1, "b": 1, "a": 1, "a": 1}'

    verdict = verdict_on(True, payload, max_violations=2)

    assert (["/b", "/c"], True, False) == (places(verdict), verdict.truncated, verdict.valid)


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        pytest.param(b"{", "PAYLOAD_NOT_JSON", id="no JSON"),
        pytest.param(b'{"a": 1, "a": 1}', "DUPLICATE_KEY", id="a repeated key"),
    ],
)
def test_a_payload_that_is_not_json_is_invalid_under_any_schema(payload: bytes, code: str) -> None:
    """Holds for the schema true as well; the outcome is a verdict, not an error."""
    for schema in (True, {}, FAST, COMPLETE):
        assert [code] == [violation.code for violation in verdict_on(schema, payload).violations]


@pytest.mark.parametrize(
    ("payload", "limits", "metadata"),
    [
        pytest.param(
            b'"12345"',
            Limits(payload_bytes=6),
            {"bound": "payload_bytes", "limit": "6", "found": "7"},
            id="bytes",
        ),
        pytest.param(
            b"[[[]]]",
            Limits(payload_depth=2),
            {"bound": "payload_depth", "limit": "2", "found": "3"},
            id="nesting",
        ),
    ],
)
def test_a_payload_beyond_a_bound_is_rejected(
    payload: bytes, limits: Limits, metadata: dict[str, str]
) -> None:
    """The error names the limit, for valid and invalid payloads."""
    for schema in (True, False, COMPLETE):
        with pytest.raises(RequestError) as excinfo:
            verdict_on(schema, payload, limits=limits)
        assert (ErrorReason.LIMIT_EXCEEDED, metadata) == (
            excinfo.value.reason,
            excinfo.value.metadata,
        )


def test_the_bounds_themselves_are_evaluated() -> None:
    """Payloads of exactly the maximum size and depth are evaluated."""
    assert verdict_on(True, b'"1234"', limits=Limits(payload_bytes=6)).valid
    assert verdict_on(True, b"[[]]", limits=Limits(payload_depth=2)).valid


DOUBLING = {
    "type": "array",
    "items": {"oneOf": [{"$ref": "#"}, {"type": "array", "items": {"$ref": "#"}}, False]},
}
DEEP: Any = []
for _ in range(40):
    DEEP = [DEEP]


def test_a_payload_that_takes_too_many_steps_is_rejected() -> None:
    """It is invalid instead if the fast engine finds a fault first."""
    with pytest.raises(RequestError) as excinfo:
        verdict_on(DOUBLING, DEEP)

    assert {"bound": "steps", "limit": "10000000"} == excinfo.value.metadata


def test_the_verdict_stands_if_its_explanation_exceeds_the_step_limit() -> None:
    """The verdict is invalid and truncated."""
    payload = [[1] * 50]
    schema = {"items": {"items": {"type": "string"}}}

    none, some = (
        verdict_on(schema, payload, limits=Limits(steps=steps)) for steps in (400, 20_000)
    )

    message = "the payload is invalid; finding the details would take too long"
    assert Verdict((Violation("", "", "", DETAILS_UNAVAILABLE, message),), truncated=True) == none
    assert (True, False) == (some.truncated, some.valid)
    assert places(some) == sorted(places(some))
    assert 0 < len(places(some)) < 30


def test_one_violation_is_enough_for_the_complete_engine_too() -> None:
    """The step limit is an error only if no violation was found before."""
    schema = {**COMPLETE, "unevaluatedItems": {"type": "string"}}
    limits = Limits(steps=4000)

    verdict = verdict_on(schema, [1, *["a"] * 50], limits=limits)

    assert (["/0"], True, False) == (places(verdict), verdict.truncated, verdict.valid)
    with pytest.raises(RequestError) as excinfo:
        verdict_on(schema, ["a"] * 50, limits=limits)
    assert ErrorReason.LIMIT_EXCEEDED == excinfo.value.reason


@pytest.mark.slow
@pytest.mark.parametrize(
    "innermost",
    [pytest.param("a", id="that would be valid"), pytest.param(1, id="that would be invalid")],
)
def test_nesting_beyond_the_recursion_limit_is_rejected(innermost: Any) -> None:
    """The chain of references exceeds the stack; no other exception is raised."""
    chain: dict[str, Any] = {
        f"a{number}": {"$ref": f"#/$defs/a{number + 1}"} for number in range(4000)
    }
    schema = {"$ref": "#/$defs/a0", "$defs": {**chain, "a4000": {"type": "string"}}}

    with pytest.raises(RequestError) as excinfo:
        verdict_on(schema, innermost)

    assert (
        ErrorReason.LIMIT_EXCEEDED,
        "payload and schema nest too deeply to evaluate (limit: recursion depth)",
        {"bound": "recursion_depth"},
    ) == (excinfo.value.reason, excinfo.value.message, excinfo.value.metadata)


def test_engines_that_disagree_are_reported_and_the_payload_is_invalid() -> None:
    """The engines of this test are compiled from two different schemas."""
    strict, lax = source_of({"type": "string"}), source_of({"type": ["string", "integer"]})
    disagreeing = CompiledSchema(lax, compile_schema(strict, LIMITS), LIMITS)

    verdict = evaluate(disagreeing, b"1", EvaluationOptions())

    message = (
        "the payload is invalid, but the validation engines disagree why; please report this schema"
    )
    assert Verdict((Violation("", "", "", DISAGREEMENT, message),)) == verdict
    assert evaluate(disagreeing, b'"a"', EvaluationOptions()).valid
    assert ["TYPE"] == [
        violation.code for violation in evaluate(disagreeing, b"[]", EvaluationOptions()).violations
    ]


def test_messages_can_omit_values_of_the_payload() -> None:
    """The locations remain."""
    shown, hidden = (
        verdict_on(FAST, {"a": 12345}, hide_values=hide).violations[0] for hide in (False, True)
    )

    assert (True, False) == ("12345" in shown.message, "12345" in str(asdict(hidden)))
    assert shown.instance_location == hidden.instance_location == "/a"


def test_only_errors_make_a_verdict_invalid() -> None:
    """Warnings and hints leave it valid."""
    violations = [
        Violation("/b", "", "", "B", "", Severity.WARNING),
        Violation("/a", "", "", "A", "", Severity.INFO),
        Violation("/a", "/x", "", "A", ""),
    ]

    assert Verdict.listing(violations[:2]).valid
    assert not Verdict.listing(violations).valid
    assert [violations[1], violations[2], violations[0]] == list(
        Verdict.listing(violations).violations
    )


def test_compiled_schema_has_a_reason_for_the_complete_engine() -> None:
    """It has the digest of its schema too."""
    fast, complete = compile_value(FAST), compile_value({"$schema": D2019, **COMPLETE})
    compiled = compile_schema(source_of(FAST), LIMITS)

    assert isinstance(compiled, Artifact)
    assert (compiled.digest, "") == (fast.digest, fast.complete_only_reason)
    assert "unevaluatedProperties beside a conditional applicator" == complete.complete_only_reason
    assert (True, True) == (fast.fast is not None, complete.fast is None)


@pytest.mark.parametrize(
    ("unknown", "hidden"),
    [
        pytest.param(UnknownArguments.REJECT, False, id="an error"),
        pytest.param(UnknownArguments.REPORT, False, id="a warning"),
        pytest.param(UnknownArguments.REJECT, True, id="with hidden values"),
    ],
)
def test_a_renamed_property_is_reported_once(unknown: UnknownArguments, hidden: bool) -> None:
    """The missing one names it; another unknown property has its own violation."""
    schema = {"properties": {"query": {"type": "string"}, "limit": {}}, "required": ["query"]}
    verdict = verdict_on(
        schema,
        {"querry": "x", "limits": 1, "other": 2},
        repairs=Repairs(unknown=unknown),
        hide_values=hidden,
    )

    assert [("", "REQUIRED"), ("/limits", "UNKNOWN_PROPERTY"), ("/other", "UNKNOWN_PROPERTY")] == [
        (violation.instance_location, violation.code) for violation in verdict.violations
    ]


def test_a_choice_that_takes_too_many_steps_inline_is_explained_by_a_worker() -> None:
    """The event loop does not answer with less than a worker would."""
    branches = [
        {"properties": {"a": {"items": {"type": "integer"}}, "b": {"type": type_}}}
        for type_ in ("string", "boolean")
    ]
    payload = json.dumps({"a": [1] * 2000, "b": 5}).encode()
    compiled = compile_value({"anyOf": branches})
    verdict = evaluate(compiled, payload, EvaluationOptions())

    assert None is try_evaluate_inline(
        compiled, payload, EvaluationOptions(), [Limits().inline_steps]
    )
    assert ["expected a string or a boolean, found 5"] == [
        violation.message for violation in verdict.violations
    ]
