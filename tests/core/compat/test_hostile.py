"""Schemas that are made to exhaust a comparison are undecided, and soon."""

import json
import math
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from sidecheck_server.core.compat.changes import Level, Part, Reading
from sidecheck_server.core.compat.compare import compare_schemas
from sidecheck_server.core.compat.rules import BOUNDS
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.services.comparison import ToolComparer
from sidecheck_server.services.targets import InlineTool
from sidecheck_server.workers import Workers

LIMITS = Limits()


def chain(length: int) -> Callable[[Any], Any]:
    """Return a family of schemas whose references form a chain of *length*."""
    return lambda leaf: {
        "$ref": "#/$defs/d0",
        "$defs": {
            **{
                f"d{i}": {"properties": {"a": {"$ref": f"#/$defs/d{i + 1}"}}} for i in range(length)
            },
            f"d{length}": leaf,
        },
    }


def doubling(leaf: Any) -> Any:
    """Return a schema with 2**60 paths."""
    parts = {
        f"d{i}": {"properties": {name: {"$ref": f"#/$defs/d{i + 1}"} for name in "ab"}}
        for i in range(60)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**parts, "d60": leaf}}


def nested(leaf: Any) -> Any:
    """Return a schema as deep as schemas may be."""
    schema = leaf
    for _ in range(30):
        schema = {"properties": {"a": schema}}
    return schema


def choices(leaf: Any) -> Any:
    """Return a schema with 6**8 choices of branches."""
    return {
        "allOf": [
            {
                "anyOf": [
                    {"properties": {f"p{i}{k}": leaf}, "required": [f"p{i}{k}"]} for k in range(6)
                ]
            }
            for i in range(8)
        ]
    }


def constants(leaf: Any) -> Any:
    """Return a schema with many constants."""
    return {"properties": {"a": {"enum": [*range(5000), leaf["type"]]}}}


def repeated(leaf: Any) -> Any:
    """Return arrays of arrays with many items each."""
    schema = leaf
    for _ in range(12):
        schema = {"type": "array", "minItems": 12, "items": schema}
    return {"properties": {"a": schema}}


def exclusive(leaf: Any) -> Any:
    """Return a choice of which exactly one branch of many must match."""
    branches = [{"properties": {"k": {"const": i}, "v": leaf}} for i in range(200)]
    return {"properties": {"x": {"oneOf": branches}}}


def recursive(leaf: Any) -> Any:
    """Return a schema that leads to itself below ``unevaluatedProperties``.

    Proofs about it overflow the stack of the library, which ends the process.
    """
    below = {"type": "object", "unevaluatedProperties": False, "$ref": "#/$defs/r"}
    branch = {"type": "object", "properties": {"a": below, "b": leaf}, "required": ["a"]}
    return {"$ref": "#/$defs/r", "$defs": {"r": {"oneOf": [branch, {"type": "null"}]}}}


FAMILIES = {
    "chain": chain(400),
    "long chain": chain(5000),
    "doubling": doubling,
    "nested": nested,
    "choices": choices,
    "constants": constants,
    "repeated": repeated,
    "exclusive": exclusive,
    "recursive": recursive,
}


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_a_hostile_schema_ends(family: Callable[[Any], Any]) -> None:
    """It is decided, or undecided with a reason; its change is listed in any case."""
    sources = [
        SchemaSource(json.dumps(family({"type": name})).encode()) for name in ("integer", "boolean")
    ]
    changes, comparison = compare_schemas(Part.INPUT, (sources[0], sources[1]), LIMITS)

    assert changes
    for reading in Reading:
        verdict = comparison.verdicts.of(reading)
        assert verdict.level in (Level.BREAKING, Level.UNDECIDED)
        assert bool(verdict.reason) is (verdict.level is Level.UNDECIDED)


@pytest.mark.parametrize("keyword", sorted(BOUNDS))
@pytest.mark.parametrize("bound", [10**9, 2**64, 10**20, 1e20, 1e300])
def test_a_bound_beyond_memory_ends(keyword: str, bound: float) -> None:
    """The verdict is never wrongly compatible, and no text of that size is built."""
    kind: dict[str, Any] = {"contains": {}} if keyword.endswith("Contains") else {}
    schemas = (kind, {**kind, keyword: bound}, {**kind, keyword: bound * 2})
    for old, new in permutations(schemas, 2):
        sources = [SchemaSource(json.dumps(schema).encode()) for schema in (old, new)]
        _, comparison = compare_schemas(Part.INPUT, (sources[0], sources[1]), LIMITS)
        widens = new.get(keyword, 0) <= old.get(keyword, 0)
        if not BOUNDS[keyword]:
            widens = new.get(keyword, math.inf) >= old.get(keyword, math.inf)
        allowed = (Level.COMPATIBLE,) if widens else (Level.BREAKING, Level.UNDECIDED)
        assert comparison.verdicts.as_written.level in allowed


def test_few_steps_leave_it_undecided() -> None:
    """The limit is named."""
    source = SchemaSource(json.dumps(nested({"type": "integer"})).encode())
    changed = SchemaSource(json.dumps(nested({"type": "string"})).encode())
    _, comparison = compare_schemas(Part.INPUT, (source, changed), replace(LIMITS, steps=2000))

    assert "comparing the schemas takes more than 2,000 steps" == (
        comparison.verdicts.as_written.reason
    )


async def test_hostile_schemas_end_in_workers_too() -> None:
    """Each leaves at most one tool undecided; the other tool is decided."""
    # Steps decide: on a busy machine a worker may take many times as long as usual.
    patient = replace(LIMITS, compile_seconds=300, validation_seconds=300, worker_wait_seconds=300)
    workers = Workers(1, patient)
    with closing(workers):
        await workers.start()
        old, new = (
            [
                InlineTool(json.dumps({"name": name, "inputSchema": schema}).encode())
                for name, schema in [
                    *((name, family({"type": leaf})) for name, family in FAMILIES.items()),
                    ("harmless", {"type": "object", "properties": {"a": {"type": leaf}}}),
                ]
            ]
            for leaf in ("integer", "boolean")
        )
        compared = await ToolComparer(workers.run, patient).compare(old, new)

    levels = {tool.name: tool.level(Reading.AS_WRITTEN) for tool in compared.tools}
    assert {*FAMILIES, "harmless"} == levels.keys()
    assert Level.BREAKING is levels.pop("harmless")
    assert {*levels.values()} <= {Level.BREAKING, Level.UNDECIDED}
