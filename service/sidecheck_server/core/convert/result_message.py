"""Conversion of a ``CallToolResult`` to a provider's message for the model.

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
from sidecheck_server.core.payload import MalformedError, decode, encode_json
from sidecheck_server.core.types import JsonValue, as_pointer

__all__ = ["convert_result"]

_MAX_LOSSES = 1000

_Path: TypeAlias = tuple[str | int, ...]


class _ResultLosses:
    """Losses of one result: at most 1,000, and the number of omitted ones."""

    def __init__(self) -> None:
        self._losses: list[Loss] = []
        self._omitted = 0

    def add(self, path: _Path, action: Action, message: str) -> None:
        """Record a loss at *path* of the result.

        The effect is always EQUIVALENT, since a result has no set of valid payloads.
        """
        if len(self._losses) >= _MAX_LOSSES:
            self._omitted += 1
            return
        self._losses.append(Loss(as_pointer(path), "", action, Effect.EQUIVALENT, message))

    def sort_losses(self) -> tuple[Loss, ...]:
        """Return the losses ordered by location."""
        losses = sorted(self._losses, key=lambda loss: (loss.pointer, loss.message))
        if self._omitted:
            message = f"{self._omitted:,} more losses are not listed"
            losses.insert(0, Loss("", "", Action.DROPPED, Effect.EQUIVALENT, message))
        return tuple(losses)


@dataclass(frozen=True, slots=True)
class _ContentPart:
    """Part of a message: text, or media with a textual fallback."""

    path: _Path
    #: The text; for media, the fallback if the provider does not accept the type.
    text: str
    media: Media | None = None


def _split_content(content: list[Any], losses: _ResultLosses) -> list[_ContentPart]:
    """Return the blocks of valid *content* as parts, in order, without blank texts."""
    parts = []
    for index, block in enumerate(content):
        path: _Path = ("content", index)
        part = _READERS.get(str(block.get("type")), _read_unknown)(path, block, losses)
        # Anthropic's API and Bedrock's reject a message with a blank text.
        if part.text.strip():
            parts.append(part)
        else:
            losses.add(path, Action.DROPPED, "blank text, which some providers reject")
    return parts


def _log_unsent(
    path: _Path, value: Mapping[str, Any], sent_names: frozenset[str], losses: _ResultLosses
) -> None:
    for name in value:
        if name not in sent_names:
            losses.add((*path, name), Action.DROPPED, "not sent to the model")


_TEXT_PROPERTIES = frozenset({"type", "text"})
_MEDIA_PROPERTIES = frozenset({"type", "data", "mimeType"})
_LINK_PROPERTIES = frozenset({"type", "name", "title", "uri", "mimeType", "size", "description"})
_RESOURCE_PROPERTIES = frozenset({"type", "resource"})
_CONTENTS_PROPERTIES = frozenset({"uri", "mimeType", "text", "blob"})


def _read_text(path: _Path, block: dict[str, Any], losses: _ResultLosses) -> _ContentPart:
    _log_unsent(path, block, _TEXT_PROPERTIES, losses)
    return _ContentPart(path, block["text"])


def _read_media(path: _Path, block: dict[str, Any], losses: _ResultLosses) -> _ContentPart:
    _log_unsent(path, block, _MEDIA_PROPERTIES, losses)
    media = Media(_bare_type(block["mimeType"]), block["data"], "")
    noun = "An image" if block["type"] == "image" else "Audio"
    return _ContentPart(path, _fallback(noun, media), media)


def _read_link(path: _Path, block: dict[str, Any], losses: _ResultLosses) -> _ContentPart:
    _log_unsent(path, block, _LINK_PROPERTIES, losses)
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


def _read_resource(path: _Path, block: dict[str, Any], losses: _ResultLosses) -> _ContentPart:
    _log_unsent(path, block, _RESOURCE_PROPERTIES, losses)
    contents = block["resource"]
    contents_path = (*path, "resource")
    _log_unsent(contents_path, contents, _CONTENTS_PROPERTIES, losses)
    uri, mime_type = contents["uri"], contents.get("mimeType")
    if "text" in contents:
        losses.add(contents_path, Action.REWRITTEN, "sent as text, with its URI")
        heading = f"Resource {uri}{f' ({mime_type})' if mime_type else ''}"
        return _ContentPart(path, f"{heading}:\n{contents['text']}")
    media = Media(_bare_type(mime_type or "application/octet-stream"), contents["blob"], uri)
    return _ContentPart(path, _fallback(f"The resource {uri}", media), media)


def _read_unknown(path: _Path, block: dict[str, Any], losses: _ResultLosses) -> _ContentPart:
    losses.add(path, Action.DROPPED, "content of an unknown type")
    return _ContentPart(path, f"[Content of type {block.get('type')}, which cannot be shown]")


_READERS: Mapping[str, Callable[[_Path, dict[str, Any], _ResultLosses], _ContentPart]] = (
    MappingProxyType(
        {
            "text": _read_text,
            "image": _read_media,
            "audio": _read_media,
            "resource_link": _read_link,
            "resource": _read_resource,
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


_FAILURE = "The tool failed"
_EMPTY = "The tool returned nothing."
_TRUNCATED = "\n[The rest is too long to be shown]"

_RESULT_PROPERTIES = frozenset({"content", "structuredContent", "isError"})


def convert_result(
    result: dict[str, Any], provider: Provider, call_id: str, name: str
) -> tuple[bytes, tuple[Loss, ...]]:
    """Return *result* as JSON text for *provider*, and its losses.

    *result* is a valid ``CallToolResult`` of any protocol version. The text is a message with
    the role ``tool`` for Chat Completions, Mistral and Ollama; an item
    ``function_call_output`` for Responses; a block ``tool_result`` for Anthropic, which goes
    into one message of the user together with the blocks of all other calls; and a part
    ``functionResponse`` for Gemini, or a block ``toolResult`` for Bedrock, likewise. For MCP,
    it is *result* itself. There are at most 1,001 losses, ordered by location in *result*. An
    id that the provider would reject is sent as another one, which `CallIdGrammar.map_id`
    derives from it.

    Raises:
        RequestError: INVALID_REQUEST if *call_id* or *name* is empty and the provider requires
            it, or if *result* has no content.
    """
    _check_identifiers(provider, call_id, name)
    content = result.get("content")
    if not isinstance(content, list):
        message = "the result has no content: the call is not complete, or requires input"
        raise RequestError(ErrorReason.INVALID_REQUEST, message, {"field": "result"})
    if provider.write_result is None:
        return encode_json(result), ()
    losses = _ResultLosses()
    sent_id = _map_call_id(call_id, provider, losses)
    for property_name in result:
        if property_name not in _RESULT_PROPERTIES:
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
    items = _mark_failed(items, provider, losses) if failed else items or [_EMPTY]
    _truncate(items, provider.max_result_length, losses)
    written = provider.write_result(ToolResult(sent_id, name, items, failed))
    return encode_json(written), losses.sort_losses()


def _check_identifiers(provider: Provider, call_id: str, name: str) -> None:
    required = (
        ("call_id", call_id, provider.result_requires_call_id, "the id of the call"),
        ("name", name, provider.result_requires_name, "the name of the tool"),
    )
    for field, value, is_required, noun in required:
        if is_required and not value:
            message = f"{provider.display_name} requires {noun} in a result"
            raise RequestError(ErrorReason.INVALID_REQUEST, message, {"field": field})


def _map_call_id(call_id: str, provider: Provider, losses: _ResultLosses) -> str:
    """Return *call_id*, or the id that stands for it if the provider rejects it."""
    if provider.call_ids is None:
        return call_id
    sent_id = provider.call_ids.map_id(call_id)
    if sent_id != call_id:
        message = (
            f"the id of the call is sent as {sent_id}, since {provider.display_name} requires "
            f"{provider.call_ids.allowed}; the message with the call needs the same id"
        )
        losses.add((), Action.REWRITTEN, message)
    return sent_id


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
    """Return *items*, marked by a text if the provider has no field for failure.

    The returned list is never empty: Anthropic's API rejects a failure without content.
    """
    if not provider.result_has_error_flag:
        losses.add(("isError",), Action.REWRITTEN, "sent as text")
    if not items:
        return [f"{_FAILURE}."]
    if provider.result_has_error_flag:
        return items
    first = items[0]
    if isinstance(first, str):
        return [f"{_FAILURE}: {first}", *items[1:]]
    return [f"{_FAILURE}:", *items]


def _truncate(items: list[ResultItem], maximum: int | None, losses: _ResultLosses) -> None:
    """Cut the texts in *items* to at most *maximum* characters together."""
    if maximum is None:
        return
    remaining = maximum
    truncated: list[ResultItem] = []
    for item in items:
        if isinstance(item, str):
            if len(item) > remaining:
                message = f"cut to the provider's limit of {maximum:,} characters"
                losses.add(("content",), Action.DROPPED, message)
                truncated.append(item[: max(remaining - len(_TRUNCATED), 0)] + _TRUNCATED)
                break
            remaining -= len(item)
        truncated.append(item)
    items[:] = truncated


_MAX_DEPTH = 128
"""Maximum depth of compared texts: the default for payloads."""

_MAX_COMPARED = 16
"""Maximum number of compared texts; sending the same value twice does no harm."""


def _structured_text(value: JsonValue, texts: Iterable[str]) -> str:
    """Return the compact JSON of *value*, or "" if *texts* contain it.

    Integers are exact.

    Tools that return structured content should also return its JSON in a text (MCP
    2025-06-18, server/tools, "Structured Content"). At most 16 texts are decoded. Time is
    linear in the size of all.
    """
    encoded = encode_json(value).decode()
    candidates = (text for text in texts if _may_equal(text, value, encoded))
    if any(_equals(text, value, encoded) for text in islice(candidates, _MAX_COMPARED)):
        return ""
    return encoded


def _may_equal(text: str, value: JsonValue, encoded: str) -> bool:
    if not isinstance(value, dict | list):
        return text == encoded
    return text.lstrip()[:1] == encoded[0] and text.rstrip()[-1:] == encoded[-1]


def _equals(text: str, value: JsonValue, encoded: str) -> bool:
    if text == encoded:
        return True
    try:
        decoded = decode(text.encode(), max_depth=_MAX_DEPTH, max_violations=1)
    except (MalformedError, RequestError):
        return False
    return json_equal(value, decoded)
