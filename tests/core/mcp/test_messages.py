"""Classification of protocol messages, and verdicts on the official examples."""

from collections.abc import Iterator
from typing import Any

import pytest
from sidecheck_server.core.mcp.check import check
from sidecheck_server.core.mcp.context import VERSIONS, Context
from sidecheck_server.core.mcp.messages.envelopes import Kind, Message
from sidecheck_server.core.mcp.subjects import CheckRequest, ProtocolMessage, ReportLimits
from sidecheck_server.core.types import Severity
from support.messages import Example, checked, examples
from support.rule_cases import LIMITS, PROTOCOL_SCHEMAS
from support.shared_material import shared

CASES = [
    ({"jsonrpc": "2.0", "id": 1, "method": "ping"}, Kind.REQUEST, 1, "ping"),
    ({"jsonrpc": "2.0", "id": "a", "method": "no/such"}, Kind.REQUEST, "a", "no/such"),
    ({"jsonrpc": "2.0", "id": 1.0, "method": "ping"}, Kind.REQUEST, 1, "ping"),
    ({"jsonrpc": "2.0", "id": None, "method": "ping"}, Kind.REQUEST, None, "ping"),
    ({"jsonrpc": "2.0", "id": True, "method": "ping"}, Kind.REQUEST, None, "ping"),
    ({"id": 1, "method": "ping"}, Kind.REQUEST, 1, "ping"),
    ({"jsonrpc": "2.0", "method": "ping"}, Kind.NOTIFICATION, None, "ping"),
    (
        {"jsonrpc": "2.0", "id": 1, "method": "notifications/initialized"},
        Kind.REQUEST,
        1,
        "notifications/initialized",
    ),
    ({"jsonrpc": "2.0", "id": 1, "result": {}}, Kind.RESULT, 1, ""),
    ({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": ""}}, Kind.ERROR, 1, ""),
    ({"jsonrpc": "2.0", "error": {"code": 1, "message": ""}}, Kind.ERROR, None, ""),
    ({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}}, Kind.BROKEN, None, ""),
    ({"jsonrpc": "2.0", "id": 1, "method": "ping", "result": {}}, Kind.BROKEN, None, ""),
    ({"jsonrpc": "2.0", "id": 1, "method": 5}, Kind.BROKEN, None, ""),
    ({}, Kind.BROKEN, None, ""),
    (None, Kind.BROKEN, None, ""),
    ([], Kind.BROKEN, None, ""),
]


@pytest.mark.parametrize(("value", "kind", "id_", "method"), CASES, ids=str)
def test_classification_of_a_message(value: Any, kind: Kind, id_: Any, method: str) -> None:
    expected = Message(kind, (), value, id_, method)
    assert checked(value, "2025-11-25").messages == (expected,)


def test_messages_of_a_batch_are_classified_one_by_one() -> None:
    batch = [{"jsonrpc": "2.0", "id": 1, "method": "ping"}, 7]
    assert checked(batch, "2025-03-26").messages == (
        Message(Kind.REQUEST, (0,), batch[0], 1, "ping"),
        Message(Kind.BROKEN, (1,), 7),
    )


def test_response_has_the_method_of_its_request() -> None:
    response = {"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}
    report = checked(response, "2025-11-25", answers="tools/list")
    assert report.messages == (Message(Kind.RESULT, (), response, 1, "tools/list"),)


def test_similar_method_is_suggested() -> None:
    """The message repeats the suggestion, since an error response has nothing else."""
    report = checked({"jsonrpc": "2.0", "id": 1, "method": "tools/cal"}, "2025-11-25")
    (violation,) = report.findings.verdict().violations

    message = 'unknown method "tools/cal"; did you mean "tools/call"?'
    assert (message, "tools/call") == (violation.message, violation.suggestion)


def test_method_of_a_response_comes_from_its_request() -> None:
    """The request takes precedence over the method that the caller names."""
    request = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
    response = ProtocolMessage(b'{"jsonrpc": "2.0", "id": 1, "result": {}}', "tools/list", request)
    report = check(CheckRequest(response, Context(), ReportLimits()), LIMITS, PROTOCOL_SCHEMAS)

    assert report.findings.verdict().violations == ()


@pytest.mark.parametrize(
    ("answers", "pointers"),
    [
        ("", []),
        ("no/such", []),
        ("resources/list", ["/result"]),
        ("tools/list", ["/result/tools/0"]),
    ],
)
def test_result_is_validated_as_the_result_of_its_method(answers: str, pointers: list[str]) -> None:
    response = {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "look_up"}]}}
    violations = checked(response, "2025-11-25", answers=answers).findings.verdict().violations
    errors = [violation for violation in violations if violation.severity is Severity.ERROR]
    assert pointers == [violation.instance_location for violation in errors]


@pytest.mark.parametrize(
    ("result", "pointers"),
    [
        ({"content": []}, []),
        ({"task": {}}, ["/result/task"]),
    ],
)
def test_result_of_a_call_may_be_a_task(result: Any, pointers: list[str]) -> None:
    response = {"jsonrpc": "2.0", "id": 1, "result": result}
    violations = checked(response, "2025-11-25", answers="tools/call").findings.verdict().violations
    assert pointers == sorted({violation.instance_location for violation in violations})


CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
DISPUTED = [
    ("no request, or a notification", {**CALL, "id": None, "params": {"name": "a"}}, "/id ID_NULL"),
    ("an id that some cut to 1", {**CALL, "id": 1.5, "params": {"name": "a"}}, "/id ID_TYPE"),
    ("dropped by some", {**CALL, "params": {"name": "a"}, "trace": "t"}, ""),
    (
        "an error to some, a result to others",
        {"jsonrpc": "2.0", "id": 1, "result": {"content": []}, "error": {"code": 1, "message": ""}},
        "/error RESULT_WITH_ERROR",
    ),
    (
        "a request to some",
        {"jsonrpc": "2.0", "id": 1, "method": "notifications/initialized"},
        "/id NOTIFICATION_WITH_ID",
    ),
    ("told with much, little or no detail", {**CALL, "params": {"name": 123}}, "/params/name TYPE"),
    ("an invalid request to one, invalid params to others", CALL, " PARAMS_MISSING"),
    ("filled up by some", {"jsonrpc": "2.0", "id": 1, "result": {}}, "/result REQUIRED"),
    (
        "coerced by some",
        {"jsonrpc": "2.0", "id": 1, "error": {"code": "1", "message": ""}},
        "/error/code TYPE",
    ),
    ("a batch of one", [{"jsonrpc": "2.0", "id": 1, "method": "ping"}], " BATCH_UNSUPPORTED"),
]


@pytest.mark.parametrize(
    ("message", "expected"), [row[1:] for row in DISPUTED], ids=[r[0] for r in DISPUTED]
)
def test_cases_on_which_sdks_disagree(message: Any, expected: str) -> None:
    violations = checked(message, "2025-11-25", answers="tools/call").findings.verdict().violations
    assert ([expected] if expected else []) == [
        f"{violation.instance_location} {violation.code}" for violation in violations
    ]


def test_versions_that_require_structured_content_to_be_an_object() -> None:
    response = {"jsonrpc": "2.0", "id": 1, "result": {"content": [], "structuredContent": [1]}}
    rejecting_versions = [
        version
        for version in VERSIONS[:-1]
        if checked(response, version, answers="tools/call").findings.has_errors
    ]
    assert rejecting_versions == ["2025-06-18", "2025-11-25"]


HIDDEN = "s3cret"


@pytest.mark.parametrize(
    "message",
    [
        HIDDEN,
        {"jsonrpc": HIDDEN, "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": [HIDDEN], "method": "ping"},
        {"jsonrpc": "2.0", "id": HIDDEN, "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": HIDDEN},
        {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": HIDDEN},
        {"jsonrpc": "2.0", "id": 1, "result": HIDDEN},
        {"jsonrpc": "2.0", "id": 1, "error": HIDDEN},
        {"jsonrpc": "2.0", "id": 1, "result": {"resultType": HIDDEN}},
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/list",
            "params": {"_meta": {"baggage": HIDDEN}},
        },
        {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": {f"-{HIDDEN}": 1}}},
    ],
    ids=str,
)
@pytest.mark.parametrize("version", VERSIONS)
def test_hidden_values_are_in_no_message(message: Any, version: str) -> None:
    context = Context(version, hide_values=True)
    violations = checked(message, version, context=context).findings.verdict().violations
    texts = [violation.message + violation.suggestion for violation in violations]
    assert [text for text in texts if HIDDEN in text] == []


def _examples() -> Iterator[Example]:
    yield from examples(shared("mcp/2026-07-28/examples"))


# A complete result of resources/read without the caching hints that the specification
# requires. The published schema accepts it as an InputRequiredResult, which is open.
_WRONG = {
    "ReadResourceResultResponse/read-resource-result-response": ["/result: REQUIRED"] * 2,
}


@pytest.mark.corpus
def test_official_examples_are_valid_messages() -> None:
    invalid = {str(example): errors for example in _examples() if (errors := _errors(example))}
    assert invalid == _WRONG


@pytest.mark.corpus
def test_many_official_examples_are_messages_or_parts_of_one() -> None:
    assert len({example.name for example in _examples()}) >= 70


def _errors(example: Example) -> list[str]:
    report = checked(example.message, "2026-07-28", answers=example.answers)
    return [
        f"{violation.instance_location}: {violation.code}"
        for violation in report.findings.verdict().violations
        if violation.severity is Severity.ERROR
    ]
