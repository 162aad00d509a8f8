"""Preflight of tools: whether an API would reject a request with them.

Written from the documents and errors of the providers, independently of the facts that
conversion uses, to check its results.
"""

from collections import Counter
from functools import cache
from typing import Any

import jsonschema_rs
from preflight.envelopes import ENVELOPES
from preflight.openapi import to_json_schema
from preflight.places import places
from preflight.rules import RULES
from preflight.sizes import excess, optional_and_unions, recursion_faults
from preflight.subsets import SUBSETS

__all__ = ["faults", "request_faults", "schema_of"]

_MAX_TOOLS = {"openai-chat": 128, "openai-responses": 128}
_STRICT = {"anthropic", "bedrock"}
"""APIs with limits for all strict tools of a request (source: Anthropic's guide, 2026)."""


def faults(api: str, tool: Any, *, strict: bool) -> list[str]:
    """Return the reasons why *api* would reject *tool*, or an empty list.

    *strict* is whether strict mode is expected.
    """
    envelope = ENVELOPES[api]
    contents = envelope.open(tool)
    problems = list(contents.check(envelope, strict=strict))
    if (api, strict) not in SUBSETS:
        return [*problems, f"{api} has no strict mode"]
    if contents.schema is None and envelope.without_schema:
        return problems
    return problems + _schema_faults(api, contents.schema, strict=strict)


def schema_of(api: str, tool: Any) -> Any:
    """Return the schema in *tool* as JSON Schema 2020-12, or None if it has none."""
    schema = ENVELOPES[api].open(tool).schema
    return to_json_schema(schema) if api == "gemini" else schema


def _schema_faults(api: str, schema: Any, *, strict: bool) -> list[str]:
    subset = SUBSETS[api, strict]
    if not isinstance(schema, dict):
        return ["the schema is not an object"]
    json_schema = to_json_schema(schema) if api == "gemini" else schema
    if not _meta().is_valid(json_schema):
        message = next(_meta().iter_errors(json_schema)).message[:200]
        return [f"it is invalid against its meta-schema: {message}"]
    problems = []
    if schema.get("type") != ("OBJECT" if subset.capitals else "object"):
        problems.append(f"schema must have type 'object', not {schema.get('type')!r}")
    problems += [f"{name!r} at the top level" for name in subset.not_at_root & schema.keys()]
    if subset.root_keywords is not None:
        problems += [f"{name!r} at the top level" for name in schema.keys() - subset.root_keywords]
    if subset.properties_at_root and "properties" not in schema:
        problems.append("object schema missing properties")
    for place in places(schema):
        location = place.pointer or "/"
        problems += [
            f"{location}: {message}" for rule in RULES for message in rule(place, subset, schema)
        ]
    if any("is unresolved" in message for message in problems):
        return problems
    return [*problems, *excess(schema, subset.sizes), *recursion_faults(schema, subset)]


def request_faults(api: str, tools: list[Any]) -> list[str]:
    """Return the reasons why *api* would reject a request with valid *tools*."""
    contents = [ENVELOPES[api].open(tool) for tool in tools]
    names = Counter(item.inner["name"] for item in contents)
    problems = [
        f"{name!r} is the name of {count} tools" for name, count in names.items() if count > 1
    ]
    if len(tools) > _MAX_TOOLS.get(api, len(tools)):
        problems.append(f"{len(tools)} tools")
    strict = [item.schema for item in contents if item.inner.get("strict") is True]
    if api in _STRICT:
        counted = [optional_and_unions(schema) for schema in strict]
        for noun, count, maximum in (
            ("strict tools", len(strict), 20),
            ("optional properties", sum(optional for optional, _ in counted), 24),
            ("unions", sum(unions for _, unions in counted), 16),
        ):
            if count > maximum:
                problems.append(f"{count} {noun}, more than {maximum}")
    return problems


@cache
def _meta() -> jsonschema_rs.Validator:
    # Without formats: those in the meta-schema, such as that of `pattern`, have their own rule.
    uri = "https://json-schema.org/draft/2020-12/schema"
    return jsonschema_rs.Draft202012Validator({"$ref": uri}, validate_formats=False)
