"""What servers ask of people and models, and what they are answered: whole verdicts."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.mcp.check import check
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.deferred import resolve_all_deferred
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
from support.shared_material import shared

_TEXT = {"type": "text", "text": "Hello"}
_ASKING = {"role": "user", "content": _TEXT}
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


def form(field: Any, **root: Any) -> dict[str, Any]:
    """Return the request of a form with one field, ``f``."""
    schema = {"type": "object", "properties": {"f": field}, **root}
    return {"message": "Please say.", "requestedSchema": schema}


def use(id_: str, **members: Any) -> dict[str, Any]:
    return {
        "type": "tool_use",
        "id": id_,
        "name": "get_weather",
        "input": {"city": "Paris"},
        **members,
    }


def result(id_: str, **members: Any) -> dict[str, Any]:
    return {"type": "tool_result", "toolUseId": id_, "content": [_TEXT], **members}


def said(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def history(*messages: Any, **members: Any) -> dict[str, Any]:
    return {"messages": list(messages), "maxTokens": 100, **members}


def violations(subject: Subject, **context: Any) -> tuple[Violation, ...]:
    checked = check(
        CheckRequest(subject, Context(**context), ReportLimits(max_violations=100)),
        LIMITS,
        PROTOCOL_SCHEMAS,
    )
    resolve_all_deferred(
        checked, LIMITS, EvaluationOptions(hide_values=bool(context.get("hide_values")))
    )
    return checked.findings.verdict().violations


def elicitation(value: Any, **context: Any) -> tuple[Violation, ...]:
    return violations(Elicitation(json.dumps(value).encode()), **context)


def answered(value: Any, request: Any = None, **context: Any) -> tuple[Violation, ...]:
    asked = b"" if request is None else json.dumps(request).encode()
    return violations(ElicitationResult(json.dumps(value).encode(), asked), **context)


def sampling(value: Any, **context: Any) -> tuple[Violation, ...]:
    return violations(Sampling(json.dumps(value).encode()), **context)


def told(found: Iterable[Violation]) -> list[tuple[str, str]]:
    return [(violation.instance_location, violation.code) for violation in found]


_F = "/requestedSchema/properties/f"

#: What the published schemas let through in a request of elicitation, and all that is told.
_REQUESTS = [
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
    ({"type": "string", "minLength": -1}, f"{_F}/minLength", "ELICITATION_FIELD_BOUNDS"),
    ({"type": "string", "enum": []}, f"{_F}/enum", "ELICITATION_OPTIONS_EMPTY"),
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
@pytest.mark.parametrize(("field", "pointer", "code"), _REQUESTS)
def test_a_field_is_told_of_once(
    field: dict[str, Any], pointer: str, code: str, version: str
) -> None:
    assert [(pointer, code)] == told(elicitation(form(field), version=version))


def test_a_root_is_told_of_once() -> None:
    plain = {"type": "string"}
    assert [("/requestedSchema/required/0", "ELICITATION_REQUIRED_UNDEFINED")] == told(
        elicitation(form(plain, required=["g"]))
    )
    assert [("/requestedSchema/additionalProperties", "ELICITATION_ROOT_KEYWORD")] == told(
        elicitation(form(plain, additionalProperties=False))
    )
    url = {"mode": "url", "message": "Sign in.", "elicitationId": "e", "url": "not a url"}
    assert [("/url", "ELICITATION_URL_INVALID")] == told(elicitation(url))


#: Fields that the published schemas refuse: they alone speak, and once.
_REFUSED: list[Any] = [
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
@pytest.mark.parametrize("field", _REFUSED, ids=json.dumps)
def test_what_the_published_schema_refuses_is_told_by_it_alone(field: Any, version: str) -> None:
    found = elicitation(form(field), version=version)
    assert len(found) == 1, found
    assert not found[0].code.startswith("ELICITATION"), found


_NUMBER = form({"type": "number", "maximum": 5}, required=["f"])

#: Answers to requests, and all that is told.
_ANSWERS: list[tuple[Any, Any, list[tuple[str, str]]]] = [
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
        form({"type": "string", "format": "email"}),
        [("/content/f", "FORMAT")],
    ),
    (
        {"action": "accept", "content": {"f": ["a", "x"]}},
        form({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}),
        [("/content/f/1", "ENUM")],
    ),
    (
        {"action": "accept", "content": {"f": "x"}},
        form({"type": "string", "enum": ["a"], "enumNames": ["A"]}),
        [("/content/f", "ENUM")],
    ),
    # The form is checked when it is asked for, not here.
    ({"action": "accept", "content": {"f": "x"}}, form({"type": "objekt"}), []),
    ({"action": "accept", "content": {"f": "x"}}, {"requestedSchema": True}, []),
]


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(("value", "request_", "expected"), _ANSWERS)
def test_an_answer_is_judged_by_the_form(
    value: Any, request_: Any, expected: list[tuple[str, str]], version: str
) -> None:
    assert expected == told(answered(value, request_, version=version))


@pytest.mark.parametrize("wrong", [None, {"a": 1}, [1], [["a"]]], ids=json.dumps)
def test_an_answer_of_no_fields_form_is_told_once_and_hides_nothing(wrong: Any) -> None:
    request = {
        "message": "Please say.",
        "requestedSchema": {
            "type": "object",
            "properties": {"f": {"type": "string"}, "age": {"type": "integer"}},
            "required": ["f", "age"],
        },
    }
    found = told(answered({"action": "accept", "content": {"f": wrong, "age": "x"}}, request))
    of_f = [pointer for pointer, _ in found if pointer.startswith("/content/f")]
    assert len(of_f) == 1, found
    assert ("/content/age", "TYPE") in found
    assert len(found) == 2, found


_OK = (_ASKING, said("assistant", use("a")), said("user", result("a")))

#: What the published schemas let through in a request of sampling, and all that is told.
_HISTORIES: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    ("kept", history(*_OK, tools=[_WEATHER]), []),
    (
        "mixed",
        history(*_OK[:2], said("user", _TEXT, result("a"))),
        [("/messages/2/content", "SAMPLING_TOOL_RESULT_MIXED")],
    ),
    (
        "not answered",
        history(*_OK[:2], _ASKING),
        [("/messages/1/content/0", "SAMPLING_TOOL_USE_UNANSWERED")],
    ),
    (
        "answered otherwise",
        history(*_OK[:2], said("user", result("b"))),
        [
            ("/messages/1/content/0", "SAMPLING_TOOL_USE_UNANSWERED"),
            ("/messages/2/content/0/toolUseId", "SAMPLING_TOOL_RESULT_ORPHAN"),
        ],
    ),
    (
        "not answered at the end",
        history(*_OK[:2]),
        [("/messages/1/content/0", "SAMPLING_TOOL_USE_UNANSWERED")],
    ),
    (
        "used by the user",
        history(said("user", use("a")), _OK[2]),
        [("/messages/0/content/0", "SAMPLING_TOOL_USE_ROLE")],
    ),
    (
        "brought by the assistant",
        history(*_OK[:2], said("assistant", result("a"))),
        [("/messages/2/content/0", "SAMPLING_TOOL_RESULT_ROLE")],
    ),
    (
        "brought twice",
        history(*_OK[:2], said("user", result("a"), result("a"))),
        [("/messages/2/content/1/toolUseId", "SAMPLING_TOOL_RESULT_REPEATED")],
    ),
    (
        "one id twice",
        history(_ASKING, said("assistant", use("a"), use("a")), _OK[2]),
        [("/messages/1/content/1/id", "SAMPLING_TOOL_USE_ID_REPEATED")],
    ),
    (
        "a choice without tools",
        history(_ASKING, toolChoice={"mode": "required"}),
        [("/toolChoice/mode", "SAMPLING_TOOL_REQUIRED_WITHOUT_TOOLS")],
    ),
    (
        "an unknown tool",
        history(_ASKING, said("assistant", use("a", name="x")), _OK[2], tools=[_WEATHER]),
        [("/messages/1/content/0/name", "SAMPLING_TOOL_UNKNOWN")],
    ),
    (
        "input that its tool refuses",
        history(
            _ASKING,
            said("assistant", use("a", input={"city": "Paris", "days": 15})),
            _OK[2],
            tools=[_WEATHER],
        ),
        [("/messages/1/content/0/input/days", "MAXIMUM")],
    ),
    (
        "input that its tool refused, and said so",
        history(
            _ASKING,
            said("assistant", use("a", input={})),
            said("user", result("a", isError=True)),
            tools=[_WEATHER],
        ),
        [],
    ),
    ("no tokens", history(_ASKING) | {"maxTokens": 0}, [("/maxTokens", "SAMPLING_MAX_TOKENS")]),
    ("no messages", history(), [("/messages", "SAMPLING_NO_MESSAGES")]),
]


@pytest.mark.parametrize(
    ("value", "expected"),
    [pytest.param(value, expected, id=name) for name, value, expected in _HISTORIES],
)
def test_a_history_is_told_of_once(value: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert expected == told(sampling(value))


#: What the shapes of a version refuse, told once and by them alone.
_MISSHAPEN: list[tuple[str, str, dict[str, Any], str]] = [
    ("several blocks", "2025-06-18", history(said("user", _TEXT)), "/messages/0/content"),
    (
        "a tool use",
        "2025-06-18",
        history({"role": "assistant", "content": use("a")}),
        "/messages/0/content",
    ),
    (
        "a share above one",
        "2025-11-25",
        history(_ASKING, modelPreferences={"costPriority": 1.5}),
        "/modelPreferences/costPriority",
    ),
    (
        "a mode of choosing",
        "2025-11-25",
        history(_ASKING, tools=[_WEATHER], toolChoice={"mode": "any"}),
        "/toolChoice/mode",
    ),
]


@pytest.mark.parametrize(
    ("version", "value", "pointer"),
    [pytest.param(version, value, at, id=name) for name, version, value, at in _MISSHAPEN],
)
def test_what_the_shape_refuses_is_told_once(
    version: str, value: dict[str, Any], pointer: str
) -> None:
    found = sampling(value, version=version)
    assert len(found) == 1, found
    assert found[0].instance_location.startswith(pointer)
    assert not found[0].code.startswith("SAMPLING")


def test_an_unsound_tool_is_told_where_it_stands_alone() -> None:
    tool = {**_WEATHER, "inputSchema": {"type": "object", "properties": {"city": {"type": "x"}}}}
    found = sampling(history(*_OK, tools=[tool]))
    assert ["/tools/0/inputSchema/properties/city/type"] == [
        violation.instance_location for violation in found if violation.severity is Severity.ERROR
    ], found


def test_a_deprecated_request_is_valid_and_told_once() -> None:
    found = sampling(history(*_OK, tools=[_WEATHER]), version="2026-07-28")
    assert [("", "SAMPLING_DEPRECATED", Severity.WARNING)] == [
        (violation.instance_location, violation.code, violation.severity) for violation in found
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
        found = violations(subject(path.read_bytes()), version="2026-07-28")
        assert [] == [violation for violation in found if violation.severity is Severity.ERROR], (
            path.name
        )


@pytest.mark.corpus
def test_published_answers_have_no_errors() -> None:
    paths = sorted(shared("mcp/2026-07-28/examples/ElicitResult").glob("*.json"))
    assert paths
    for path in paths:
        assert () == violations(ElicitationResult(path.read_bytes()), version="2026-07-28")


_KINDS = ("elicitation", "elicitation_result", "sampling")


@pytest.mark.parametrize("case", list(rule_cases(*_KINDS)), ids=str)
def test_hidden_values_change_no_finding(case: Any) -> None:
    context = case.context
    hidden = violations(
        case.subject,
        version=context.version,
        client_capabilities=context.client_capabilities,
        hide_values=True,
    )
    assert told(verdict_of(case).violations) == told(hidden)


def test_hidden_values_are_not_told() -> None:
    secret = "hunter2"
    form_ = form(
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
    asked = history(
        _ASKING,
        said("assistant", use(secret), use(secret), use(f"{secret}2", name=f"{secret}n")),
        said("user", result(secret), result(secret), result(f"{secret}3")),
        tools=[{**_WEATHER, "name": secret}, {**_WEATHER, "name": secret}],
    )
    found = [
        *elicitation(form_, hide_values=True),
        *elicitation(url, hide_values=True),
        *sampling(asked, hide_values=True),
    ]
    assert len(found) >= 14, told(found)
    for violation in found:
        assert secret not in violation.message + violation.suggestion, violation
