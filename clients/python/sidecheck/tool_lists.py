"""Readers of tool definitions, single or in lists.

JSON text is split into the text of each definition, byte for byte, because the registry keeps
that text.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

from sidecheck.json_texts import is_json_object, protocol_text
from sidecheck.registry import Tool
from sidecheck.targets import ToolDefinition
from sidecheck.values.inference import AdaptedTool, InferredTool

__all__ = ["DEFINITIONS", "Definition", "list_tools", "split_definitions"]

#: A value of this client that holds a definition.
Definition: TypeAlias = ToolDefinition | Tool | InferredTool | AdaptedTool

#: The classes of `Definition`, for `isinstance`.
DEFINITIONS: Final = (ToolDefinition, Tool, InferredTool, AdaptedTool)

# Numbers stay text, because Python limits their digits. Control characters in strings are
# accepted here, because the server rejects only the definition that contains them.
_DECODER: Final = json.JSONDecoder(parse_int=str, parse_float=str, strict=False)
_SPACE: Final = re.compile(r"[ \t\n\r]*")

_Span: TypeAlias = tuple[int, int]


def list_tools(tools: Any, single: tuple[type, ...] = DEFINITIONS, *, whole: bool = False) -> Any:
    """Return *tools* as a list: definitions as they are given, or as texts.

    *tools* is a ``tools/list`` result, on its own or in its JSON-RPC response, a list of
    definitions or one definition, as JSON text, as an object, or as an object of an SDK; a
    value of a class in *single*; or an iterable of such values and of definitions.

    Raises:
        NotJson: A ``ValueError``. JSON cannot express a value in *tools*.
        TypeError: *tools* is a ``str``, or not iterable.
        ValueError: *tools* cannot be read as a list of tools; or it must be *whole*, and is
            one page of several.
    """
    if isinstance(tools, str) or is_json_object(tools):
        return split_definitions(protocol_text(tools, "tools"), whole=whole)
    if isinstance(tools, single):
        return [tools]
    if not isinstance(tools, Iterable):
        raise TypeError(
            "tools must be definitions, one or an iterable of them, or a tools/list result,"
            f" not {type(tools).__name__}"
        )
    return list(tools)


def split_definitions(text: bytes, *, whole: bool = False) -> list[bytes]:
    """Return the text of each definition in *text*, as `list_tools` reads it.

    Raises:
        ValueError: As `list_tools`.
    """
    source = _decode(text)
    start = _skip_space(source, 0)
    spans = [(start, len(source.rstrip()))]
    if source[start] == "[":
        spans = _items(source, start)
    elif source[start] == "{":
        names = {name for name, _ in _properties(source, start)}
        # A definition may have any other property, but nothing else has an input schema.
        if "inputSchema" not in names and names & {"tools", "result", "jsonrpc"}:
            spans = _list_spans(source, start, whole=whole)
    return [source[first:last].encode() for first, last in spans]


def _list_spans(source: str, start: int, *, whole: bool) -> list[_Span]:
    """Return the spans of the definitions in the result or response at *start*."""
    result = _property_spans(source, start)
    if "tools" not in result:
        inner = result.get("result")
        if inner is None or source[inner[0]] != "{":
            raise ValueError("tools is a JSON-RPC message without a result that lists tools")
        result = _property_spans(source, inner[0])
    tools = result.get("tools")
    if tools is None or source[tools[0]] != "[":
        raise ValueError('tools is a result whose "tools" is not an array of definitions')
    if whole and source[slice(*result.get("nextCursor", (0, 0)))] not in {"", "null"}:
        raise ValueError(
            "tools is one page of several (it has a nextCursor), and replacing all tools with it"
            " would delete those of the other pages; pass the definitions of all pages"
        )
    return _items(source, tools[0])


def _property_spans(source: str, start: int) -> dict[str, _Span]:
    """Return the spans of the values of the object at *start*, by name.

    Raises:
        ValueError: Two properties have the same name.
    """
    spans: dict[str, _Span] = {}
    for name, span in _properties(source, start):
        if name in spans:
            raise ValueError(f"tools has two properties {name[:80]!r}")
        spans[name] = span
    return spans


def _decode(text: bytes) -> str:
    """Return *text* decoded, after a check that it is JSON, which the readers rely on."""
    try:
        source = text.decode()
        _DECODER.decode(source)
    except UnicodeDecodeError as error:
        raise ValueError(f"tools is not JSON text: byte {error.start} is not UTF-8") from None
    except RecursionError:
        raise ValueError("tools is JSON text that nests too deeply to be read") from None
    except ValueError as error:
        raise ValueError(f"tools is not JSON text: {error}") from None
    return source


def _skip_space(source: str, index: int) -> int:
    match = _SPACE.match(source, index)
    return index if match is None else match.end()


def _value(source: str, index: int) -> tuple[Any, _Span, int]:
    """Return the value after *index*, its span, and the index of the next token."""
    start = _skip_space(source, index)
    value, end = _DECODER.raw_decode(source, start)
    return value, (start, end), _skip_space(source, end)


def _items(source: str, start: int) -> list[_Span]:
    """Return the spans of the items of the array at *start*."""
    spans: list[_Span] = []
    index = _skip_space(source, start + 1)
    while source[index] != "]":
        _, span, index = _value(source, index)
        spans.append(span)
        index += source[index] == ","
    return spans


def _properties(source: str, start: int) -> Iterator[tuple[str, _Span]]:
    """Yield the names and the spans of the values of the object at *start*."""
    index = _skip_space(source, start + 1)
    while source[index] != "}":
        name, _, colon = _value(source, index)
        _, span, index = _value(source, colon + 1)
        yield name, span
        index += source[index] == ","
