"""Large tool definitions, generated from a fixed seed.

Servers generate their large definitions from the forms of another API: many optional properties,
objects within objects, long descriptions, and few constraints. A call names few of them.
"""

import random
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["generated_tools"]

_SEED = 1843

_WORDS = (
    *("account", "address", "amount", "archive", "balance", "batch", "billing", "branch"),
    *("budget", "category", "channel", "charge", "city", "colour", "comment", "company"),
    *("contact", "country", "coupon", "currency", "customer", "delivery", "depth", "device"),
    *("discount", "district", "document", "duration", "email", "event", "factory", "floor"),
    *("folder", "format", "group", "height", "holder", "house", "invoice", "item"),
    *("label", "language", "length", "level", "limit", "market", "method", "month"),
    *("order", "origin", "owner", "package", "parcel", "partner", "payment", "period"),
    *("person", "phone", "photo", "place", "policy", "position", "price", "priority"),
    *("product", "profile", "project", "quality", "quantity", "queue", "range", "rating"),
    *("reason", "record", "region", "report", "result", "review", "route", "schedule"),
    *("season", "section", "service", "session", "shape", "shop", "source", "stage"),
    *("state", "station", "status", "stock", "street", "supplier", "table", "target"),
    *("team", "ticket", "title", "token", "topic", "train", "unit", "value"),
    *("vehicle", "vendor", "version", "village", "volume", "weight", "width", "zone"),
)

_CHOICES = ("open", "closed", "pending", "draft", "final", "archived", "shared", "private")


class _Generator:
    """Makes schemas and payloads that are valid against them."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311  (not for secrets)

    def tool(self, name: str, schema: Any, payload: Any, invalid: Any) -> dict[str, Any]:
        """Return a record like a file of `benchmarks/tools`."""
        description = self.sentence(12)
        members = {"inputSchema": schema, "valid": payload, "invalid": invalid}
        return {"name": name, "description": description, **members}

    def sentence(self, words: int) -> str:
        """Return some words, as long as a description."""
        return " ".join(self._random.choices(_WORDS, k=words)).capitalize() + "."

    def leaf(self) -> tuple[dict[str, Any], Any]:
        """Return a schema of a scalar or an array, and a value."""
        kinds: tuple[tuple[dict[str, Any], Any], ...] = (
            ({"type": "string"}, "a text of some words"),
            ({"type": "string"}, "another text"),
            ({"type": "integer"}, 7),
            ({"type": "number", "minimum": 0}, 12.5),
            ({"type": "boolean"}, True),
            ({"type": "string", "enum": self._random.sample(_CHOICES, 4)}, None),
            ({"type": "string", "format": "date-time"}, "2026-05-04T10:00:00Z"),
            ({"type": "array", "items": {"type": "string"}}, ["first", "second"]),
        )
        schema, value = self._random.choice(kinds)
        described = {**schema, "description": self.sentence(self._random.randint(3, 9))}
        return described, schema["enum"][-1] if "enum" in schema else value

    def record(
        self,
        leaves: int,
        nested: Mapping[str, tuple[Any, Any]] | None = None,
        *,
        required: int = 0,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return a schema of a closed object with *leaves* and *nested*, and a value with all."""
        names = self._random.sample(_WORDS, leaves)
        members = {name: self.leaf() for name in names} | dict(nested or {})
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {name: schema for name, (schema, _) in members.items()},
            "additionalProperties": False,
        }
        if required:
            schema["required"] = names[:required]
        return schema, {name: value for name, (_, value) in members.items()}


def generated_tools() -> list[dict[str, Any]]:
    """Return the tools, each as a file of `benchmarks/tools` would have it."""
    makers = (_nested_report, _alternative_blocks, _wide_filter)
    return [make(_Generator(_SEED + index)) for index, make in enumerate(makers)]


def _nested_report(generator: _Generator) -> dict[str, Any]:
    """Return a tool with objects four levels deep, and a payload with most of them."""
    inner = {"extent": generator.record(4), "margin": generator.record(3)}
    panels, panel = generator.record(6, inner, required=2)
    filters, filter_ = generator.record(4, {"window": generator.record(4)}, required=1)
    parts = {
        "panels": ({"type": "array", "items": panels, "maxItems": 20}, [panel]),
        "filters": ({"type": "array", "items": filters}, [filter_, filter_]),
        "layout": generator.record(6, {"header": generator.record(5)}),
        "sharing": generator.record(6, {"export": generator.record(4)}),
        "theme": ({"$ref": "#/$defs/theme"}, {"name": "dark"}),
    }
    schema, payload = generator.record(6, parts, required=3)
    schema["$defs"] = {
        "theme": {
            "type": "object",
            "properties": {"name": {"type": "string", "maxLength": 40}},
            "required": ["name"],
        }
    }
    invalid = {**payload, "theme": {"name": {"unexpected": [None]}}}
    return generator.tool("save_report", schema, payload, invalid)


def _alternative_blocks(generator: _Generator) -> dict[str, Any]:
    """Return a tool with an array of elements of six kinds."""
    kinds = ("heading", "paragraph", "table", "image", "quote", "list")
    branches, blocks = [], []
    for kind in kinds:
        schema, value = generator.record(6, required=2)
        schema["properties"] = {"kind": {"type": "string", "enum": [kind]}, **schema["properties"]}
        schema["required"] = ["kind", *schema["required"]]
        branches.append(schema)
        blocks.append({"kind": kind, **value})
    array = {"type": "array", "items": {"oneOf": branches}}
    schema, payload = generator.record(7, {"blocks": (array, blocks)}, required=2)
    invalid = {**payload, "blocks": [*blocks[:-1], {**blocks[-1], "kind": "video"}]}
    return generator.tool("write_document", schema, payload, invalid)


def _wide_filter(generator: _Generator) -> dict[str, Any]:
    """Return a tool with several hundred optional properties, and a payload with two."""

    def nest(depth: int) -> tuple[dict[str, Any], dict[str, Any]]:
        if depth == 0:
            return generator.record(4)
        names: Callable[[int], str] = "by_{}".format
        return generator.record(5, {names(index): nest(depth - 1) for index in range(4)})

    schema, _ = nest(3)
    schema["properties"] = {"query": {"type": "string"}, **schema["properties"]}
    schema["properties"]["limit"] = {"type": "integer", "minimum": 1, "maximum": 1000}
    return generator.tool("search_records", schema, {"query": "x", "limit": 7}, {"query": 7})
