"""Requests and responses of the shared cases in the JSON form of the HTTP API.

The cases have them rendered as in `conformance.rendering`: with JSON as text. The tables here
are written by hand, apart from those of the server.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from google.protobuf.descriptor import FieldDescriptor
from msgspec import Raw
from sidecheck_server.admin.json_shapes import is_alternative
from sidecheck_server.core.errors import ErrorReason
from sidecheck_server.rpc.status import STATUS_CODES

__all__ = ["body_of", "error_of", "rendered"]

#: Where the fields of a message are properties of the message around it.
_DISSOLVED: Final = {
    *("ValidateRequest.target", "ValidateRequest.subject", "ValidateBatchRequest.target"),
    *("ValidateItem.target", "ValidateItem.subject", "AdaptToolRequest.tool", "ToolResult.tool"),
    *("ConvertToolCallRequest.tool", "NormalizeToolResultRequest.tool", "ToolToConvert.tool"),
    *("Target.registered_tool", "Target.inline_tool", "Target.inline_schema"),
    *("CheckToolResultRequest.tool_result", "CheckMessageRequest.message"),
    *("CheckElicitationRequest.elicitation", "CheckSamplingRequest.sampling"),
    *("CheckElicitationResultRequest.elicitation_result", "ConvertToolResultRequest.result"),
    *("CheckMessageResponse.result", "CheckToolResultResponse.result"),
    *("CheckElicitationResponse.result", "CheckElicitationResultResponse.result"),
    *("CheckSamplingResponse.result", "GetToolResponse.tool"),
}
_NAMES: Final = {
    "InlineTool.json": "tool",
    "InlineSchema.json": "schema",
    "ToolResult.json": "result",
    "ProtocolMessage.json": "message",
    "Tool.json": "tool",
    "AdaptToolResponse.json": "tool",
    "ConvertedTool.json": "tool",
    "InferredTool.json": "tool",
    "ConvertToolResultRequest.name": "call_name",
    "ConvertToolCallResponse.tool": "name",
    "ConvertToolCallResponse.name": "call_name",
}
_VARIABLE: Final = {"registry_revision", "revision", "next_page_token"}
_OBJECT: Final = msgspec.json.Decoder(dict[str, Raw])
_ARRAY: Final = msgspec.json.Decoder(list[Raw])
_RAW: Final = msgspec.json.Decoder(Raw)


def body_of(message: Any, fields: Mapping[str, Any]) -> bytes:
    """Return the body for *fields* of a request.

    JSON is inserted byte for byte; other bytes become a string.
    """
    members = [f"{json.dumps(name)}: {text}" for name, text in _members(message, fields)]
    return f"{{{', '.join(members)}}}".encode()


def _members(message: Any, fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        field = message.fields_by_name[name]
        key = f"{message.name}.{name}"
        nested = field.message_type
        if key in _DISSOLVED:
            assert nested is not None
            yield from _members(nested, value)
        elif nested is not None and field.is_repeated and nested.name == "InlineTool":
            if any("documents" in tool for tool in value):
                entries = [body_of(nested, tool).decode() for tool in value]
                yield f"{name}_with_documents", f"[{', '.join(entries)}]"
            else:
                yield _json(name, [tool.get("json", "") for tool in value])
        elif field.type == FieldDescriptor.TYPE_BYTES and name != "source":
            texts = value if field.is_repeated else [value]
            named, array = _json(_NAMES.get(key, name), texts)
            yield named, array if field.is_repeated else array[1:-1]
        elif nested is not None:
            elements = value if field.is_repeated else [value]
            texts = [
                body_of(nested, element).decode() if nested.fields else "true"
                for element in elements
            ]
            yield _NAMES.get(key, name), f"[{', '.join(texts)}]" if field.is_repeated else texts[0]
        else:
            yield _NAMES.get(key, name), json.dumps(value)


def _json(name: str, texts: list[str]) -> tuple[str, str]:
    """Return the name and the array of a property that has *texts* of JSON."""
    if all(map(_is_json, texts)):
        return name, f"[{', '.join(texts)}]"
    return f"{name}_text", json.dumps(texts)


def _is_json(text: str) -> bool:
    try:
        return bytes(_RAW.decode(f"[{text}]".encode())) == f"[{text}]".encode() and bool(
            text.strip()
        )
    except (msgspec.DecodeError, RecursionError):
        return False


def rendered(message: Any, text: bytes | Raw) -> dict[str, Any]:
    """Return the response in *text*, as the cases have it; all of its properties must be known."""
    properties = dict(_OBJECT.decode(text))
    fields = _fields(message, properties)
    assert properties.keys() <= _VARIABLE
    return fields


def _fields(message: Any, properties: dict[str, Raw]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for field in message.fields:
        key = f"{message.name}.{field.name}"
        name = _NAMES.get(key, field.name)
        if key in _DISSOLVED:
            assert field.message_type is not None
            fields[field.name] = _fields(field.message_type, properties)
        elif field.name not in _VARIABLE and (not is_alternative(field) or name in properties):
            fields[field.name] = _value(field, properties.pop(name))
    return fields


def _value(field: FieldDescriptor, raw: Raw) -> Any:
    if field.is_repeated:
        return [_element(field, element) for element in _ARRAY.decode(raw)]
    return _element(field, raw)


def _element(field: FieldDescriptor, raw: Raw) -> Any:
    nested = field.message_type
    text = bytes(raw).decode()
    if nested is not None:
        if text == "null":
            return None
        if nested.full_name == "google.rpc.Status":
            return error_of(json.loads(text))
        return rendered(nested, raw)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return "" if text == "null" and field.name != "payload" else text
    return json.loads(text)


def error_of(problem: Mapping[str, Any]) -> dict[str, Any]:
    """Return the error in problem details, as the cases have it."""
    reason = problem["reason"]
    return {
        "kind": "unavailable" if reason in {"OVERLOADED", "SHUTTING_DOWN"} else "error",
        "reason": reason,
        "status": STATUS_CODES[ErrorReason(reason)].name,
        "message": problem["detail"],
        "metadata": problem["metadata"],
    }
