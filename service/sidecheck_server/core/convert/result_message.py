"""Conversion of a ``CallToolResult`` to the message that a provider passes to the model.

Its content becomes a list of parts: texts, and media with a textual fallback.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any, TypeAlias

from sidecheck_server.core.convert.providers.provider import Media, Provider, ResultItem, ToolResult
from sidecheck_server.core.convert.types import Action, Effect, Loss
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.json_values import json_equal
from sidecheck_server.core.limits import limit_exceeded_error
from sidecheck_server.core.payload import MalformedError, decode, encode_json
from sidecheck_server.core.types import JsonValue, as_pointer

__all__ = ["convert_result"]

_MAX_LOSSES = 1000

_Path: TypeAlias = tuple[str | int, ...]


class _ResultLosses:
    """Losses of one result: at most 1,000, and the number of further ones."""

    def __init__(self) -> None:
        self._losses: list[Loss] = []
        self._omitted = 0

    def add(self, path: _Path, action: Action, message: str) -> None:
        """Record a loss at *path* of the result.

        The effect is always EQUIVALENT: a result admits no payloads.
        """
        if len(self._losses) >= _MAX_LOSSES:
            self._omitted += 1
            return
        self._losses.append(Loss(as_pointer(path), "", action, Effect.EQUIVALENT, message))

    def ordered(self) -> tuple[Loss, ...]:
        """Return the losses ordered by location."""
        losses = sorted(self._losses, key=lambda loss: (loss.pointer, loss.message))
        if self._omitted:
            message = f"{self._omitted:,} more losses are not listed"
            losses.insert(0, Loss("", "", Action.DROPPED, Effect.EQUIVALENT, message))
        return tuple(losses)


@dataclass(frozen=True, slots=True)
class _ContentPart:
    """Text, or media."""

    path: _Path
    #: The text; for media, the fallback where the provider does not accept that type.
    text: str
    media: Media | None = None


def _split_content(content: list[Any], losses: _ResultLosses) -> list[_ContentPart]:
    """Return the blocks of valid *content* in order, without blank texts."""
    parts = []
    for index, block in enumerate(content):
        path: _Path = ("content", index)
        part = _READERS.get(str(block.get("type")), _unknown)(path, block, losses)
        # Anthropic's API and Bedrock's reject a message with a blank text.
        if part.text.strip():
            parts.append(part)
        else:
            losses.add(path, Action.DROPPED, "blank text, which some providers reject")
    return parts


def _drop_others(
    path: _Path, value: Mapping[str, Any], kept: frozenset[str], losses: _ResultLosses
) -> None:
    for name in value:
        if name not in kept:
            losses.add((*path, name), Action.DROPPED, "not sent to the model")


_TEXT = frozenset({"type", "text"})
_DATA = frozenset({"type", "data", "mimeType"})
_LINK = frozenset({"type", "name", "title", "uri", "mimeType", "size", "description"})
_EMBEDDED = frozenset({"type", "resource"})
_CONTENTS = frozenset({"uri", "mimeType", "text", "blob"})


def _text(path: _Path, block: dict[str, Any], losses: _ResultLosses) -> _ContentPart:
    _drop_others(path, block, _TEXT, losses)
    return _ContentPart(path, block["text"])


def _data(path: _Path, block: dict[str, Any], losses: _ResultLosses) -> _ContentPart:
    _drop_others(path, block, _DATA, losses)
    media = Media(_bare_type(block["mimeType"]), block["data"], "")
    noun = "An image" if block["type"] == "image" else "Audio"
    return _ContentPart(path, _fallback(noun, media), media)


def _link(path: _Path, block: dict[str, Any], losses: _ResultLosses) -> _ContentPart:
    _drop_others(path, block, _LINK, losses)
    losses.add(path, Action.REWRITTEN, "sent as text")
    names = [block[name] for name in ("name", "title") if block.get(name)]
    size = block.get("size")
    facts = [block.get("mimeType"), None if size is None else _count_bytes(size)]
    known = ", ".join(str(fact) for fact in facts if fact)
    lines = [
        f"Resource {block['uri']}{f' ({known})' if known else ''}: {', '.join(names)}",
        block.get("description") or "",
    ]
    return _ContentPart(path, "\n".join(line for line in lines if line))


def _resource(path: _Path, block: dict[str, Any], losses: _ResultLosses) -> _ContentPart:
    _drop_others(path, block, _EMBEDDED, losses)
    contents = block["resource"]
    contents_path = (*path, "resource")
    _drop_others(contents_path, contents, _CONTENTS, losses)
    uri, mime_type = contents["uri"], contents.get("mimeType")
    if "text" in contents:
        losses.add(contents_path, Action.REWRITTEN, "sent as text, with its URI")
        heading = f"Resource {uri}{f' ({mime_type})' if mime_type else ''}"
        return _ContentPart(path, f"{heading}:\n{contents['text']}")
    media = Media(_bare_type(mime_type or "application/octet-stream"), contents["blob"], uri)
    return _ContentPart(path, _fallback(f"The resource {uri}", media), media)


def _unknown(path: _Path, block: dict[str, Any], losses: _ResultLosses) -> _ContentPart:
    losses.add(path, Action.DROPPED, "content of an unknown type")
    return _ContentPart(path, f"[Content of type {block.get('type')}, which cannot be shown]")


_READERS: Mapping[str, Callable[[_Path, dict[str, Any], _ResultLosses], _ContentPart]] = (
    MappingProxyType(
        {
            "text": _text,
            "image": _data,
            "audio": _data,
            "resource_link": _link,
            "resource": _resource,
        }
    )
)


def _bare_type(mime_type: str) -> str:
    return mime_type.partition(";")[0].strip().lower()


def _fallback(noun: str, media: Media) -> str:
    size = len(media.data) * 3 // 4 - media.data[-2:].count("=")
    return f"[{noun} ({media.mime_type}, {_count_bytes(max(size, 0))}), which cannot be shown]"


def _count_bytes(size: float) -> str:
    return "1 byte" if size == 1 else f"{size:,} bytes"


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
    losses = _ResultLosses()
    for property_name in result:
        if property_name not in _PROPERTIES:
            losses.add((property_name,), Action.DROPPED, "not sent to the model")
    parts = _split_content(content, losses)
    items = [_convert_part(part, provider, losses) for part in parts]
    if "structuredContent" in result:
        texts = (part.text for part in parts if part.media is None)
        text = _structured_text(result["structuredContent"], texts)
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


def _convert_part(part: _ContentPart, provider: Provider, losses: _ResultLosses) -> ResultItem:
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
    items: list[ResultItem], provider: Provider, losses: _ResultLosses
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


def _truncate(items: list[ResultItem], maximum: int | None, losses: _ResultLosses) -> None:
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


def _structured_text(value: JsonValue, texts: Iterable[str]) -> str:
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
