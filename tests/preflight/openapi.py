"""Translation of Gemini's ``Schema``, a variant of that of OpenAPI 3.0, to JSON Schema."""

from typing import Any

__all__ = ["to_json_schema"]

_TRANSLATED = {"type", "nullable", "properties", "items", "anyOf", "enum"}


def to_json_schema(schema: Any) -> Any:
    """Return the JSON Schema 2020-12 that is equivalent to *schema*."""
    if not isinstance(schema, dict):
        return schema
    translated = {key: value for key, value in schema.items() if key not in _TRANSLATED}
    nullable = schema.get("nullable") is True
    if isinstance(schema.get("type"), str):
        name = schema["type"].lower()
        translated["type"] = [name, "null"] if nullable else name
    if "enum" in schema:
        translated["enum"] = [*schema["enum"], *([None] if nullable else [])]
    if isinstance(schema.get("properties"), dict):
        properties = schema["properties"].items()
        translated["properties"] = {
            name: to_json_schema(subschema) for name, subschema in properties
        }
    if "items" in schema:
        translated["items"] = to_json_schema(schema["items"])
    if isinstance(schema.get("anyOf"), list):
        branches = [to_json_schema(subschema) for subschema in schema["anyOf"]]
        translated["anyOf"] = [*branches, *([{"type": "null"}] if nullable else [])]
    return translated
