"""Structured content that must be an object, and results that owe it."""

import json

import pytest
from sidecheck_server.core.evaluate import DETAILS_UNAVAILABLE, VALID, EvaluationOptions
from sidecheck_server.core.mcp.check import CheckReport, check
from sidecheck_server.core.mcp.context import VERSIONS, Context, requires_object_output
from sidecheck_server.core.mcp.results.check import (
    missing_output_verdict,
    require_object,
)
from sidecheck_server.core.mcp.subjects import CheckRequest, ReportLimits, ToolResult
from sidecheck_server.core.types import Repair, Severity, Verdict, Violation
from support.rule_cases import LIMITS, PROTOCOL_SCHEMAS

VERSION = "2025-11-25"


def violation(pointer: str, code: str = "TYPE") -> Violation:
    return Violation(pointer, "", "", code, "wrong")


def test_versions_differ_in_what_structured_content_may_be() -> None:
    """Nothing is said before 2025-06-18, which has none."""
    assert [False, False, True, True, False] == [
        requires_object_output(version) for version in VERSIONS
    ]
    assert [True, True, False, False, False] == [
        missing_output_verdict(version).valid for version in VERSIONS
    ]


@pytest.mark.parametrize(
    ("payload", "found"),
    [
        (b"[1]", "an array"),
        (b' "{}"', "a string"),
        (b"true", "a boolean"),
        (b"false", "a boolean"),
        (b"\n\tnull", "null"),
        (b"-1.5", "a number"),
    ],
)
def test_what_is_no_object_is_a_fault_of_its_type(payload: bytes, found: str) -> None:
    """Though the schema admits it."""
    verdict = require_object(VALID, payload, EvaluationOptions(), VERSION)
    clause = "https://modelcontextprotocol.io/specification/2025-11-25/schema#calltoolresult"
    said = f"expected an object, found {found}"

    assert Verdict((Violation("", "", "type", "TYPE", said, spec_url=clause),)) == verdict


@pytest.mark.parametrize("payload", [b"{}", b' \r\n\t{"a": 1}'])
def test_an_object_is_what_the_schema_says_it_is(payload: bytes) -> None:
    """The very verdict, of which valid ones are cached."""
    assert VALID is require_object(VALID, payload, EvaluationOptions(), VERSION)


@pytest.mark.parametrize(
    "code", ["TYPE", "PAYLOAD_NOT_JSON", "NUMBER_OUT_OF_RANGE", DETAILS_UNAVAILABLE]
)
def test_a_fault_is_told_once(code: str) -> None:
    """The schema may refuse the type too, and a text that is not JSON has none."""
    verdict = Verdict((violation("", code),))

    assert verdict is require_object(verdict, b"[", EvaluationOptions(), VERSION)


def test_other_faults_are_told_beside_as_many_as_are_wanted() -> None:
    """This one first, since it is the whole that is wrong."""
    verdict = Verdict((violation("/0"), violation("/1")))
    told = [
        (
            [violation.instance_location for violation in got.violations],
            got.truncated,
        )
        for most in (3, 2, 1)
        for got in [
            require_object(verdict, b"[1]", EvaluationOptions(max_violations=most), VERSION)
        ]
    ]

    assert [(["", "/0", "/1"], False), (["", "/0"], True), ([""], True)] == told


def test_a_repair_stays() -> None:
    """It may well be the object that was wanted."""
    repair = Repair(b"{}", VALID, ())

    assert (
        repair
        is require_object(Verdict(repair=repair), b'"{}"', EvaluationOptions(), VERSION).repair
    )


@pytest.mark.parametrize(
    ("expected", "version", "result"),
    [
        ([], "2026-07-28", {"resultType": "input_required", "requestState": "s"}),
        (["INPUT_REQUIRED_EMPTY"], "2026-07-28", {"resultType": "input_required"}),
        (["REQUIRED"], "2025-11-25", {"resultType": "input_required", "requestState": "s"}),
    ],
)
def test_a_result_may_ask_for_more_input_since_2026_07_28(
    expected: list[str], version: str, result: dict[str, object]
) -> None:
    """Whether the tool has an output schema or not: it owes no output yet."""
    subject = ToolResult(json.dumps(result).encode(), has_output_schema=True)
    asked = CheckRequest(
        subject, Context(version=version), ReportLimits(min_severity=Severity.ERROR)
    )
    checked = check(asked, LIMITS, PROTOCOL_SCHEMAS)
    assert [c for c in codes(checked) if c != "OUTPUT_MISSING"] == expected


def codes(checked: CheckReport) -> list[str]:
    return [violation.code for violation in checked.findings.verdict().violations]
