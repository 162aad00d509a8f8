"""Results for models: what each API is told of one, and what it is not told."""

from typing import Any

import pytest
from sidecheck_server.core.convert.words import Action, Loss, ModelApi
from support.answers import (
    ANTHROPIC,
    BEDROCK,
    CHAT,
    GEMINI,
    GEMINI_JSON,
    MISTRAL,
    NOT_SHOWN,
    OLLAMA,
    RESPONSES,
    answer,
    block,
    loss,
    message_of,
    saying,
    untold,
)

# A result, the one text that the model is told, and the losses.
Case = tuple[dict[str, Any], str, tuple[Loss, ...]]

_AS_JSON = loss("/structuredContent", Action.REWRITTEN, "is told as JSON text")
_EMPTY = loss("/content", Action.REWRITTEN, "is empty, which is said in words")
_LINKED = loss("/content/0", Action.REWRITTEN, "is told as text")
_EMBEDDED = loss("/content/0/resource", Action.REWRITTEN, "is told as text, with its URI")

_FAILS_IN_TEXT = loss("/isError", Action.REWRITTEN, "is said in the text")

SAID: dict[str, Case] = {
    "a text": ({"content": [block("sunny")]}, "sunny", ()),
    "a text, and no failure": ({"content": [block("sunny")], "isError": False}, "sunny", ()),
    "nothing": ({"content": []}, "The tool returned nothing.", (_EMPTY,)),
    "a blank text": (
        {"content": [block(" \n")]},
        "The tool returned nothing.",
        (
            _EMPTY,
            loss("/content/0", Action.DROPPED, "is blank, which some APIs refuse"),
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
    "structured content that is no object": (
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
            untold("/_meta"),
            untold("/content/0/_meta"),
            untold("/content/0/annotations"),
            untold("/resultType"),
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
        (_LINKED, untold("/content/0/icons")),
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
    "a picture of a kind that nobody takes": (
        {"content": [{"type": "image", "data": "AA==", "mimeType": "image/tiff"}]},
        "[An image (image/tiff, 1 byte), which cannot be shown]",
        (loss("/content/0", Action.DROPPED, NOT_SHOWN),),
    ),
    "content of another type": (
        {"content": [{"type": "hologram", "data": "AAAA"}]},
        "[Content of type hologram, which cannot be shown]",
        (loss("/content/0", Action.DROPPED, "is content of a type that is not known"),),
    ),
    "a resource of a kind that nobody takes": (
        {"content": [{"type": "resource", "resource": {"uri": "a:b", "blob": "AAAAAA=="}}]},
        "[The resource a:b (application/octet-stream, 4 bytes), which cannot be shown]",
        (loss("/content/0", Action.DROPPED, NOT_SHOWN),),
    ),
}


@pytest.mark.parametrize("api", ModelApi)
@pytest.mark.parametrize("case", SAID.values(), ids=SAID)
def test_a_text_is_told_in_the_way_of_each_api(case: Case, api: ModelApi) -> None:
    result, said, losses = case
    assert message_of(result, api) == (saying(api, said), losses)


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


@pytest.mark.parametrize("api", ModelApi)
def test_structured_content_is_said_beside_another_text(api: ModelApi) -> None:
    result = {"content": [block("sunny")], "structuredContent": {"degrees": 21}}
    assert message_of(result, api) == (answer(api, TWO_TEXTS[api]), (_AS_JSON,))


FAILED: dict[ModelApi, tuple[dict[str, Any], tuple[Loss, ...]]] = {
    CHAT: (answer(CHAT, "The tool failed: no such city"), (_FAILS_IN_TEXT,)),
    RESPONSES: (answer(RESPONSES, "The tool failed: no such city"), (_FAILS_IN_TEXT,)),
    ANTHROPIC: (answer(ANTHROPIC, "no such city", is_error=True), ()),
    GEMINI: (answer(GEMINI, {"error": "no such city"}), ()),
    GEMINI_JSON: (answer(GEMINI_JSON, {"error": "no such city"}), ()),
    BEDROCK: (answer(BEDROCK, [{"text": "no such city"}], status="error"), ()),
    MISTRAL: (answer(MISTRAL, "The tool failed: no such city"), (_FAILS_IN_TEXT,)),
    OLLAMA: (answer(OLLAMA, "The tool failed: no such city"), (_FAILS_IN_TEXT,)),
}


@pytest.mark.parametrize("api", ModelApi)
def test_a_failure_is_said_in_a_field_or_in_the_text(api: ModelApi) -> None:
    result = {"content": [block("no such city")], "isError": True}
    assert message_of(result, api) == FAILED[api]


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


@pytest.mark.parametrize("api", ModelApi)
def test_a_failure_without_a_word_is_put_in_words(api: ModelApi) -> None:
    in_text = (_FAILS_IN_TEXT,) if api in (CHAT, RESPONSES, MISTRAL, OLLAMA) else ()
    result = {"content": [], "isError": True}
    assert message_of(result, api) == (FAILED_SILENTLY[api], (_EMPTY, *in_text))


_DEEP = '{"a":' * 200 + "1" + "}" * 200


def test_a_text_that_only_looks_like_the_structured_content_does_not_stand_for_it() -> None:
    for text in ('{"a":1', '{"a":"1"}', '{"a":true}', '{"a":1,"a":1}', _DEEP):
        result = {"content": [block(text)], "structuredContent": {"a": 1}}
        message, losses = message_of(result, CHAT)
        assert message["content"] == [block(text), block('{"a":1}')]
        assert losses == (_AS_JSON,)


def test_of_many_texts_that_may_be_the_structured_content_only_some_are_read() -> None:
    same = block('{"a": 1}')
    near = block('{"a": 2}')
    for before, told in ((15, ()), (16, (_AS_JSON,))):
        result = {"content": [near] * before + [same], "structuredContent": {"a": 1}}
        assert message_of(result, CHAT)[1] == told
