"""Conversion of a ``CallToolResult`` to the message that a provider passes to the model."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from sidecheck_server.core.convert.providers.provider import Provider, ResultItem, ToolResult
from sidecheck_server.core.convert.result_content import (
    ContentPart,
    ResultLosses,
    split_content,
)
from sidecheck_server.core.convert.types import Action, Loss
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.json_values import json_equal
from sidecheck_server.core.limits import limit_exceeded_error
from sidecheck_server.core.payload import MalformedError, decode, encode_json
from sidecheck_server.core.types import JsonValue

__all__ = ["convert_result", "structured_text"]

_FAILED = "The tool failed"
_NOTHING = "The tool returned nothing."
_CUT = "\n[The rest is too long to be shown]"

_PROPERTIES = frozenset({"content", "structuredContent", "isError"})


def convert_result(
    result: dict[str, Any], provider: Provider, call_id: str, name: str
) -> tuple[bytes, tuple[Loss, ...]]:
    """Return *result* as JSON text for *provider*, and its losses.

    *result* is a valid ``CallToolResult`` of any protocol version. The text is a message with
    the role ``tool`` for Chat Completions, Mistral and Ollama; an item
    ``function_call_output`` for Responses; a block ``tool_result`` for Anthropic, which goes
    into one message of the user together with those of all other calls; and a part
    ``functionResponse`` for Gemini, or a block ``toolResult`` for Bedrock, likewise. There are
    at most 1,001 losses, ordered by location in *result*.

    Raises:
        RequestError: INVALID_REQUEST if *call_id* or *name* is empty and the provider requires
            it, or if *result* has no content; LIMIT_EXCEEDED if *call_id* is too long.
    """
    _check_identifiers(provider, call_id, name)
    content = result.get("content")
    if not isinstance(content, list):
        message = "the result has no content: the call is not complete, or requires input"
        raise RequestError(ErrorReason.INVALID_REQUEST, message, {"field": "result"})
    losses = ResultLosses()
    for property_name in result:
        if property_name not in _PROPERTIES:
            losses.add((property_name,), Action.DROPPED, "not sent to the model")
    parts = split_content(content, losses)
    items = [_convert_part(part, provider, losses) for part in parts]
    if "structuredContent" in result:
        texts = (part.text for part in parts if part.media is None)
        text = structured_text(result["structuredContent"], texts)
        if text:
            losses.add(("structuredContent",), Action.REWRITTEN, "sent as JSON text")
            items.append(text)
    failed = result.get("isError") is True
    if not items:
        losses.add(("content",), Action.REWRITTEN, "empty; sent as a sentence that says so")
    items = _mark_failed(items, provider, losses) if failed else items or [_NOTHING]
    _truncate(items, provider.max_result_length, losses)
    written = provider.write_result(ToolResult(call_id, name, items, failed))
    return encode_json(written), losses.ordered()


def _check_identifiers(provider: Provider, call_id: str, name: str) -> None:
    required = (
        ("call_id", call_id, provider.result_requires_call_id, "the id of the call"),
        ("name", name, provider.result_requires_name, "the name of the tool"),
    )
    for field, value, is_required, noun in required:
        if is_required and not value:
            message = f"{provider.display_name} requires {noun} in a result"
            raise RequestError(ErrorReason.INVALID_REQUEST, message, {"field": field})
    maximum = provider.max_call_id_length
    if maximum is not None and len(call_id) > maximum:
        message = f"the id of the call is too long for {provider.display_name}"
        raise limit_exceeded_error("call_id", maximum, message, len(call_id))


def _convert_part(part: ContentPart, provider: Provider, losses: ResultLosses) -> ResultItem:
    media = part.media
    if media is None:
        return part.text
    item = provider.write_media(media) if media.data else None
    if item is None:
        message = "not accepted by the provider; its type and size are sent as text"
        losses.add(part.path, Action.DROPPED, message)
        return part.text
    if media.uri:
        losses.add((*part.path, "resource", "uri"), Action.DROPPED, "not sent to the model")
    return item


def _mark_failed(
    items: list[ResultItem], provider: Provider, losses: ResultLosses
) -> list[ResultItem]:
    """Return *items* with a text about the failure, if the provider has no field for it.

    The result is never empty: Anthropic's API rejects a failure without content.
    """
    if not provider.result_has_error_flag:
        losses.add(("isError",), Action.REWRITTEN, "sent as text")
    if not items:
        return [f"{_FAILED}."]
    if provider.result_has_error_flag:
        return items
    first = items[0]
    if isinstance(first, str):
        return [f"{_FAILED}: {first}", *items[1:]]
    return [f"{_FAILED}:", *items]


def _truncate(items: list[ResultItem], maximum: int | None, losses: ResultLosses) -> None:
    """Cut the texts in *items* to at most *maximum* characters together."""
    if maximum is None:
        return
    left = maximum
    kept: list[ResultItem] = []
    for item in items:
        if isinstance(item, str):
            if len(item) > left:
                message = f"cut to the provider's limit of {maximum:,} characters"
                losses.add(("content",), Action.DROPPED, message)
                kept.append(item[: max(left - len(_CUT), 0)] + _CUT)
                break
            left -= len(item)
        kept.append(item)
    items[:] = kept


_MAX_DEPTH = 128
"""Depth of the texts that are compared, which is the default for payloads."""

_MAX_COMPARED = 16
"""Number of texts that are compared; sending the same value twice does no harm."""


def structured_text(value: JsonValue, texts: Iterable[str]) -> str:
    """Return the compact JSON of *value*, with exact integers, or "" if *texts* have it.

    Tools that return structured content should also return its JSON in a text (MCP
    2025-06-18, server/tools, "Structured Content"). At most 16 texts are decoded. Time is
    linear in the size of all.
    """
    encoded = encode_json(value).decode()
    candidates = (text for text in texts if _may_be(text, value, encoded))
    if any(_is_same(text, value, encoded) for text in islice(candidates, _MAX_COMPARED)):
        return ""
    return encoded


def _may_be(text: str, value: JsonValue, encoded: str) -> bool:
    if not isinstance(value, dict | list):
        return text == encoded
    return text.lstrip()[:1] == encoded[0] and text.rstrip()[-1:] == encoded[-1]


def _is_same(text: str, value: JsonValue, encoded: str) -> bool:
    if text == encoded:
        return True
    try:
        decoded = decode(text.encode(), max_depth=_MAX_DEPTH, max_violations=1)
    except (MalformedError, RequestError):
        return False
    return json_equal(value, decoded)
