"""Verdicts on elicitation requests, elicitation results and sampling requests."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.mcp.check import check
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.subjects import (
    CheckRequest,
    Elicitation,
    ElicitationResult,
    ReportLimits,
    Sampling,
    Subject,
)
from sidecheck_server.core.types import Severity, Violation
from support.rule_cases import LIMITS, PROTOCOL_SCHEMAS, rule_cases, verdict_of
from support.session_checks import resolve_all_deferred
from support.shared_material import shared

_TEXT = {"type": "text", "text": "Hello"}
_USER_MESSAGE = {"role": "user", "content": _TEXT}
_WEATHER = {
    "name": "get_weather",
    "description": "Tells the weather of a city.",
    "inputSchema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"$ref": "#/$defs/days"}},
        "required": ["city"],
        "$defs": {"days": {"type": "integer", "maximum": 14}},
    },
}


def form_request(field: Any, **root: Any) -> dict[str, Any]:
    """Return an elicitation_violations request whose form has one field, ``f``."""
    schema = {"type": "object", "properties": {"f": field}, **root}
    return {"message": "Please say.", "requestedSchema": schema}


def tool_use(id_: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "tool_use",
        "id": id_,
        "name": "get_weather",
        "input": {"city": "Paris"},
        **properties,
    }


def tool_result(id_: str, **properties: Any) -> dict[str, Any]:
    return {"type": "tool_result", "toolUseId": id_, "content": [_TEXT], **properties}


def message(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def sampling_request(*messages: Any, **properties: Any) -> dict[str, Any]:
    return {"messages": list(messages), "maxTokens": 100, **properties}


def violations(subject: Subject, **context: Any) -> tuple[Violation, ...]:
    report = check(
        CheckRequest(subject, Context(**context), ReportLimits(max_violations=100)),
        LIMITS,
        PROTOCOL_SCHEMAS,
    )
    resolve_all_deferred(
        report, LIMITS, EvaluationOptions(hide_values=bool(context.get("hide_values")))
    )
    return report.findings.verdict().violations


def elicitation_violations(value: Any, **context: Any) -> tuple[Violation, ...]:
    return violations(Elicitation(json.dumps(value).encode()), **context)


def elicitation_result_violations(
    value: Any, request: Any = None, **context: Any
) -> tuple[Violation, ...]:
    request_json = b"" if request is None else json.dumps(request).encode()
    return violations(ElicitationResult(json.dumps(value).encode(), request_json), **context)


def sampling_violations(value: Any, **context: Any) -> tuple[Violation, ...]:
    return violations(Sampling(json.dumps(value).encode()), **context)


def locations_and_codes(violations: Iterable[Violation]) -> list[tuple[str, str]]:
    return [(violation.instance_location, violation.code) for violation in violations]


_F = "/requestedSchema/properties/f"

#: Fields that the published schemas accept in an elicitation request, and the violations expected.
_INVALID_FIELDS = [
    ({"type": "string", "pattern": "^a"}, f"{_F}/pattern", "ELICITATION_FIELD_KEYWORD"),
    (
        {"type": "number", "exclusiveMinimum": 0},
        f"{_F}/exclusiveMinimum",
        "ELICITATION_FIELD_KEYWORD",
    ),
    ({"type": "boolean", "x-order": 1}, f"{_F}/x-order", "ELICITATION_FIELD_KEYWORD"),
    ({"type": "string", "enum": [1, 2]}, f"{_F}/enum/0", "ELICITATION_FIELD_VALUE"),
    ({"type": "integer", "enum": [1]}, f"{_F}/enum", "ELICITATION_FIELD_KEYWORD"),
    ({"type": "string", "enum": ["a"], "default": "b"}, f"{_F}/default", "ELICITATION_DEFAULT"),
    ({"type": "integer", "minimum": 2, "maximum": 1}, f"{_F}/minimum", "ELICITATION_FIELD_BOUNDS"),
    ({"type": "string", "minLength": -1}, f"{_F}/minLength", "ELICITATION_FIELD_LIMIT"),
    ({"type": "string", "enum": []}, f"{_F}/enum", "ELICITATION_ENUM_EMPTY"),
    (
        {"type": "string", "enum": ["a", "b"], "enumNames": ["A"]},
        f"{_F}/enumNames",
        "ELICITATION_ENUM_NAMES",
    ),
    (
        {"type": "string", "enum": ["a"], "format": "uuid"},
        f"{_F}/format",
        "ELICITATION_FIELD_KEYWORD",
    ),
]


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(("field", "pointer", "code"), _INVALID_FIELDS)
def test_invalid_field_has_one_violation(
    field: dict[str, Any], pointer: str, code: str, version: str
) -> None:
    assert [(pointer, code)] == locations_and_codes(
        elicitation_violations(form_request(field), version=version)
    )


def test_invalid_form_root_has_one_violation() -> None:
    plain = {"type": "string"}
    assert [
        ("/requestedSchema/required/0", "ELICITATION_REQUIRED_UNDEFINED")
    ] == locations_and_codes(elicitation_violations(form_request(plain, required=["g"])))
    assert [
        ("/requestedSchema/additionalProperties", "ELICITATION_ROOT_KEYWORD")
    ] == locations_and_codes(
        elicitation_violations(form_request(plain, additionalProperties=False))
    )
    url = {"mode": "url", "message": "Sign in.", "elicitationId": "e", "url": "not a url"}
    assert [("/url", "ELICITATION_URL_INVALID")] == locations_and_codes(elicitation_violations(url))


@pytest.mark.parametrize(
    ("version", "keyword", "expected"),
    [
        ("2025-06-18", "$schema", '"type", "properties" and "required"'),
        ("2025-11-25", "$defs", '"type", "properties", "required" and "$schema"'),
        ("2026-07-28", "$defs", '"type", "properties", "required" and "$schema"'),
    ],
)
def test_the_keywords_of_a_root_depend_on_the_version(
    version: str, keyword: str, expected: str
) -> None:
    """The published schema of forms has `$schema` since 2025-11-25."""
    request = form_request({"type": "string"}, **{keyword: {} if keyword == "$defs" else "x:y"})
    (reported,) = elicitation_violations(request, version=version)

    assert (
        f'the schema of a form should not have the keyword "{keyword}" at its root; expected only '
        f"{expected}" == reported.message
    )


#: Fields that the published schemas reject; no elicitation rule reports them again.
_REJECTED_FIELDS: list[Any] = [
    {"type": "object", "properties": {}},
    {"type": "null"},
    {"type": ["string", "null"]},
    {"type": "array", "items": {"type": "string"}},
    {"type": "array", "items": {"type": "object"}},
    {"type": "string", "format": "uuid"},
    {"type": "string", "minLength": "3"},
    {"type": "string", "minLength": 1.5},
    {"type": "number", "minimum": "0"},
    {"type": "string", "default": 5},
    {"type": "boolean", "default": "yes"},
    {"type": "string", "enum": ["a"], "default": ["a"]},
    {"type": "string", "title": 5},
    {"enum": ["a"]},
    {"anyOf": [{"type": "string"}, {"type": "null"}]},
    True,
    None,
    "string",
    [],
]


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("field", _REJECTED_FIELDS, ids=json.dumps)
def test_schema_violation_of_a_field_is_reported_once(field: Any, version: str) -> None:
    reported = elicitation_violations(form_request(field), version=version)
    assert len(reported) == 1, reported
    assert not reported[0].code.startswith("ELICITATION"), reported


_NUMBER = form_request({"type": "number", "maximum": 5}, required=["f"])

#: Elicitation results with their requests, and the violations expected.
_RESULTS: list[tuple[Any, Any, list[tuple[str, str]]]] = [
    ({"action": "accept", "content": {"f": 3.5}}, _NUMBER, []),
    ({"action": "accept", "content": {"f": 3}}, _NUMBER, []),
    ({"action": "accept", "content": {"f": 5.5}}, _NUMBER, [("/content/f", "MAXIMUM")]),
    ({"action": "accept", "content": {"f": "3"}}, _NUMBER, [("/content/f", "TYPE")]),
    ({"action": "accept", "content": {}}, _NUMBER, [("/content", "REQUIRED")]),
    ({"action": "accept", "content": {"f": 1, "g": "more"}}, _NUMBER, []),
    ({"action": "accept"}, _NUMBER, [("", "ELICITATION_CONTENT_MISSING")]),
    (
        {"action": "decline", "content": {"f": "x"}},
        _NUMBER,
        [("/content", "ELICITATION_CONTENT_WITHOUT_ACCEPT")],
    ),
    ({"action": "decline"}, _NUMBER, []),
    (
        {"action": "accept", "content": {"f": "joe"}},
        form_request({"type": "string", "format": "email"}),
        [("/content/f", "FORMAT")],
    ),
    (
        {"action": "accept", "content": {"f": ["a", "x"]}},
        form_request({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}),
        [("/content/f/1", "ENUM")],
    ),
    (
        {"action": "accept", "content": {"f": "x"}},
        form_request({"type": "string", "enum": ["a"], "enumNames": ["A"]}),
        [("/content/f", "ENUM")],
    ),
    # The form is checked when it is request_json for, not here.
    ({"action": "accept", "content": {"f": "x"}}, form_request({"type": "objekt"}), []),
    ({"action": "accept", "content": {"f": "x"}}, {"requestedSchema": True}, []),
]


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(("value", "request_", "expected"), _RESULTS)
def test_elicitation_result_is_validated_against_its_form(
    value: Any, request_: Any, expected: list[tuple[str, str]], version: str
) -> None:
    assert expected == locations_and_codes(
        elicitation_result_violations(value, request_, version=version)
    )


@pytest.mark.parametrize("value", [None, {"a": 1}, [1], [["a"]]], ids=json.dumps)
def test_wrong_type_has_one_violation_and_hides_no_other(value: Any) -> None:
    request = {
        "message": "Please say.",
        "requestedSchema": {
            "type": "object",
            "properties": {"f": {"type": "string"}, "age": {"type": "integer"}},
            "required": ["f", "age"],
        },
    }
    reported = locations_and_codes(
        elicitation_result_violations(
            {"action": "accept", "content": {"f": value, "age": "x"}}, request
        )
    )
    of_f = [pointer for pointer, _ in reported if pointer.startswith("/content/f")]
    assert len(of_f) == 1, reported
    assert ("/content/age", "TYPE") in reported
    assert len(reported) == 2, reported


_VALID_HISTORY = (
    _USER_MESSAGE,
    message("assistant", tool_use("a")),
    message("user", tool_result("a")),
)

#: Sampling requests that the published schemas accept, and the violations expected.
_HISTORIES: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    ("valid", sampling_request(*_VALID_HISTORY, tools=[_WEATHER]), []),
    (
        "text beside a tool result",
        sampling_request(*_VALID_HISTORY[:2], message("user", _TEXT, tool_result("a"))),
        [("/messages/2/content", "SAMPLING_TOOL_RESULT_MIXED")],
    ),
    (
        "tool use without a result",
        sampling_request(*_VALID_HISTORY[:2], _USER_MESSAGE),
        [("/messages/1/content/0", "SAMPLING_TOOL_USE_UNANSWERED")],
    ),
    (
        "a result with another id",
        sampling_request(*_VALID_HISTORY[:2], message("user", tool_result("b"))),
        [
            ("/messages/1/content/0", "SAMPLING_TOOL_USE_UNANSWERED"),
            ("/messages/2/content/0/toolUseId", "SAMPLING_TOOL_RESULT_ORPHAN"),
        ],
    ),
    (
        "tool use without a result at the end",
        sampling_request(*_VALID_HISTORY[:2]),
        [("/messages/1/content/0", "SAMPLING_TOOL_USE_UNANSWERED")],
    ),
    (
        "tool use by the user",
        sampling_request(message("user", tool_use("a")), _VALID_HISTORY[2]),
        [("/messages/0/content/0", "SAMPLING_TOOL_USE_ROLE")],
    ),
    (
        "tool result by the assistant",
        sampling_request(*_VALID_HISTORY[:2], message("assistant", tool_result("a"))),
        [("/messages/2/content/0", "SAMPLING_TOOL_RESULT_ROLE")],
    ),
    (
        "repeated tool result",
        sampling_request(*_VALID_HISTORY[:2], message("user", tool_result("a"), tool_result("a"))),
        [("/messages/2/content/1/toolUseId", "SAMPLING_TOOL_RESULT_REPEATED")],
    ),
    (
        "repeated tool use id",
        sampling_request(
            _USER_MESSAGE, message("assistant", tool_use("a"), tool_use("a")), _VALID_HISTORY[2]
        ),
        [("/messages/1/content/1/id", "SAMPLING_TOOL_USE_ID_REPEATED")],
    ),
    (
        "required tool choice without tools",
        sampling_request(_USER_MESSAGE, toolChoice={"mode": "required"}),
        [("/toolChoice/mode", "SAMPLING_TOOL_REQUIRED_WITHOUT_TOOLS")],
    ),
    (
        "unknown tool",
        sampling_request(
            _USER_MESSAGE,
            message("assistant", tool_use("a", name="x")),
            _VALID_HISTORY[2],
            tools=[_WEATHER],
        ),
        [("/messages/1/content/0/name", "SAMPLING_TOOL_UNKNOWN")],
    ),
    (
        "invalid tool input",
        sampling_request(
            _USER_MESSAGE,
            message("assistant", tool_use("a", input={"city": "Paris", "days": 15})),
            _VALID_HISTORY[2],
            tools=[_WEATHER],
        ),
        [("/messages/1/content/0/input/days", "MAXIMUM")],
    ),
    (
        "invalid tool input with an error result",
        sampling_request(
            _USER_MESSAGE,
            message("assistant", tool_use("a", input={})),
            message("user", tool_result("a", isError=True)),
            tools=[_WEATHER],
        ),
        [],
    ),
    (
        "no tokens",
        sampling_request(_USER_MESSAGE) | {"maxTokens": 0},
        [("/maxTokens", "SAMPLING_MAX_TOKENS")],
    ),
    ("no messages", sampling_request(), [("/messages", "SAMPLING_NO_MESSAGES")]),
]


@pytest.mark.parametrize(
    ("value", "expected"),
    [pytest.param(value, expected, id=name) for name, value, expected in _HISTORIES],
)
def test_sampling_history_violations(
    value: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert expected == locations_and_codes(sampling_violations(value))


#: Requests that the types of a version reject; no sampling rule reports them again.
_SCHEMA_VIOLATIONS: list[tuple[str, str, dict[str, Any], str]] = [
    (
        "several blocks",
        "2025-06-18",
        sampling_request(message("user", _TEXT)),
        "/messages/0/content",
    ),
    (
        "tool use",
        "2025-06-18",
        sampling_request({"role": "assistant", "content": tool_use("a")}),
        "/messages/0/content",
    ),
    (
        "priority above one",
        "2025-11-25",
        sampling_request(_USER_MESSAGE, modelPreferences={"costPriority": 1.5}),
        "/modelPreferences/costPriority",
    ),
    (
        "unknown tool choice mode",
        "2025-11-25",
        sampling_request(_USER_MESSAGE, tools=[_WEATHER], toolChoice={"mode": "any"}),
        "/toolChoice/mode",
    ),
]


@pytest.mark.parametrize(
    ("version", "value", "pointer"),
    [pytest.param(version, value, at, id=name) for name, version, value, at in _SCHEMA_VIOLATIONS],
)
def test_schema_violation_of_a_sampling_request_is_reported_once(
    version: str, value: dict[str, Any], pointer: str
) -> None:
    reported = sampling_violations(value, version=version)
    assert len(reported) == 1, reported
    assert reported[0].instance_location.startswith(pointer)
    assert not reported[0].code.startswith("SAMPLING")


def test_invalid_tool_is_reported_at_its_schema() -> None:
    tool = {**_WEATHER, "inputSchema": {"type": "object", "properties": {"city": {"type": "x"}}}}
    reported = sampling_violations(sampling_request(*_VALID_HISTORY, tools=[tool]))
    assert ["/tools/0/inputSchema/properties/city/type"] == [
        violation.instance_location
        for violation in reported
        if violation.severity is Severity.ERROR
    ], reported


def test_deprecated_request_has_one_warning() -> None:
    reported = sampling_violations(
        sampling_request(*_VALID_HISTORY, tools=[_WEATHER]), version="2026-07-28"
    )
    assert [("", "SAMPLING_DEPRECATED", Severity.WARNING)] == [
        (violation.instance_location, violation.code, violation.severity) for violation in reported
    ]


@pytest.mark.corpus
@pytest.mark.parametrize(
    "type_", ["ElicitRequestFormParams", "ElicitRequestURLParams", "CreateMessageRequestParams"]
)
def test_the_published_examples_have_no_errors(type_: str) -> None:
    subject = Sampling if type_.startswith("Create") else Elicitation
    paths = sorted(shared(f"mcp/2026-07-28/examples/{type_}").glob("*.json"))
    assert paths
    for path in paths:
        reported = violations(subject(path.read_bytes()), version="2026-07-28")
        assert [] == [
            violation for violation in reported if violation.severity is Severity.ERROR
        ], path.name


@pytest.mark.corpus
def test_published_elicitation_results_have_no_errors() -> None:
    paths = sorted(shared("mcp/2026-07-28/examples/ElicitResult").glob("*.json"))
    assert paths
    for path in paths:
        assert () == violations(ElicitationResult(path.read_bytes()), version="2026-07-28")


_KINDS = ("elicitation", "elicitation_result", "sampling")


@pytest.mark.parametrize("case", list(rule_cases(*_KINDS)), ids=str)
def test_hiding_values_keeps_every_violation(case: Any) -> None:
    context = case.context
    hidden = violations(
        case.subject,
        version=context.version,
        client_capabilities=context.client_capabilities,
        hide_values=True,
    )
    assert locations_and_codes(verdict_of(case).violations) == locations_and_codes(hidden)


def test_hidden_values_are_in_no_message() -> None:
    secret = "hunter2"
    form_ = form_request(
        {"type": "string", "enum": [secret, secret], "default": f"{secret}x", f"{secret}k": 1},
        **{f"{secret}r": 1, "required": [f"{secret}q"]},
    )
    form_["requestedSchema"]["properties"][f"{secret}_password"] = {"type": "string"}
    url = {
        "mode": "url",
        "message": f"Enter your password {secret}",
        "elicitationId": "e",
        "url": f"http://{secret}:{secret}@xn--{secret}-43d.com/?access_token={secret}",
    }
    request = sampling_request(
        _USER_MESSAGE,
        message(
            "assistant",
            tool_use(secret),
            tool_use(secret),
            tool_use(f"{secret}2", name=f"{secret}n"),
        ),
        message("user", tool_result(secret), tool_result(secret), tool_result(f"{secret}3")),
        tools=[{**_WEATHER, "name": secret}, {**_WEATHER, "name": secret}],
    )
    reported = [
        *elicitation_violations(form_, hide_values=True),
        *elicitation_violations(url, hide_values=True),
        *sampling_violations(request, hide_values=True),
    ]
    assert len(reported) >= 14, locations_and_codes(reported)
    for violation in reported:
        assert secret not in violation.message + violation.suggestion, violation
