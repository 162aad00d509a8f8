"""Tools of servers with generated arguments and return values."""

import json
from functools import cache
from random import Random
from typing import Any

import jsonschema_rs
from agreement.corpus import follow_within
from agreement.payloads import PayloadMaker
from chain.links import Tool
from conversions.payloads import valid_values
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.wrapping.schemas import adapt_schema
from support.shared_material import read_records, shared

__all__ = ["corpus"]

_LIMITS = Limits()
_COUNT = 500
_TRIES = 20


@cache
def corpus() -> list[Tool]:
    """Return tools of the corpus that can be registered, with generated payloads."""
    records = [record["tool"] for record in read_records(shared("corpus") / "tools.jsonl.gz")]
    random = Random(7)
    random.shuffle(records)
    # Those with output schemas are few and come first.
    records.sort(key=lambda tool: "outputSchema" not in tool)
    tools: dict[str, Tool] = {}
    for tool in records:
        definition = _tool(tool, random)
        if definition is not None:
            tools.setdefault(definition.name, definition)
        if len(tools) == _COUNT:
            break
    return list(tools.values())


def _tool(tool: dict[str, Any], random: Random) -> Tool | None:
    """Return *tool* with arguments and a return value; None if no arguments are found."""
    schema = tool["inputSchema"]
    try:
        arguments = valid_values(schema, jsonschema_rs.validator_for(schema), random, 1)
    except (jsonschema_rs.ValidationError, ValueError):
        return None
    if not arguments:
        return None
    output = tool.get("outputSchema")
    returned: list[Any] = ["done"] if output is None else _any_values(output, random)
    texts = [json.dumps(value).encode() for value in (tool, arguments[0], *returned[:1])]
    return Tool(tool["name"], texts[0], texts[1], texts[2] if returned else None)


def _any_values(output_schema: Any, random: Random) -> list[Any]:
    """Return up to one value that a tool with *output_schema* may return.

    It is one of the canonical schema, before a framework wrapped it.
    """
    schema = adapt_schema(output_schema, "2026-07-28", [_LIMITS.steps]).schema
    validator = jsonschema_rs.validator_for(schema)
    maker = PayloadMaker(random, follow_within(schema), names=("a", "result", "id"))
    values = (maker.make(schema) for _ in range(_TRIES))
    return [value for value in values if validator.is_valid(value)][:1]
