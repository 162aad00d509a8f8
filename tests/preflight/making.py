"""Tools around schemas, for what is to be checked."""

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
_SCHEMA = {"anthropic": "input_schema", "gemini-json": "parametersJsonSchema"}
_STRICT = ("openai-chat", "openai-responses", "anthropic", "bedrock", "mistral")


def tool_of(
    api: str, schema: Any, members: Mapping[str, Any] | None = None, *, strict: bool = False
) -> dict[str, Any]:
    """Return a tool with *schema* in the form of *api*; *members* replace those it has."""
    inner: dict[str, Any] = {"name": "find", "description": "Finds."}
    if api == "bedrock":
        inner["inputSchema"] = {"json": schema}
    else:
        inner[_SCHEMA.get(api, "parameters")] = schema
    if api in _STRICT:
        inner["strict"] = strict
    wrapped: dict[str, Any] = _WRAPPED.get(api, lambda each: each)({**inner, **(members or {})})
    return wrapped


def closed(**members: Any) -> dict[str, Any]:
    """Return the schema of an object that has all of *members* and no others."""
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


def having(**members: Any) -> dict[str, Any]:
    """Return the schema of an object that may have *members* and others."""
    return {"type": "object", "properties": members}


def listed(items: Any) -> dict[str, Any]:
    """Return the schema of an array of *items*."""
    return {"type": "array", "items": items}


def nested(levels: int) -> dict[str, Any]:
    """Return a closed object with so many objects on the way down."""
    schema = closed(a=TEXT)
    for _ in range(levels - 1):
        schema = closed(a=schema)
    return schema
