"""JSON text of the values that callers pass, with one rule for all methods.

* ``bytes``, ``bytearray`` and ``memoryview`` are JSON text in UTF-8 and are sent unchanged.
  Prefer this for JSON that was received over a network.
* Any other value is encoded. A ``str`` is a JSON string if a payload is expected, and an error
  if only an object or array makes sense, as for tools, schemas, messages, params and results.
* Models (objects with ``model_dump``), dataclasses and the types of
  `sidecheck.json_values.json_value` are encoded as well, models by alias.
* None is null. In a payload (arguments, structured content) it stays, also as the field of a
  model or dataclass, since null is data, as in the result of ``model_dump()``. In JSON of the
  protocol (tools, messages, params, results) models and dataclasses omit it, as the SDKs do
  when they send them, unless the property is required.
"""

# Decision 0045: bytes are text, since decoding and encoding would hide faults of the text.

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from sidecheck.json_copies import NotJson
from sidecheck.json_types import JSON_BYTES
from sidecheck.json_values import Role, convert_value
from sidecheck.sdk_objects import is_sdk_object

__all__ = ["is_json_object", "payload_text", "protocol_text", "return_value_text"]


def _as_dict(value: object) -> dict[str, Any]:
    """Return a mapping of any class as a ``dict``."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"values of type {type(value).__name__} have no JSON form")


#: Encodes a value as JSON. NaN and infinities (RFC 8259, section 6) are errors.
_encode: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_as_dict
).encode


def payload_text(payload: object, name: str) -> bytes:
    """Return the JSON text of *payload*, the value of the parameter *name*.

    Raises:
        NotJson: A ``ValueError``. JSON cannot express a value in *payload*.
    """
    return _text_of(payload, name, Role.PAYLOAD)


def protocol_text(value: object, name: str) -> bytes:
    """Return the text of *value*, JSON of the protocol in the parameter *name*.

    Raises:
        NotJson: A ``ValueError``. JSON cannot express a value in *value*.
        TypeError: *value* is a ``str``.
    """
    if isinstance(value, str):
        raise TypeError(
            f"{name} must not be a str; pass bytes for JSON text, as in text.encode(),"
            " or the decoded value"
        )
    return _text_of(value, name, Role.PROTOCOL)


def return_value_text(value: object, name: str) -> bytes:
    """Return the JSON text of *value*, a return value in the parameter *name*.

    Raises:
        NotJson: A ``ValueError``. JSON cannot express a value in *value*.
    """
    return _text_of(value, name, Role.RETURN_VALUE)


def is_json_object(value: object) -> bool:
    """Return whether *value* is JSON text or a JSON object."""
    return isinstance(value, (*JSON_BYTES, Mapping)) or is_sdk_object(value)


def _text_of(value: object, name: str, role: Role) -> bytes:
    if isinstance(value, JSON_BYTES):
        return value if isinstance(value, bytes) else bytes(value)
    if role is not Role.RETURN_VALUE:
        # Plain JSON values, the most frequent case, need no conversion.
        with suppress(TypeError, ValueError, RecursionError):
            return _encode(value).encode()
    try:
        return _encode(convert_value(value, role)).encode()
    except ValueError as error:
        raise NotJson(f"{name}: {error}") from error
