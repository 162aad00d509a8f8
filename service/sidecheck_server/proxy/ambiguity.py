"""What readers of JSON may take for different messages, so that no check of one would count.

Readers disagree on properties that are there twice, on names that differ in case alone (Go's and
.NET's decoders take ``Params`` for ``params``), and on what is not quite JSON.
"""

import json
from collections.abc import Collection
from typing import Any, Final, TypeAlias

from sidecheck import Violation

from sidecheck_server.proxy.messages import Message, read_object, split_members, string_value

__all__ = ["find_in_call", "find_in_call_result", "find_in_list", "find_in_message"]

_Members: TypeAlias = list[tuple[str, Any]]

_NOT_JSON: Final = "PAYLOAD_NOT_JSON"
_OTHER_CASE: Final = "AMBIGUOUS_NAME"
_OF_MESSAGE: Final = ("jsonrpc", "id", "method", "params", "result", "error")
_OF_CALL: Final = ("name", "arguments", "task", "_meta")
_OF_CALL_RESULT: Final = ("content", "structuredContent", "isError", "resultType", "task", "_meta")
_OF_LIST: Final = ("tools", "nextCursor", "_meta")


class _Object(_Members):
    """An object, with all of its members."""


def find_in_message(message: Message, *, must_be_json: bool) -> Violation | None:
    """Return why *message* is ambiguous, None if it is not; its params and result aside."""
    try:
        members = _read(message.text)
    except ValueError:
        if must_be_json:
            return Violation(code=_NOT_JSON)
        members = _scan(message.text)
    if not isinstance(members, _Object):
        return Violation(code="MESSAGE_NOT_OBJECT")
    return _find(members, _OF_MESSAGE, "")


def find_in_call(call: Message) -> Violation | None:
    """Return why the params of *call*, that of a tool, are ambiguous."""
    return _find_inside(call, "params", _OF_CALL, "PARAMS_TYPE")


def find_in_call_result(response: Message) -> Violation | None:
    """Return why the result of *response*, that of a tool, is ambiguous.

    Its validation finds what is not JSON, and what is there twice.
    """
    found = _find_inside(response, "result", _OF_CALL_RESULT, "RESULT_NOT_OBJECT")
    return found if found is not None and found.code == _OTHER_CASE else None


def find_in_list(response: Message) -> Violation | None:
    """Return why the result of *response*, a page of tools, is ambiguous."""
    return _find_inside(response, "result", _OF_LIST, "RESULT_NOT_OBJECT")


def _find_inside(
    message: Message, name: str, known: Collection[str], not_object: str
) -> Violation | None:
    text = message.properties.get(name)
    if text is None:
        return None
    location = f"/{name}"
    try:
        members = _read(text)
    except ValueError:
        return Violation(code=_NOT_JSON, instance_location=location)
    if not isinstance(members, _Object):
        return Violation(code=not_object, instance_location=location)
    if read_object(text) is None:
        # A key with a lone surrogate, which other readers accept.
        return Violation(code=_NOT_JSON, instance_location=location)
    return _find(members, known, location)


def _find(members: _Members, known: Collection[str], inside: str) -> Violation | None:
    folded = {name.casefold() for name in known}
    names: set[str] = set()
    for name, _ in members:
        location = f"{inside}/{name}"
        if name in names:
            return Violation(code="DUPLICATE_KEY", instance_location=location)
        if name not in known and name.casefold() in folded:
            return Violation(code=_OTHER_CASE, instance_location=location)
        names.add(name)
    return None


def _read(text: bytes) -> Any:
    """Return the value of *text* with all members of its objects.

    Raises:
        ValueError: it is not JSON.
    """
    try:
        return json.loads(
            text.decode(),
            object_pairs_hook=_Object,
            # Their values do not matter, and may be as long as they are.
            parse_int=len,
            parse_float=len,
            parse_constant=_fail,
        )
    except RecursionError:
        # Nested too deep, which is another's matter.
        return _scan(text)


def _scan(text: bytes) -> _Object:
    """Return the members of the object in *text*, whose values are not JSON."""
    return _Object((string_value(key), value) for key, _, value in split_members(text.strip()))


def _fail(_: str) -> None:
    """Reject NaN and Infinity.

    Raises:
        ValueError: always.
    """
    raise ValueError
