"""Real calls get the verdict of two other validators."""

import json
from functools import cache
from typing import Any

from agreement.corpus import edition_of
from agreement.engines import LIMITS
from agreement.schemas import Question
from sidecheck_server.core.compiler.compilation import CompiledSchema, compile_schema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import DISAGREEMENT, EvaluationOptions, evaluate
from sidecheck_server.core.payload import decode
from support.shared_material import read_records, shared

NOT_TOLD = {DISAGREEMENT, "DETAILS_UNAVAILABLE"}


@cache
def compiled(schema: str) -> CompiledSchema | ErrorReason:
    """Return the schema of the text *schema*, compiled, or why it is rejected."""
    value = json.loads(schema)
    source = Question(edition_of(value), value, {}).source()
    try:
        return CompiledSchema(source, compile_schema(source, LIMITS), LIMITS)
    except RequestError as error:
        return error.reason


def answers(record: dict[str, Any]) -> dict[str, Any]:
    """Return the verdicts on a call, by the service and by each engine."""
    schema = compiled(json.dumps(record["tool"]["inputSchema"]))
    if isinstance(schema, ErrorReason):
        return {"refused": schema}
    payload = json.dumps(record["arguments"]).encode()
    value = decode(payload, max_depth=LIMITS.payload_depth)
    verdict = evaluate(schema, payload, EvaluationOptions())
    codes = {violation.code for violation in verdict.violations}
    return {
        "judge": verdict.valid,
        "fast": None if schema.fast is None else schema.fast.is_valid(value),
        "complete": schema.complete.is_valid(value),
        "explained": bool(verdict.violations) != verdict.valid and not codes & NOT_TOLD,
    }


def expected(record: dict[str, Any]) -> dict[str, Any]:
    """Return the recorded verdicts on a call."""
    oracle = record["oracle"]
    if not oracle["schema_valid"]:
        return {"refused": ErrorReason.INVALID_SCHEMA}
    valid = oracle["jsonschema"]
    return {"judge": valid, "fast": valid, "complete": valid, "explained": True}


def test_recorded_calls_get_their_verdicts() -> None:
    """Both engines have the verdict on which the recorded oracles agree."""
    records = [
        record
        for record in read_records(shared("corpus") / "calls.jsonl.gz")
        if record["oracle"]["jsonschema"] == record["oracle"]["ajv"]
    ]

    assert len(records) > 7000
    assert sum(record["oracle"]["jsonschema"] is False for record in records) > 300
    assert [] == [
        (record["id"], answers(record)) for record in records if answers(record) != expected(record)
    ]
