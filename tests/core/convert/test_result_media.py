"""Media in results: native where the provider accepts it, described where not."""

from typing import Any

import pytest
from sidecheck_server.core.convert.types import Action, ModelApi
from support.answers import (
    ANTHROPIC,
    BEDROCK,
    CHAT,
    GEMINI,
    GEMINI_JSON,
    MCP,
    MISTRAL,
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

_PNG = "iVBORw0KGgo="

_DATA_URL = f"data:image/png;base64,{_PNG}"
_PICTURE = {"type": "image", "data": _PNG, "mimeType": "IMAGE/PNG; charset=binary"}
_WORDS = "[An image (image/png, 8 bytes), which cannot be shown]"
_INLINE = [{"inlineData": {"mimeType": "image/png", "data": _PNG}}]
_BLOCK = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _PNG}}

PICTURED: dict[ModelApi, dict[str, Any]] = {
    CHAT: answer(CHAT, [block("a map"), block(_WORDS)]),
    RESPONSES: answer(
        RESPONSES,
        [{"type": "input_text", "text": "a map"}, {"type": "input_image", "image_url": _DATA_URL}],
    ),
    ANTHROPIC: answer(ANTHROPIC, [block("a map"), _BLOCK]),
    GEMINI: answer(GEMINI, {"output": "a map"}, parts=_INLINE),
    GEMINI_JSON: answer(GEMINI_JSON, {"output": "a map"}, parts=_INLINE),
    BEDROCK: answer(
        BEDROCK, [{"text": "a map"}, {"image": {"format": "png", "source": {"bytes": _PNG}}}]
    ),
    MISTRAL: answer(MISTRAL, [block("a map"), {"type": "image_url", "image_url": _DATA_URL}]),
    OLLAMA: answer(OLLAMA, f"a map\n\n{_WORDS}"),
    MCP: answer(MCP, [block("a map"), _PICTURE]),
}


@pytest.mark.parametrize("provider", ModelApi)
def test_an_image_is_native_or_described(provider: ModelApi) -> None:
    message, losses = message_of({"content": [block("a map"), _PICTURE]}, provider)
    assert message == PICTURED[provider]
    expected = (loss("/content/1", Action.DROPPED, NOT_SHOWN),)
    assert losses == (expected if provider in (CHAT, OLLAMA) else ())


_PDF_URL = "data:application/pdf;base64,JVBERi0="
_FILE = {"type": "input_file", "filename": "resource.pdf", "file_data": _PDF_URL}
_SOURCE = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
_PDF_PART = {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0="}}

DOCUMENTS: dict[ModelApi, dict[str, Any]] = {
    RESPONSES: answer(RESPONSES, [_FILE]),
    ANTHROPIC: answer(ANTHROPIC, [{"type": "document", "source": _SOURCE}]),
    GEMINI: answer(GEMINI, {"output": "The output is attached."}, parts=[_PDF_PART]),
}


@pytest.mark.parametrize("provider", DOCUMENTS)
def test_a_native_document_loses_its_uri(provider: ModelApi) -> None:
    contents = {"uri": "file:///a.pdf", "mimeType": "application/pdf", "blob": "JVBERi0="}
    message, losses = message_of(
        {"content": [{"type": "resource", "resource": contents}]}, provider
    )
    assert message == DOCUMENTS[provider]
    assert losses == (omitted_part("/content/0/resource/uri"),)


@pytest.mark.parametrize("provider", [CHAT, BEDROCK, MISTRAL, OLLAMA])
def test_an_unsupported_document_is_described(provider: ModelApi) -> None:
    contents = {"uri": "file:///a.pdf", "mimeType": "application/pdf", "blob": "JVBERi0="}
    message, losses = message_of(
        {"content": [{"type": "resource", "resource": contents}]}, provider
    )
    words = "[The resource file:///a.pdf (application/pdf, 5 bytes), which cannot be shown]"
    assert message == text_message(provider, words)
    assert losses == (loss("/content/0", Action.DROPPED, NOT_SHOWN),)


def test_a_result_for_mcp_keeps_sound_and_resources() -> None:
    contents = {"uri": "file:///a.pdf", "mimeType": "application/pdf", "blob": "JVBERi0="}
    result = {
        "content": [
            {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
            {"type": "resource", "resource": contents},
            {"type": "resource_link", "uri": "file:///b", "name": "b"},
        ]
    }
    assert message_of(result, MCP) == (result, ())


def test_a_failure_is_stated_before_an_image() -> None:
    picture = {"type": "image", "data": _PNG, "mimeType": "image/png"}
    message, _ = message_of({"content": [picture], "isError": True}, RESPONSES)
    assert message["output"] == [
        {"type": "input_text", "text": "The tool failed:"},
        {"type": "input_image", "image_url": _DATA_URL},
    ]
