"""Validates calls and results against the schemas of the tools that the server listed."""

from dataclasses import dataclass
from typing import Any

import msgspec

from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.results.check import MISSING_OUTPUT_MESSAGE, requires_output
from sidecheck_server.core.mcp.rules.rule import DeferredCheck, Fault
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

__all__ = ["ListedTools"]

_MAX_BYTES = 8 << 20
"""Total weight of the stored tools."""

_TOOL_BYTES = 512
"""Weight of a tool beside its schemas."""

_MAX_TOOLS = 5000
"""Number of tools of one result that are stored."""

_MAX_CALLS = 10_000
_ANY_OUTPUT_SINCE = "2026-07-28"
"""First version whose output schemas may have any type at their root."""
_ARGUMENTS = ("params", "arguments")
_RESULT = ("result",)
_CONTENT = ("result", "structuredContent")


@dataclass(frozen=True, slots=True)
class _Tool:
    #: As texts, which take a twentieth of the memory of decoded values. None if the
    #: schema is not an object.
    input: msgspec.Raw | None
    output: msgspec.Raw | None
    #: Whether its results need structured content, whatever its output schema is.
    has_output: bool
    weight: int


class ListedTools:
    """Schemas of the tools that were listed last, by name."""

    methods: frozenset[str] | None = frozenset(
        {"tools/list", "notifications/tools/list_changed", "tools/call"}
    )

    def __init__(self, memory: SessionMemory, *, validates_payloads: bool = True) -> None:
        self._validates_payloads = validates_payloads
        self._tools: BoundedStore[_Tool] = BoundedStore(_MAX_BYTES, memory)
        #: Keys of the tools' names, by the keys of calls without a response.
        self._called: BoundedStore[Key] = BoundedStore(_MAX_CALLS, memory)

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Store listed tools, and defer the validation of calls and results."""
        match (current.message.method, current.message.kind):
            case ("tools/list", Kind.RESULT):
                self._store(current)
            case ("notifications/tools/list_changed", Kind.NOTIFICATION):
                self._tools.clear()
                self._tools.forgot = False
            case ("tools/call", Kind.REQUEST):
                self._check_call(current, report)
            case ("tools/call", Kind.RESULT):
                self._check_result(current, report)

    def _store(self, current: SessionMessage) -> None:
        tools = current.result.get("tools")
        names: set[str] = set()
        for tool in tools[:_MAX_TOOLS] if isinstance(tools, list) else ():
            name = tool.get("name") if isinstance(tool, dict) else None
            if isinstance(name, str) and name in names:
                # A call by this name may be of either tool.
                self._tools.pop(key_of(name))
            elif isinstance(name, str):
                names.add(name)
                entry = _tool(tool.get("inputSchema"), tool.get("outputSchema"), current.version)
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


def _tool(input_: Any, output: Any, version: str) -> _Tool:
    has_output = output is not None
    # Schemas that the version does not allow are reported, and nothing is held against them.
    input_ = input_ if _is_of_objects(input_) else None
    output = output if version >= _ANY_OUTPUT_SINCE or _is_of_objects(output) else None
    texts = [encode_compact(schema) for schema in (input_, output) if isinstance(schema, dict)]
    raws = iter([msgspec.Raw(text) for text in texts])
    return _Tool(
        next(raws) if isinstance(input_, dict) else None,
        next(raws) if isinstance(output, dict) else None,
        has_output=has_output,
        weight=_TOOL_BYTES + sum(map(len, texts)),
    )


def _is_of_objects(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type", "object") == "object"
