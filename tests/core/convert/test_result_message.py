"""Results in the messages of each provider, and their losses."""

import json
from typing import Any

import pytest
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.result_message import convert_result
from sidecheck_server.core.convert.types import Action, Loss, ModelApi
from support.answers import (
    ANTHROPIC,
    BEDROCK,
    CALL_ID,
    CHAT,
    GEMINI,
    GEMINI_JSON,
    MCP,
    MISTRAL,
    MODELS,
    NAME,
    NOT_SHOWN,
    OLLAMA,
    RESPONSES,
    answer,
    block,
    loss,
    message_of,
    omitted_part,
    text_message,
)

# A result, the only text of the message, and the losses.
Case = tuple[dict[str, Any], str, tuple[Loss, ...]]

_AS_JSON = loss("/structuredContent", Action.REWRITTEN, "sent as JSON text")
_EMPTY = loss("/content", Action.REWRITTEN, "empty; sent as a sentence that says so")
_LINKED = loss("/content/0", Action.REWRITTEN, "sent as text")
_EMBEDDED = loss("/content/0/resource", Action.REWRITTEN, "sent as text, with its URI")

_FAILS_IN_TEXT = loss("/isError", Action.REWRITTEN, "sent as text")

SAID: dict[str, Case] = {
    "a text": ({"content": [block("sunny")]}, "sunny", ()),
    "a text, and no failure": ({"content": [block("sunny")], "isError": False}, "sunny", ()),
    "nothing": ({"content": []}, "The tool returned nothing.", (_EMPTY,)),
    "a blank text": (
        {"content": [block(" \n")]},
        "The tool returned nothing.",
        (
            _EMPTY,
            loss("/content/0", Action.DROPPED, "blank text, which some providers reject"),
        ),
    ),
    "structured content alone": (
        {"content": [], "structuredContent": {"id": 12345678901234567890, "name": "Ä"}},
        '{"id":12345678901234567890,"name":"Ä"}',
        (_AS_JSON,),
    ),
    "structured content that a text has": (
        {
            "content": [block('{ "b": [1.0, "x"],\n "a": true }')],
            "structuredContent": {"a": True, "b": [1, "x"]},
        },
        '{ "b": [1.0, "x"],\n "a": true }',
        (),
    ),
    "structured content that is not an object": (
        {"content": [], "structuredContent": None},
        "null",
        (_AS_JSON,),
    ),
    "what is not for the model": (
        {
            "content": [
                {**block("sunny"), "annotations": {"priority": 1}, "_meta": {"a": 1}},
            ],
            "resultType": "complete",
            "_meta": {"a/b": 1},
        },
        "sunny",
        (
            omitted_part("/_meta"),
            omitted_part("/content/0/_meta"),
            omitted_part("/content/0/annotations"),
            omitted_part("/resultType"),
        ),
    ),
    "a link": (
        {
            "content": [
                {
                    "type": "resource_link",
                    "uri": "file:///a.csv",
                    "name": "a.csv",
                    "title": "Table A",
                    "mimeType": "text/csv",
                    "size": 12345,
                    "description": "All of it",
                    "icons": [],
                }
            ]
        },
        "Resource file:///a.csv (text/csv, 12,345 bytes): a.csv, Table A\nAll of it",
        (_LINKED, omitted_part("/content/0/icons")),
    ),
    "a link without more": (
        {"content": [{"type": "resource_link", "uri": "a:b", "name": "b"}]},
        "Resource a:b: b",
        (_LINKED,),
    ),
    "a text resource": (
        {
            "content": [
                {
                    "type": "resource",
                    "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "hello"},
                }
            ]
        },
        "Resource file:///a (text/plain):\nhello",
        (_EMBEDDED,),
    ),
    "sound": (
        {"content": [{"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}]},
        "[Audio (audio/wav, 3 bytes), which cannot be shown]",
        (loss("/content/0", Action.DROPPED, NOT_SHOWN),),
    ),
    "an image of a kind that no provider supports": (
        {"content": [{"type": "image", "data": "AA==", "mimeType": "image/tiff"}]},
        "[An image (image/tiff, 1 byte), which cannot be shown]",
        (loss("/content/0", Action.DROPPED, NOT_SHOWN),),
    ),
    "content of another type": (
        {"content": [{"type": "hologram", "data": "AAAA"}]},
        "[Content of type hologram, which cannot be shown]",
        (loss("/content/0", Action.DROPPED, "content of an unknown type"),),
    ),
    "a resource of a kind that no provider supports": (
        {"content": [{"type": "resource", "resource": {"uri": "a:b", "blob": "AAAAAA=="}}]},
        "[The resource a:b (application/octet-stream, 4 bytes), which cannot be shown]",
        (loss("/content/0", Action.DROPPED, NOT_SHOWN),),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize("case", SAID.values(), ids=SAID)
def test_texts_have_the_shape_of_each_provider(case: Case, provider: ModelApi) -> None:
    result, message, losses = case
    assert message_of(result, provider) == (text_message(provider, message), losses)


@pytest.mark.parametrize("result", [case[0] for case in SAID.values()], ids=SAID)
def test_a_result_for_mcp_stays_as_it_is(result: dict[str, Any]) -> None:
    text, losses = convert_result(result, PROVIDERS[MCP], CALL_ID, NAME)

    assert (result, ()) == (json.loads(text), losses)


TWO_TEXTS: dict[ModelApi, Any] = {
    CHAT: [block("sunny"), block('{"degrees":21}')],
    RESPONSES: [
        {"type": "input_text", "text": "sunny"},
        {"type": "input_text", "text": '{"degrees":21}'},
    ],
    ANTHROPIC: [block("sunny"), block('{"degrees":21}')],
    GEMINI: {"output": 'sunny\n\n{"degrees":21}'},
    GEMINI_JSON: {"output": 'sunny\n\n{"degrees":21}'},
    BEDROCK: [{"text": "sunny"}, {"text": '{"degrees":21}'}],
    MISTRAL: [block("sunny"), block('{"degrees":21}')],
    OLLAMA: 'sunny\n\n{"degrees":21}',
}


@pytest.mark.parametrize("provider", MODELS)
def test_structured_content_is_added_to_another_text(provider: ModelApi) -> None:
    result = {"content": [block("sunny")], "structuredContent": {"degrees": 21}}
    assert message_of(result, provider) == (answer(provider, TWO_TEXTS[provider]), (_AS_JSON,))


FAILED: dict[ModelApi, tuple[dict[str, Any], tuple[Loss, ...]]] = {
    CHAT: (answer(CHAT, "The tool failed: no such city"), (_FAILS_IN_TEXT,)),
    RESPONSES: (answer(RESPONSES, "The tool failed: no such city"), (_FAILS_IN_TEXT,)),
    ANTHROPIC: (answer(ANTHROPIC, "no such city", is_error=True), ()),
    GEMINI: (answer(GEMINI, {"error": "no such city"}), ()),
    GEMINI_JSON: (answer(GEMINI_JSON, {"error": "no such city"}), ()),
    BEDROCK: (answer(BEDROCK, [{"text": "no such city"}], status="error"), ()),
    MISTRAL: (answer(MISTRAL, "The tool failed: no such city"), (_FAILS_IN_TEXT,)),
    OLLAMA: (answer(OLLAMA, "The tool failed: no such city"), (_FAILS_IN_TEXT,)),
    MCP: (answer(MCP, [block("no such city")], isError=True), ()),
}


@pytest.mark.parametrize("provider", ModelApi)
def test_a_failure_is_a_field_or_a_text(provider: ModelApi) -> None:
    result = {"content": [block("no such city")], "isError": True}
    assert message_of(result, provider) == FAILED[provider]


FAILED_SILENTLY: dict[ModelApi, dict[str, Any]] = {
    CHAT: answer(CHAT, "The tool failed."),
    RESPONSES: answer(RESPONSES, "The tool failed."),
    ANTHROPIC: answer(ANTHROPIC, "The tool failed.", is_error=True),
    GEMINI: answer(GEMINI, {"error": "The tool failed."}),
    GEMINI_JSON: answer(GEMINI_JSON, {"error": "The tool failed."}),
    BEDROCK: answer(BEDROCK, [{"text": "The tool failed."}], status="error"),
    MISTRAL: answer(MISTRAL, "The tool failed."),
    OLLAMA: answer(OLLAMA, "The tool failed."),
}


@pytest.mark.parametrize("provider", MODELS)
def test_a_failure_without_content_has_a_text(provider: ModelApi) -> None:
    in_text = (_FAILS_IN_TEXT,) if provider in (CHAT, RESPONSES, MISTRAL, OLLAMA) else ()
    result = {"content": [], "isError": True}
    assert message_of(result, provider) == (FAILED_SILENTLY[provider], (_EMPTY, *in_text))


def test_a_result_for_mcp_keeps_structured_content_and_a_failure_without_content() -> None:
    for result in (
        {"content": [block("sunny")], "structuredContent": {"degrees": 21}},
        {"content": [], "isError": True},
    ):
        assert message_of(result, MCP) == (result, ())


_DEEP = '{"a":' * 200 + "1" + "}" * 200


def test_a_text_similar_to_the_structured_content_does_not_replace_it() -> None:
    for text in ('{"a":1', '{"a":"1"}', '{"a":true}', '{"a":1,"a":1}', _DEEP):
        result = {"content": [block(text)], "structuredContent": {"a": 1}}
        message, losses = message_of(result, CHAT)
        assert message["content"] == [block(text), block('{"a":1}')]
        assert losses == (_AS_JSON,)


def test_a_limited_number_of_texts_is_compared() -> None:
    same = block('{"a": 1}')
    near = block('{"a": 2}')
    for depth, reported in ((15, ()), (16, (_AS_JSON,))):
        result = {"content": [near] * depth + [same], "structuredContent": {"a": 1}}
        assert message_of(result, CHAT)[1] == reported
