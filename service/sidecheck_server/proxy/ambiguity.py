"""What readers of JSON may take for different messages, so that no check of one would count.

Readers disagree on properties that are there twice, on names that differ in case alone (Go's and
.NET's decoders take ``Params`` for ``params``), and on what is not quite JSON.

Functions are told whether a message *is_strict*: read already as JSON without repeated keys.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from sidecheck_server.core.mcp.call_params import is_object_text
from sidecheck_server.core.types import Violation
from sidecheck_server.proxy.messages import Message, read_object, split_members, string_value

__all__ = ["find_in_call", "find_in_call_result", "find_in_list", "find_in_message"]

_Members: TypeAlias = list[tuple[str, Any]]

_NOT_JSON: Final = "PAYLOAD_NOT_JSON"
_OTHER_CASE: Final = "AMBIGUOUS_NAME"


def _by_folded(*names: str) -> Mapping[str, str]:
    """Return *names*, which readers know, by what they are without regard to case."""
    return {name.casefold(): name for name in names}


_OF_MESSAGE: Final = _by_folded("jsonrpc", "id", "method", "params", "result", "error")
_OF_CALL: Final = _by_folded("name", "arguments", "task", "_meta")
_OF_CALL_RESULT: Final = _by_folded(
    "content", "structuredContent", "isError", "resultType", "task", "_meta"
)
_OF_LIST: Final = _by_folded("tools", "nextCursor", "_meta")


class _Object(_Members):
    """An object, with all of its members."""


def find_in_message(message: Message, *, must_be_json: bool, is_strict: bool) -> Violation | None:
    """Return why *message* is ambiguous, None if it is not; its params and result aside."""
    if is_strict:
        return _find_other_case(message.properties, _OF_MESSAGE, "")
    try:
        members = _read(message.text)
    except ValueError:
        if must_be_json:
            return _violation(_NOT_JSON)
        members = _scan(message.text)
    if not isinstance(members, _Object):
        return _violation("MESSAGE_NOT_OBJECT")
    return _find(members, _OF_MESSAGE, "")


def find_in_call(call: Message, *, is_strict: bool) -> Violation | None:
    """Return why the params of *call*, that of a tool, are ambiguous."""
    return _find_inside(call, "params", _OF_CALL, "PARAMS_TYPE", is_strict=is_strict)


def find_in_call_result(response: Message, *, is_strict: bool) -> Violation | None:
    """Return why the result of *response*, that of a tool, is ambiguous.

    Its validation finds what is not JSON, and what is there twice.
    """
    found = _find_inside(
        response, "result", _OF_CALL_RESULT, "RESULT_NOT_OBJECT", is_strict=is_strict
    )
    return found if found is not None and found.code == _OTHER_CASE else None


def find_in_list(response: Message, *, is_strict: bool) -> Violation | None:
    """Return why the result of *response*, a page of tools, is ambiguous."""
    return _find_inside(response, "result", _OF_LIST, "RESULT_NOT_OBJECT", is_strict=is_strict)


def _find_inside(
    message: Message, name: str, known: Mapping[str, str], not_object: str, *, is_strict: bool
) -> Violation | None:
    text = message.properties.get(name)
    if text is None:
        return None
    location = f"/{name}"
    if is_strict and is_object_text(text):
        properties = message.params if name == "params" else message.result
        return _find_other_case(properties or (), known, location)
    try:
        members = _read(text)
    except ValueError:
        return _violation(_NOT_JSON, location)
    if not isinstance(members, _Object):
        return _violation(not_object, location)
    if read_object(text) is None:
        # A key with a lone surrogate, which other readers accept.
        return _violation(_NOT_JSON, location)
    return _find(members, known, location)


def _find_other_case(
    names: Iterable[str], known: Mapping[str, str], inside: str
) -> Violation | None:
    """Return the violation of a name that differs from a *known* one in case alone."""
    for name in names:
        if known.get(name.casefold(), name) != name:
            return _violation(_OTHER_CASE, f"{inside}/{name}")
    return None


def _find(members: _Members, known: Mapping[str, str], inside: str) -> Violation | None:
    names: set[str] = set()
    for name, _ in members:
        if name in names:
            return _violation("DUPLICATE_KEY", f"{inside}/{name}")
        found = _find_other_case([name], known, inside)
        if found is not None:
            return found
        names.add(name)
    return None


def _violation(code: str, location: str = "") -> Violation:
    return Violation(location, "", "", code, "")


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
