"""Export and import of registries as JSON lines, between any kinds of registries.

The first line is a header with the number of tools. Every other line is a tool, with the text of
its definition, byte for byte, as a string. Tools are sorted by server and name, and revisions are
left out, so registries with the same tools have the same export.
"""

import json
import sys
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.mcp.tool_definitions import identify_tool
from sidecheck_server.core.types import Document
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import MAX_SERVER_LENGTH, Binding, Definition

__all__ = ["DamagedExport", "export_lines", "read_export"]

_FORMAT: Final = "sidecheck-registry"
_VERSION: Final = 1


class DamagedExport(Exception):
    """A file cannot be imported; the message has the line and the fault."""

    def __init__(self, line: int, fault: str) -> None:
        super().__init__(f"line {line}: {fault}")


def export_lines(registry: Registry) -> Iterator[str]:
    """Yield the lines of *registry*, in its state at the first iteration."""
    # One page, so that all bindings are of one revision.
    bindings, _ = registry.page(None, None, sys.maxsize, sys.maxsize)
    yield _encode_line({"format": _FORMAT, "version": _VERSION, "tools": len(bindings)})
    yield from map(_encode_tool, bindings)


def read_export(lines: Iterable[bytes]) -> Mapping[str, list[Definition]]:
    """Return the definitions of each server in *lines*, a complete export.

    Raises:
        DamagedExport: *lines* are not an export of `export_lines`.
    """
    numbered = enumerate(lines, 1)
    number, header = next(numbered, (1, b"{}"))
    count = _read_header(number, _decode(number, header))
    servers: dict[str, dict[str, Definition]] = {}
    for number, line in numbered:
        server, definition = _read_tool(number, _decode(number, line))
        tools = servers.setdefault(server, {})
        if definition.name in tools:
            raise DamagedExport(
                number, "repeats a tool of an earlier line; expected each tool once"
            )
        tools[definition.name] = definition
    tool_count = sum(map(len, servers.values()))
    if tool_count != count:
        raise DamagedExport(
            number, f"is the last line, after {tool_count:,} tools; the header says {count:,}"
        )
    return {server: list(tools.values()) for server, tools in servers.items()}


def _encode_tool(binding: Binding) -> str:
    definition = binding.definition
    return _encode_line(
        {
            "server": binding.server,
            "digest": definition.digest,
            "protocol_version": definition.protocol_version,
            "definition": _text_or_base64(definition.json),
            "documents": [
                {"uri": document.uri, "json": _text_or_base64(document.json)}
                for document in definition.documents
            ],
        }
    )


def _encode_line(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _text_or_base64(value: bytes) -> str | dict[str, str]:
    """Return *value* as a string, or as base64 if it is not UTF-8.

    Registration does not check the encoding of documents; their use does.
    """
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(value).decode()}


def _bytes_of(value: Any) -> bytes:
    """Return the bytes of *value*, a result of `_text_or_base64`.

    Raises:
        ValueError, TypeError, KeyError: *value* is not such a result.
    """
    if isinstance(value, str):
        return value.encode()
    return b64decode(value["base64"], validate=True)


def _decode(number: int, line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise DamagedExport(number, "is not JSON; expected an object on one line") from None
    if not isinstance(value, dict):
        raise DamagedExport(number, "is not an object; expected a JSON object")
    return value


def _read_header(number: int, header: dict[str, Any]) -> int:
    if header.get("format") != _FORMAT:
        raise DamagedExport(
            number, f'is not the header of an export; expected {{"format":"{_FORMAT}",…}}'
        )
    if header.get("version") != _VERSION:
        raise DamagedExport(number, f"is of another version; expected {_VERSION}")
    count = header.get("tools")
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise DamagedExport(number, "does not say how many tools follow; expected a number")
    return count


def _read_tool(number: int, tool: dict[str, Any]) -> tuple[str, Definition]:
    try:
        server, digest, version = tool["server"], tool["digest"], tool["protocol_version"]
        text = _bytes_of(tool["definition"])
        documents = tuple(
            Document(_check_text(document["uri"]), _bytes_of(document["json"]))
            for document in tool["documents"]
        )
        for value in (server, digest, version):
            _check_text(value)
    except (KeyError, TypeError, ValueError, AttributeError, Base64Error):
        raise DamagedExport(
            number,
            "is not a tool; expected an object with the strings server, digest, protocol_version "
            "and definition, and with documents",
        ) from None
    if not 1 <= len(server) <= MAX_SERVER_LENGTH:
        raise DamagedExport(
            number, f"has a server of {len(server):,} characters; expected 1 to {MAX_SERVER_LENGTH}"
        )
    if version not in VERSIONS:
        raise DamagedExport(
            number, f"has an unknown protocol version; expected one of {', '.join(VERSIONS)}"
        )
    identity = identify_tool(text, documents)
    if identity is None:
        raise DamagedExport(number, "has a definition that is not a tool definition")
    if identity.digest != digest:
        raise DamagedExport(
            number, f"has a definition that does not match its digest; it has {identity.digest}"
        )
    definition = Definition(
        digest,
        identity.name,
        text,
        documents,
        identity.input_digest,
        identity.output_digest,
        version,
    )
    return server, definition


def _check_text(value: Any) -> str:
    """Return *value*, which must be a string that UTF-8 can encode.

    Raises:
        TypeError, ValueError: *value* is not such a string.
    """
    if not isinstance(value, str):
        raise TypeError
    value.encode()
    return value
