"""Tools with a schema, and short forms of schemas."""

from collections.abc import Mapping
from typing import Any

__all__ = ["TEXT", "closed", "having", "listed", "nested", "tool_of"]

TEXT = {"type": "string"}

_WRAPPED: dict[str, Any] = {
    "openai-chat": lambda inner: {"type": "function", "function": inner},
    "openai-responses": lambda inner: {"type": "function", **inner},
    "bedrock": lambda inner: {"toolSpec": inner},
    "mistral": lambda inner: {"type": "function", "function": inner},
    "ollama": lambda inner: {"type": "function", "function": inner},
}
_SCHEMA = {"anthropic": "input_schema", "gemini-json": "parametersJsonSchema", "mcp": "inputSchema"}
_STRICT = ("openai-chat", "openai-responses", "anthropic", "bedrock", "mistral")


def tool_of(
    api: str, schema: Any, properties: Mapping[str, Any] | None = None, *, strict: bool = False
) -> dict[str, Any]:
    """Return a tool with *schema* in the shape of *api*; *properties* replace its properties."""
    inner: dict[str, Any] = {"name": "find", "description": "Finds."}
    if api == "bedrock":
        inner["inputSchema"] = {"json": schema}
    else:
        inner[_SCHEMA.get(api, "parameters")] = schema
    if api in _STRICT:
        inner["strict"] = strict
    wrapped: dict[str, Any] = _WRAPPED.get(api, lambda inner: inner)(
        {**inner, **(properties or {})}
    )
    return wrapped


def closed(**properties: Any) -> dict[str, Any]:
    """Return the schema of a closed object that requires all *properties*."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def having(**properties: Any) -> dict[str, Any]:
    """Return the schema of an open object with optional *properties*."""
    return {"type": "object", "properties": properties}


def listed(items: Any) -> dict[str, Any]:
    """Return the schema of an array of *items*."""
    return {"type": "array", "items": items}


def nested(levels: int) -> dict[str, Any]:
    """Return a closed object with *levels* nested objects."""
    schema = closed(a=TEXT)
    for _ in range(levels - 1):
        schema = closed(a=schema)
    return schema
