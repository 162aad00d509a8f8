"""Replies to invalid calls and results, in the words of the protocol."""

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


def text_of(reply: ErrorResponse) -> str:
    return str(json.loads(reply.call_tool_result)["content"][0]["text"])


@pytest.mark.parametrize("version", VERSIONS)
def test_invalid_arguments_are_answered_as_the_version_says(version: str) -> None:
    """Always with a result, before 2025-11-25 with an error of the protocol as well."""
    reply = invalid_arguments_response(ONE, version, tool="t")
    text = f"The arguments of the call to t are not valid:\n- a: wrong\n{ADVICE}"
    result = {
        "content": [{"type": "text", "text": f"Input validation error: {text}"}],
        "isError": True,
    }
    error = {
        "code": -32602,
        "message": "Invalid params: wrong",
        "data": {"violations": [{"code": "TYPE", "pointer": "/arguments/a", "message": "wrong"}]},
    }

    assert text == reply.tool_error_text
    expected = {"resultType": "complete", **result} if version == "2026-07-28" else result
    assert expected == json.loads(reply.call_tool_result)
    old = version < "2025-11-25"
    assert (error if old else None) == json.loads(reply.json_rpc_error or b"null")


@pytest.mark.parametrize(
    ("verdict", "code"),
    [
        pytest.param(ONE, -32602, id="a wrong shape"),
        pytest.param(Verdict((violation("", "PAYLOAD_NOT_JSON"),)), -32700, id="not JSON"),
        pytest.param(Verdict((violation("/a", "DUPLICATE_KEY"),)), -32602, id="a key twice"),
    ],
)
def test_a_malformed_call_gets_an_error_and_no_result(verdict: Verdict, code: int) -> None:
    """The model can mend nothing about it."""
    reply = malformed_call_response(verdict)

    assert code == json.loads(reply.json_rpc_error)["code"]
    assert ErrorResponse(json_rpc_error=reply.json_rpc_error) == reply


def test_what_is_wrong_with_the_arguments_of_a_malformed_call_is_told_beside() -> None:
    """As a text for the model, whatever else is wrong."""
    reply = malformed_call_response(Verdict((violation("/name"), violation("/arguments/a"))), ONE)

    assert (
        f"The arguments of the call are not valid:\n- a: wrong\n{ADVICE}" == reply.tool_error_text
    )
    assert b"" == reply.call_tool_result


def test_arguments_that_are_no_object_are_a_malformed_call() -> None:
    """Their pointer leads into the params."""
    reply = non_object_arguments_response(Verdict((violation(""),)), tool="t")

    assert b"" == reply.call_tool_result
    data = json.loads(reply.json_rpc_error)["data"]
    assert ["/arguments"] == [violation["pointer"] for violation in data["violations"]]


@pytest.mark.parametrize("version", VERSIONS)
def test_an_invalid_result_is_replaced(version: str) -> None:
    """In every version; there is no request that an error would answer."""
    reply = invalid_result_response(ONE, version, tool="t")

    assert (
        "Output validation error: The result of t is not valid:\n- a: wrong\n"
        "The fault lies in the tool, not in the call."
    ) == text_of(reply)
    assert ("resultType" in json.loads(reply.call_tool_result)) == (version == "2026-07-28")
    assert ("", b"") == (reply.tool_error_text, reply.json_rpc_error)


def test_missing_structured_content_alone_has_one_fixed_text() -> None:
    """Whatever is to be told, and with warnings beside; not if there are other errors."""
    missing = violation(
        "", "OUTPUT_MISSING", "outputSchema defined but no structured output returned"
    )
    fixed = "Output validation error: outputSchema defined but no structured output returned"
    warned = Verdict((WARNED.violations[0], missing))
    actual = [
        text_of(invalid_result_response(one, "2025-11-25")) for one in (Verdict((missing,)), warned)
    ]
    brief = text_of(invalid_result_response(Verdict((missing,)), "2025-11-25", explain=False))
    more = text_of(invalid_result_response(Verdict((missing, violation("/content"))), "2025-11-25"))

    assert [fixed] * 3 == [*actual, brief]
    assert "- content: wrong" in more


def test_only_errors_are_told() -> None:
    """A warning is not what is wrong."""
    error = json.loads(malformed_call_response(WARNED).json_rpc_error)

    assert "Invalid params: wrong" == error["message"]
    assert ["/b"] == [violation["pointer"] for violation in error["data"]["violations"]]
    assert "careful" not in text_of(invalid_result_response(WARNED, "2025-11-25"))


@pytest.mark.parametrize(
    ("verdict", "tells"),
    [
        pytest.param(ONE, False, id="not asked for"),
        pytest.param(details_unavailable(), True, id="not known"),
    ],
)
def test_what_is_wrong_may_be_left_out(verdict: Verdict, tells: bool) -> None:
    """Then there is one sentence for each."""
    call = invalid_arguments_response(verdict, "2025-06-18", tool="t", explain=tells)
    result = invalid_result_response(verdict, "2025-06-18", tool="t", explain=tells)

    assert "Input validation error: The arguments of the call to t are not valid." == text_of(call)
    assert {"code": -32602, "message": "Invalid params"} == json.loads(call.json_rpc_error)
    assert (
        "Output validation error: The result of t is not valid. "
        "The fault lies in the tool, not in the call."
    ) == text_of(result)


def test_replies_are_bounded() -> None:
    """However many errors there are, and however long."""
    many = Verdict(tuple(violation("/p" * 9000, "TYPE", "m" * 9000) for _ in range(500)))
    call = invalid_arguments_response(many, "2025-06-18", tool="t" * 9000)
    result = invalid_result_response(many, "2025-06-18", tool="t" * 9000)
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
    """Of which 300 bytes is all that is sent of one value."""
    text = unknown_tool_error(name)
    error = json.loads(text)

    assert len(text.encode()) <= 300
    assert -32602 == error["code"]
    assert error["message"].startswith(f"Unknown tool: {name[:5]}" if name else "Unknown tool")
