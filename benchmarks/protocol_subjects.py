"""What is checked by the rules of the protocol: names, lists of tools, histories, messages.

All of it is the project's own, and there in every clone. Where the shared material is at
hand, lists of tools that real servers answered, and the names of the corpus, come too.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subjects import CORPUS, OWN, corpus_tools

__all__ = ["Given", "histories", "listings", "messages", "names", "text"]

_FOLDER = Path(__file__).resolve().parent
_MESSAGES = _FOLDER / "messages.json"
_VERSION = "2025-11-25"
_CAPTURED = "captured"


@dataclass(frozen=True, slots=True)
class Given:
    """One message, and what is known of it."""

    title: str
    #: "client" or "server".
    sender: str
    version: str
    #: The method that a response answers, or "".
    answers: str
    #: Its JSON text, as short as it can be written.
    json: bytes


def messages(kind: str) -> list[Given]:
    """Return the messages that are "valid", or those that are "invalid"."""
    return [
        Given(
            message["title"],
            message["sender"],
            message.get("version", _VERSION),
            message.get("answers", ""),
            text(message["message"]),
        )
        for message in json.loads(_MESSAGES.read_bytes())[kind]
    ]


def listings(most: int | None = None) -> list[Given]:
    """Return answers to ``tools/list``, the project's own first; so many of the others."""
    kept = [json.loads(path.read_bytes()) for path in sorted((_FOLDER / "tools").glob("*.json"))]
    tools = [{each: one[each] for each in ("name", "description", "inputSchema")} for one in kept]
    found = [_listing(f"{OWN}: {len(tools)} tools", tools)]
    root = Path(os.environ.get("SIDECHECK_SHARED") or _FOLDER.parent.parent / "shared")
    for path in sorted((root / "mcp" / _CAPTURED).glob("*.json"))[:most]:
        answers = json.loads(path.read_bytes())["tools_list"]
        known = [tool for answer in answers for tool in answer["result"]["tools"]]
        count = f"{len(known)} tool{'s' if len(known) > 1 else ''}"
        found.append(_listing(f"{_CAPTURED}: {path.stem}, {count}", known))
    return found


def _listing(title: str, tools: list[dict[str, Any]]) -> Given:
    answer = {"jsonrpc": "2.0", "id": 2, "result": {"tools": tools}}
    return Given(title, "server", _VERSION, "tools/list", text(answer))


def histories(lengths: tuple[int, ...]) -> Iterator[tuple[int, bytes]]:
    """Yield params of ``sampling/createMessage`` with histories of so many messages.

    Uses of tools and their results take turns, an even number of messages, the last a result.
    """
    for length in lengths:
        turns = (_turn(index) for index in range(length // 2))
        params = {
            "messages": [message for turn in turns for message in turn],
            "maxTokens": 1000,
            "systemPrompt": "You plan journeys.",
            "tools": [
                {
                    "name": "get_weather",
                    "description": "Tells the weather of a city",
                    "inputSchema": {
                        "type": "object",
                        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                        "required": ["city"],
                    },
                }
            ],
            "toolChoice": {"mode": "auto"},
        }
        yield length, text(params)


def _turn(index: int) -> tuple[dict[str, Any], dict[str, Any]]:
    use = f"call_{index}"
    asked = {
        "type": "tool_use",
        "id": use,
        "name": "get_weather",
        "input": {"city": f"Town {index}", "days": 3},
    }
    said = {"type": "text", "text": f"18 degrees and light rain in town {index}"}
    answered = {"type": "tool_result", "toolUseId": use, "content": [said]}
    return (
        {"role": "assistant", "content": [asked]},
        {"role": "user", "content": [answered]},
    )


# Names

_VERBS = ("get", "list", "create", "update", "delete", "search", "read", "write", "run", "send")
_NOUNS = ("issue", "file", "event", "order", "branch", "message", "row", "page", "user", "job")
_FAULTY = (
    "{} of team",
    "{},old",
    "{}/now",
    "{}é",
    "-{}",
    "{}.",
    "{}:" + "x" * 128,
)


def names(count: int) -> Iterator[tuple[str, list[str]]]:
    """Yield so many names at once, by what they are like; and those of the corpus, if at hand."""
    plain = [
        f"{_VERBS[i % 10]}_{_NOUNS[i // 10 % 10]}_{i // 100}"
        if i >= 100
        else f"{_VERBS[i % 10]}_{_NOUNS[i // 10]}"
        for i in range(count)
    ]
    faulty = [_FAULTY[index % len(_FAULTY)].format(name) for index, name in enumerate(plain)]
    yield "nothing wrong", plain
    yield (
        "every tenth has a fault",
        [faulty[i] if i % 10 == 9 else name for i, name in enumerate(plain)],
    )
    yield "each has a fault", faulty
    real = list(dict.fromkeys(str(tool["name"]) for tool in corpus_tools()))[:count]
    if real:
        yield f"{CORPUS}: different names", real


def text(value: Any) -> bytes:
    """Return *value* as JSON text, as short as it can be written."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
