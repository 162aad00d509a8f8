"""Conversion of objects of MCP SDKs to JSON of the protocol.

This module needs only the standard library.
"""

from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any

from sidecheck.json_types import ModelObject

__all__ = ["dump_model", "is_client_value", "is_model", "is_sdk_object", "to_protocol"]


def is_model(value: object) -> bool:
    """Return whether *value* has the ``model_dump`` of pydantic models."""
    return callable(getattr(type(value), "model_dump", None))


def is_client_value(value: object) -> bool:
    """Return whether this client defines the class of *value*."""
    return type(value).__module__.partition(".")[0] == "sidecheck"


def is_sdk_object(value: object) -> bool:
    """Return whether *value* is a model or dataclass that represents a JSON object."""
    is_instance = is_dataclass(value) and not isinstance(value, type)
    return is_model(value) or (is_instance and not is_client_value(value))


def dump_model(model: ModelObject) -> Any:
    """Return the JSON of a model, by alias and without nulls of optional properties.

    The protocol does not represent an absent property by null. A required property keeps its
    null, such as the ``id`` of a JSON-RPC error response (JSON-RPC 2.0, section 5).
    """
    dumped = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(dumped, dict):
        fields: Mapping[str, Any] = getattr(type(model), "model_fields", {})
        for name, field in fields.items():
            if field.is_required() and getattr(model, name, model) is None:
                dumped[field.serialization_alias or name] = None
    return dumped


def to_protocol(value: Any) -> Any:
    """Convert an object of FastMCP to JSON of the protocol; others unchanged.

    FastMCP has separate classes for the tools of a server and for results, on both sides. The
    classes of the official SDK have the names of the protocol as aliases.
    """
    if callable(getattr(type(value), "to_mcp_tool", None)):
        return value.to_mcp_tool()
    is_fastmcp = hasattr(type(value), "to_mcp_result") or is_dataclass(value)
    if not (is_fastmcp and hasattr(value, "structured_content")):
        return value
    properties = {
        "content": value.content,
        "structuredContent": value.structured_content,
        "_meta": value.meta,
        "isError": value.is_error,
    }
    return {name: item for name, item in properties.items() if item is not None}
