"""From a ``CallToolResult`` to the message that tells the model."""

from typing import Any

import msgspec

from sidecheck_server.core.convert.apis.api import Api
from sidecheck_server.core.convert.results.media import shown
from sidecheck_server.core.convert.results.messages import MESSAGES, Answer, Item
from sidecheck_server.core.convert.results.pieces import Piece, pieces_of
from sidecheck_server.core.convert.results.structured import structured_text
from sidecheck_server.core.convert.results.told import Told
from sidecheck_server.core.convert.words import Action, Loss, ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import exceeded

__all__ = ["result_message"]

_FAILED = "The tool failed"
_NOTHING = "The tool returned nothing."
_CUT = "\n[The rest is too long to be shown]"

_MEMBERS = frozenset({"content", "structuredContent", "isError"})


def result_message(
    result: dict[str, Any], api: Api, call_id: str, name: str
) -> tuple[bytes, tuple[Loss, ...]]:
    """Return the JSON text that tells the model *result*, and what it does not tell.

    *result* is a valid ``CallToolResult`` of any protocol version. The text is a message
    with the role ``tool`` for Chat, Mistral and Ollama; an item ``function_call_output``
    for Responses; a block ``tool_result`` for Anthropic, which together with those of all
    other calls goes into one message of the user; and a part ``functionResponse`` for
    Gemini, or block ``toolResult`` for Bedrock, likewise. There are at most 1,001 losses,
    ordered by pointer; pointers lead into *result*.

    Raises:
        Refusal: INVALID_REQUEST if *call_id* or *name* is empty and the API needs it, or
            if *result* has no content; LIMIT_EXCEEDED if *call_id* is too long.
    """
    _refuse_unnamed(api, call_id, name)
    content = result.get("content")
    if not isinstance(content, list):
        said = "the result has no content: it does not answer the call yet, or asks for input"
        raise RequestError(ErrorReason.INVALID_REQUEST, said, {"field": "result"})
    told = Told()
    for member in result:
        if member not in _MEMBERS:
            told.tell((member,), Action.DROPPED, "the model is not told")
    pieces = pieces_of(content, told)
    items = [_item(piece, api.key, told) for piece in pieces]
    if "structuredContent" in result:
        said = structured_text(
            result["structuredContent"], (piece.text for piece in pieces if piece.media is None)
        )
        if said:
            told.tell(("structuredContent",), Action.REWRITTEN, "is told as JSON text")
            items.append(said)
    failed = result.get("isError") is True
    if not items:
        told.tell(("content",), Action.REWRITTEN, "is empty, which is said in words")
    items = _with_failure(items, api, told) if failed else items or [_NOTHING]
    _cut(items, api.answer_length, told)
    message = MESSAGES[api.key](Answer(call_id, name, items, failed))
    return msgspec.json.encode(message), told.told()


def _refuse_unnamed(api: Api, call_id: str, name: str) -> None:
    needed = (
        ("call_id", call_id, api.answer_has_id, "the id of the call"),
        ("name", name, api.answer_has_name, "the name of the tool"),
    )
    for field, value, needs, what in needed:
        if needs and not value:
            said = f"{api.in_words} needs {what} in an answer"
            raise RequestError(ErrorReason.INVALID_REQUEST, said, {"field": field})
    longest = api.call_id_length
    if longest is not None and len(call_id) > longest:
        said = f"the id of the call is longer than {api.in_words} takes"
        raise exceeded("call_id", longest, said, len(call_id))


def _item(piece: Piece, api: ModelApi, told: Told) -> Item:
    media = piece.media
    if media is None:
        return piece.text
    item = shown(api, media)
    if item is None:
        said = "cannot be shown to the model, which is told of its type and size instead"
        told.tell(piece.at, Action.DROPPED, said)
        return piece.text
    if media.uri:
        told.tell((*piece.at, "resource", "uri"), Action.DROPPED, "the model is not told")
    return item


def _with_failure(items: list[Item], api: Api, told: Told) -> list[Item]:
    """Return *items* with what says that the tool failed, where no field does.

    Something is always said: Anthropic's API refuses a failure without content.
    """
    if not api.answer_has_failure:
        told.tell(("isError",), Action.REWRITTEN, "is said in the text")
    if not items:
        return [f"{_FAILED}."]
    if api.answer_has_failure:
        return items
    first = items[0]
    if isinstance(first, str):
        return [f"{_FAILED}: {first}", *items[1:]]
    return [f"{_FAILED}:", *items]


def _cut(items: list[Item], longest: int | None, told: Told) -> None:
    """Cut the texts in *items* so that together they have no more than *longest* characters."""
    if longest is None:
        return
    left = longest
    kept: list[Item] = []
    for item in items:
        if isinstance(item, str):
            if len(item) > left:
                said = f"the API takes {longest:,} characters; what is beyond is left out"
                told.tell(("content",), Action.DROPPED, said)
                kept.append(item[: max(left - len(_CUT), 0)] + _CUT)
                break
            left -= len(item)
        kept.append(item)
    items[:] = kept
