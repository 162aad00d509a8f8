"""One fault in a protocol value gives one violation, at its exact location."""

from typing import Any

import pytest
from sidecheck_server.core.explain.violations import explain
from support.rule_cases import PROTOCOL_SCHEMAS

_TEXT = {"type": "text", "text": "Done."}
_RESULT = {"type": "tool_result", "toolUseId": "call-1", "content": [_TEXT]}


def _sampling_request(content: Any, role: str = "user") -> dict[str, Any]:
    return {"messages": [{"role": role, "content": content}], "maxTokens": 100}


def _form(field: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"field": field}}
    return {"message": "What is it?", "requestedSchema": schema}


def _resource(contents: Any) -> dict[str, Any]:
    return {"content": [{"type": "resource", "resource": contents}]}


def _input(request: Any) -> dict[str, Any]:
    return {"resultType": "input_required", "inputRequests": {"one": request}}


_FIELD = "/requestedSchema/properties/field"

# Type, value, and the location and code of each violation.
_FAULTS: list[tuple[str, Any, list[tuple[str, str]]]] = [
    ("CallToolResult", {"content": [{"type": "video"}]}, [("/content/0/type", "ANY_OF")]),
    ("CallToolResult", {"content": [{"type": 5}]}, [("/content/0/type", "ANY_OF")]),
    ("CallToolResult", {"content": [{"text": "a"}]}, [("/content/0", "REQUIRED")]),
    ("CallToolResult", {"content": [{}]}, [("/content/0", "ANY_OF")]),
    ("CallToolResult", {"content": ["a"]}, [("/content/0", "ANY_OF")]),
    ("CallToolResult", {"content": [{"type": "text"}]}, [("/content/0", "REQUIRED")]),
    ("CallToolResult", {"content": [_TEXT | {"text": 5}]}, [("/content/0/text", "TYPE")]),
    (
        "CallToolResult",
        {"content": [_TEXT | {"annotations": {"audience": ["model"], "priority": 2}}]},
        [
            ("/content/0/annotations/audience/0", "ENUM"),
            ("/content/0/annotations/priority", "MAXIMUM"),
        ],
    ),
    ("CallToolResult", _resource({"uri": "a:b"}), [("/content/0/resource", "ANY_OF")]),
    ("CallToolResult", _resource({"text": "a"}), [("/content/0/resource", "REQUIRED")]),
    ("CallToolResult", _resource("a:b"), [("/content/0/resource", "ANY_OF")]),
    (
        "CallToolResult",
        _resource({"uri": "a:b", "blob": None}),
        [("/content/0/resource/blob", "TYPE")],
    ),
    (
        "ReadResourceResult",
        {"contents": [{"uri": "a:b", "text": "a", "mimeType": 5}]},
        [("/contents/0/mimeType", "TYPE")],
    ),
    (
        "CreateMessageRequestParams",
        _sampling_request(_RESULT | {"content": [{"type": "text"}]}),
        [("/messages/0/content/content/0", "REQUIRED")],
    ),
    (
        "CreateMessageRequestParams",
        _sampling_request([_TEXT, _RESULT | {"content": [{"type": "text", "text": None}]}]),
        [("/messages/0/content/1/content/0/text", "TYPE")],
    ),
    (
        "CreateMessageRequestParams",
        _sampling_request([_TEXT, {"type": "tool_use", "id": "1", "name": "search"}]),
        [("/messages/0/content/1", "REQUIRED")],
    ),
    (
        "CreateMessageRequestParams",
        _sampling_request([{"type": "resource_link", "uri": "a:b", "name": "a"}]),
        [("/messages/0/content/0/type", "ANY_OF")],
    ),
    ("CreateMessageRequestParams", _sampling_request("hello"), [("/messages/0/content", "ANY_OF")]),
    (
        "CreateMessageRequestParams",
        _sampling_request(["hello"]),
        [("/messages/0/content/0", "ANY_OF")],
    ),
    (
        "CreateMessageRequestParams",
        _sampling_request(_TEXT, "system"),
        [("/messages/0/role", "ENUM")],
    ),
    ("ElicitRequestParams", {"mode": "form", "message": "m"}, [("", "REQUIRED")]),
    ("ElicitRequestParams", {"message": "m"}, [("", "REQUIRED")]),
    ("ElicitRequestParams", {"mode": "voice", "message": "m"}, [("/mode", "ANY_OF")]),
    ("ElicitRequestParams", {"mode": "url", "message": "m", "url": "a:b"}, [("", "REQUIRED")]),
    ("ElicitRequestParams", [], [("", "ANY_OF")]),
    ("ElicitRequestParams", _form({"type": "object"}), [(f"{_FIELD}/type", "ANY_OF")]),
    ("ElicitRequestParams", _form({"enum": ["a"]}), [(_FIELD, "REQUIRED")]),
    (
        "ElicitRequestParams",
        _form({"type": "integer", "minimum": "1"}),
        [(f"{_FIELD}/minimum", "TYPE")],
    ),
    (
        "ElicitRequestParams",
        _form({"type": "string", "format": "uuid"}),
        [(f"{_FIELD}/format", "ENUM")],
    ),
    (
        "ElicitRequestParams",
        _form({"type": "boolean", "default": "yes"}),
        [(f"{_FIELD}/default", "TYPE")],
    ),
    (
        "ElicitRequestParams",
        _form({"type": "array", "items": {"enum": ["a", "b"]}}),
        [(f"{_FIELD}/items", "REQUIRED")],
    ),
    (
        "ElicitRequestParams",
        _form({"type": "array", "items": {"anyOf": [{"const": "a"}]}}),
        [(f"{_FIELD}/items/anyOf/0", "REQUIRED")],
    ),
    (
        "ElicitResult",
        {"action": "accept", "content": {"a": None, "b": [1]}},
        [("/content/a", "TYPE"), ("/content/b/0", "TYPE")],
    ),
    (
        "CompleteRequestParams",
        {"ref": {"type": "ref/tool"}, "argument": {"name": "a", "value": ""}},
        [("/ref/type", "ANY_OF")],
    ),
    (
        "CompleteRequestParams",
        {"ref": {"type": "ref/prompt"}, "argument": {"name": "a", "value": ""}},
        [("/ref", "REQUIRED")],
    ),
    (
        "InitializeRequestParams",
        {"protocolVersion": 1, "capabilities": {"roots": True}, "clientInfo": {"name": "a"}},
        [
            ("/capabilities/roots", "TYPE"),
            ("/clientInfo", "REQUIRED"),
            ("/protocolVersion", "TYPE"),
        ],
    ),
    (
        "ProgressNotificationParams",
        {"progressToken": 1.5, "progress": "1"},
        [("/progress", "TYPE"), ("/progressToken", "TYPE")],
    ),
]
_FAULTS_SINCE_DISCOVERY: list[tuple[str, Any, list[tuple[str, str]]]] = [
    ("InputRequiredResult", _input({"method": "ping"}), [("/inputRequests/one/method", "ANY_OF")]),
    ("InputRequiredResult", _input({}), [("/inputRequests/one", "ANY_OF")]),
    (
        "InputRequiredResult",
        _input({"method": "elicitation/create"}),
        [("/inputRequests/one", "REQUIRED")],
    ),
    (
        "InputRequiredResult",
        _input({"method": "elicitation/create", "params": {"message": "m", "mode": "url"}}),
        [("/inputRequests/one/params", "REQUIRED")],
    ),
    ("InputResponses", {"one": {}}, [("/one", "ANY_OF")]),
    ("InputResponses", {"one": {"action": "maybe"}}, [("/one/action", "ENUM")]),
    ("InputResponses", {"one": {"roots": [{}]}}, [("/one/roots/0", "REQUIRED")]),
    (
        "InputResponses",
        {"one": {"role": "assistant", "model": "m", "content": {"type": "text"}}},
        [("/one/content", "REQUIRED")],
    ),
    ("RequestParams", {}, [("", "REQUIRED")]),
    ("RequestParams", {"_meta": {}}, [("/_meta", "REQUIRED"), ("/_meta", "REQUIRED")]),
    (
        "CompleteResult",
        {"resultType": "complete", "completion": {"values": ["a"] * 101}},
        [("/completion/values", "MAX_ITEMS")],
    ),
]


def _violations(version: str, type_: str, value: Any) -> list[tuple[str, str]]:
    compiled = PROTOCOL_SCHEMAS(version, type_)
    assert compiled.fast is not None
    assert not compiled.fast.is_valid(value)
    violations = explain(compiled.complete.faults(value, [100_000]), hide_values=False)
    return sorted((violation.instance_location, violation.code) for violation in violations)


@pytest.mark.parametrize(("type_", "value", "violations"), _FAULTS)
def test_violations_of_a_type(type_: str, value: Any, violations: list[tuple[str, str]]) -> None:
    assert violations == _violations("2025-11-25", type_, value)


@pytest.mark.parametrize(("type_", "value", "violations"), _FAULTS_SINCE_DISCOVERY)
def test_violations_of_a_type_of_the_newest_version(
    type_: str, value: Any, violations: list[tuple[str, str]]
) -> None:
    assert violations == _violations("2026-07-28", type_, value)
