"""Tools that the server listed: calls and results are judged by their schemas."""

from dataclasses import dataclass
from typing import Any

import msgspec

from sidecheck_server.core.mcp.calls.results import NO_OUTPUT, owes_output
from sidecheck_server.core.mcp.messages import Kind
from sidecheck_server.core.mcp.rules.results import OUTPUT_MISSING
from sidecheck_server.core.mcp.rules.rule import Fault, Question
from sidecheck_server.core.mcp.sessions.memory import Kept, Key, Seen, Tell, key_of

__all__ = ["ListedTools"]

_MOST_BYTES = 8 << 20
"""How much text the schemas of the tools may have together."""

_MOST = 10_000
_ARGUMENTS = ("params", "arguments")
_RESULT = ("result",)
_CONTENT = ("result", "structuredContent")


@dataclass(frozen=True, slots=True)
class _Tool:
    input: Any
    #: None if it has none.
    output: Any


class ListedTools:
    """The schemas of the tools that were listed last, by name."""

    def __init__(self) -> None:
        self._tools: Kept[_Tool] = Kept(_MOST_BYTES)
        #: The names in calls that have no answer yet.
        self._called: Kept[Key] = Kept(_MOST)

    def see(self, seen: Seen, tell: Tell) -> None:
        """Remember tools that are listed, and ask whether calls and results fit them."""
        match (seen.message.method, seen.message.kind):
            case ("tools/list", Kind.RESULT):
                self._listed(seen.result.get("tools"))
            case ("notifications/tools/list_changed", Kind.NOTIFICATION):
                self._tools = Kept(_MOST_BYTES)
            case ("tools/call", Kind.REQUEST):
                self._call(seen, tell)
            case ("tools/call", Kind.RESULT):
                self._answer(seen, tell)

    def _listed(self, tools: Any) -> None:
        for tool in tools if isinstance(tools, list) else ():
            name = tool.get("name") if isinstance(tool, dict) else None
            if isinstance(name, str):
                kept = _Tool(tool.get("inputSchema"), tool.get("outputSchema"))
                weight = len(msgspec.json.encode((kept.input, kept.output)))
                self._tools.put(key_of(name), kept, weight)

    def _call(self, seen: Seen, tell: Tell) -> None:
        name = key_of(seen.params.get("name"))
        self._called.put(seen.key, name)
        tool = self._tools.get(name)
        arguments = seen.params.get("arguments", {})
        if tool is not None and isinstance(tool.input, dict) and isinstance(arguments, dict):
            at = _ARGUMENTS if "arguments" in seen.params else _ARGUMENTS[:1]
            tell.ask(Question(tool.input, (), (arguments,), at, silent=True))

    def _answer(self, seen: Seen, tell: Tell) -> None:
        name = self._called.pop(seen.key)
        tool = None if name is None else self._tools.get(name)
        if tool is None or tool.output is None or "task" in seen.result:
            return
        if not owes_output(seen.result, seen.version):
            return
        if "structuredContent" not in seen.result:
            tell(OUTPUT_MISSING, Fault(_RESULT, NO_OUTPUT))
        elif isinstance(tool.output, dict):
            value = (seen.result["structuredContent"],)
            tell.ask(Question(tool.output, (), value, _CONTENT, silent=True))
