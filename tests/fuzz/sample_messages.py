"""Messages and other texts of the protocol, for requests of ProtocolService.

The sources are the cases of the rules, and, if present, the official examples and recorded
answers of real servers to ``tools/list``.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from support.shared_material import REPOSITORY

__all__ = ["SampleText", "SampleTexts"]

_RULES = REPOSITORY / "tests" / "cases" / "rules"
_LONGEST = 30_000
"""Maximum bytes of a text; changes of longer texts are slow."""


@dataclass(frozen=True, slots=True)
class SampleText:
    """A text of one kind with its context."""

    #: The name of a check in the cases of rules, such as ``message`` or ``elicitation``.
    kind: str
    text: bytes
    #: The other fields of a case in `rule_cases`: version, sender, answers, request and so on.
    known: dict[str, Any] = field(default_factory=dict)


class SampleTexts:
    """Stock of texts by kind."""

    def __init__(self) -> None:
        self._kept: dict[str, list[SampleText]] = {}
        for sample_text in (*_PLAIN, *_of_rules(), *_examples(), *_captured()):
            self._kept.setdefault(sample_text.kind, []).append(sample_text)

    def choose(self, random: Random, kind: str) -> SampleText:
        """Return a text of *kind*."""
        return random.choice(self._kept[kind])


_PLAIN = (
    SampleText("tool", b'{"name": "t0", "inputSchema": {"type": "object"}}'),
    SampleText("listing", b'{"tools": [{"name": "t0", "inputSchema": {"type": "object"}}]}'),
    SampleText("elicitation", b'{"message": "?", "requestedSchema": {"type": "object"}}'),
    SampleText("elicitation_result", b'{"action": "accept", "content": {"n": 1}}'),
    SampleText("sampling", b'{"messages": [], "maxTokens": 1}'),
    SampleText("tool_result", b'{"content": [{"type": "text", "text": "done"}]}'),
    SampleText("message", b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'),
)
"""A text of each kind, for kinds without other sources."""


def _of_rules() -> Iterator[SampleText]:
    for path in sorted(_RULES.glob("*.json")):
        for case in json.loads(path.read_text()):
            (kind, value), *_ = case["check"].items()
            if kind == "session":
                for item in value:
                    known = {"version": case.get("version", ""), "sender": item["from"]}
                    yield SampleText("message", json.dumps(item["message"]).encode(), known)
            else:
                text = case["text"] if "text" in case else json.dumps(value)
                yield SampleText(kind, text.encode("utf-8", "surrogatepass"), case)


def _examples() -> Iterator[SampleText]:
    root = _shared() / "mcp"
    for path in sorted(root.glob("*/examples/*/*.json")):
        kind = _KINDS.get(path.parent.name)
        if kind is None and path.parent.name.endswith(_MESSAGES):
            kind = "message"
        if kind is not None:
            yield SampleText(kind, path.read_bytes(), {"version": path.parts[-4]})


_KINDS = {
    "Tool": "tool",
    "ListToolsResult": "listing",
    "ElicitRequestFormParams": "elicitation",
    "ElicitRequestURLParams": "elicitation",
    "ElicitResult": "elicitation_result",
    "CreateMessageRequestParams": "sampling",
    "CallToolResult": "tool_result",
}
_MESSAGES = ("Request", "Notification", "Response", "Error")


def _captured() -> Iterator[SampleText]:
    for path in sorted((_shared() / "mcp" / "captured").glob("*.json")):
        record = json.loads(path.read_text())
        text = json.dumps(record["tools_list"]).encode()
        if len(text) <= _LONGEST:
            yield SampleText("listing", text)
            yield SampleText("message", text, {"answers": "tools/list", "sender": "server"})
        yield SampleText("message", json.dumps(record["initialize"]).encode())


def _shared() -> Path:
    return Path(os.environ.get("SIDECHECK_SHARED") or REPOSITORY.parent / "shared")
