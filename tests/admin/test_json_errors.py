"""Wrong requests over HTTP, with their whole answers: in the terms of HTTP and JSON."""

from typing import Any

import pytest

from .conftest import HttpApi

_JSON = {"content-type": "application/json"}
_ERRORS = "https://github.com/sidecheck/sidecheck/blob/main/docs/reference/errors.md"


def invalid(detail: str, field: str = "") -> dict[str, Any]:
    """Return the problem details of a body that is not a valid request."""
    return {
        "type": f"{_ERRORS}#INVALID_REQUEST",
        "title": "Invalid request",
        "status": 400,
        "detail": detail,
        "reason": "INVALID_REQUEST",
        "metadata": {"field": field} if field else {},
    }


def plain(status: int, title: str, detail: str) -> dict[str, Any]:
    """Return the problem details of a request that HTTP itself rejects."""
    return {"type": "about:blank", "title": title, "status": status, "detail": detail}


@pytest.mark.parametrize(
    ("method", "path", "headers", "body", "expected"),
    [
        (
            "GET",
            "/v1/validate",
            {},
            b"",
            plain(405, "Method Not Allowed", "expected the method POST, found GET"),
        ),
        (
            "POST",
            "/livez",
            _JSON,
            b"{}",
            plain(405, "Method Not Allowed", "POST is not served at /livez"),
        ),
        (
            "POST",
            "/v1/validte",
            _JSON,
            b"{}",
            plain(404, "Not Found", "unknown path /v1/validte; did you mean /v1/validate?"),
        ),
        (
            "GET",
            "/swagger",
            {},
            b"",
            plain(404, "Not Found", "unknown path /swagger; /openapi.json lists all methods"),
        ),
        (
            "POST",
            "/v1/validate",
            {},
            b"{}",
            plain(
                415,
                "Unsupported Media Type",
                "expected the content type application/json, found none",
            ),
        ),
        (
            "POST",
            "/v1/validate",
            {"content-type": "text/plain; charset=utf-8"},
            b"{}",
            plain(
                415,
                "Unsupported Media Type",
                'expected the content type application/json, found "text/plain; charset=utf-8"',
            ),
        ),
        (
            "POST",
            "/v1/validate",
            {**_JSON, "content-encoding": "gzip"},
            b"{}",
            plain(
                415,
                "Unsupported Media Type",
                'expected a body without a content encoding, found "gzip"',
            ),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_request_of_http(
    api: HttpApi,
    method: str,
    path: str,
    headers: dict[str, str],
    body: bytes,
    expected: dict[str, Any],
) -> None:
    """The method, the path, the content type and the encoding are named as they were sent."""
    response = api.send(method, path, body, headers)

    assert (expected["status"], expected) == (response.status, response.json)


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        # Not JSON.
        ("validate", b"", invalid("the body is empty; expected a JSON object")),
        (
            "validate",
            b"{tool: 1}",
            invalid("the body is not JSON: object keys must be strings at line 1, column 2"),
        ),
        (
            "validate",
            b'{\n  "tool": {},\n}',
            invalid("the body is not JSON: trailing comma in object at line 3, column 1"),
        ),
        (
            "validate",
            b'{"tool": {}',
            invalid("the body is not JSON: it ends before the value is complete"),
        ),
        ("validate", b'{"\xff": 1}', invalid("the body is not UTF-8: invalid start byte")),
        (
            "validate",
            b'{"name": "\xff"}',
            invalid("the value at /name is not UTF-8: invalid start byte", "/name"),
        ),
        # Wrong types.
        ("validate", b"[]", invalid("expected an object, found an array as the body")),
        (
            "validate",
            b'{"name": 5}',
            invalid("expected a string, found a number at /name", "/name"),
        ),
        (
            "validate",
            b'{"options": []}',
            invalid("expected an object, found an array at /options", "/options"),
        ),
        (
            "validate",
            b'{"options": {"hide_values": "yes"}}',
            invalid(
                "expected true or false, found a string at /options/hide_values",
                "/options/hide_values",
            ),
        ),
        (
            "validate",
            b'{"options": {"max_violations": "5"}}',
            invalid(
                "expected an integer from 0 to 4,294,967,295, found a string"
                " at /options/max_violations",
                "/options/max_violations",
            ),
        ),
        (
            "validate",
            b'{"options": {"max_violations": -1}}',
            invalid(
                "expected an integer from 0 to 4,294,967,295, found -1 at /options/max_violations",
                "/options/max_violations",
            ),
        ),
        (
            "validate-batch",
            b'{"items": [{"schema": true, "arguments": 1}, null]}',
            invalid("expected an object, found null at /items/1", "/items/1"),
        ),
        (
            "check-tools",
            b'{"tools": {"name": "t"}}',
            invalid("expected an array, found an object at /tools", "/tools"),
        ),
        # Wrong names of properties: those of gRPC, and those of other conventions.
        (
            "validate",
            b'{"inlineTool": {}}',
            invalid('unknown property "inlineTool"; did you mean "tool"?', "/inlineTool"),
        ),
        (
            "validate",
            b'{"options": {"maxViolations": 1}}',
            invalid(
                'unknown property "maxViolations" in /options; did you mean "max_violations"?',
                "/options/maxViolations",
            ),
        ),
        ("validate", b'{"x/y~": 1}', invalid('unknown property "x/y~"', "/x~1y~0")),
        (
            "validate",
            b'{"tool": {}, "tool": {}}',
            invalid('duplicate property "tool"', "/tool"),
        ),
        (
            "validate-batch",
            b'{"items": [{"schema": 1, "tool": 1}]}',
            invalid('"schema" and "tool" exclude each other in /items/0', "/items/0/tool"),
        ),
        # Wrong words of an enumeration.
        (
            "validate",
            b'{"options": {"detail": "DETAIL_ALL"}}',
            invalid(
                'invalid detail "DETAIL_ALL" at /options/detail; '
                'expected one of "verdict-only", "first", "all"',
                "/options/detail",
            ),
        ),
        (
            "check-message",
            b'{"message": {}, "sender": 1}',
            invalid('expected one of "client", "server", found a number at /sender', "/sender"),
        ),
        # Missing parts.
        (
            "validate",
            b'{"schema": true}',
            invalid(
                "the request has no subject; expected one of arguments, structured_content, "
                "absent_structured_content, call_params, call_result"
            ),
        ),
        (
            "validate",
            b'{"arguments": {}}',
            invalid(
                "the request has no target; expected a registered tool, a digest, or a tool or "
                "schema sent inline"
            ),
        ),
        ("check-tool-result", b"{}", invalid("the request has no tool result to check")),
        ("check-message", b"{}", invalid("the request has no message to check", "/message")),
        ("convert-tools", b"{}", invalid("api must be set; there is no default", "/api")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_body(api: HttpApi, path: str, body: bytes, expected: dict[str, Any]) -> None:
    """Locations are JSON Pointers into the body, and names are those of its properties."""
    response = api.post(f"/v1/{path}", body)

    assert (expected["status"], expected) == (response.status, response.json)


def test_an_item_is_in_terms_of_json_too(api: HttpApi) -> None:
    """An item without a subject fails alone; its field is not one of the body."""
    items = [{"schema": True}, {"schema": True, "arguments": 1}]
    outcomes = api.post("/v1/validate-batch", {"items": items}).json["outcomes"]

    [failed, verdict] = outcomes
    assert ("INVALID_REQUEST", {}) == (failed["error"]["reason"], failed["error"]["metadata"])
    assert verdict["verdict"]["valid"]
