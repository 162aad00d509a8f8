"""Decoding of payloads of a transformed schema: the inverse of `encoding`."""

import json
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice, product
from typing import Any

from jsonschema import Draft202012Validator
from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.tool_conversion import write_schema

__all__ = ["decoded"]

_MOST = 32


def decoded(form: Any, node: SchemaNode, subset: Subset) -> list[Any]:
    """Return the interpretations of *form*, which *node* admits."""
    return list(islice(_interpretations(form, node, subset), _MOST))


def _interpretations(form: Any, node: SchemaNode, subset: Subset) -> Iterator[Any]:
    encoding, keywords = node.encoding, node.keywords
    if encoding.wrapped:
        yield from _interpretations(
            form[encoding.wrapped], keywords["properties"][encoding.wrapped], subset
        )
    elif encoding.json_text and isinstance(form, str):
        yield from _of_json_text(form)
    elif encoding.entries and isinstance(form, list):
        names = [item[encoding.entries.name] for item in form]
        value = keywords["items"].keywords["properties"][encoding.entries.value]
        each_read = [decoded(item[encoding.entries.value], value, subset) for item in form]
        yield from (dict(zip(names, values, strict=True)) for values in product(*each_read))
    elif "$ref" in keywords:
        yield from _interpretations(form, keywords["$ref"], subset)
    elif "anyOf" in keywords:
        for branch in keywords["anyOf"]:
            if Draft202012Validator(write_schema(branch, subset)).is_valid(form):
                yield from _interpretations(form, branch, subset)
    elif isinstance(form, dict):
        yield from _properties(form, node, subset)
    elif isinstance(form, list):
        items = keywords.get("items", SchemaNode(()))
        yield from map(list, product(*[decoded(item, items, subset) for item in form]))
    else:
        yield form


def _of_json_text(form: str) -> Iterator[Any]:
    with suppress(ValueError):
        yield json.loads(form)


def _properties(form: dict[str, Any], node: SchemaNode, subset: Subset) -> Iterator[Any]:
    encoding, keywords = node.encoding, node.keywords
    declared = keywords.get("properties", {})
    additional = keywords.get("additionalProperties", SchemaNode(()))
    present = {k: v for k, v in form.items() if not (v is None and k in encoding.nulls)}
    properties = [decoded(v, declared.get(k, additional), subset) for k, v in present.items()]
    names = [encoding.renamed.get(name, name) for name in present]
    yield from (dict(zip(names, values, strict=True)) for values in product(*properties))
