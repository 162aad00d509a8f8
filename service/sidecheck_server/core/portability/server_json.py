"""The file `server.json` of the MCP registry, and its requirements.

Source: https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json, read on
2026-11-28. The requirements stand here in our own schema, which needs no network.
"""

from functools import cache
from typing import Any

from sidecheck_server.core.compiler.compilation import CompiledSchema, compile_schema
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.payload import encode_json
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Verdict

__all__ = ["check_server_json", "is_server_json"]

_TEXT: dict[str, Any] = {"type": "string"}
_URI = {"type": "string", "format": "uri"}
# A URL, or a template whose first variable stands for its beginning.
_URL_TEMPLATE = {
    "type": "string",
    "pattern": "^(https?://[^\\s]+|\\{[a-zA-Z_][a-zA-Z0-9_]*\\}[^\\s]*)$",
}


def _list_of(name: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": f"#/$defs/{name}"}}


def _object(required: tuple[str, ...] = (), /, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


_INPUT = {
    "choices": {"type": "array", "items": _TEXT},
    "default": _TEXT,
    "description": _TEXT,
    "format": {"enum": ["string", "number", "boolean", "filepath"]},
    "isRequired": {"type": "boolean"},
    "isSecret": {"type": "boolean"},
    "placeholder": _TEXT,
    "value": _TEXT,
}
_VARIABLES = {"variables": {"type": "object", "additionalProperties": {"$ref": "#/$defs/input"}}}
_HTTP = {"url": _URL_TEMPLATE, "headers": _list_of("key_value")}

_SCHEMA = {
    **_object(
        ("name", "description", "version"),
        name={
            "type": "string",
            "minLength": 3,
            "maxLength": 200,
            "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$",
        },
        title={"type": "string", "minLength": 1, "maxLength": 100},
        description={"type": "string", "minLength": 1, "maxLength": 100},
        version={"type": "string", "maxLength": 255},
        websiteUrl=_URI,
        repository=_object(("url", "source"), url=_URI, source=_TEXT, subfolder=_TEXT, id=_TEXT),
        icons=_list_of("icon"),
        packages=_list_of("package"),
        remotes=_list_of("remote"),
        _meta={"type": "object"},
    ),
    "$defs": {
        "input": _object(**_INPUT),
        "key_value": _object(("name",), name=_TEXT, **_INPUT, **_VARIABLES),
        "argument": {
            **_object(("type",), type={"enum": ["named", "positional"]}, **_INPUT, **_VARIABLES),
            "if": {"properties": {"type": {"const": "named"}}},
            "then": {"required": ["name"], "properties": {"name": _TEXT}},
            "else": {"anyOf": [{"required": ["value"]}, {"required": ["valueHint"]}]},
        },
        "icon": _object(
            ("src",),
            src={**_URI, "maxLength": 255},
            mimeType={
                "enum": ["image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp"]
            },
            sizes={
                "type": "array",
                "items": {"type": "string", "pattern": "^([0-9]+x[0-9]+|any)$"},
            },
            theme={"enum": ["light", "dark"]},
        ),
        "transport": {
            **_object(("type",), type={"enum": ["stdio", "streamable-http", "sse"]}, **_HTTP),
            "if": {"properties": {"type": {"const": "stdio"}}},
            "else": {"required": ["url"]},
        },
        "remote": _object(
            ("type", "url"), type={"enum": ["streamable-http", "sse"]}, **_HTTP, **_VARIABLES
        ),
        "package": _object(
            ("registryType", "identifier", "transport"),
            registryType=_TEXT,
            registryBaseUrl=_URI,
            identifier=_TEXT,
            version={
                "type": "string",
                "minLength": 1,
                "maxLength": 255,
                "not": {"enum": ["latest"]},
            },
            fileSha256={"type": "string", "pattern": "^[a-f0-9]{64}$"},
            runtimeHint=_TEXT,
            transport={"$ref": "#/$defs/transport"},
            runtimeArguments=_list_of("argument"),
            packageArguments=_list_of("argument"),
            environmentVariables=_list_of("key_value"),
        ),
    },
}


def is_server_json(value: Any) -> bool:
    """Return whether *value* is the content of a `server.json` rather than tools."""
    if not isinstance(value, dict) or "inputSchema" in value or "tools" in value:
        return False
    declared = value.get("$schema")
    return (isinstance(declared, str) and declared.endswith("/server.schema.json")) or (
        "version" in value and not value.keys().isdisjoint(("packages", "remotes", "repository"))
    )


def check_server_json(text: bytes) -> Verdict:
    """Return the verdict on *text*, a `server.json`.

    Raises:
        RequestError: LIMIT_EXCEEDED.
    """
    return evaluate(_compiled(), text, EvaluationOptions())


@cache
def _compiled() -> CompiledSchema:
    source, limits = SchemaSource(encode_json(_SCHEMA), assert_formats=True), Limits()
    return CompiledSchema(source, compile_schema(source, limits), limits)
