"""Tools that the server listed: calls and results are judged by their schemas."""

from dataclasses import dataclass
from typing import Any

import msgspec

from sidecheck_server.core.mcp.calls.results import NO_OUTPUT, owes_output
from sidecheck_server.core.mcp.messages import Kind
from sidecheck_server.core.mcp.rules.results import OUTPUT_MISSING
from sidecheck_server.core.mcp.rules.rule import DeferredCheck, Fault
from sidecheck_server.core.mcp.sessions.memory import BoundedStore, Key, Seen, Tell, key_of

__all__ = ["ListedTools"]

_MOST_BYTES = 8 << 20
"""How much text the schemas of the tools may have together."""

_WEIGHT = 512
"""What a tool weighs beside its schemas, in bytes."""

_MOST_LISTED = 5000
"""How many tools of one answer are remembered."""

_MOST = 10_000
_ARGUMENTS = ("params", "arguments")
_RESULT = ("result",)
_CONTENT = ("result", "structuredContent")


@dataclass(frozen=True, slots=True)
class _Tool:
    #: As texts, which take a twentieth of the memory of their values. None stands for
    #: what is no object.
    input: msgspec.Raw | None
    output: msgspec.Raw | None
    #: Whether its results owe structured content, whatever the schema of that may be.
    owes: bool
    weight: int


class ListedTools:
    """The schemas of the tools that were listed last, by name."""

    def __init__(self) -> None:
        self._tools: BoundedStore[_Tool] = BoundedStore(_MOST_BYTES)
        #: The names in calls that have no answer yet.
        self._called: BoundedStore[Key] = BoundedStore(_MOST)

    def see(self, seen: Seen, tell: Tell) -> None:
        """Remember tools that are listed, and ask whether calls and results fit them."""
        match (seen.message.method, seen.message.kind):
            case ("tools/list", Kind.RESULT):
                self._listed(seen.result.get("tools"))
            case ("notifications/tools/list_changed", Kind.NOTIFICATION):
                self._tools = BoundedStore(_MOST_BYTES)
            case ("tools/call", Kind.REQUEST):
                self._call(seen, tell)
            case ("tools/call", Kind.RESULT):
                self._answer(seen, tell)

    def _listed(self, tools: Any) -> None:
        for tool in tools[:_MOST_LISTED] if isinstance(tools, list) else ():
            name = tool.get("name") if isinstance(tool, dict) else None
            if isinstance(name, str):
                kept = _tool(tool.get("inputSchema"), tool.get("outputSchema"))
                self._tools.put(key_of(name), kept, kept.weight)

    def _call(self, seen: Seen, tell: Tell) -> None:
        name = key_of(seen.params.get("name"))
        self._called.put(seen.key, name)
        tool = self._tools.get(name)
        arguments = seen.params.get("arguments", {})
        if tool is not None and tool.input is not None and isinstance(arguments, dict):
            at = _ARGUMENTS if "arguments" in seen.params else _ARGUMENTS[:1]
            tell.ask(DeferredCheck(tool.input, (), (arguments,), at, silent=True))

    def _answer(self, seen: Seen, tell: Tell) -> None:
        name = self._called.pop(seen.key)
        tool = None if name is None else self._tools.get(name)
        if tool is None or not tool.owes or "task" in seen.result:
            return
        if not owes_output(seen.result, seen.version):
            return
        if "structuredContent" not in seen.result:
            tell(OUTPUT_MISSING, Fault(_RESULT, NO_OUTPUT))
        elif tool.output is not None:
            value = (seen.result["structuredContent"],)
            tell.ask(DeferredCheck(tool.output, (), value, _CONTENT, silent=True))


def _tool(input_: Any, output: Any) -> _Tool:
    texts = [msgspec.json.encode(each) for each in (input_, output) if isinstance(each, dict)]
    raws = iter([msgspec.Raw(text) for text in texts])
    return _Tool(
        next(raws) if isinstance(input_, dict) else None,
        next(raws) if isinstance(output, dict) else None,
        owes=output is not None,
        weight=_WEIGHT + sum(map(len, texts)),
    )
