"""What peers of the protocol say: real texts, which requests of ProtocolService are made of.

They come from the cases of the rules, and, where they are present, from the official
examples and from what real servers answered to ``tools/list``.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from support.shared_material import REPOSITORY

__all__ = ["Saying", "Sayings"]

_RULES = REPOSITORY / "tests" / "cases" / "rules"
_LONGEST = 30_000
"""Longer texts take a run too long to change."""


@dataclass(frozen=True, slots=True)
class Saying:
    """A text of one kind, and what is known around it."""

    #: Such as ``message`` or ``elicitation``: the names of cases of rules.
    kind: str
    text: bytes
    #: What `rule_cases` says of a case: version, sender, answers, request and so on.
    known: dict[str, Any] = field(default_factory=dict)


class Sayings:
    """A stock of them."""

    def __init__(self) -> None:
        self._kept: dict[str, list[Saying]] = {}
        for saying in (*_PLAIN, *_of_rules(), *_examples(), *_captured()):
            self._kept.setdefault(saying.kind, []).append(saying)

    def choose(self, random: Random, kind: str) -> Saying:
        """Return one of *kind*."""
        return random.choice(self._kept[kind])


_PLAIN = (
    Saying("tool", b'{"name": "t0", "inputSchema": {"type": "object"}}'),
    Saying("listing", b'{"tools": [{"name": "t0", "inputSchema": {"type": "object"}}]}'),
    Saying("elicitation", b'{"message": "?", "requestedSchema": {"type": "object"}}'),
    Saying("elicitation_result", b'{"action": "accept", "content": {"n": 1}}'),
    Saying("sampling", b'{"messages": [], "maxTokens": 1}'),
    Saying("tool_result", b'{"content": [{"type": "text", "text": "done"}]}'),
    Saying("message", b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'),
)
"""One of each kind, so that none is missing."""


def _of_rules() -> Iterator[Saying]:
    for path in sorted(_RULES.glob("*.json")):
        for case in json.loads(path.read_text()):
            (kind, value), *_ = case["check"].items()
            if kind == "session":
                for item in value:
                    known = {"version": case.get("version", ""), "sender": item["from"]}
                    yield Saying("message", json.dumps(item["message"]).encode(), known)
            else:
                text = case["text"] if "text" in case else json.dumps(value)
                yield Saying(kind, text.encode("utf-8", "surrogatepass"), case)


def _examples() -> Iterator[Saying]:
    root = _shared() / "mcp"
    for path in sorted(root.glob("*/examples/*/*.json")):
        kind = _KINDS.get(path.parent.name)
        if kind is None and path.parent.name.endswith(_MESSAGES):
            kind = "message"
        if kind is not None:
            yield Saying(kind, path.read_bytes(), {"version": path.parts[-4]})


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


def _captured() -> Iterator[Saying]:
    for path in sorted((_shared() / "mcp" / "captured").glob("*.json")):
        record = json.loads(path.read_text())
        text = json.dumps(record["tools_list"]).encode()
        if len(text) <= _LONGEST:
            yield Saying("listing", text)
            yield Saying("message", text, {"answers": "tools/list", "sender": "server"})
        yield Saying("message", json.dumps(record["initialize"]).encode())


def _shared() -> Path:
    return Path(os.environ.get("SIDECHECK_SHARED") or REPOSITORY.parent / "shared")
