"""Repairs of real calls to real tools."""

import json
from collections import Counter
from functools import cache
from typing import Any

import pytest
from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.repair.coercion import coerce
from sidecheck_server.core.repair.repairs import apply_defaults
from sidecheck_server.core.repair.types import Coercion
from sidecheck_server.core.repair.unknown_properties import (
    find_unknown_properties,
    strip_unknown_properties,
)
from sidecheck_server.core.types import ChangeRule
from support.complete_engines import engine_for
from support.repairing import budget
from support.shared_material import read_records, shared


@cache
def engine_of(schema: str) -> CompleteEngine:
    """Return the engine of the text *schema*."""
    return engine_for(json.loads(schema))


def repaired(record: dict[str, Any]) -> Counter[str]:
    """Return the repairs of a call, and of the call with all arguments as JSON strings."""
    engine = engine_of(json.dumps(record["tool"]["inputSchema"]))
    arguments = record["arguments"]
    valid = engine.is_valid(arguments)
    tally: Counter[str] = Counter(calls=1, valid=valid)
    coerced, changes = coerce(engine, arguments, Coercion.SAFE_SCALARS, budget(), hide_values=False)
    tally["coerced"] += bool(changes)
    tally["coerced though valid"] += valid and bool(changes)
    tally["valid once coerced"] += not valid and engine.is_valid(coerced)
    tally["with unknown members"] += any(find_unknown_properties(engine, arguments, budget()))
    stripped, changes = strip_unknown_properties(engine, coerced, budget())
    tally["stripped"] += bool(changes)
    tally["invalid once stripped"] += valid and not engine.is_valid(stripped)
    filled, changes = apply_defaults(engine, stripped, budget())
    tally["filled"] += any(change.rule is ChangeRule.DEFAULT_APPLIED for change in changes)
    tally["invalid once filled"] += engine.is_valid(stripped) and not engine.is_valid(filled)
    tally["valid in the end"] += engine.is_valid(filled)
    if valid and isinstance(arguments, dict):
        texts = {name: _as_text(value) for name, value in arguments.items()}
        tally["texts"] += not engine.is_valid(texts)
        restored, _ = coerce(engine, texts, Coercion.SAFE_SCALARS, budget(), hide_values=False)
        tally["texts mended"] += not engine.is_valid(texts) and engine.is_valid(restored)
    return tally


def _as_text(value: Any) -> Any:
    return value if isinstance(value, str | None) else json.dumps(value)


@pytest.mark.slow
@pytest.mark.corpus
def test_real_calls_are_repaired() -> None:
    """Valid arguments are unchanged, and arguments in JSON strings are decoded."""
    tally: Counter[str] = Counter()
    for record in read_records(shared("corpus") / "calls.jsonl.gz"):
        if record["oracle"]["schema_valid"]:
            tally += repaired(record)

    assert tally["calls"] > 7000
    assert tally["valid"] > 6000
    assert 0 == tally["coerced though valid"]
    assert 0 == tally["invalid once stripped"]
    assert 0 == tally["invalid once filled"]
    assert tally["valid in the end"] > tally["valid"]
    assert tally["texts mended"] > 0.95 * tally["texts"]


@pytest.mark.slow
@pytest.mark.corpus
def test_defaults_that_the_schemas_of_real_tools_refuse_are_skipped() -> None:
    """Most of them are null where null is not allowed; the others are put in."""
    tally: Counter[str] = Counter()
    for record in read_records(shared("corpus") / "tools.jsonl.gz"):
        if record["check"]["input_schema_valid"]:
            engine = engine_of(json.dumps(record["tool"]["inputSchema"]))
            _, changes = apply_defaults(engine, {}, budget())
            tally["tools"] += 1
            tally.update({change.rule for change in changes})
            tally["null"] += any(
                change.rule is ChangeRule.DEFAULT_SKIPPED and " null of " in change.message
                for change in changes
            )

    assert tally["tools"] > 5000
    assert tally[ChangeRule.DEFAULT_APPLIED] > 1000
    assert tally[ChangeRule.DEFAULT_SKIPPED] > 100
    assert tally["null"] > 0.8 * tally[ChangeRule.DEFAULT_SKIPPED]
