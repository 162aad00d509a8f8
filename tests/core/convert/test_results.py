"""Results for models: what each API is told of one, what it is not told, and what is refused."""

import json
from dataclasses import replace
from typing import Any

import pytest
from providers import validate_result
from sidecheck_server.core.convert.apis import APIS
from sidecheck_server.core.convert.results import result_message
from sidecheck_server.core.convert.words import Action, Direction, Loss, ModelApi
from sidecheck_server.core.refusals import Reason, Refusal

CHAT, RESPONSES, ANTHROPIC, GEMINI, GEMINI_JSON, BEDROCK, MISTRAL, OLLAMA = ModelApi

# Nine characters, as Mistral's are.
_ID, _NAME = "call12345", "weather_get"
_PNG = "iVBORw0KGgo="


def _loss(pointer: str, action: Action, message: str) -> Loss:
    return Loss(pointer, "", action, Direction.SAME, message)


def _untold(pointer: str) -> Loss:
    return _loss(pointer, Action.DROPPED, "the model is not told")


_NOT_SHOWN = "cannot be shown to the model, which is told of its type and size instead"
_FAILS_IN_TEXT = _loss("/isError", Action.REWRITTEN, "is said in the text")


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _expected(api: ModelApi, body: Any, **more: Any) -> dict[str, Any]:
    """Return the message of *api* with that *body*: what differs between results."""
    frames: dict[ModelApi, dict[str, Any]] = {
        CHAT: {"role": "tool", "tool_call_id": _ID, "content": body},
        RESPONSES: {"type": "function_call_output", "call_id": _ID, "output": body},
        ANTHROPIC: {"type": "tool_result", "tool_use_id": _ID, "content": body, **more},
        GEMINI: {"functionResponse": {"id": _ID, "name": _NAME, "response": body, **more}},
        GEMINI_JSON: {"functionResponse": {"id": _ID, "name": _NAME, "response": body, **more}},
        BEDROCK: {"toolResult": {"toolUseId": _ID, "content": body, **more}},
        MISTRAL: {"role": "tool", "tool_call_id": _ID, "content": body, "name": _NAME},
        OLLAMA: {"role": "tool", "tool_name": _NAME, "content": body, "tool_call_id": _ID},
    }
    return frames[api]


# Result; by API the body of its message, and what more there is; the losses.
Case = tuple[dict[str, Any], dict[ModelApi, Any], tuple[Loss, ...]]

_ONE_TEXT: dict[ModelApi, Any] = {
    CHAT: "sunny",
    RESPONSES: "sunny",
    ANTHROPIC: "sunny",
    GEMINI: {"output": "sunny"},
    GEMINI_JSON: {"output": "sunny"},
    BEDROCK: [{"text": "sunny"}],
    MISTRAL: "sunny",
    OLLAMA: "sunny",
}


def _with_text(text: str) -> dict[ModelApi, Any]:
    """Return the bodies that say *text* alone."""
    return json.loads(json.dumps(_ONE_TEXT).replace('"sunny"', json.dumps(text)))  # type: ignore[no-any-return]


_TWO_TEXTS: dict[ModelApi, Any] = {
    CHAT: [_text("sunny"), _text('{"degrees":21}')],
    RESPONSES: [
        {"type": "input_text", "text": "sunny"},
        {"type": "input_text", "text": '{"degrees":21}'},
    ],
    ANTHROPIC: [_text("sunny"), _text('{"degrees":21}')],
    GEMINI: {"output": 'sunny\n\n{"degrees":21}'},
    GEMINI_JSON: {"output": 'sunny\n\n{"degrees":21}'},
    BEDROCK: [{"text": "sunny"}, {"text": '{"degrees":21}'}],
    MISTRAL: [_text("sunny"), _text('{"degrees":21}')],
    OLLAMA: 'sunny\n\n{"degrees":21}',
}

_AS_JSON = _loss("/structuredContent", Action.REWRITTEN, "is told as JSON text")
_EMPTY = _loss("/content", Action.REWRITTEN, "is empty, which is said in words")
_LINKED = _loss("/content/0", Action.REWRITTEN, "is told as text")
_EMBEDDED = _loss("/content/0/resource", Action.REWRITTEN, "is told as text, with its URI")

SAID: dict[str, Case] = {
    "a text": ({"content": [_text("sunny")]}, _ONE_TEXT, ()),
    "a text, and no failure": ({"content": [_text("sunny")], "isError": False}, _ONE_TEXT, ()),
    "nothing": ({"content": []}, _with_text("The tool returned nothing."), (_EMPTY,)),
    "a blank text": (
        {"content": [_text(" \n")]},
        _with_text("The tool returned nothing."),
        (
            _EMPTY,
            _loss("/content/0", Action.DROPPED, "is blank, which some APIs refuse"),
        ),
    ),
    "structured content alone": (
        {"content": [], "structuredContent": {"id": 12345678901234567890, "name": "Ä"}},
        _with_text('{"id":12345678901234567890,"name":"Ä"}'),
        (_AS_JSON,),
    ),
    "structured content beside another text": (
        {"content": [_text("sunny")], "structuredContent": {"degrees": 21}},
        _TWO_TEXTS,
        (_AS_JSON,),
    ),
    "structured content that a text has": (
        {
            "content": [_text('{ "b": [1.0, "x"],\n "a": true }')],
            "structuredContent": {"a": True, "b": [1, "x"]},
        },
        _with_text('{ "b": [1.0, "x"],\n "a": true }'),
        (),
    ),
    "structured content that is no object": (
        {"content": [], "structuredContent": None},
        _with_text("null"),
        (_AS_JSON,),
    ),
    "what is not for the model": (
        {
            "content": [
                {**_text("sunny"), "annotations": {"priority": 1}, "_meta": {"a": 1}},
            ],
            "resultType": "complete",
            "_meta": {"a/b": 1},
        },
        _ONE_TEXT,
        (
            _untold("/_meta"),
            _untold("/content/0/_meta"),
            _untold("/content/0/annotations"),
            _untold("/resultType"),
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
        _with_text("Resource file:///a.csv (text/csv, 12,345 bytes): a.csv, Table A\nAll of it"),
        (_LINKED, _untold("/content/0/icons")),
    ),
    "a link without more": (
        {"content": [{"type": "resource_link", "uri": "a:b", "name": "b"}]},
        _with_text("Resource a:b: b"),
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
        _with_text("Resource file:///a (text/plain):\nhello"),
        (_EMBEDDED,),
    ),
    "sound": (
        {"content": [{"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}]},
        _with_text("[Audio (audio/wav, 3 bytes), which cannot be shown]"),
        (_loss("/content/0", Action.DROPPED, _NOT_SHOWN),),
    ),
    "a picture of a kind that nobody takes": (
        {"content": [{"type": "image", "data": "AA==", "mimeType": "image/tiff"}]},
        _with_text("[An image (image/tiff, 1 bytes), which cannot be shown]"),
        (_loss("/content/0", Action.DROPPED, _NOT_SHOWN),),
    ),
    "a resource of a kind that nobody takes": (
        {"content": [{"type": "resource", "resource": {"uri": "a:b", "blob": "AAAAAA=="}}]},
        _with_text("[The resource a:b (application/octet-stream, 4 bytes), which cannot be shown]"),
        (_loss("/content/0", Action.DROPPED, _NOT_SHOWN),),
    ),
}


def _message(result: dict[str, Any], api: ModelApi) -> tuple[Any, tuple[Loss, ...]]:
    text, losses = result_message(result, APIS[api], _ID, _NAME)
    validate_result(api, text)
    return json.loads(text), losses


@pytest.mark.parametrize("api", ModelApi)
@pytest.mark.parametrize("case", SAID.values(), ids=SAID)
def test_every_api_is_told_in_its_way(case: Case, api: ModelApi) -> None:
    result, bodies, losses = case
    assert _message(result, api) == (_expected(api, bodies[api]), losses)


FAILED: dict[ModelApi, tuple[dict[str, Any], tuple[Loss, ...]]] = {
    CHAT: (_expected(CHAT, "The tool failed: no such city"), (_FAILS_IN_TEXT,)),
    RESPONSES: (_expected(RESPONSES, "The tool failed: no such city"), (_FAILS_IN_TEXT,)),
    ANTHROPIC: (_expected(ANTHROPIC, "no such city", is_error=True), ()),
    GEMINI: (_expected(GEMINI, {"error": "no such city"}), ()),
    GEMINI_JSON: (_expected(GEMINI_JSON, {"error": "no such city"}), ()),
    BEDROCK: (_expected(BEDROCK, [{"text": "no such city"}], status="error"), ()),
    MISTRAL: (_expected(MISTRAL, "The tool failed: no such city"), (_FAILS_IN_TEXT,)),
    OLLAMA: (_expected(OLLAMA, "The tool failed: no such city"), (_FAILS_IN_TEXT,)),
}


@pytest.mark.parametrize("api", ModelApi)
def test_a_failure_is_said_in_a_field_or_in_the_text(api: ModelApi) -> None:
    result = {"content": [_text("no such city")], "isError": True}
    assert _message(result, api) == FAILED[api]


FAILED_SILENTLY: dict[ModelApi, dict[str, Any]] = {
    CHAT: _expected(CHAT, "The tool failed."),
    RESPONSES: _expected(RESPONSES, "The tool failed."),
    ANTHROPIC: _expected(ANTHROPIC, "The tool failed.", is_error=True),
    GEMINI: _expected(GEMINI, {"error": "The tool failed."}),
    GEMINI_JSON: _expected(GEMINI_JSON, {"error": "The tool failed."}),
    BEDROCK: _expected(BEDROCK, [{"text": "The tool failed."}], status="error"),
    MISTRAL: _expected(MISTRAL, "The tool failed."),
    OLLAMA: _expected(OLLAMA, "The tool failed."),
}


@pytest.mark.parametrize("api", ModelApi)
def test_a_failure_without_a_word_is_put_in_words(api: ModelApi) -> None:
    assert _message({"content": [], "isError": True}, api)[0] == FAILED_SILENTLY[api]


_DATA_URL = f"data:image/png;base64,{_PNG}"
_WORDS = "[An image (image/png, 8 bytes), which cannot be shown]"
_INLINE = [{"inlineData": {"mimeType": "image/png", "data": _PNG}}]
_BLOCK = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _PNG}}

PICTURED: dict[ModelApi, dict[str, Any]] = {
    CHAT: _expected(CHAT, [_text("a map"), _text(_WORDS)]),
    RESPONSES: _expected(
        RESPONSES,
        [{"type": "input_text", "text": "a map"}, {"type": "input_image", "image_url": _DATA_URL}],
    ),
    ANTHROPIC: _expected(ANTHROPIC, [_text("a map"), _BLOCK]),
    GEMINI: _expected(GEMINI, {"output": "a map"}, parts=_INLINE),
    GEMINI_JSON: _expected(GEMINI_JSON, {"output": "a map"}, parts=_INLINE),
    BEDROCK: _expected(
        BEDROCK, [{"text": "a map"}, {"image": {"format": "png", "source": {"bytes": _PNG}}}]
    ),
    MISTRAL: _expected(MISTRAL, [_text("a map"), {"type": "image_url", "image_url": _DATA_URL}]),
    OLLAMA: _expected(OLLAMA, f"a map\n\n{_WORDS}"),
}


@pytest.mark.parametrize("api", ModelApi)
def test_a_picture_is_shown_or_named(api: ModelApi) -> None:
    picture = {"type": "image", "data": _PNG, "mimeType": "IMAGE/PNG; charset=binary"}
    message, losses = _message({"content": [_text("a map"), picture]}, api)
    assert message == PICTURED[api]
    named = (_loss("/content/1", Action.DROPPED, _NOT_SHOWN),)
    assert losses == (named if api in (CHAT, OLLAMA) else ())


_PDF_URL = "data:application/pdf;base64,JVBERi0="
_FILE = {"type": "input_file", "filename": "resource.pdf", "file_data": _PDF_URL}
_SOURCE = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
_PDF_PART = {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0="}}

DOCUMENTS: dict[ModelApi, dict[str, Any]] = {
    RESPONSES: _expected(RESPONSES, [_FILE]),
    ANTHROPIC: _expected(ANTHROPIC, [{"type": "document", "source": _SOURCE}]),
    GEMINI: _expected(GEMINI, {"output": "The output is attached."}, parts=[_PDF_PART]),
}


@pytest.mark.parametrize("api", DOCUMENTS)
def test_a_document_is_shown_without_its_uri(api: ModelApi) -> None:
    contents = {"uri": "file:///a.pdf", "mimeType": "application/pdf", "blob": "JVBERi0="}
    message, losses = _message({"content": [{"type": "resource", "resource": contents}]}, api)
    assert message == DOCUMENTS[api]
    assert losses == (_untold("/content/0/resource/uri"),)


@pytest.mark.parametrize("api", [CHAT, BEDROCK, MISTRAL, OLLAMA])
def test_a_document_is_named_where_it_cannot_be_shown(api: ModelApi) -> None:
    contents = {"uri": "file:///a.pdf", "mimeType": "application/pdf", "blob": "JVBERi0="}
    message, losses = _message({"content": [{"type": "resource", "resource": contents}]}, api)
    words = "[The resource file:///a.pdf (application/pdf, 5 bytes), which cannot be shown]"
    assert message == _expected(api, _with_text(words)[api])
    assert losses == (_loss("/content/0", Action.DROPPED, _NOT_SHOWN),)


def test_a_failure_that_begins_with_a_picture_is_said_before_it() -> None:
    picture = {"type": "image", "data": _PNG, "mimeType": "image/png"}
    message, _ = _message({"content": [picture], "isError": True}, RESPONSES)
    assert message["output"] == [
        {"type": "input_text", "text": "The tool failed:"},
        {"type": "input_image", "image_url": _DATA_URL},
    ]


def test_a_text_that_only_looks_like_the_structured_content_does_not_stand_for_it() -> None:
    for text in ('{"a":1', '{"a":"1"}', '{"a":true}', '{"a":1,"a":1}', "[" * 200):
        result = {"content": [_text(text)], "structuredContent": {"a": 1}}
        message, losses = _message(result, CHAT)
        assert message["content"] == [_text(text), _text('{"a":1}')]
        assert losses == (_AS_JSON,)


def test_what_is_too_long_is_cut_with_a_note() -> None:
    api = replace(APIS[RESPONSES], answer_length=50)
    result = {"content": [_text("x" * 10), _text("y" * 60), _text("z")]}
    text, losses = result_message(result, api, _ID, _NAME)
    note = "\n[The rest is too long to be shown]"
    output = json.loads(text)["output"]
    assert [part["text"] for part in output] == ["x" * 10, "y" * (40 - len(note)) + note]
    said = "the API takes 50 characters; what is beyond is left out"
    assert losses == (_loss("/content", Action.DROPPED, said),)


def test_what_fits_is_not_cut() -> None:
    api = replace(APIS[RESPONSES], answer_length=50)
    text, losses = result_message({"content": [_text("y" * 50)]}, api, _ID, _NAME)
    assert (json.loads(text)["output"], losses) == ("y" * 50, ())


def test_losses_have_an_end() -> None:
    result = {"content": [{**_text("a"), "_meta": {}} for _ in range(1500)]}
    _, losses = result_message(result, APIS[CHAT], _ID, _NAME)
    assert len(losses) == 1001
    assert losses[0].message == "500 more differences are not listed"


NEEDS = {
    CHAT: ("call_id",),
    RESPONSES: ("call_id",),
    ANTHROPIC: ("call_id",),
    GEMINI: ("name",),
    GEMINI_JSON: ("name",),
    BEDROCK: ("call_id",),
    MISTRAL: ("call_id",),
    OLLAMA: ("name",),
}


@pytest.mark.parametrize("api", ModelApi)
@pytest.mark.parametrize("field", ["call_id", "name"])
def test_what_an_answer_must_name_may_not_be_empty(api: ModelApi, field: str) -> None:
    given = {"call_id": _ID, "name": _NAME, field: ""}
    if field not in NEEDS[api]:
        text, _ = result_message({"content": []}, APIS[api], given["call_id"], given["name"])
        validate_result(api, text)
        assert b'""' not in text
        return
    with pytest.raises(Refusal) as caught:
        result_message({"content": []}, APIS[api], given["call_id"], given["name"])
    assert caught.value.reason is Reason.INVALID_REQUEST
    assert caught.value.metadata == {"field": field}


@pytest.mark.parametrize(("api", "longest"), [(RESPONSES, 64), (BEDROCK, 64), (MISTRAL, 9)])
def test_an_id_that_is_too_long_is_refused(api: ModelApi, longest: int) -> None:
    result_message({"content": []}, APIS[api], "a" * longest, _NAME)
    with pytest.raises(Refusal) as caught:
        result_message({"content": []}, APIS[api], "a" * (longest + 1), _NAME)
    assert caught.value.reason is Reason.LIMIT_EXCEEDED


def test_a_result_that_asks_for_input_is_no_answer() -> None:
    result = {"resultType": "input_required", "inputRequests": {}}
    with pytest.raises(Refusal) as caught:
        result_message(result, APIS[CHAT], _ID, _NAME)
    assert caught.value.metadata == {"field": "result"}
