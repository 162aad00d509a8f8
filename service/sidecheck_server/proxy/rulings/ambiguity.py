"""Finds ambiguous messages, which JSON readers decode differently from the checks.

Readers differ in how they treat repeated keys, names that differ only in case (the decoders of Go
and .NET accept ``Params`` as ``params``), and malformed JSON.

The argument *is_strict* means that the message is already known to be valid JSON without repeated
keys.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from sidecheck_server.core.payload import is_object_text
from sidecheck_server.core.types import Violation
from sidecheck_server.proxy.messages import Message, read_object, split_members, string_value

__all__ = [
    "find_call_ambiguity",
    "find_call_result_ambiguity",
    "find_list_ambiguity",
    "find_message_ambiguity",
]

_Members: TypeAlias = list[tuple[str, Any]]

_NOT_JSON: Final = "PAYLOAD_NOT_JSON"
_CASE_VARIANT: Final = "AMBIGUOUS_NAME"


def _fold_names(*names: str) -> Mapping[str, str]:
    """Return *names* of known properties, keyed by their case-folded form."""
    return {name.casefold(): name for name in names}


_MESSAGE_NAMES: Final = _fold_names("jsonrpc", "id", "method", "params", "result", "error")
_CALL_NAMES: Final = _fold_names("name", "arguments", "task", "_meta")
_CALL_RESULT_NAMES: Final = _fold_names(
    "content", "structuredContent", "isError", "resultType", "task", "_meta"
)
_LIST_NAMES: Final = _fold_names("tools", "nextCursor", "_meta")


class _Object(_Members):
    """Members of an object, repeated names included."""


def find_message_ambiguity(
    message: Message, *, must_be_json: bool, is_strict: bool
) -> Violation | None:
    """Return the ambiguity of *message*, without its params and result, or None."""
    if is_strict:
        return _find_case_variant(message.properties, _MESSAGE_NAMES, "")
    try:
        members = _read(message.text)
    except ValueError:
        if must_be_json:
            return _violation(_NOT_JSON)
        members = _scan(message.text)
    if not isinstance(members, _Object):
        return _violation("MESSAGE_NOT_OBJECT")
    return _find_ambiguous_name(members, _MESSAGE_NAMES, "")


def find_call_ambiguity(call: Message, *, is_strict: bool) -> Violation | None:
    """Return the ambiguity of the params of the tool call *call*, or None."""
    return _find_property_ambiguity(call, "params", _CALL_NAMES, "PARAMS_TYPE", is_strict=is_strict)


def find_call_result_ambiguity(response: Message, *, is_strict: bool) -> Violation | None:
    """Return the ambiguity of the result of *response*, that of a tool call, or None.

    Only case variants count: the validation of the result reports malformed JSON and repeated
    keys.
    """
    ambiguity = _find_property_ambiguity(
        response, "result", _CALL_RESULT_NAMES, "RESULT_NOT_OBJECT", is_strict=is_strict
    )
    return ambiguity if ambiguity is not None and ambiguity.code == _CASE_VARIANT else None


def find_list_ambiguity(response: Message, *, is_strict: bool) -> Violation | None:
    """Return the ambiguity of the result of *response*, a page of tools, or None."""
    return _find_property_ambiguity(
        response, "result", _LIST_NAMES, "RESULT_NOT_OBJECT", is_strict=is_strict
    )


def _find_property_ambiguity(
    message: Message, name: str, known: Mapping[str, str], type_code: str, *, is_strict: bool
) -> Violation | None:
    """Return the ambiguity of the property *name*; *type_code* if it is not an object."""
    text = message.properties.get(name)
    if text is None:
        return None
    location = f"/{name}"
    if is_strict and is_object_text(text):
        properties = message.params if name == "params" else message.result
        return _find_case_variant(properties or (), known, location)
    try:
        members = _read(text)
    except ValueError:
        return _violation(_NOT_JSON, location)
    if not isinstance(members, _Object):
        return _violation(type_code, location)
    if read_object(text) is None:
        # A key with a lone surrogate, which other readers accept.
        return _violation(_NOT_JSON, location)
    return _find_ambiguous_name(members, known, location)


def _find_case_variant(
    names: Iterable[str], known: Mapping[str, str], location: str
) -> Violation | None:
    """Return the violation of the first name that differs from *known* only in case."""
    for name in names:
        if known.get(name.casefold(), name) != name:
            return _violation(_CASE_VARIANT, f"{location}/{name}")
    return None


def _find_ambiguous_name(
    members: _Members, known: Mapping[str, str], location: str
) -> Violation | None:
    names: set[str] = set()
    for name, _value in members:
        if name in names:
            return _violation("DUPLICATE_KEY", f"{location}/{name}")
        case_variant = _find_case_variant([name], known, location)
        if case_variant is not None:
            return case_variant
        names.add(name)
    return None


def _violation(code: str, location: str = "") -> Violation:
    return Violation(location, "", "", code, "")


def _read(text: bytes) -> Any:
    """Return the value of *text*, with objects as lists of all their members.

    Raises:
        ValueError: it is not JSON.
    """
    try:
        return json.loads(
            text.decode(),
            object_pairs_hook=_Object,
            # Numbers are not converted: their values do not matter, and they may be long.
            parse_int=len,
            parse_float=len,
            parse_constant=_fail,
        )
    except RecursionError:
        # The checks of the core report excessive nesting.
        return _scan(text)


def _scan(text: bytes) -> _Object:
    """Return the members of the object in *text*, without decoding their values."""
    return _Object((string_value(key), value) for key, _, value in split_members(text.strip()))


def _fail(_constant: str) -> None:
    """Reject NaN and Infinity.

    Raises:
        ValueError: always.
    """
    raise ValueError
