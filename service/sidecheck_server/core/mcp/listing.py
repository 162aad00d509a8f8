"""Texts with several tool definitions, taken apart into the text of each."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.payload import MalformedError, decode, nesting
from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.core.words import Violation

__all__ = ["ListedTool", "list_tools"]

_READABLE_DEPTH = 400
"""How deep a text may nest to be taken apart: deeper, decoders run out of their stack.

It lies above the limits, so that a tool beyond them is refused by itself.
"""


@dataclass(frozen=True, slots=True)
class ListedTool:
    """One tool definition of a text."""

    #: Where it stands, as a JSON Pointer into the text.
    pointer: str
    #: Its own text, byte for byte.
    json: bytes


def list_tools(text: bytes, limits: Limits) -> tuple[ListedTool, ...]:
    """Return the tool definitions of *text*, in their order and as yet unchecked.

    *text* is one tool definition, a list of them, or a ``tools/list`` result, bare or
    in its JSON-RPC response.

    Raises:
        Refusal: INVALID_TOOL, with a problem for each fault outside of the definitions,
            or LIMIT_EXCEEDED if *text* nests too deep to be read.
    """
    depth = nesting(text)
    if depth > max(_READABLE_DEPTH, limits.schema_depth):
        raise exceeded(
            "schema_depth", limits.schema_depth, "arrays and objects nest too deep", depth
        )
    faults: tuple[Violation, ...] = ()
    try:
        decode(text, max_depth=depth)
    except MalformedError as error:
        faults = error.violations
        # Other faults leave no text to take apart.
        if any(fault.code != "DUPLICATE_KEY" for fault in faults):
            raise _invalid(faults) from None
    tools = tuple(_tools(text, ""))
    # A definition with a key more than once is a fault of that definition alone.
    outside = tuple(fault for fault in faults if not _is_within(fault, tools))
    if outside:
        raise _invalid(outside)
    return tools


def _tools(text: bytes, pointer: str) -> Iterator[ListedTool]:
    value: Any = msgspec.json.decode(text, type=_PARTS)
    members = value if isinstance(value, dict) else {}
    if isinstance(value, list):
        yield from _items(text, pointer)
    elif "inputSchema" in members:
        yield ListedTool(pointer, text.strip())
    elif "tools" in members:
        yield from _items(bytes(members["tools"]), f"{pointer}/tools")
    elif "result" in members and not pointer:
        yield from _tools(bytes(members["result"]), "/result")
    elif "jsonrpc" in members or pointer:
        raise _invalid((_fault(pointer, "TOOLS_MISSING", "this answer has no tools"),))
    else:
        yield ListedTool(pointer, text.strip())


def _items(text: bytes, pointer: str) -> Iterator[ListedTool]:
    value: Any = msgspec.json.decode(text, type=_PARTS)
    if not isinstance(value, list):
        raise _invalid(
            (_fault(pointer, "TOOLS_NOT_A_LIST", "the tools must be a list of definitions"),)
        )
    for index, item in enumerate(value):
        yield ListedTool(f"{pointer}/{index}", bytes(item))


def _is_within(fault: Violation, tools: tuple[ListedTool, ...]) -> bool:
    at = f"{fault.instance_pointer}/"
    return any(at.startswith(f"{tool.pointer}/") for tool in tools)


def _fault(pointer: str, code: str, message: str) -> Violation:
    return Violation(pointer, "", "", code, message, clause="MCP, server/tools: Listing Tools")


def _invalid(faults: tuple[Violation, ...]) -> Refusal:
    first = faults[0]
    return Refusal(
        Reason.INVALID_TOOL,
        f"the text does not list tools: {first.message}",
        {"code": first.code, "pointer": first.instance_pointer},
        faults,
    )


_PARTS = list[msgspec.Raw] | dict[str, msgspec.Raw] | str | int | float | bool | None
