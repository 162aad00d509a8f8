"""Definitions and payloads within the limits that take much processor time."""

import json
from typing import Any

__all__ = [
    "integers_tool",
    "json_text",
    "large_tool",
    "long_integers",
    "many_values_tool",
    "sampling_params",
    "tool",
    "wrapped_tool",
]


def json_text(value: Any) -> bytes:
    """Return *value* as JSON text."""
    return json.dumps(value).encode()


def tool(number: int, **schema: Any) -> dict[str, Any]:
    """Return a small definition, with the keywords *schema* in its input schema."""
    properties = {f"p{number}": {"type": "string", "maxLength": number + 1}}
    return {
        "name": f"tool_{number}",
        "description": "x",
        "inputSchema": {"type": "object", "properties": properties, **schema},
    }


def long_integers(count: int) -> bytes:
    """Return an array of *count* integers of about 4,200 digits."""
    return b"[" + b",".join(b"%d" % (number + 1) + b"7" * 4190 for number in range(count)) + b"]"


def large_tool(number: int) -> dict[str, Any]:
    """Return a definition of 400 KB, most of it text."""
    words = [f"w{number}_{index}" for index in range(14_000)]
    return tool(number, description="x" * 200_000, title=f"{words}"[:190_000])


def many_values_tool(number: int) -> dict[str, Any]:
    """Return a definition of 400 KB with 60,000 values."""
    return tool(number, examples=[[index, {"a": index}] for index in range(19_000)])


def integers_tool(number: int) -> bytes:
    """Return the text of a definition with a hundred long integers."""
    return json_text(tool(number))[:-2] + b',"examples":' + long_integers(100) + b"}}"


def sampling_params(messages: int, items: int, tools: int) -> bytes:
    """Return the params of a request for sampling with tools, calls and results."""
    return json_text(
        {
            "maxTokens": 10,
            "tools": [
                {
                    "name": f"t{n}",
                    "inputSchema": {"type": "object", "properties": {f"a{n}": {"type": "string"}}},
                }
                for n in range(tools)
            ],
            "messages": [
                message
                for n in range(messages // 2)
                for message in (
                    {
                        "role": "assistant",
                        "content": [
                            {
                                "type": "tool_use",
                                "id": f"i{n}_{k}",
                                "name": f"t{(n * items + k) % tools}",
                                "input": {f"a{(n * items + k) % tools}": "x"},
                            }
                            for k in range(items)
                        ],
                    },
                    {
                        "role": "user",
                        "content": [
                            {
                                "type": "tool_result",
                                "toolUseId": f"i{n}_{k}",
                                "content": [{"type": "text", "text": "x"}],
                            }
                            for k in range(items)
                        ],
                    },
                )
            ],
        }
    )


def wrapped_tool(number: int) -> dict[str, Any]:
    """Return a definition whose output is adapted to versions that require an object."""
    return {**tool(number), "outputSchema": {"type": "array", "items": {"type": "string"}}}
