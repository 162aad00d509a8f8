"""Error responses and error results for invalid calls and results."""

import json

import pytest
from sidecheck_server.core.evaluate import details_unavailable
from sidecheck_server.core.mcp.call_errors import (
    ErrorResponse,
    invalid_arguments_response,
    invalid_result_response,
    malformed_call_response,
    non_object_arguments_response,
    unknown_tool_error,
)
from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.types import Severity, Verdict, Violation


def violation(pointer: str = "/a", code: str = "TYPE", message: str = "wrong") -> Violation:
    return Violation(pointer, "", "", code, message)


ONE = Verdict((violation(),))
WARNED = Verdict((Violation("/a", "", "", "W", "careful", Severity.WARNING), violation("/b")))
ADVICE = "Correct the arguments and call the tool again."


def text_of(response: ErrorResponse) -> str:
    return str(json.loads(response.call_tool_result)["content"][0]["text"])


@pytest.mark.parametrize("version", VERSIONS)
def test_response_to_invalid_arguments(version: str) -> None:
    """It is an error result; before 2025-11-25 a protocol error too."""
    response = invalid_arguments_response(ONE, version, tool="t")
    text = f"The arguments of the call to t are not valid:\n- a: wrong\n{ADVICE}"
    result = {
        "content": [{"type": "text", "text": f"Input validation error: {text}"}],
        "isError": True,
    }
    error = {
        "code": -32602,
        "message": "Invalid params at /arguments/a: wrong",
        "data": {"violations": [{"code": "TYPE", "pointer": "/arguments/a", "message": "wrong"}]},
    }

    assert text == response.tool_error_text
    expected = {"resultType": "complete", **result} if version == "2026-07-28" else result
    assert expected == json.loads(response.call_tool_result)
    old = version < "2025-11-25"
    assert (error if old else None) == json.loads(response.json_rpc_error or b"null")


@pytest.mark.parametrize(
    ("verdict", "code"),
    [
        pytest.param(ONE, -32602, id="wrong type"),
        pytest.param(Verdict((violation("", "PAYLOAD_NOT_JSON"),)), -32700, id="not JSON"),
        pytest.param(Verdict((violation("/a", "DUPLICATE_KEY"),)), -32602, id="duplicate key"),
    ],
)
def test_malformed_call_is_a_protocol_error(verdict: Verdict, code: int) -> None:
    """There is no error result, since the model cannot correct the call."""
    response = malformed_call_response(verdict)

    assert code == json.loads(response.json_rpc_error)["code"]
    assert ErrorResponse(json_rpc_error=response.json_rpc_error) == response


def test_malformed_call_with_invalid_arguments() -> None:
    """The violations of the arguments are in the text for the model."""
    response = malformed_call_response(
        Verdict((violation("/name"), violation("/arguments/a"))), ONE
    )

    assert (
        f"The arguments of the call are not valid:\n- a: wrong\n{ADVICE}"
        == response.tool_error_text
    )
    assert b"" == response.call_tool_result


def test_non_object_arguments_are_a_malformed_call() -> None:
    """The violation's pointer starts at the params."""
    response = non_object_arguments_response(Verdict((violation(""),)), tool="t")

    assert b"" == response.call_tool_result
    data = json.loads(response.json_rpc_error)["data"]
    assert ["/arguments"] == [violation["pointer"] for violation in data["violations"]]


@pytest.mark.parametrize("version", VERSIONS)
def test_invalid_result_is_replaced(version: str) -> None:
    """The replacement is the same in every version, without a protocol error."""
    response = invalid_result_response(ONE, version, tool="t")

    assert (
        "Output validation error: The result of t is not valid:\n- a: wrong\n"
        "The fault lies in the tool, not in the call."
    ) == text_of(response)
    assert ("resultType" in json.loads(response.call_tool_result)) == (version == "2026-07-28")
    assert ("", b"") == (response.tool_error_text, response.json_rpc_error)


def test_fixed_text_for_missing_structured_content() -> None:
    """The text is fixed regardless of verbosity and warnings, unless there are other errors."""
    missing = violation(
        "", "OUTPUT_MISSING", "outputSchema defined but no structured output returned"
    )
    fixed = "Output validation error: outputSchema defined but no structured output returned"
    warned = Verdict((WARNED.violations[0], missing))
    actual = [
        text_of(invalid_result_response(verdict, "2025-11-25"))
        for verdict in (Verdict((missing,)), warned)
    ]
    brief = text_of(invalid_result_response(Verdict((missing,)), "2025-11-25", explain=False))
    with_other_errors = text_of(
        invalid_result_response(Verdict((missing, violation("/content"))), "2025-11-25")
    )

    assert [fixed] * 3 == [*actual, brief]
    assert "- content: wrong" in with_other_errors


def test_warnings_are_not_reported() -> None:
    """A warning does not make the payload invalid."""
    error = json.loads(malformed_call_response(WARNED).json_rpc_error)

    assert "Invalid params at /b: wrong" == error["message"]
    assert ["/b"] == [violation["pointer"] for violation in error["data"]["violations"]]
    assert "careful" not in text_of(invalid_result_response(WARNED, "2025-11-25"))


@pytest.mark.parametrize(
    ("verdict", "tells"),
    [
        pytest.param(ONE, False, id="not requested"),
        pytest.param(details_unavailable(), True, id="unavailable"),
    ],
)
def test_response_without_details(verdict: Verdict, tells: bool) -> None:
    """There is one sentence per kind of response."""
    call = invalid_arguments_response(verdict, "2025-06-18", tool="t", explain=tells)
    result = invalid_result_response(verdict, "2025-06-18", tool="t", explain=tells)

    assert "Input validation error: The arguments of the call to t are not valid." == text_of(call)
    assert {"code": -32602, "message": "Invalid params"} == json.loads(call.json_rpc_error)
    assert (
        "Output validation error: The result of t is not valid. "
        "The fault lies in the tool, not in the call."
    ) == text_of(result)


def test_size_of_responses_is_limited() -> None:
    """The number and length of the errors do not matter."""
    verdict = Verdict(tuple(violation("/p" * 9000, "TYPE", "m" * 9000) for _ in range(500)))
    call = invalid_arguments_response(verdict, "2025-06-18", tool="t" * 9000)
    result = invalid_result_response(verdict, "2025-06-18", tool="t" * 9000)
    error = json.loads(call.json_rpc_error)

    assert max(len(call.call_tool_result), len(result.call_tool_result)) < 2200
    assert len(call.json_rpc_error) < 8000
    assert (8, True) == (len(error["data"]["violations"]), error["data"]["truncated"])


@pytest.mark.parametrize(
    "name",
    ["get_weather", "", "x" * 280, "\0" * 200, "日本" * 200, "half \ud800 of a pair"],
    ids=ascii,
)
def test_the_error_for_an_unknown_tool_fits_into_a_status(name: str) -> None:
    """A status has at most 300 bytes of a value."""
    text = unknown_tool_error(name)
    error = json.loads(text)

    assert len(text.encode()) <= 300
    assert -32602 == error["code"]
    assert error["message"].startswith(f"Unknown tool: {name[:5]}" if name else "Unknown tool")
