"""Strict reading of calls in the shape of each provider."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.types import Verdict
from support.json_texts import MUTATIONS
from support.model_calls import (
    ANTHROPIC,
    BEDROCK,
    BEDROCK_CALL,
    CHAT,
    GEMINI,
    GEMINI_CALL,
    GEMINI_JSON,
    MCP,
    MISTRAL,
    OLLAMA,
    RESPONSES,
    chat,
    read,
    responses,
    tool_use,
)


@pytest.mark.parametrize(
    ("key", "call"),
    [
        pytest.param(CHAT, chat('{"a": 1}'), id="OpenAI's Chat Completions"),
        pytest.param(CHAT, chat('{"a":1}', index=0), id="an index beside it"),
        pytest.param(CHAT, chat({"a": 1}), id="an object from a server that is like it"),
        pytest.param(RESPONSES, responses(' {"a": 1}\n'), id="OpenAI's Responses"),
        pytest.param(
            RESPONSES, responses('{"a": 1}', namespace="s", status=None), id="a namespace"
        ),
        pytest.param(ANTHROPIC, tool_use({"a": 1}), id="Anthropic"),
        pytest.param(GEMINI, GEMINI_CALL, id="Gemini"),
        pytest.param(
            GEMINI, {"functionCall": GEMINI_CALL, "thoughtSignature": "x"}, id="a part of Gemini's"
        ),
        pytest.param(GEMINI_JSON, {"function_call": GEMINI_CALL}, id="as Gemini's SDK dumps it"),
        pytest.param(BEDROCK, BEDROCK_CALL, id="Bedrock"),
        pytest.param(BEDROCK, {"toolUse": BEDROCK_CALL}, id="a block of Bedrock's"),
        pytest.param(MISTRAL, chat('{"a": 1}'), id="Mistral, as text"),
        pytest.param(MISTRAL, chat({"a": 1}), id="Mistral, as an object"),
        pytest.param(OLLAMA, chat({"a": 1}), id="Ollama"),
    ],
)
def test_name_id_and_arguments_are_read(key: ModelApi, call: Any) -> None:
    result = read(key, call)

    assert ("t", "c1", {"a": 1}) == (result.name, result.id, result.arguments)
    assert Verdict() == result.verdict


@pytest.mark.parametrize(
    ("key", "call"),
    [
        pytest.param(OLLAMA, {"function": {"name": "t", "arguments": {}}}, id="no id"),
        pytest.param(GEMINI, {"name": "t", "args": {}}, id="no id of Gemini's"),
        pytest.param(GEMINI, {"name": "t"}, id="no arguments of Gemini's"),
        pytest.param(GEMINI_JSON, {"functionCall": {"name": "t", "args": None}}, id="null"),
        pytest.param(ANTHROPIC, {"id": 5, "name": "t", "input": {}}, id="an id that is a number"),
        pytest.param(MCP, {"name": "t", "arguments": {}}, id="no id of MCP's"),
        pytest.param(MCP, {"name": "t", "_meta": {"a": 1}}, id="no arguments of MCP's"),
        pytest.param(MCP, {"name": "t", "arguments": None}, id="null of MCP's"),
    ],
)
def test_optional_properties_of_a_call_may_be_missing(key: ModelApi, call: Any) -> None:
    assert ("t", "", {}, Verdict()) == (
        (result := read(key, call)).name,
        result.id,
        result.arguments,
        result.verdict,
    )


UNREADABLE, NO_OBJECT = "PAYLOAD_NOT_JSON", "CALL_ARGUMENTS_NOT_AN_OBJECT"


@pytest.mark.parametrize(
    ("key", "call", "pointer", "code", "message"),
    [
        pytest.param(CHAT, chat(""), "/function/arguments", UNREADABLE, "it is empty", id="empty"),
        pytest.param(CHAT, chat(" "), "/function/arguments", UNREADABLE, "it is empty", id="space"),
        pytest.param(RESPONSES, responses('{"a":'), "/arguments", UNREADABLE, "ends", id="cut off"),
        pytest.param(RESPONSES, responses("{} {}"), "/arguments", UNREADABLE, "after", id="twice"),
        pytest.param(RESPONSES, responses('{"a": NaN}'), "/arguments", UNREADABLE, "NaN", id="NaN"),
        pytest.param(
            MISTRAL,
            chat('{"b": {"a": 1, "a": 2}}'),
            "/function/arguments/b/a",
            "DUPLICATE_KEY",
            "duplicate key",
            id="a key twice in arguments",
        ),
        pytest.param(
            RESPONSES, responses("[1]"), "/arguments", NO_OBJECT, "an array of 1 item", id="array"
        ),
        pytest.param(RESPONSES, responses("null"), "/arguments", NO_OBJECT, "null", id="text null"),
        pytest.param(
            RESPONSES, responses('"{}"'), "/arguments", NO_OBJECT, "2 characters", id="text in text"
        ),
        pytest.param(
            RESPONSES, responses({}), "/arguments", NO_OBJECT, "the JSON text of", id="an object"
        ),
        pytest.param(CHAT, chat(None), "/function/arguments", NO_OBJECT, "found null", id="null"),
        pytest.param(ANTHROPIC, tool_use("{}"), "/input", NO_OBJECT, "an object, found", id="text"),
        pytest.param(
            BEDROCK,
            {"toolUse": {"name": "t", "input": []}},
            "/toolUse/input",
            NO_OBJECT,
            "an empty array",
            id="a block with an array",
        ),
        pytest.param(
            ANTHROPIC,
            {"name": "t"},
            "",
            "CALL_ARGUMENTS_MISSING",
            'expected "input", an object',
            id="no input",
        ),
        pytest.param(
            CHAT,
            {"function": {"name": "t"}},
            "/function",
            "CALL_ARGUMENTS_MISSING",
            '"arguments"',
            id="no arguments",
        ),
    ],
)
def test_unreadable_arguments_are_none(
    key: ModelApi, call: Any, pointer: str, code: str, message: str
) -> None:
    """They are never taken for an empty object, and the name is read."""
    result = read(key, call)
    (reported,) = result.verdict.violations

    assert ("t", None) == (result.name, result.arguments)
    assert (pointer, code) == (reported.instance_location, reported.code)
    assert message in reported.message


@pytest.mark.parametrize(
    ("key", "call", "pointer", "code"),
    [
        pytest.param(CHAT, b"", "", UNREADABLE, id="nothing"),
        pytest.param(CHAT, b'{"id": 1, "id": 2}', "/id", "DUPLICATE_KEY", id="a key twice"),
        pytest.param(CHAT, [], "", "CALL_NOT_AN_OBJECT", id="an array"),
        pytest.param(ANTHROPIC, None, "", "CALL_NOT_AN_OBJECT", id="null"),
        pytest.param(CHAT, {"function": []}, "/function", "CALL_NOT_AN_OBJECT", id="no function"),
        pytest.param(CHAT, {"type": "custom"}, "", "CALL_NAME_MISSING", id="a custom call"),
        pytest.param(
            GEMINI, {"functionCall": 1}, "/functionCall", "CALL_NOT_AN_OBJECT", id="no call"
        ),
        pytest.param(GEMINI, {"text": "hi"}, "", "CALL_NAME_MISSING", id="a part of text"),
        pytest.param(
            BEDROCK,
            {"toolUse": {"name": 5, "input": {}}},
            "/toolUse/name",
            "CALL_NAME_MISSING",
            id="a name that is a number",
        ),
        pytest.param(
            CHAT,
            chat("{}") | {"function": {"arguments": "{}"}},
            "/function",
            "CALL_NAME_MISSING",
            id="no name",
        ),
        pytest.param(
            ANTHROPIC, {"name": "", "input": {}}, "/name", "CALL_NAME_MISSING", id="empty"
        ),
    ],
)
def test_an_unreadable_call_has_no_name(key: ModelApi, call: Any, pointer: str, code: str) -> None:
    """Its verdict has the location and the fault."""
    result = read(key, call)
    (reported,) = result.verdict.violations

    assert ("", pointer, code) == (result.name, reported.instance_location, reported.code)


@pytest.mark.parametrize(
    ("message", "key", "call"),
    [
        pytest.param(
            'the property "function" is missing; the mapping is for OpenAI\'s Chat Completions, '
            "whose call is an element of `tool_calls`",
            CHAT,
            {"choices": [{"message": {"tool_calls": [chat("{}")]}}]},
            id="a whole answer",
        ),
        pytest.param(
            "expected an object, found an array of 1 item; the mapping is for OpenAI's Chat "
            "Completions, whose call is an element of `tool_calls`",
            CHAT,
            [chat("{}")],
            id="all calls",
        ),
        pytest.param(
            "expected the name of the called tool, found nothing; the mapping is for "
            "Anthropic's Messages, whose call is a `tool_use` block",
            ANTHROPIC,
            chat("{}") | {"input": {}},
            id="a call of another API",
        ),
        pytest.param(
            "expected the name of the called tool, found an empty string",
            ANTHROPIC,
            tool_use({}) | {"name": ""},
            id="a call without a name",
        ),
    ],
)
def test_an_invalid_call_is_reported_with_the_expected_shape(
    message: str, key: ModelApi, call: Any
) -> None:
    """It may be another object, or the call of another provider."""
    assert [message] == [item.message for item in read(key, call).verdict.violations]


@pytest.mark.parametrize(
    ("key", "call", "bound"),
    [
        pytest.param(CHAT, b" " * 1001, "payload_bytes", id="too large"),
        pytest.param(ANTHROPIC, tool_use({"a": [[[[[]]]]]}), "payload_depth", id="too deep"),
        pytest.param(CHAT, chat('{"a": [[[[]]]]}'), "payload_depth", id="a text that is too deep"),
    ],
)
def test_a_call_beyond_a_limit_is_rejected(key: ModelApi, call: Any, bound: str) -> None:
    with pytest.raises(RequestError) as excinfo:
        read(key, call, Limits(payload_bytes=1000, payload_depth=4))

    assert (ErrorReason.LIMIT_EXCEEDED, bound) == (
        excinfo.value.reason,
        excinfo.value.metadata["bound"],
    )


def test_the_id_is_read_from_an_invalid_call() -> None:
    """Providers require a result for every call that has an id."""
    assert "c1" == read(CHAT, {"id": "c1", "function": None}).id


def test_violations_are_truncated() -> None:
    """The verdict has the flag, as for payloads."""
    keys = ",".join(f'"k{n}": 1, "k{n}": 2' for n in range(50))
    verdict = read(CHAT, chat(f"{{{keys}}}")).verdict

    assert (20, True) == (len(verdict.violations), verdict.truncated)


@pytest.mark.slow
@given(
    st.sampled_from(list(ModelApi)),
    st.sampled_from(
        [
            chat('{"a": [1]}'),
            chat({"a": 1}),
            responses('{"a": "b"}'),
            tool_use({"a": {}}),
            {"functionCall": GEMINI_CALL},
            {"toolUse": BEDROCK_CALL},
        ]
    ),
    st.lists(st.tuples(st.integers(0, 120), st.integers(0, 3), st.sampled_from([b"", *MUTATIONS]))),
)
@settings(max_examples=300, deadline=None)
def test_any_input_is_a_call_or_has_an_invalid_verdict(
    key: ModelApi, call: Any, edits: list[tuple[int, int, bytes]]
) -> None:
    """A valid call has a name and arguments."""
    text = json.dumps(call).encode()
    for location, removed, added in edits:
        text = text[:location] + added + text[location + removed :]
    reason: ErrorReason | None = None
    try:
        result = read(key, text, Limits(payload_depth=8))
    except RequestError as error:
        reason = error.reason
    else:
        assert result.verdict.valid is (result.name != "" and result.arguments is not None)
        assert result.verdict.valid is result.arguments_verdict.valid
    assert reason in {None, ErrorReason.LIMIT_EXCEEDED}
