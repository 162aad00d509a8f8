"""Gemini's ``Schema``, a form of OpenAPI 3.0's, as the JSON Schema that means the same."""

from typing import Any

__all__ = ["as_json_schema"]

_APART = {"type", "nullable", "properties", "items", "anyOf", "enum"}


def as_json_schema(schema: Any) -> Any:
    """Return the JSON Schema 2020-12 that means what *schema* means."""
    if not isinstance(schema, dict):
        return schema
    written = {key: value for key, value in schema.items() if key not in _APART}
    nullable = schema.get("nullable") is True
    if isinstance(schema.get("type"), str):
        name = schema["type"].lower()
        written["type"] = [name, "null"] if nullable else name
    if "enum" in schema:
        written["enum"] = [*schema["enum"], *([None] if nullable else [])]
    if isinstance(schema.get("properties"), dict):
        members = schema["properties"].items()
        written["properties"] = {name: as_json_schema(each) for name, each in members}
    if "items" in schema:
        written["items"] = as_json_schema(schema["items"])
    if isinstance(schema.get("anyOf"), list):
        branches = [as_json_schema(each) for each in schema["anyOf"]]
        written["anyOf"] = [*branches, *([{"type": "null"}] if nullable else [])]
    return written
