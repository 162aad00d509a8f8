"""HTTP headers that mirror parts of a message: comparison with it, and creation from it.

Clause: 2026-07-28, basic/transports/streamable-http, "Request Metadata".
"""

import re
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sidecheck_server.core.mcp.metadata_keys import PROTOCOL_VERSION_KEY, read_metadata
from sidecheck_server.core.types import JsonValue, as_pointer

__all__ = ["HEADER_MISMATCH", "HeaderFault", "create_headers", "find_header_faults"]

HEADER_MISMATCH = -32020
"""Code of the JSON-RPC error for headers that do not match."""

_PARAMETER = "x-mcp-header"
_ENCODED = re.compile(r"=\?base64\?(.*)\?=", re.DOTALL)
_NUMBER = re.compile(r"-?[0-9]{1,64}(\.[0-9]{1,64})?([eE][+-]?[0-9]{1,4})?")
_VALUE = re.compile(r"[\t\x20-\x7e]*")
_PLAIN_VALUE = re.compile(r"(?!=\?base64\?.*\?=\Z)[!-~](?:[\x20-~]*[!-~])?")
"""A value that receivers decode as it is."""

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]++")
"""A name of a header (RFC 9110, section 5.1)."""

_NAME_PARAMS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Param that the header Mcp-Name mirrors, by method."""


@dataclass(frozen=True, slots=True)
class HeaderFault:
    """A header that is missing, or does not match the message."""

    #: Name of the header, in the spelling of the specification.
    header: str
    #: JSON Pointer to the mirrored value in the message.
    location: str
    message: str
    #: Whether the message is malformed: it lacks a field that every request must have.
    is_malformed: bool = False


def find_header_faults(
    headers: Mapping[str, str], message: Any, input_schema: JsonValue = None
) -> Iterator[HeaderFault]:
    """Yield the faults of *headers* of the request *message*.

    *headers* have lower-case names. *input_schema* is the input schema of the called tool, or
    None if unknown; it declares the arguments that headers mirror.
    """
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    version = read_metadata(params).get(PROTOCOL_VERSION_KEY)
    header = "MCP-Protocol-Version"
    pointer = as_pointer(("params", "_meta", PROTOCOL_VERSION_KEY))
    if version is None:
        # 2026-07-28, basic, "_meta".
        text = f"{PROTOCOL_VERSION_KEY} is required and missing"
        yield HeaderFault(header, pointer, text, is_malformed=True)
    else:
        yield from _compare(headers, header, version, pointer, encoded=False)
    method = message.get("method")
    yield from _compare(headers, "Mcp-Method", method, "/method", encoded=False)
    param = _NAME_PARAMS.get(method) if isinstance(method, str) else None
    if param is not None:
        name_value, location = params.get(param), f"/params/{param}"
        yield from _compare(headers, "Mcp-Name", name_value, location, encoded=True)
    arguments = params.get("arguments")
    if method == "tools/call" and isinstance(arguments, dict):
        for name, path in _find_mirrored(input_schema, ()):
            value = _get_value(arguments, path)
            location = as_pointer(("params", "arguments", *path))
            if value is None and f"mcp-param-{name.lower()}" not in headers:
                continue
            yield from _compare(headers, f"Mcp-Param-{name}", value, location, encoded=True)


def create_headers(message: Any, input_schema: JsonValue = None) -> dict[str, str]:
    """Return the headers that mirror *message*, an object, but for that of the version.

    *input_schema* is as for `find_header_faults`.
    """
    method, params = message.get("method"), message.get("params")
    params = params if isinstance(params, dict) else {}
    if not isinstance(method, str) or not _PLAIN_VALUE.fullmatch(method):
        return {}
    headers = {"Mcp-Method": method}
    name = params.get(_NAME_PARAMS.get(method, ""))
    if isinstance(name, str):
        headers["Mcp-Name"] = _encode(name)
    arguments = params.get("arguments")
    if method == "tools/call" and isinstance(arguments, dict):
        for parameter, path in _find_mirrored(input_schema, ()):
            text = _render(_get_value(arguments, path))
            if text is not None and _TOKEN.fullmatch(parameter):
                headers[f"Mcp-Param-{parameter}"] = _encode(text)
    return headers


def _render(value: Any) -> str | None:
    """Return the text of a mirrored *value*, None for a value that no header mirrors."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def _encode(text: str) -> str:
    if _PLAIN_VALUE.fullmatch(text):
        return text
    return f"=?base64?{b64encode(text.encode('utf-8', 'surrogatepass')).decode()}?="


def _compare(
    headers: Mapping[str, str], header: str, value: Any, location: str, *, encoded: bool
) -> Iterator[HeaderFault]:
    raw_value = headers.get(header.lower())
    if raw_value is None:
        yield HeaderFault(header, location, f"the header {header} is missing")
        return
    if not _VALUE.fullmatch(raw_value):
        yield HeaderFault(header, location, f"the header {header} has invalid characters")
        return
    text = _decode(raw_value) if encoded else raw_value
    if text is None:
        yield HeaderFault(header, location, f"the header {header} is not valid Base64 of UTF-8")
    elif not _is_equal(text, value):
        yield HeaderFault(header, location, f"the header {header} differs from the message")


def _decode(text: str) -> str | None:
    match = _ENCODED.fullmatch(text)
    if match is None:
        return text
    try:
        return b64decode(match[1], validate=True).decode()
    except (Error, ValueError):
        return None


def _is_equal(text: str, value: Any) -> bool:
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    if isinstance(value, int | float):
        return _NUMBER.fullmatch(text) is not None and Decimal(text) == Decimal(str(value))
    return isinstance(value, str) and text == value


def _find_mirrored(
    schema: JsonValue, path: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the header name and the path in the arguments of each mirrored parameter."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return
    for key, inner in properties.items():
        name = inner.get(_PARAMETER) if isinstance(inner, dict) else None
        if isinstance(name, str):
            yield name, (*path, key)
        yield from _find_mirrored(inner, (*path, key))


def _get_value(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value
