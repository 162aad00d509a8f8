"""Media in the answers of each API: what it can show, and how."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from sidecheck_server.core.convert.results.pieces import Media
from sidecheck_server.core.convert.words import ModelApi

__all__ = ["shown"]

_Native: TypeAlias = Callable[[Media], dict[str, Any] | None]

_PDF = "application/pdf"

# anthropic 2.12.0, types/base64_image_source_param.py; OpenAI's guide to images names the
# same four; botocore 1.44.5, ImageFormat, too.
_IMAGES = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})

# Google's guide to function calling, "Multimodal function responses": Gemini 3 and later.
_OF_GEMINI = frozenset({"image/jpeg", "image/png", "image/webp", _PDF})


def shown(api: ModelApi, media: Media) -> dict[str, Any] | None:
    """Return *media* as part of an answer in the JSON of *api*, or None if it cannot be."""
    native = _NATIVE.get(api)
    return native(media) if native is not None and media.data else None


def _data_url(media: Media) -> str:
    return f"data:{media.mime_type};base64,{media.data}"


def _responses(media: Media) -> dict[str, Any] | None:
    if media.mime_type in _IMAGES:
        return {"type": "input_image", "image_url": _data_url(media)}
    if media.mime_type == _PDF:
        return {"type": "input_file", "filename": "resource.pdf", "file_data": _data_url(media)}
    return None


def _anthropic(media: Media) -> dict[str, Any] | None:
    if media.mime_type not in _IMAGES | {_PDF}:
        return None
    source = {"type": "base64", "media_type": media.mime_type, "data": media.data}
    return {"type": "document" if media.mime_type == _PDF else "image", "source": source}


def _gemini(media: Media) -> dict[str, Any] | None:
    if media.mime_type not in _OF_GEMINI:
        return None
    return {"inlineData": {"mimeType": media.mime_type, "data": media.data}}


def _bedrock(media: Media) -> dict[str, Any] | None:
    # Documents need names that differ within a request, of which this knows one answer.
    if media.mime_type not in _IMAGES:
        return None
    source = {"bytes": media.data}
    return {"image": {"format": media.mime_type.removeprefix("image/"), "source": source}}


def _mistral(media: Media) -> dict[str, Any] | None:
    if media.mime_type not in _IMAGES:
        return None
    return {"type": "image_url", "image_url": _data_url(media)}


# Chat takes text only (openai 3.54.0, chat_completion_tool_message_param.py). Ollama has
# `images`, but which models take them with an answer is not documented.
_NATIVE: Mapping[ModelApi, _Native] = MappingProxyType(
    {
        ModelApi.OPENAI_RESPONSES: _responses,
        ModelApi.ANTHROPIC: _anthropic,
        ModelApi.GEMINI: _gemini,
        ModelApi.GEMINI_JSON: _gemini,
        ModelApi.BEDROCK: _bedrock,
        ModelApi.MISTRAL: _mistral,
    }
)
