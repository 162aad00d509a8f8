"""Rules on lists: pages, order, and uses of listed tools and prompts."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import msgspec

from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.results.check import MISSING_OUTPUT_MESSAGE, requires_output
from sidecheck_server.core.mcp.rules.features import PROMPT_ARGUMENT_MISSING, TOOLS_ORDER_CHANGED
from sidecheck_server.core.mcp.rules.names import NO_DUPLICATES
from sidecheck_server.core.mcp.rules.rule import DeferredCheck, Fault
from sidecheck_server.core.mcp.rules.sessions import (
    CURSOR_UNKNOWN,
    CURSOR_UNSEEN,
    PAGE_CACHE_SCOPE,
)
from sidecheck_server.core.mcp.rules.tools import OUTPUT_MISSING
from sidecheck_server.core.mcp.sessions.memory import (
    BoundedStore,
    Key,
    Reporter,
    SessionMemory,
    SessionMessage,
    encode_compact,
    key_of,
)
from sidecheck_server.core.payload import encode_sorted

__all__ = ["ListedPrompts", "ListedTools", "PageNames", "Pages", "ToolsOrder"]

_MAX_TOOL_BYTES = 8 << 20
"""Total weight of the stored tools."""

_TOOL_BYTES = 512
"""Weight of a tool without its schemas."""

_MAX_STORED_TOOLS = 5000
"""Number of tools of one result that are stored."""

_MAX_CALLS = 10_000
_ANY_OUTPUT_SINCE = "2026-07-28"
"""First version whose output schemas may have any type at their root."""
_ARGUMENTS = ("params", "arguments")
_RESULT = ("result",)
_CONTENT = ("result", "structuredContent")


@dataclass(frozen=True, slots=True)
class _Tool:
    #: JSON texts of the schemas, which take a twentieth of the memory of decoded values.
    #: None if results or arguments cannot be validated against the schema.
    input: msgspec.Raw | None
    output: msgspec.Raw | None
    #: Whether its results need structured content: it has an output schema, valid or not.
    has_output: bool
    weight: int


class ListedTools:
    """Schemas of the listed tools, by name; the last definition of a name counts."""

    methods: frozenset[str] | None = frozenset(
        {"tools/list", "notifications/tools/list_changed", "tools/call"}
    )

    def __init__(self, memory: SessionMemory, *, validates_payloads: bool = True) -> None:
        self._validates_payloads = validates_payloads
        self._tools: BoundedStore[_Tool] = BoundedStore(_MAX_TOOL_BYTES, memory)
        #: Keys of the tools' names, by the keys of calls without a response.
        self._called: BoundedStore[Key] = BoundedStore(_MAX_CALLS, memory)

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Store listed tools, and defer the validation of calls and results."""
        match (current.message.method, current.message.kind):
            case ("tools/list", Kind.RESULT):
                self._store(current)
            case ("notifications/tools/list_changed", Kind.NOTIFICATION):
                self._tools.clear()
                self._tools.has_evicted = False
            case ("tools/call", Kind.REQUEST):
                self._check_call(current, report)
            case ("tools/call", Kind.RESULT):
                self._check_result(current, report)

    def _store(self, current: SessionMessage) -> None:
        tools = current.result.get("tools")
        names: set[str] = set()
        for tool in tools[:_MAX_STORED_TOOLS] if isinstance(tools, list) else ():
            name = tool.get("name") if isinstance(tool, dict) else None
            if isinstance(name, str) and name in names:
                # A call by this name may mean either tool.
                self._tools.pop(key_of(name))
            elif isinstance(name, str):
                names.add(name)
                entry = _read_tool(
                    tool.get("inputSchema"), tool.get("outputSchema"), current.version
                )
                self._tools.put(key_of(name), entry, entry.weight)

    def _check_call(self, current: SessionMessage, report: Reporter) -> None:
        name = key_of(current.params.get("name"))
        self._called.put(current.key, name)
        tool = self._tools.get(name)
        arguments = current.params.get("arguments", {})
        if not self._validates_payloads or tool is None or tool.input is None:
            return
        if isinstance(arguments, dict):
            path = _ARGUMENTS if "arguments" in current.params else _ARGUMENTS[:1]
            report.defer(DeferredCheck(tool.input, (), (arguments,), path, silent=True))

    def _check_result(self, current: SessionMessage, report: Reporter) -> None:
        name = self._called.pop(current.key)
        tool = None if name is None else self._tools.get(name)
        if tool is None or not tool.has_output or "task" in current.result:
            return
        if not requires_output(current.result, current.version):
            return
        if "structuredContent" not in current.result:
            report(OUTPUT_MISSING, Fault(_RESULT, MISSING_OUTPUT_MESSAGE))
        elif (
            self._validates_payloads
            and tool.output is not None
            and (
                current.version >= _ANY_OUTPUT_SINCE
                or isinstance(current.result["structuredContent"], dict)
            )
        ):
            value = (current.result["structuredContent"],)
            report.defer(DeferredCheck(tool.output, (), value, _CONTENT, silent=True))


def _read_tool(input_schema: Any, output_schema: Any, version: str) -> _Tool:
    has_output = output_schema is not None
    # The check of the list reports schemas that the version forbids; they validate nothing.
    input_schema = input_schema if _describes_object(input_schema) else None
    output_schema = (
        output_schema if version >= _ANY_OUTPUT_SINCE or _describes_object(output_schema) else None
    )
    input_text, output_text = (
        encode_compact(schema) if isinstance(schema, dict) else b""
        for schema in (input_schema, output_schema)
    )
    return _Tool(
        msgspec.Raw(input_text) if input_text else None,
        msgspec.Raw(output_text) if output_text else None,
        has_output=has_output,
        weight=_TOOL_BYTES + len(input_text) + len(output_text),
    )


def _describes_object(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type", "object") == "object"


_MAX_PROMPT_BYTES = 1 << 20
"""Total weight of the stored prompts."""

_NAME_BYTES = 64
"""Weight of a name without its characters, each of which may take four bytes."""

_MAX_PROMPTS = 5000
"""Number of prompts of one result that are stored."""

_MAX_ARGUMENTS = 100
"""Number of required arguments of one prompt that are stored."""


class ListedPrompts:
    """Required arguments of the listed prompts, by name of the prompt."""

    methods: frozenset[str] | None = frozenset(
        {"prompts/list", "notifications/prompts/list_changed", "prompts/get"}
    )

    def __init__(self, memory: SessionMemory) -> None:
        self._required: BoundedStore[tuple[str, ...]] = BoundedStore(_MAX_PROMPT_BYTES, memory)

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Store listed prompts, and check requests for prompts."""
        match (current.message.method, current.message.kind):
            case ("prompts/list", Kind.RESULT):
                self._store(current.result.get("prompts"))
            case ("notifications/prompts/list_changed", Kind.NOTIFICATION):
                self._required.clear()
            case ("prompts/get", Kind.REQUEST):
                self._check(current.params, report)

    def _store(self, prompts: Any) -> None:
        for prompt in prompts[:_MAX_PROMPTS] if isinstance(prompts, list) else ():
            name = prompt.get("name") if isinstance(prompt, dict) else None
            if isinstance(name, str):
                required = _list_required_arguments(prompt.get("arguments"))
                weight = sum(_NAME_BYTES + 4 * len(argument) for argument in required)
                self._required.put(key_of(name), required, 1 + weight)

    def _check(self, params: dict[str, Any], report: Reporter) -> None:
        required = self._required.get(key_of(params.get("name")))
        arguments = params.get("arguments", {})
        if not required or not isinstance(arguments, dict):
            return
        missing_names = [name for name in required if name not in arguments]
        if missing_names:
            names = ", ".join(repr(name[:64]) for name in missing_names[:5])
            path = ("params", "arguments") if "arguments" in params else ("params",)
            message = f"missing arguments that prompts/list declares as required: {names}"
            report(PROMPT_ARGUMENT_MISSING, Fault(path, message))


def _list_required_arguments(arguments: Any) -> tuple[str, ...]:
    """Return the names of the required arguments that a prompt declares."""
    names = (
        argument.get("name")
        for argument in (arguments[:_MAX_ARGUMENTS] if isinstance(arguments, list) else ())
        if isinstance(argument, dict) and argument.get("required") is True
    )
    return tuple(name for name in names if isinstance(name, str))


_MAX_REQUESTS = 10_000
_MAX_NAMES = 10_000
_MAX_TOOLS_OF_PAGE = 5000
"""Number of tools of one page whose names are checked."""

_FIRST_PAGE = key_of(None)


class PageNames:
    """Page of each tool name in the current listing, which the first page begins."""

    methods: frozenset[str] | None = frozenset({"tools/list", "notifications/tools/list_changed"})

    def __init__(self, memory: SessionMemory) -> None:
        #: Cursors of requests without a response.
        self._requested: BoundedStore[Key] = BoundedStore(_MAX_REQUESTS, memory)
        self._pages: BoundedStore[Key] = BoundedStore(_MAX_NAMES, memory)

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Report names of tools that another page has too."""
        match (current.message.method, current.message.kind):
            case ("tools/list", Kind.REQUEST):
                cursor = current.params.get("cursor")
                page = key_of(cursor) if isinstance(cursor, str) else _FIRST_PAGE
                self._requested.put(current.key, page)
            case ("tools/list", Kind.RESULT):
                requested_page = self._requested.pop(current.key)
                if requested_page is not None:
                    self._check_page(current, requested_page, report)
            case ("notifications/tools/list_changed", Kind.NOTIFICATION):
                self._pages.clear()

    def _check_page(self, current: SessionMessage, page: Key, report: Reporter) -> None:
        if page == _FIRST_PAGE:
            self._pages.clear()
        tools = current.result.get("tools")
        for index, tool in enumerate(tools[:_MAX_TOOLS_OF_PAGE] if isinstance(tools, list) else ()):
            name = tool.get("name") if isinstance(tool, dict) else None
            if not isinstance(name, str):
                continue
            key = key_of(name)
            # The client may request the same page again.
            if self._pages.get(key) not in {None, page}:
                message = "names of tools should be unique; another page of the list has this name"
                report(NO_DUPLICATES, Fault(("result", "tools", index, "name"), message))
            else:
                self._pages.put(key, page)


_MAX_LISTS = 1000
_MAX_ORDERED_TOOLS = 1000
"""Largest number of tools of a list whose order is checked."""


class ToolsOrder:
    """Order of the last list of tools that was complete on one page."""

    methods: frozenset[str] | None = frozenset({"tools/list", "notifications/tools/list_changed"})

    def __init__(self, memory: SessionMemory) -> None:
        #: Requests without a cursor and without a response.
        self._requested: BoundedStore[bool] = BoundedStore(_MAX_LISTS, memory)
        #: Digests of the sorted and of the ordered definitions; None if unknown.
        self._last: tuple[bytes, bytes] | None = None

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Compare a list of tools with the last one."""
        if not TOOLS_ORDER_CHANGED.holds_in(current.version):
            return
        match (current.message.method, current.message.kind):
            case ("tools/list", Kind.REQUEST):
                self._requested.pop(current.key)
                if "cursor" not in current.params:
                    self._requested.put(current.key, value=True)
            case ("tools/list", Kind.RESULT):
                if self._requested.pop(current.key) and "nextCursor" not in current.result:
                    tools = None if current.has_long_integers else current.result.get("tools")
                    self._compare(tools, report)
            case ("notifications/tools/list_changed", Kind.NOTIFICATION):
                # The server may have removed tools and added them again.
                self._last = None

    def _compare(self, tools: Any, report: Reporter) -> None:
        previous_digests, self._last = self._last, None
        if not isinstance(tools, list) or len(tools) > _MAX_ORDERED_TOOLS:
            return
        digests = [_digest(encode_sorted(tool)) for tool in tools]
        self._last = (_digest(b"".join(sorted(digests))), _digest(b"".join(digests)))
        if (
            previous_digests is not None
            and previous_digests[0] == self._last[0]
            and previous_digests != self._last
        ):
            message = "expected the order of the previous list, which has the same tools"
            report(TOOLS_ORDER_CHANGED, Fault(("result", "tools"), message))


def _digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=16).digest()


_MAX_CURSORS = 10_000
_CACHE_SCOPES = frozenset({"public", "private"})
_LIST_METHODS = frozenset(
    {"tools/list", "prompts/list", "resources/list", "resources/templates/list", "tasks/list"}
)


class Pages:
    """Cursors that the server issued, with the cache scopes of their pages."""

    methods: frozenset[str] | None = _LIST_METHODS

    def __init__(self, memory: SessionMemory) -> None:
        self._issued: BoundedStore[object] = BoundedStore(_MAX_CURSORS, memory)
        #: Cursors of requests without a response.
        self._requested: BoundedStore[Key] = BoundedStore(_MAX_CURSORS, memory)

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Store the cursor of a result, and check the cursor of a request."""
        method = current.message.method
        if current.message.kind is Kind.REQUEST:
            cursor = current.params.get("cursor")
            if not isinstance(cursor, str):
                return
            key = _make_cursor_key(method, cursor)
            if key not in self._issued and not self._issued.has_evicted:
                message = f"unknown cursor: no result of {method} in this session has it"
                # Each version has one of the two rules; the reporter ignores the other.
                for rule in (CURSOR_UNKNOWN, CURSOR_UNSEEN):
                    report(rule, Fault(("params", "cursor"), message))
            self._requested.put(_make_request_key(current), key)
        elif current.message.kind is Kind.RESULT:
            self._check_page(current, method, report)

    def _check_page(self, current: SessionMessage, method: str, report: Reporter) -> None:
        scope = current.result.get("cacheScope")
        key = self._requested.pop(_make_request_key(current))
        previous = None if key is None else self._issued.get(key)
        if isinstance(previous, str) and isinstance(scope, str) and scope != previous:
            message = f"expected the cacheScope of the previous page, {previous[:16]!r}"
            report(PAGE_CACHE_SCOPE, Fault(("result", "cacheScope"), message))
        cursor = current.result.get("nextCursor")
        if isinstance(cursor, str):
            # The scope may be any JSON value, hashable or not.
            cache_scope = scope if isinstance(scope, str) and scope in _CACHE_SCOPES else None
            self._issued.put(_make_cursor_key(method, cursor), cache_scope)


def _make_cursor_key(method: str, cursor: str) -> Key:
    return (method, key_of(cursor))


def _make_request_key(current: SessionMessage) -> Key:
    return ("request", current.key)
