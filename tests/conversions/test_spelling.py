"""A schema of any dialect that is read and written accepts the same payloads."""

import json
from random import Random
from typing import Any

import jsonschema_rs
import pytest
from agreement.editions import EDITIONS, Edition, as_doubles
from agreement.known_differences import is_avoided
from agreement.mutations import mutated
from agreement.payloads import PayloadMaker
from agreement.schemas import Generated, generate_schema
from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.schema_reader import read_schema
from sidecheck_server.core.convert.tool_conversion import write_schema
from sidecheck_server.core.convert.types import Effect, LossLog
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits

LIMITS = Limits()

SCHEMAS = 400
PAYLOADS = 4

_EVERYTHING = Subset()


def write_in_2020_12(generated: Generated) -> tuple[Any, bool]:
    """Return *generated* in draft 2020-12, and whether it is equivalent."""
    record = LossLog([LIMITS.steps])
    root = read_schema(generated.question.source(), ("inputSchema",), record, LIMITS)
    is_equivalent = all(loss.effect is Effect.EQUIVALENT for loss in record.losses)
    return write_schema(root, _EVERYTHING), is_equivalent


def differences(edition: Edition, random: Random) -> tuple[list[Any], int]:
    """Return payloads of a random schema with different results, and the number of valid ones."""
    generated = generate_schema(random, edition)
    question = generated.question
    if generated.endless or is_avoided(edition, question.schema):
        return [], 0
    try:
        schema, is_equivalent = write_in_2020_12(generated)
        original = edition.oracle(question.schema, question.documents)
    except (RequestError, ValueError):
        # Whether both reject the same schemas is tested elsewhere.
        return [], 0
    converted = jsonschema_rs.Draft202012Validator(
        as_doubles(schema), offline=True, validate_formats=False
    )
    hides = edition.reference_hides_siblings
    maker = PayloadMaker(random, generated.follow, names=generated.names, hides_siblings=hides)
    mismatches, valid = [], 0
    for _ in range(PAYLOADS):
        payload = maker.make(question.schema)
        for candidate in (payload, mutated(random, payload, generated.names)):
            expected, actual = original.is_valid(candidate), converted.is_valid(candidate)
            valid += expected
            # In draft 4, 1.0 is not an integer.
            if (
                expected != actual
                and is_equivalent
                and not (edition is EDITIONS[0] and _has_doubles(candidate))
            ):
                mismatches.append(
                    (question.schema, question.documents, schema, candidate, expected, actual)
                )
    return mismatches, valid


def _has_doubles(value: Any) -> bool:
    """Return whether *value* contains a double that is an integer."""
    if isinstance(value, dict | list):
        return any(map(_has_doubles, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float) and value.is_integer()


@pytest.mark.parametrize("edition", EDITIONS, ids=[edition.name for edition in EDITIONS])
def test_a_written_schema_accepts_the_same_payloads(edition: Edition) -> None:
    mismatches, valid = [], 0
    for number in range(SCHEMAS):
        new_mismatches, valid_count = differences(edition, Random(f"spelling/{number}"))
        mismatches += new_mismatches
        valid += valid_count

    assert [] == [json.dumps(candidate) for candidate in mismatches[:2]]
    assert valid > SCHEMAS
