"""Objects of MCP SDKs as JSON of the protocol.

This module needs the standard library only.
"""

from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any

from sidecheck.json_types import ModelObject

__all__ = ["dump_model", "is_model", "is_own", "is_sdk_object", "to_protocol"]


def is_model(value: object) -> bool:
    """Return whether *value* serializes itself as the models of pydantic do."""
    return callable(getattr(type(value), "model_dump", None))


def is_own(value: object) -> bool:
    """Return whether the class of *value* is one of this client."""
    return type(value).__module__.partition(".")[0] == "sidecheck"


def is_sdk_object(value: object) -> bool:
    """Return whether *value* is a model or a dataclass that stands for a JSON object."""
    is_instance = is_dataclass(value) and not isinstance(value, type)
    return is_model(value) or (is_instance and not is_own(value))


def dump_model(model: ModelObject) -> Any:
    """Return the JSON of a model, by alias and without nulls of optional properties.

    The protocol has no null for a property that is absent. A required property keeps its
    null: that of the ``id`` in an error response of JSON-RPC (JSON-RPC 2.0, section 5).
    """
    dumped = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(dumped, dict):
        fields: Mapping[str, Any] = getattr(type(model), "model_fields", {})
        for name, field in fields.items():
            if field.is_required() and getattr(model, name, model) is None:
                dumped[field.serialization_alias or name] = None
    return dumped


def to_protocol(value: Any) -> Any:
    """Return an object of FastMCP with the names of the protocol; any other unchanged.

    FastMCP has classes of its own for the tools of a server and for results, on both sides.
    Those of the official SDK have the names of the protocol as aliases.
    """
    if callable(getattr(type(value), "to_mcp_tool", None)):
        return value.to_mcp_tool()
    has_own_names = hasattr(type(value), "to_mcp_result") or is_dataclass(value)
    if not (has_own_names and hasattr(value, "structured_content")):
        return value
    properties = {
        "content": value.content,
        "structuredContent": value.structured_content,
        "_meta": value.meta,
        "isError": value.is_error,
    }
    return {name: item for name, item in properties.items() if item is not None}
