"""Structured content that must be an object, and results that require it."""

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


def violation_at(pointer: str, code: str = "TYPE") -> Violation:
    return Violation(pointer, "", "", code, "wrong")


def test_structured_content_by_version() -> None:
    """Versions before 2025-06-18 have no structured content."""
    assert [False, False, True, True, False] == [
        requires_object_output(version) for version in VERSIONS
    ]
    assert [True, True, False, False, False] == [
        missing_output_verdict(version).valid for version in VERSIONS
    ]


@pytest.mark.parametrize(
    ("payload", "type_"),
    [
        (b"[1]", "an array"),
        (b' "{}"', "a string"),
        (b"true", "a boolean"),
        (b"false", "a boolean"),
        (b"\n\tnull", "null"),
        (b"-1.5", "a number"),
    ],
)
def test_non_object_is_a_type_violation(payload: bytes, type_: str) -> None:
    """The schema may accept it."""
    verdict = require_object(VALID, payload, EvaluationOptions(), VERSION)
    spec_url = "https://modelcontextprotocol.io/specification/2025-11-25/schema#calltoolresult"
    message = f"expected an object, found {type_}"

    assert Verdict((Violation("", "", "type", "TYPE", message, spec_url=spec_url),)) == verdict


@pytest.mark.parametrize("payload", [b"{}", b' \r\n\t{"a": 1}'])
def test_verdict_on_an_object_is_unchanged(payload: bytes) -> None:
    """The same object is returned, since valid verdicts are cached."""
    assert VALID is require_object(VALID, payload, EvaluationOptions(), VERSION)


@pytest.mark.parametrize("code", ["TYPE", "PAYLOAD_NOT_JSON", DETAILS_UNAVAILABLE])
def test_type_violation_is_not_repeated(code: str) -> None:
    """The schema may report the type too, and a text that is not JSON has no type."""
    verdict = Verdict((violation_at("", code),))

    assert verdict is require_object(verdict, b"[", EvaluationOptions(), VERSION)


def test_type_violation_comes_first_within_the_limit() -> None:
    """It comes first because it concerns the whole value."""
    verdict = Verdict((violation_at("/0"), violation_at("/1")))
    reported = [
        (
            [violation.instance_location for violation in result.violations],
            result.truncated,
        )
        for max_violations in (3, 2, 1)
        for result in [
            require_object(
                verdict, b"[1]", EvaluationOptions(max_violations=max_violations), VERSION
            )
        ]
    ]

    assert [(["", "/0", "/1"], False), (["", "/0"], True), ([""], True)] == reported


def test_the_repaired_payload_is_returned() -> None:
    """The repaired payload may be the required object."""
    repair = Repair(b"{}", VALID, ())

    assert (
        repair
        is require_object(Verdict(repair=repair), b'"{}"', EvaluationOptions(), VERSION).repair
    )


_CREATED = {
    "resultType": "task",
    "taskId": "t1",
    "status": "working",
    "createdAt": "2026-11-22T10:00:00Z",
    "lastUpdatedAt": "2026-11-22T10:00:00Z",
    "ttlMs": None,
}


@pytest.mark.parametrize(
    ("expected", "version", "result"),
    [
        ([], "2026-07-28", {"resultType": "input_required", "requestState": "s"}),
        (["INPUT_REQUIRED_EMPTY"], "2026-07-28", {"resultType": "input_required"}),
        ([], "2026-07-28", _CREATED),
        (["TYPE"], "2026-07-28", {**_CREATED, "ttlMs": "60 s"}),
        (["REQUIRED"], "2025-11-25", {"resultType": "input_required", "requestState": "s"}),
    ],
)
def test_result_may_require_input_or_be_a_task_since_2026_07_28(
    expected: list[str], version: str, result: dict[str, object]
) -> None:
    """No output is required yet, with or without an output schema."""
    subject = ToolResult(json.dumps(result).encode(), has_output_schema=True)
    check_request = CheckRequest(
        subject, Context(version=version), ReportLimits(min_severity=Severity.ERROR)
    )
    checked = check(check_request, LIMITS, PROTOCOL_SCHEMAS)
    assert [c for c in codes(checked) if c != "OUTPUT_MISSING"] == expected


def codes(checked: CheckReport) -> list[str]:
    return [violation.code for violation in checked.findings.verdict().violations]
