"""The chain that a tool passes, from its check to the results of its calls.

A link is one part of Sidecheck. `walk` passes a tool from link to link and raises
`AssertionError` at the first that refuses what an earlier one made.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from conversions.encoding import encodings

__all__ = ["APIS", "Converted", "Links", "Tool", "walk"]

APIS = (
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "gemini-json",
    "bedrock",
    "mistral",
    "ollama",
    "mcp",
)


@dataclass(frozen=True, slots=True)
class Tool:
    """A definition, valid arguments, and a return value if one is known, as JSON texts."""

    name: str
    json: bytes
    arguments: bytes
    returned: bytes | None


@dataclass(frozen=True, slots=True)
class Converted:
    """A tool in the format of an API."""

    name: str
    mapping: bytes


class Links(Protocol):
    """Parts of Sidecheck, in process or over the wire.

    Each method raises, or returns a list of faults.
    """

    async def check(self, tools: Sequence[bytes], version: str) -> list[Any]:
        """Check canonical definitions."""

    async def check_listed(self, tools: Sequence[bytes], version: str) -> list[Any]:
        """Check definitions as a server lists them."""

    async def register(self, tools: Sequence[bytes], server: str, version: str) -> list[Any]:
        """Register definitions."""

    async def list_tools(self, server: str) -> dict[str, bytes]:
        """Return the registered definitions by name."""

    async def adapt(self, tool: bytes, version: str) -> bytes:
        """Return a definition in the form for *version*."""

    async def validate(self, server: str, name: str, arguments: bytes) -> list[Any]:
        """Validate the arguments of a registered tool."""

    async def normalize(self, server: str, name: str, value: bytes) -> tuple[bytes, list[Any]]:
        """Return the result for a return value of a registered tool."""

    async def validate_result(self, server: str, name: str, result: bytes) -> list[Any]:
        """Validate a result of a registered tool."""

    async def validate_inline(self, tool: bytes, result: bytes, version: str) -> list[Any]:
        """Validate a result of a tool that is sent along."""

    async def convert(self, server: str, name: str, api: str, mode: str) -> Converted | None:
        """Convert a registered tool; None if the API cannot have it in that mode."""

    async def convert_call(self, call: bytes, mapping: bytes) -> tuple[Any, list[Any]]:
        """Return the params of a model's call."""


async def walk(tools: Sequence[Tool], links: Links, server: str, version: str) -> int:
    """Pass *tools* through all links under *version*; return how many results were made."""
    texts = [tool.json for tool in tools]
    assert [] == await links.check(texts, version)
    assert [] == await links.register(texts, server, version)
    registered = await links.list_tools(server)
    assert {tool.name for tool in tools} == registered.keys()
    adapted = {name: await links.adapt(text, version) for name, text in registered.items()}
    assert [] == await links.check_listed(list(adapted.values()), version)
    results = 0
    for number, tool in enumerate(tools):
        assert [] == await links.validate(server, tool.name, tool.arguments), tool
        if tool.returned is not None:
            result, violations = await links.normalize(server, tool.name, tool.returned)
            assert [] == violations, (tool, version)
            assert [] == await links.validate_result(server, tool.name, result), (tool, result)
            for definition in (registered[tool.name], adapted[tool.name]):
                violations = await links.validate_inline(definition, result, version)
                assert [] == violations, (tool, result)
            results += 1
        api = APIS[number % len(APIS)]
        for mode in ("compatible", "strict-if-lossless"):
            await _convert_and_back(tool, links, server, api, mode)
    return results


async def _convert_and_back(tool: Tool, links: Links, server: str, api: str, mode: str) -> None:
    converted = await links.convert(server, tool.name, api, mode)
    if converted is None:
        return
    decoder = json.loads(converted.mapping).get("decoder")
    sent = next(encodings(json.loads(tool.arguments), decoder))
    call = json.dumps(_call(api, converted.name, sent)).encode()
    params, violations = await links.convert_call(call, converted.mapping)
    assert [] == violations, (tool, api, mode)
    assert tool.name == params["name"]
    assert [] == await links.validate(server, tool.name, json.dumps(params["arguments"]).encode())


def _call(api: str, name: str, arguments: Any) -> Any:
    """Return the call that *api* returns for a tool."""
    text = json.dumps(arguments)
    match api:
        case "openai-chat" | "mistral":
            return {
                "id": "c1",
                "type": "function",
                "function": {"name": name, "arguments": text},
            }
        case "openai-responses":
            return {"type": "function_call", "call_id": "c1", "name": name, "arguments": text}
        case "anthropic":
            return {"type": "tool_use", "id": "c1", "name": name, "input": arguments}
        case "gemini" | "gemini-json":
            return {"functionCall": {"name": name, "args": arguments}}
        case "mcp":
            return {"name": name, "arguments": arguments}
        case "bedrock":
            return {"toolUse": {"toolUseId": "c1", "name": name, "input": arguments}}
        case _:
            return {"function": {"name": name, "arguments": arguments}}
