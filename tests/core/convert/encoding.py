"""Encoding of payloads for a transformed schema."""

import json
from typing import Any

from jsonschema import Draft202012Validator
from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.tool_conversion import write_schema

__all__ = ["encoded"]


def encoded(value: Any, node: SchemaNode, subset: Subset) -> Any:
    """Return *value*, a payload of the original, encoded for the transformed *node*.

    If *node* does not admit it, it does not admit the result either.
    """
    encoding, keywords = node.encoding, node.keywords
    stated = keywords.get("type", [])
    if encoding.wrapped:
        return {encoding.wrapped: encoded(value, keywords["properties"][encoding.wrapped], subset)}
    if encoding.json_text and not (value is None and "null" in stated):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if encoding.entries and isinstance(value, dict):
        names = encoding.entries
        form = keywords["items"].keywords["properties"][names.value]
        return [
            {names.name: name, names.value: encoded(item, form, subset)}
            for name, item in value.items()
        ]
    if "$ref" in keywords:
        return encoded(value, keywords["$ref"], subset)
    for keyword in ("anyOf", "oneOf"):
        if keyword in keywords:
            return _of_a_branch(value, keywords[keyword], subset)
    if isinstance(value, dict):
        return _properties(value, node, subset)
    if isinstance(value, list):
        return [encoded(item, _item(node, index), subset) for index, item in enumerate(value)]
    return value


def _of_a_branch(value: Any, branches: list[SchemaNode], subset: Subset) -> Any:
    for branch in branches:
        form = encoded(value, branch, subset)
        if Draft202012Validator(write_schema(branch, subset)).is_valid(form):
            return form
    return value


def _properties(value: dict[str, Any], node: SchemaNode, subset: Subset) -> dict[str, Any]:
    keywords = node.keywords
    names = {original: name for name, original in node.encoding.renamed.items()}
    additional = keywords.get("additionalProperties", SchemaNode(()))
    properties = keywords.get("properties", {})
    encoded_items = {}
    for original, item in value.items():
        name = names.get(original, original)
        encoded_items[name] = encoded(item, properties.get(name, additional), subset)
    # What must be given is null where it is absent, for `Undo.nulls` or as its own default.
    return {**dict.fromkeys(keywords.get("required", ())), **encoded_items}


def _item(node: SchemaNode, index: int) -> SchemaNode:
    prefix = node.keywords.get("prefixItems", [])
    result: SchemaNode = (
        prefix[index] if index < len(prefix) else node.keywords.get("items", SchemaNode(()))
    )
    return result
