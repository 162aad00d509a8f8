"""Tools of the corpus, with their recorded calls.

The data are third-party: ``PROFILE.md`` beside them has the source of each record.
"""

import json
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from support.shared_material import read_records, shared

__all__ = ["Subject", "called", "sample", "subjects"]

_ODD = (
    *("anyOf", "oneOf", "allOf", "not", "const", "prefixItems", "propertyNames", "$ref"),
    *("dependentRequired", "uniqueItems", "exclusiveMinimum", "pattern", "format"),
)
"""Keywords that are rare, or that many conversions lose."""

_CALLS = 5
"""Maximum number of calls of one tool."""


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A tool to convert."""

    #: The record's identifier.
    name: str
    tool: dict[str, Any]
    #: Recorded arguments that are valid.
    calls: tuple[Any, ...]


@cache
def subjects() -> tuple[Subject, ...]:
    """Return every tool of the corpus; skip the test without corpus."""
    records = read_records(shared("corpus") / "tools.jsonl.gz")
    return tuple(Subject(record["id"], record["tool"], ()) for record in records)


@cache
def called() -> tuple[Subject, ...]:
    """Return the tools whose calls are recorded, each with valid arguments."""
    calls: defaultdict[str, list[Any]] = defaultdict(list)
    first: dict[str, dict[str, Any]] = {}
    for record in read_records(shared("corpus") / "calls.jsonl.gz"):
        if record["oracle"]["jsonschema"] is True:
            schema = json.dumps(record["tool"]["inputSchema"])
            first.setdefault(schema, record)
            calls[schema].append(record["arguments"])
    return tuple(
        Subject(record["id"], _named(record["tool"]), tuple(calls[schema][:_CALLS]))
        for schema, record in first.items()
    )


def _named(tool: dict[str, Any]) -> dict[str, Any]:
    return {"name": tool["name"], "inputSchema": tool["inputSchema"]}


def sample(size: int) -> tuple[Subject, ...]:
    """Return a fixed sample of about *size* tools: large, odd and random ones."""
    by_size = sorted(subjects(), key=lambda item: (-len(_text(item)), item.name))
    chosen = dict.fromkeys([*by_size[:1], *by_size[8 : size // 10]])
    for keyword in _ODD:
        matching = [item for item in by_size if f'"{keyword}": ' in _text(item)]
        chosen |= dict.fromkeys(matching[:: max(len(matching) // 4, 1)][: size // 30 + 1])
    chosen |= dict.fromkeys(item for item in by_size if _is_odd(item.tool))
    remaining = [item for item in subjects() if item not in chosen]
    count = max(size - len(chosen), size // 5)
    return (*chosen, *Random("conversions").sample(remaining, count))


def _text(subject: Subject) -> str:
    return json.dumps(subject.tool.get("inputSchema"))


def _is_odd(tool: dict[str, Any]) -> bool:
    """Return whether *tool* has an unusual root or name."""
    schema = tool.get("inputSchema")
    root = schema.get("type") if isinstance(schema, dict) else None
    return root != "object" or len(tool["name"]) > 64 or not tool["name"].isascii()
