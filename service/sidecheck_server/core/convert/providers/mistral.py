"""Mistral: chat completions, in shapes that follow OpenAI's."""

from dataclasses import replace
from typing import Any

from sidecheck_server.core.convert.call_ids import CallIdGrammar
from sidecheck_server.core.convert.providers import openai
from sidecheck_server.core.convert.providers.provider import (
    WEB_IMAGES,
    Media,
    Provider,
    RequestLimits,
    Source,
    ToolResult,
)
from sidecheck_server.core.convert.providers.subset import Patterns
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.mcp.name_grammars import LETTERS_TO_DASH_64

__all__ = ["CHAT"]


def _write_result(result: ToolResult) -> dict[str, Any]:
    message = openai.write_chat_result(result)
    return {**message, "name": result.name} if result.name else message


def _write_media(media: Media) -> dict[str, Any] | None:
    if media.mime_type not in WEB_IMAGES:
        return None
    return {"type": "image_url", "image_url": media.data_url}


CHAT = Provider(
    key=ModelApi.MISTRAL,
    display_name="Mistral's chat completions",
    tool_names=LETTERS_TO_DASH_64,
    property_names=None,
    # The rule on look-around is OpenAI's own.
    compatible=replace(openai.COMPATIBLE, patterns=Patterns.PYTHON),
    strict=openai.STRICT,
    request_limits=RequestLimits(),
    sources=(
        Source(
            "tool_names; call_ids; compatible: a schema of draft 7, which ignores the "
            "keywords that only 2020-12 has",
            "https://github.com/mistralai/mistral-common at 039465d, "
            "src/mistral_common/protocol/instruct/validator.py",
            "2026-11-22",
        ),
        Source(
            "strict; arguments as text or as an object; write_tool, call and write_result",
            "mistralai 3.7.0, client/models/function.py, functioncall.py and toolmessage.py",
            "2026-11-22",
        ),
        Source(
            "compatible: keywords at the root; strict: the schema language and its limits "
            "(OpenAI's in both cases); how many tools a request may have",
            "",
            "",
        ),
    ),
    write_tool=openai.write_chat_tool,
    call=openai.CHAT_CALL,
    write_result=_write_result,
    write_media=_write_media,
    call_ids=CallIdGrammar(
        9, shortest=9, characters="A-Za-z0-9", description="ASCII letters and digits"
    ),
)
