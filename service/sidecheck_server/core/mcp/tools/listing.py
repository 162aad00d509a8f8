"""Texts with several tool definitions, taken apart into the text of each."""

from dataclasses import dataclass
from typing import Any

import msgspec

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.rules.rule import Clause
from sidecheck_server.core.mcp.subjects import ProtocolMessage, ToolList
from sidecheck_server.core.mcp.versions import DEFAULT_VERSION
from sidecheck_server.core.payload import MalformedError, decode, nesting
from sidecheck_server.core.types import Violation

__all__ = ["ListedTool", "Listing", "list_tools", "read_listing"]

_LISTING = Clause("server/tools", "listing-tools")

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


@dataclass(frozen=True, slots=True)
class Listing:
    """A text with tool definitions, taken apart."""

    #: The definitions in their order, as yet unchecked.
    tools: tuple[ListedTool, ...]
    #: The answer that the text is, without the definitions; None if it is nothing but them.
    answer: ToolList | ProtocolMessage | None = None


def list_tools(text: bytes, limits: Limits) -> tuple[ListedTool, ...]:
    """Return the tool definitions of *text*; see `read_listing`."""
    return read_listing(text, limits).tools


def read_listing(text: bytes, limits: Limits) -> Listing:
    """Take *text* apart.

    It is one tool definition, a list of them, or a ``tools/list`` result, bare or in its
    JSON-RPC response.

    Raises:
        Refusal: INVALID_TOOL, with a problem for each fault outside of the definitions,
            or LIMIT_EXCEEDED if *text* nests too deep to be read or has too many of them.
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
    listing = _listing(text, limits)
    # A definition with a key more than once is a fault of that definition alone.
    pointers = frozenset(tool.pointer for tool in listing.tools)
    outside = tuple(fault for fault in faults if not _is_within(fault, pointers))
    if outside:
        raise _invalid(outside)
    return listing


def _listing(text: bytes, limits: Limits) -> Listing:
    value: Any = msgspec.json.decode(text, type=_PARTS)
    if isinstance(value, list):
        return Listing(_items(text, "", limits))
    members = value if isinstance(value, dict) else {}
    if "inputSchema" not in members:
        if "tools" in members:
            tools, rest = _result(members, "", limits)
            return Listing(tools, ToolList(rest))
        if "result" in members:
            result: Any = msgspec.json.decode(members["result"], type=_PARTS)
            tools, rest = _result(result, "/result", limits)
            response = msgspec.json.encode({**members, "result": msgspec.Raw(rest)})
            return Listing(tools, ProtocolMessage(response, answers="tools/list"))
        if "jsonrpc" in members:
            raise _invalid((_fault("", "TOOLS_MISSING", "this answer has no tools"),))
    return Listing((ListedTool("", text.strip()),))


def _result(value: Any, pointer: str, limits: Limits) -> tuple[tuple[ListedTool, ...], bytes]:
    """Return the tools of *value*, a result at *pointer*, and its text without them."""
    if not isinstance(value, dict) or "tools" not in value:
        raise _invalid((_fault(pointer, "TOOLS_MISSING", "this answer has no tools"),))
    tools = _items(bytes(value["tools"]), f"{pointer}/tools", limits)
    return tools, msgspec.json.encode({**value, "tools": []})


def _items(text: bytes, pointer: str, limits: Limits) -> tuple[ListedTool, ...]:
    value: Any = msgspec.json.decode(text, type=_PARTS)
    if not isinstance(value, list):
        raise _invalid(
            (_fault(pointer, "TOOLS_NOT_A_LIST", "the tools must be a list of definitions"),)
        )
    if len(value) > limits.batch_items:
        raise exceeded("batch_items", limits.batch_items, "the tools", len(value))
    return tuple(ListedTool(f"{pointer}/{index}", bytes(item)) for index, item in enumerate(value))


def _is_within(fault: Violation, pointers: frozenset[str]) -> bool:
    """Return whether *fault* is at one of *pointers*, or below."""
    at = fault.instance_location
    while at not in pointers:
        if not at:
            return False
        at = at.rpartition("/")[0]
    return True


def _fault(pointer: str, code: str, message: str) -> Violation:
    return Violation(pointer, "", "", code, message, clause=_LISTING.at(DEFAULT_VERSION))


def _invalid(faults: tuple[Violation, ...]) -> RequestError:
    first = faults[0]
    return RequestError(
        ErrorReason.INVALID_TOOL,
        f"the text does not list tools: {first.message}",
        {"code": first.code, "pointer": first.instance_location},
        faults,
    )


_PARTS = list[msgspec.Raw] | dict[str, msgspec.Raw] | str | int | float | bool | None
