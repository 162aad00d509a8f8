"""Subjects of protocol checks: messages, lists of tools, sampling histories, tool names.

They are the project's own. With the shared material, lists of tools of real servers and the
names of the corpus are added.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.subjects import REPOSITORY, compact_json, corpus_tools, shared_material

__all__ = ["Message", "sampling_histories", "stored_messages", "tool_lists", "tool_names"]

_FOLDER = REPOSITORY / "benchmarks"
_VERSION = "2025-11-25"
_CAPTURED = "captured"


@dataclass(frozen=True, slots=True)
class Message:
    """Protocol message with its context."""

    title: str
    #: "client" or "server".
    sender: str
    version: str
    #: Method of the request, for a response; otherwise "".
    request_method: str
    #: Compact JSON text.
    json: bytes


def stored_messages(kind: str) -> list[Message]:
    """Return the messages of a kind, "valid" or "invalid"."""
    return [
        Message(
            record["title"],
            record["sender"],
            record.get("version", _VERSION),
            record.get("answers", ""),
            compact_json(record["message"]),
        )
        for record in json.loads((_FOLDER / "messages.json").read_bytes())[kind]
    ]


def tool_lists(max_captured: int | None = None) -> list[Message]:
    """Return responses to ``tools/list``: the project's own, then those of real servers."""
    records = [json.loads(path.read_bytes()) for path in sorted((_FOLDER / "tools").glob("*.json"))]
    members = ("name", "description", "inputSchema")
    tools = [{member: record[member] for member in members} for record in records]
    lists = [_tool_list(f"own: {len(tools)} tools", tools)]
    folder = shared_material() / "mcp" / _CAPTURED
    for path in sorted(folder.glob("*.json"))[:max_captured]:
        pages = json.loads(path.read_bytes())["tools_list"]
        tools = [tool for page in pages for tool in page["result"]["tools"]]
        count = f"{len(tools)} tool{'s' if len(tools) > 1 else ''}"
        lists.append(_tool_list(f"{_CAPTURED}: {path.stem}, {count}", tools))
    return lists


def _tool_list(title: str, tools: list[dict[str, Any]]) -> Message:
    response = {"jsonrpc": "2.0", "id": 2, "result": {"tools": tools}}
    return Message(title, "server", _VERSION, "tools/list", compact_json(response))


def sampling_histories(lengths: tuple[int, ...]) -> Iterator[tuple[int, bytes]]:
    """Yield params of ``sampling/createMessage`` with histories of these lengths.

    A length is an even number of messages. Tool uses and their results alternate; the last
    message is a result.
    """
    for length in lengths:
        pairs = (_tool_use_and_result(index) for index in range(length // 2))
        params = {
            "messages": [message for pair in pairs for message in pair],
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
        yield length, compact_json(params)


def _tool_use_and_result(index: int) -> tuple[dict[str, Any], dict[str, Any]]:
    identifier = f"call_{index}"
    tool_use = {
        "type": "tool_use",
        "id": identifier,
        "name": "get_weather",
        "input": {"city": f"Town {index}", "days": 3},
    }
    text = {"type": "text", "text": f"18 degrees and light rain in town {index}"}
    tool_result = {"type": "tool_result", "toolUseId": identifier, "content": [text]}
    return (
        {"role": "assistant", "content": [tool_use]},
        {"role": "user", "content": [tool_result]},
    )


# Names

_VERBS = ("get", "list", "create", "update", "delete", "search", "read", "write", "run", "send")
_NOUNS = ("issue", "file", "event", "order", "branch", "message", "row", "page", "user", "job")
_FAULTS = (
    "{} of team",
    "{},old",
    "{}/now",
    "{}é",
    "-{}",
    "{}.",
    "{}:" + "x" * 128,
)


def tool_names(count: int) -> Iterator[tuple[str, list[str]]]:
    """Yield lists of *count* names, each with a title; those of the corpus if it is present."""
    plain = [
        f"{_VERBS[i % 10]}_{_NOUNS[i // 10 % 10]}_{i // 100}"
        if i >= 100
        else f"{_VERBS[i % 10]}_{_NOUNS[i // 10]}"
        for i in range(count)
    ]
    faulty = [_FAULTS[index % len(_FAULTS)].format(name) for index, name in enumerate(plain)]
    yield "nothing wrong", plain
    yield (
        "every tenth has a fault",
        [faulty[i] if i % 10 == 9 else name for i, name in enumerate(plain)],
    )
    yield "each has a fault", faulty
    corpus_names = list(dict.fromkeys(str(tool["name"]) for tool in corpus_tools()))[:count]
    if corpus_names:
        yield "corpus: different names", corpus_names
