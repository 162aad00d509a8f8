"""OpenAPI 3.1 description of the HTTP API, derived from its descriptors."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

import msgspec
from google.protobuf.descriptor import Descriptor

from sidecheck_server import __version__
from sidecheck_server.admin.json_requests import RANGES
from sidecheck_server.admin.json_shapes import (
    Form,
    Property,
    is_alternative,
    shape_of,
    words_of,
)
from sidecheck_server.admin.problems import PROBLEM_TYPE
from sidecheck_server.rpc.method_table import Method

__all__ = [
    "EXAMPLES",
    "create_openapi",
]

_TOOL: Final = {
    "name": "get_weather",
    "description": "Returns the current weather of a city.",
    "inputSchema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 7}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {"celsius": {"type": "number"}},
        "required": ["celsius"],
    },
}

_NARROWED_INPUT_SCHEMA: Final = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 3}},
    "required": ["city"],
    "additionalProperties": False,
}

_DIGEST: Final = "sha256:fe81d1047008adb74f07fc75e633e8965ba59152bd76f476be0c5eb82605b13e"
"""Digest of `_TOOL`."""

_RESULT: Final = {
    "content": [{"type": "text", "text": '{"celsius": 21.5}'}],
    "structuredContent": {"celsius": 21.5},
}

EXAMPLES: Final[Mapping[str, dict[str, Any]]] = MappingProxyType(
    {
        "Validate": {
            "tool": _TOOL,
            "arguments": {"ctiy": "Oslo", "days": 10},
            "options": {"max_violations": 5},
        },
        "ValidateBatch": {
            "schema": {"type": "integer", "minimum": 0},
            "items": [{"arguments": 7}, {"arguments": -7}],
        },
        "ListRules": {"protocol_version": "2025-11-25", "page_size": 2},
        "CheckToolNames": {"names": ["get_weather", "get weather"]},
        "CheckTools": {"tools_list": {"tools": [_TOOL]}},
        "CheckElicitation": {
            "params": {
                "message": "Which city?",
                "requestedSchema": {"type": "object", "properties": {"city": {"type": "string"}}},
            }
        },
        "CheckElicitationResult": {
            "result": {"action": "accept", "content": {"city": "Oslo"}},
            "params": {
                "message": "Which city?",
                "requestedSchema": {"type": "object", "properties": {"city": {"type": "string"}}},
            },
        },
        "CheckSampling": {
            "params": {
                "messages": [{"role": "user", "content": {"type": "text", "text": "Hello"}}],
                "maxTokens": 100,
            }
        },
        "CheckToolResult": {"result": _RESULT, "tool": _TOOL},
        "NormalizeToolResult": {"value": {"celsius": 21.5}, "tool": _TOOL},
        "CheckMessage": {
            "message": {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": "get_weather", "arguments": {"city": "Oslo"}},
            },
            "sender": "client",
            "context": {"protocol_version": "2025-11-25"},
        },
        "CheckBatch": {
            "items": [
                {"tool_result": {"result": _RESULT}},
                {"message": {"message": {"jsonrpc": "2.0", "method": "ping"}, "sender": "client"}},
            ]
        },
        "CheckSession": {
            "context": {"protocol_version": "2025-11-25"},
            "from_beginning": False,
            "items": [
                {"message": {"jsonrpc": "2.0", "id": 1, "method": "ping"}, "sender": "client"},
                {"message": {"jsonrpc": "2.0", "id": 1, "method": "ping"}, "sender": "client"},
            ],
        },
        "ConvertTools": {
            "api": "openai-responses",
            "options": {"mode": "strict-if-lossless"},
            "tools": [{"tool": _TOOL, "server": "weather"}],
        },
        "ConvertToolCall": {
            "call": {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {}},
            "mappings": [
                {
                    "sidecheck_mapping": 1,
                    "api": "anthropic",
                    "name": "get_weather",
                    "tool": "get_weather",
                    "definition_digest": _DIGEST,
                    "strict": False,
                }
            ],
            "tool": _TOOL,
        },
        "ConvertToolResult": {
            "api": "anthropic",
            "result": _RESULT,
            "tool": _TOOL,
            "call_id": "t1",
            "call_name": "get_weather",
        },
        "InferTools": {"source": "@mcp.tool\ndef add(a: int, b: int) -> int:\n    return a + b\n"},
        "AdaptTool": {"tool": _TOOL, "protocol_version": "2025-06-18"},
        "RegisterTools": {"server": "weather", "tools": [_TOOL], "validate_only": True},
        "GetTool": {"server": "weather", "name": "get_weather"},
        "ListTools": {"server": "weather"},
        "DeleteTools": {"server": "weather", "all": True},
        "CompareTools": {
            "old": {"tools": [_TOOL]},
            "new": {"tools": [{**_TOOL, "inputSchema": _NARROWED_INPUT_SCHEMA}]},
        },
        "GetServerInfo": {},
    }
)
"""Example requests by method. That of GetTool presumes that its tool is registered."""


_Schema = dict[str, Any]

_PROBLEM: Final[_Schema] = {
    "type": "object",
    "description": "Problem details of an error (RFC 9457).",
    "properties": {
        "type": {"type": "string", "format": "uri-reference"},
        "title": {"type": "string"},
        "status": {"type": "integer", "description": "HTTP status code."},
        "detail": {"type": "string", "description": "Description of the fault, for people."},
        "reason": {
            "type": "string",
            "description": "Stable reason. Absent if HTTP rather than the API defines the error.",
        },
        "metadata": {
            "type": "object",
            "description": "The variable parts of the detail, by name.",
            "additionalProperties": {"type": "string"},
        },
        "violations": {
            "type": "array",
            "description": "Faults of a schema or a tool definition.",
            "items": {
                "type": "object",
                "properties": {
                    name: {"type": "string"} for name in ("instance_location", "code", "message")
                },
                "required": ["instance_location", "code", "message"],
            },
        },
    },
    "required": ["type", "title", "status", "detail"],
}


def create_openapi(methods: Mapping[str, Method]) -> bytes:
    """Return the OpenAPI document of *methods*, which are keyed by path, as JSON text."""
    file = files("sidecheck_server.admin").joinpath("descriptions.json")
    # Empty for what `make docs` has not read yet; a test demands all texts and examples.
    texts: Mapping[str, str] = defaultdict(str, json.loads(file.read_bytes()))
    requests = _Schemas(texts, is_request=True)
    responses = _Schemas(texts, is_request=False)
    paths = {}
    for path, method in methods.items():
        full_name = f"{method.service}.{method.name}"
        summary, _, _ = texts[full_name].partition("\n\n")
        content = {"schema": requests.reference(method.request_type.DESCRIPTOR)}
        result = {"schema": responses.reference(method.response_type.DESCRIPTOR)}
        paths[path] = {
            "post": {
                "operationId": method.name,
                "tags": [method.service.rpartition(".")[2]],
                "summary": _join_lines(summary),
                "description": texts[full_name],
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {**content, **_example(method.name)}},
                },
                "responses": {
                    "200": {
                        "description": texts[method.response_type.DESCRIPTOR.full_name],
                        "content": {"application/json": result},
                    },
                    "default": {"$ref": "#/components/responses/Problem"},
                },
            }
        }
    services = dict.fromkeys(method.service for method in methods.values())
    return msgspec.json.encode(
        {
            "openapi": "3.1.1",
            "info": {
                "title": "Sidecheck",
                "version": __version__,
                "description": "Validates MCP tool definitions, payloads and messages. JSON in a "
                "request or response is embedded as a JSON value, byte for byte.",
            },
            "servers": [{"url": "/"}],
            "tags": [
                {"name": service.rpartition(".")[2], "description": texts[service]}
                for service in services
            ],
            "paths": paths,
            "components": {
                "schemas": {**requests.schemas, **responses.schemas, "Problem": _PROBLEM},
                "responses": {
                    "Problem": {
                        "description": "The call failed.",
                        "content": {
                            PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}
                        },
                    }
                },
            },
        }
    )


def _example(method: str) -> _Schema:
    return {"example": EXAMPLES[method]} if method in EXAMPLES else {}


class _Schemas:
    """JSON Schemas of messages by name, either for requests or for responses."""

    def __init__(self, texts: Mapping[str, str], *, is_request: bool) -> None:
        self._texts = texts
        self._is_request = is_request
        self.schemas: dict[str, _Schema] = {}

    def reference(self, message: Descriptor) -> _Schema:
        """Return a reference to the schema of *message*."""
        name = message.name
        if not (self._is_request or name.endswith("Response")):
            # A message may occur in requests and in responses, with different schemas.
            name = f"{name}Output"
        if name not in self.schemas:
            self.schemas[name] = {}
            self.schemas[name] = self._schema(message)
        return {"$ref": f"#/components/schemas/{name}"}

    def _schema(self, message: Descriptor) -> _Schema:
        properties = {
            property_.name: self._property(property_)
            for property_ in shape_of(message).properties.values()
            if self._is_request or property_.form is not Form.JSON_TEXT
        }
        schema: _Schema = {
            "type": "object",
            "description": self._texts[message.full_name],
            "properties": properties,
        }
        if self._is_request:
            return {**schema, "additionalProperties": False}
        alternatives = list(self._alternatives(message))
        schema["required"] = [name for name in properties if name not in alternatives]
        if alternatives:
            schema["oneOf"] = [{"required": [name]} for name in alternatives]
        return schema

    def _alternatives(self, message: Descriptor) -> Iterator[str]:
        for property_ in shape_of(message).properties.values():
            if property_.form is not Form.JSON_TEXT and is_alternative(property_.field):
                yield property_.name

    def _property(self, property_: Property) -> _Schema:
        element = self._element(property_)
        texts = [self._texts.get(path[-1].full_name, "") for path in property_.paths]
        description = "\n\n".join(dict.fromkeys(filter(None, texts)))
        if property_.form is Form.JSON_TEXT:
            name = property_.name.removesuffix("_text")
            description = f"JSON text, possibly malformed, in place of the JSON value `{name}`."
        schema = {"type": "array", "items": element} if property_.is_repeated else element
        field = property_.field
        is_optional = field.has_presence and not is_alternative(field)
        if not self._is_request and is_optional:
            schema = {"anyOf": [schema, {"type": "null"}]}
        return {**schema, "description": description}

    def _element(self, property_: Property) -> _Schema:
        match property_.form:
            case Form.JSON:
                return {}
            case Form.BOOLEAN:
                return {"type": "boolean"}
            case Form.MARK:
                return {"const": True}
            case Form.INTEGER:
                values = RANGES[property_.field.cpp_type]
                return {"type": "integer", "minimum": values[0], "maximum": values[-1]}
            case Form.WORD:
                return {"type": "string", "enum": list(words_of(property_.field.enum_type))}
            case Form.OBJECT:
                message = property_.field.message_type
                assert message is not None
                return self.reference(message)
            case Form.PROBLEM:
                return {"$ref": "#/components/schemas/Problem"}
            case _:
                return {"type": "string"}


def _join_lines(text: str) -> str:
    return " ".join(text.split()).removesuffix(".")
