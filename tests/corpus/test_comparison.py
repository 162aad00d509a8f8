"""Mutated real tools are decided, and no recorded call refutes a verdict."""

import json
from collections import Counter
from functools import cache
from itertools import permutations
from random import Random
from typing import Any

from comparisons.mutations import MUTATIONS, mutate
from sidecheck_server.core.compat.changes import Level, Reading, ToolComparison
from sidecheck_server.core.compat.compare import compare_definitions
from sidecheck_server.core.compiler.compilation import CompiledSchema, compile_schema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import ToolDefinition, read_tool
from sidecheck_server.core.repair.types import Repairs, UnknownArguments
from sidecheck_server.core.schemas.dialects import SchemaSource
from support.shared_material import read_records, shared

LIMITS = Limits()
TOOLS = 150
CALLS = 200
_DECISION = EvaluationOptions(max_violations=1)
_DECLARED_ONLY = EvaluationOptions(
    max_violations=1, repairs=Repairs(unknown=UnknownArguments.REJECT)
)


def definition(tool: dict[str, Any], schema: Any) -> ToolDefinition | None:
    """Return *tool* with *schema*, or None if it cannot be read."""
    text = json.dumps({"name": "t", **tool, "inputSchema": schema}).encode()
    try:
        return read_tool(text, (), LIMITS)
    except RequestError:
        return None


@cache
def mutated_tools() -> tuple[tuple[str, ToolComparison], ...]:
    """Return a sample of tools, compared with each of their mutations."""
    records = list(read_records(shared("corpus") / "tools.jsonl.gz"))
    random = Random(19)
    compared: list[tuple[str, ToolComparison]] = []
    for record in random.sample(records, TOOLS):
        tool = record["tool"]
        old = definition(tool, tool["inputSchema"])
        for name in MUTATIONS if old is not None and record["check"]["input_schema_valid"] else ():
            schema = mutate(tool["inputSchema"], name, random)
            new = None if schema is None else definition(tool, schema)
            if old is not None and new is not None:
                compared.append((name, compare_definitions(old, new, LIMITS)))
    return tuple(compared)


def test_mutated_tools_are_decided() -> None:
    """At least 95 of 100 are, in either reading; every breaking one has a payload."""
    verdicts = [
        schema.verdicts.of(reading)
        for _, compared in mutated_tools()
        for schema in compared.schemas
        for reading in Reading
    ]
    levels = Counter(verdict.level for verdict in verdicts)

    assert len(verdicts) > 2500
    assert levels[Level.UNDECIDED] < 0.05 * len(verdicts)
    assert all(
        (verdict.witness is not None) is (verdict.level is Level.BREAKING) for verdict in verdicts
    )


def test_every_mutation_changes_something() -> None:
    """Benign mutations are harmless with objects assumed closed."""
    assert all(compared.changes for _, compared in mutated_tools())
    for name in ("drop a requirement", "make nullable", "make nullable by anyOf", "widen an enum"):
        levels = {
            compared.level(Reading.ASSUME_CLOSED)
            for mutation, compared in mutated_tools()
            if mutation == name
        }
        assert Level.COMPATIBLE in levels
        assert Level.BREAKING not in levels


def test_no_recorded_call_refutes_a_comparison() -> None:
    """Such a call would become invalid after a change that is reported as compatible."""
    records = list(read_records(shared("corpus") / "calls.jsonl.gz"))
    random = Random(7)
    replayed = refuting = 0
    wrong: list[Any] = []
    for record in random.sample(records, CALLS):
        schema = record["tool"]["inputSchema"]
        payload = json.dumps(record["arguments"]).encode()
        old, before = definition({}, schema), _compiled(schema)
        if old is None or before is None or not _accepts(before, payload):
            continue
        for name in MUTATIONS:
            changed = mutate(schema, name, random)
            new = None if changed is None else definition({}, changed)
            after = None if changed is None else _compiled(changed)
            if new is None or after is None:
                continue
            replayed += 1
            if _accepts(after, payload):
                continue
            refuting += 1
            compared = compare_definitions(old, new, LIMITS)
            for reading in Reading:
                level = compared.level(reading)
                is_covered = reading is Reading.AS_WRITTEN or _accepts(
                    before, payload, _DECLARED_ONLY
                )
                if is_covered and level not in (Level.BREAKING, Level.UNDECIDED):
                    wrong.append((record["id"], name, reading, level))

    assert [] == wrong
    assert replayed > 1000
    assert refuting > 100


def recorded_tools() -> dict[str, list[ToolDefinition]]:
    """Return the definitions that recorded servers, of several releases and SDKs, list by name."""
    texts: dict[str, dict[str, None]] = {}
    for path in sorted(shared("traffic").rglob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            message = json.loads(line)["message"]
            result = message.get("result") if isinstance(message, dict) else None
            for tool in result.get("tools") or () if isinstance(result, dict) else ():
                texts.setdefault(tool["name"], {})[json.dumps(tool)] = None
    return {
        name: [read_tool(text.encode(), (), LIMITS) for text in versions]
        for name, versions in texts.items()
    }


def test_definitions_with_the_same_name_are_decided() -> None:
    """All pairs are compared in both directions; a payload proves a breaking change."""
    levels: Counter[Level] = Counter()
    for versions in recorded_tools().values():
        for old, new in permutations(versions, 2):
            compared = compare_definitions(old, new, LIMITS)
            levels[compared.level(Reading.ASSUME_CLOSED)] += 1
            for schema in compared.schemas:
                verdict = schema.verdicts.assume_closed
                assert (verdict.witness is None) is (verdict.level is not Level.BREAKING)

    assert Level.UNDECIDED not in levels
    assert min(levels[Level.BREAKING], levels[Level.COMPATIBLE]) > 20


def _compiled(schema: Any) -> CompiledSchema | None:
    source = SchemaSource(json.dumps(schema).encode())
    try:
        return CompiledSchema(source, compile_schema(source, LIMITS), LIMITS)
    except RequestError:
        return None


def _accepts(
    compiled: CompiledSchema, payload: bytes, options: EvaluationOptions = _DECISION
) -> bool:
    return evaluate(compiled, payload, options).valid
