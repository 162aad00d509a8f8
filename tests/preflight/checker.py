"""A preflight for tools: would the API refuse the request that has them?

Written from what the providers publish, and from their refusals, and from nothing that
conversion knows: what conversion makes is held against it.
"""

from collections import Counter
from functools import cache
from typing import Any

import jsonschema_rs
from preflight.envelopes import ENVELOPES
from preflight.openapi import as_json_schema
from preflight.places import places
from preflight.rules import RULES
from preflight.sizes import beyond, optional_and_unions, recursion_faults
from preflight.subsets import SUBSETS

__all__ = ["faults", "request_faults", "schema_of"]

_MOST_TOOLS = {"openai-chat": 128, "openai-responses": 128}
_STRICT = {"anthropic", "bedrock"}
"""The APIs with bounds for all strict tools together: Anthropic's guide, 2026."""


def faults(api: str, tool: Any, *, strict: bool) -> list[str]:
    """Return why *api* would refuse *tool*, or nothing.

    *strict* is whether it shall be held to its schema.
    """
    envelope = ENVELOPES[api]
    opened = envelope.open(tool)
    found = list(opened.check(envelope, strict=strict))
    if (api, strict) not in SUBSETS:
        return [*found, f"{api} cannot be asked for strictness"]
    if opened.schema is None and envelope.without_schema:
        return found
    return found + _schema_faults(api, opened.schema, strict=strict)


def schema_of(api: str, tool: Any) -> Any:
    """Return the schema in *tool* as JSON Schema 2020-12, or None if it has none."""
    schema = ENVELOPES[api].open(tool).schema
    return as_json_schema(schema) if api == "gemini" else schema


def _schema_faults(api: str, schema: Any, *, strict: bool) -> list[str]:
    subset = SUBSETS[api, strict]
    if not isinstance(schema, dict):
        return ["the schema is not an object"]
    meaning = as_json_schema(schema) if api == "gemini" else schema
    if not _meta().is_valid(meaning):
        return [f"it breaks its meta-schema: {next(_meta().iter_errors(meaning)).message[:200]}"]
    found = []
    if schema.get("type") != ("OBJECT" if subset.capitals else "object"):
        found.append(f"schema must have type 'object', not {schema.get('type')!r}")
    found += [f"{name!r} at the top level" for name in subset.not_at_root & schema.keys()]
    if subset.at_root is not None:
        found += [f"{name!r} at the top level" for name in schema.keys() - subset.at_root]
    if subset.properties_at_root and "properties" not in schema:
        found.append("object schema missing properties")
    for place in places(schema):
        at = place.pointer or "/"
        found += [f"{at}: {said}" for rule in RULES for said in rule(place, subset, schema)]
    if any("leads nowhere" in said for said in found):
        return found
    return [*found, *beyond(schema, subset.sizes), *recursion_faults(schema, subset)]


def request_faults(api: str, tools: list[Any]) -> list[str]:
    """Return why *api* would refuse *tools*, each of which is sound, together."""
    opened = [ENVELOPES[api].open(tool) for tool in tools]
    names = Counter(each.inner["name"] for each in opened)
    found = [f"{name!r} is the name of {count} tools" for name, count in names.items() if count > 1]
    if len(tools) > _MOST_TOOLS.get(api, len(tools)):
        found.append(f"{len(tools)} tools")
    strict = [each.schema for each in opened if each.inner.get("strict") is True]
    if api in _STRICT:
        counted = [optional_and_unions(schema) for schema in strict]
        for what, count, most in (
            ("strict tools", len(strict), 20),
            ("optional members", sum(optional for optional, _ in counted), 24),
            ("unions", sum(unions for _, unions in counted), 16),
        ):
            if count > most:
                found.append(f"{count} {what}, more than {most}")
    return found


@cache
def _meta() -> jsonschema_rs.Validator:
    # By itself: formats in the meta-schema, as that of `pattern`, have a rule of their own.
    uri = "https://json-schema.org/draft/2020-12/schema"
    return jsonschema_rs.Draft202012Validator({"$ref": uri}, validate_formats=False)
