"""A schema of any edition that is read and written out again means the same."""

import json
from random import Random
from typing import Any

import jsonschema_rs
import pytest
from agreement.editions import EDITIONS, Edition
from agreement.known_differences import is_avoided
from agreement.mutations import mutated
from agreement.payloads import PayloadMaker
from agreement.schemas import Generated, generate_schema
from sidecheck_server.core.convert.apis.api import Subset
from sidecheck_server.core.convert.reading import read_parts
from sidecheck_server.core.convert.record import Record
from sidecheck_server.core.convert.words import Direction
from sidecheck_server.core.convert.writing import write_schema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits

LIMITS = Limits()

SCHEMAS = 400
PAYLOADS = 4

_EVERYTHING = Subset()


def written(generated: Generated) -> tuple[Any, bool]:
    """Return the schema of 2020-12 that *generated* becomes, and whether that loses nothing."""
    record = Record([LIMITS.steps])
    root = read_parts(generated.question.source(), ("inputSchema",), record, LIMITS)
    same = all(loss.direction is Direction.SAME for loss in record.losses)
    return write_schema(root, _EVERYTHING), same


def differences(edition: Edition, random: Random) -> tuple[list[Any], int]:
    """Return payloads of a random schema that are judged otherwise, and how many were valid."""
    generated = generate_schema(random, edition)
    question = generated.question
    if generated.endless or is_avoided(edition, question.schema):
        return [], 0
    try:
        schema, same = written(generated)
        original = edition.oracle(question.schema, question.documents)
    except (RequestError, ValueError):
        # What neither takes is held against each other elsewhere.
        return [], 0
    converted = jsonschema_rs.Draft202012Validator(schema, offline=True, validate_formats=False)
    hides = edition.reference_hides_siblings
    maker = PayloadMaker(random, generated.follow, names=generated.names, hides_siblings=hides)
    found, valid = [], 0
    for _ in range(PAYLOADS):
        payload = maker.make(question.schema)
        for each in (payload, mutated(random, payload, generated.names)):
            before, after = original.is_valid(each), converted.is_valid(each)
            valid += before
            # In draft 4, 1.0 is no integer.
            if before != after and same and not (edition is EDITIONS[0] and _has_doubles(each)):
                found.append((question.schema, question.documents, schema, each, before, after))
    return found, valid


def _has_doubles(value: Any) -> bool:
    """Return whether a double that is an integer is in *value*."""
    if isinstance(value, dict | list):
        return any(map(_has_doubles, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float) and value.is_integer()


@pytest.mark.parametrize("edition", EDITIONS, ids=[edition.name for edition in EDITIONS])
def test_a_schema_means_the_same_once_it_is_written_again(edition: Edition) -> None:
    found, valid = [], 0
    for number in range(SCHEMAS):
        more, admitted = differences(edition, Random(f"spelling/{number}"))
        found += more
        valid += admitted

    assert [] == [json.dumps(each) for each in found[:2]]
    assert valid > SCHEMAS
