"""Schemas of the corpus of real tools, as inputs of the comparison.

The data are third-party: ``PROFILE.md`` beside them has the source of each record.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import unquote

from agreement.editions import EDITIONS, Edition
from agreement.schemas import Question
from sidecheck_server.core.compiler.compilation import Artifact, compile_schema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from support.shared_material import read_records, shared

__all__ = ["ToolSchema", "compiled_schemas", "edition_of", "follow_within", "tool_schemas"]


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """An input or output schema of a real tool."""

    #: The record's identifier, and the name of the schema's property.
    name: str
    question: Question
    #: Whether it is valid against its meta-schema, as recorded with the corpus.
    recorded_valid: bool


@cache
def tool_schemas() -> tuple[ToolSchema, ...]:
    """Return the distinct schemas of the corpus's tools; skip the test without corpus."""
    tool_schemas_by_name: dict[str, ToolSchema] = {}
    for record in read_records(shared("corpus") / "tools.jsonl.gz"):
        for key, check in (
            ("inputSchema", "input_schema_valid"),
            ("outputSchema", "output_schema_valid"),
        ):
            schema = record["tool"].get(key)
            if schema is not None:
                question = Question(edition_of(schema), schema, {})
                name = f"{record['id']}/{key}"
                tool_schemas_by_name.setdefault(
                    json.dumps(schema), ToolSchema(name, question, record["check"][check])
                )
    return tuple(tool_schemas_by_name.values())


@cache
def compiled_schemas() -> dict[str, Artifact | RequestError]:
    """Return the compilation outcome of every schema of the corpus, by name."""
    limits = Limits()
    artifacts: dict[str, Artifact | RequestError] = {}
    for schema in tool_schemas():
        try:
            artifacts[schema.name] = compile_schema(schema.question.source(), limits)
        except RequestError as error:
            artifacts[schema.name] = error
    return artifacts


def edition_of(schema: Any) -> Edition:
    """Return the edition that *schema* declares, or 2020-12."""
    declared_uri = str(schema.get("$schema")).rstrip("#")
    return next(
        (edition for edition in EDITIONS if edition.uri.rstrip("#") == declared_uri), EDITIONS[-1]
    )


def follow_within(root: Any) -> Callable[[dict[str, Any]], Any]:
    """Return a function that follows the references of *root* by JSON Pointer."""

    def follow(node: dict[str, Any]) -> Any:
        value = root
        for raw in unquote(str(node["$ref"]).partition("#")[2]).split("/")[1:]:
            step = raw.replace("~1", "/").replace("~0", "~")
            value = value[int(step)] if isinstance(value, list) else value[step]
        return value

    return follow
