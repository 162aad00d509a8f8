"""Calls are read as each API gives them, strictly, and put to the plan that is meant."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from json_texts import MUTATIONS
from sidecheck_server.core.convert.apis.api import Api, RequestLimits, Subset
from sidecheck_server.core.convert.calls import (
    chosen_plan,
    common_api,
    read_call,
    refuse_mismatch,
)
from sidecheck_server.core.convert.calls.reading import ModelCall
from sidecheck_server.core.convert.plan import Plan
from sidecheck_server.core.convert.words import ModelApi
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.name_grammars import NameGrammar
from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.core.tool_error_text import tool_error_text
from sidecheck_server.core.words import Verdict

CHAT, RESPONSES, ANTHROPIC = ModelApi.OPENAI_CHAT, ModelApi.OPENAI_RESPONSES, ModelApi.ANTHROPIC
GEMINI, GEMINI_JSON, BEDROCK = ModelApi.GEMINI, ModelApi.GEMINI_JSON, ModelApi.BEDROCK
MISTRAL, OLLAMA = ModelApi.MISTRAL, ModelApi.OLLAMA
LIMITS = Limits()
TWICE = "the object has this key more than once; readers would disagree which one counts"
GRAMMAR = NameGrammar(64, "A-Za-z0-9_-", "letters, digits, underscores and dashes")


def api_of(key: ModelApi) -> Api:
    """Return as much of an API as calls need."""
    return Api(
        key=key,
        in_words="an API",
        names=GRAMMAR,
        members=None,
        compatible=Subset(),
        strict=None,
        request=RequestLimits(),
        sources=(),
        arguments_may_lack=key in {GEMINI, GEMINI_JSON},
    )


def read(key: ModelApi, call: Any, limits: Limits = LIMITS) -> ModelCall:
    text = call if isinstance(call, bytes) else json.dumps(call).encode()
    return read_call(text, api_of(key), limits)


def chat(arguments: Any, **more: Any) -> dict[str, Any]:
    function = {"name": "t", "arguments": arguments}
    return {"id": "c1", "type": "function", "function": function, **more}


def responses(arguments: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "t",
        "arguments": arguments,
        **more,
    }


def tool_use(value: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "c1", "name": "t", "input": value, **more}


GEMINI_CALL = {"id": "c1", "name": "t", "args": {"a": 1}}
BEDROCK_CALL = {"toolUseId": "c1", "name": "t", "input": {"a": 1}}


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
def test_the_name_the_id_and_the_arguments_are_read(key: ModelApi, call: Any) -> None:
    found = read(key, call)

    assert ("t", "c1", {"a": 1}) == (found.name, found.id, found.arguments)
    assert Verdict() == found.verdict


@pytest.mark.parametrize(
    ("key", "call"),
    [
        pytest.param(OLLAMA, {"function": {"name": "t", "arguments": {}}}, id="no id"),
        pytest.param(GEMINI, {"name": "t", "args": {}}, id="no id of Gemini's"),
        pytest.param(GEMINI, {"name": "t"}, id="no arguments of Gemini's"),
        pytest.param(GEMINI_JSON, {"functionCall": {"name": "t", "args": None}}, id="null"),
        pytest.param(ANTHROPIC, {"id": 5, "name": "t", "input": {}}, id="an id that is a number"),
    ],
)
def test_what_an_api_may_leave_out_may_lack(key: ModelApi, call: Any) -> None:
    assert ("t", "", {}, Verdict()) == (
        (found := read(key, call)).name,
        found.id,
        found.arguments,
        found.verdict,
    )


UNREADABLE, NO_OBJECT = "PAYLOAD_NOT_JSON", "CALL_ARGUMENTS_NOT_AN_OBJECT"


@pytest.mark.parametrize(
    ("key", "call", "pointer", "code", "said"),
    [
        pytest.param(CHAT, chat(""), "/function/arguments", UNREADABLE, "it is empty", id="empty"),
        pytest.param(CHAT, chat(" "), "/function/arguments", UNREADABLE, "it is empty", id="space"),
        pytest.param(RESPONSES, responses('{"a":'), "/arguments", UNREADABLE, "ends", id="cut off"),
        pytest.param(RESPONSES, responses("{} {}"), "/arguments", UNREADABLE, "after", id="twice"),
        pytest.param(RESPONSES, responses('{"a": NaN}'), "/arguments", UNREADABLE, "NaN", id="NaN"),
        pytest.param(
            RESPONSES,
            responses('{"a": 1e999}'),
            "/arguments",
            "NUMBER_OUT_OF_RANGE",
            "too large",
            id="a number out of range",
        ),
        pytest.param(
            MISTRAL,
            chat('{"b": {"a": 1, "a": 2}}'),
            "/function/arguments/b/a",
            "DUPLICATE_KEY",
            "more than once",
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
            '"input" is an object',
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
def test_arguments_that_cannot_be_read_are_none(
    key: ModelApi, call: Any, pointer: str, code: str, said: str
) -> None:
    """They are never taken for an empty object, and the name is known all the same."""
    found = read(key, call)
    (told,) = found.verdict.violations

    assert ("t", None) == (found.name, found.arguments)
    assert (pointer, code) == (told.instance_pointer, told.code)
    assert said in told.message


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
def test_a_call_that_cannot_be_read_has_no_name(
    key: ModelApi, call: Any, pointer: str, code: str
) -> None:
    """Its verdict says where and why."""
    found = read(key, call)
    (told,) = found.verdict.violations

    assert ("", pointer, code) == (found.name, told.instance_pointer, told.code)


@pytest.mark.parametrize(
    ("key", "call", "bound"),
    [
        pytest.param(CHAT, b" " * 1001, "payload_bytes", id="too large"),
        pytest.param(ANTHROPIC, tool_use({"a": [[[[[]]]]]}), "payload_depth", id="too deep"),
        pytest.param(CHAT, chat('{"a": [[[[]]]]}'), "payload_depth", id="a text that is too deep"),
    ],
)
def test_a_call_beyond_a_bound_is_refused(key: ModelApi, call: Any, bound: str) -> None:
    with pytest.raises(Refusal) as refused:
        read(key, call, Limits(payload_bytes=1000, payload_depth=4))

    assert (Reason.LIMIT_EXCEEDED, bound) == (refused.value.reason, refused.value.metadata["bound"])


def test_the_id_is_read_whatever_else_is_wrong() -> None:
    """APIs want an answer to each call that they gave an id."""
    assert "c1" == read(CHAT, {"id": "c1", "function": None}).id


def test_many_violations_are_cut() -> None:
    """As with payloads, it is told that there are more."""
    keys = ",".join(f'"k{n}": 1, "k{n}": 2' for n in range(50))
    verdict = read(CHAT, chat(f"{{{keys}}}")).verdict

    assert (20, True) == (len(verdict.violations), verdict.truncated)


@pytest.mark.parametrize(
    ("key", "call", "lines"),
    [
        pytest.param(CHAT, chat("{}"), [""], id="nothing is wrong"),
        pytest.param(
            CHAT,
            chat('{"b": {"a": 1, "a": 2}}'),
            [
                "The arguments of the call to t cannot be read as JSON:",
                f"- b.a: {TWICE}",
                "Call the tool again with arguments that are one well-formed JSON object.",
            ],
            id="a key twice",
        ),
        pytest.param(
            RESPONSES,
            responses(""),
            [
                "The arguments of the call to t cannot be read as JSON:",
                "- not JSON: it is empty",
                "Call the tool again with arguments that are one well-formed JSON object.",
            ],
            id="empty",
        ),
        pytest.param(
            GEMINI,
            {"functionCall": {"name": "t", "args": []}},
            [
                "The arguments of the call to t are not valid:",
                "- expected an object, found an empty array",
                "Correct the arguments and call the tool again.",
            ],
            id="an array",
        ),
    ],
)
def test_the_model_is_told_of_its_arguments(key: ModelApi, call: Any, lines: list[str]) -> None:
    """In the words in which it is told of any arguments."""
    told = read(key, call).verdict_on_arguments
    assert lines == tool_error_text(told, tool="t").split("\n")


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
def test_whatever_is_sent_is_a_call_or_has_a_verdict(
    key: ModelApi, call: Any, edits: list[tuple[int, int, bytes]]
) -> None:
    """What is valid has a name and arguments; what has none is told."""
    text = json.dumps(call).encode()
    for at, removed, put in edits:
        text = text[:at] + put + text[at + removed :]
    reason: Reason | None = None
    try:
        found = read(key, text, Limits(payload_depth=8))
    except Refusal as refused:
        reason = refused.reason
    else:
        assert found.verdict.valid is (found.name != "" and found.arguments is not None)
        assert found.verdict.valid is found.verdict_on_arguments.valid
    assert reason in {None, Reason.LIMIT_EXCEEDED}


def plan(name: str = "t", api: ModelApi = CHAT) -> Plan:
    return Plan(api, name, "s", "tool", "sha256:" + "0" * 64, strict=False, guide=None)


def call_of(name: str) -> ModelCall:
    return ModelCall(name, "", {}, Verdict(), "")


def test_the_plan_is_the_one_of_the_tool_that_is_called() -> None:
    plans = [plan("a"), plan("b")]

    assert plans[1] is chosen_plan(plans, call_of("b"))
    assert CHAT is common_api(plans)


def test_a_call_without_a_name_belongs_to_the_only_plan() -> None:
    """Of several it is not known which."""
    only = plan("a")

    assert only is chosen_plan([only], call_of(""))
    assert None is chosen_plan([only, plan("b")], call_of(""))


@pytest.mark.parametrize(
    ("plans", "reason", "metadata", "said"),
    [
        pytest.param(
            [], Reason.INVALID_REQUEST, {"field": "plans"}, "there is no plan", id="no plans"
        ),
        pytest.param(
            [plan(), plan("u", ANTHROPIC)],
            Reason.INVALID_REQUEST,
            {"field": "plans"},
            "openai-chat and anthropic",
            id="plans of several APIs",
        ),
        pytest.param(
            [plan("x"), plan("x")], Reason.INVALID_PLAN, {"name": "x"}, '"x"', id="two of one name"
        ),
        pytest.param(
            [plan("get_files"), plan("x")],
            Reason.PLAN_MISMATCH,
            {"name": "get_file"},
            '"get_file"; is it "get_files"?',
            id="none of that name",
        ),
    ],
)
def test_plans_that_do_not_fit_are_refused(
    plans: list[Plan], reason: Reason, metadata: dict[str, str], said: str
) -> None:
    with pytest.raises(Refusal) as refused:
        chosen_plan(plans, call_of("get_file"))

    assert (reason, metadata) == (refused.value.reason, refused.value.metadata)
    assert said in refused.value.message


def test_a_plan_of_another_definition_is_refused() -> None:
    """The tool has changed since it was converted."""
    made = plan()
    refuse_mismatch(made, made.definition_digest)

    with pytest.raises(Refusal) as refused:
        refuse_mismatch(made, "sha256:" + "1" * 64)
    assert Reason.PLAN_MISMATCH is refused.value.reason
    assert {"planned": made.definition_digest, "found": "sha256:" + "1" * 64} == (
        refused.value.metadata
    )
