"""What is read and written again admits the same payloads, in every dialect.

On random schemas of every edition; jsonschema-rs judges by the original and by what came of
it, which is of 2020-12.
"""

from random import Random
from typing import Any

import pytest
from agreement.editions import EDITIONS, Edition
from agreement.known_differences import is_avoided
from agreement.run import _payloads
from agreement.schemas import Generated, generate_schema
from sidecheck_server.core.convert.apis.api import Subset
from sidecheck_server.core.convert.reading import read_parts
from sidecheck_server.core.convert.record import Record
from sidecheck_server.core.convert.words import Direction
from sidecheck_server.core.convert.writing import write_schema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.schemas.keywords import Draft
from support.compiling import LIMITS
from support.core_conversion import has_whole_doubles

SCHEMAS = 250
LATEST = EDITIONS[-1]


def read_and_written(generated: Generated) -> tuple[Any, bool]:
    record = Record([LIMITS.steps])
    root = read_parts(generated.question.source(), ("inputSchema",), record, LIMITS)
    wider = any(
        loss.direction is Direction.WIDER
        for loss in record.losses
        if generated.question.edition.draft is not Draft.DRAFT_04 or loss.keyword != "type"
    )
    return write_schema(root, Subset()), wider


@pytest.mark.parametrize("edition", EDITIONS, ids=[each.name for each in EDITIONS])
def test_the_same_payloads_are_admitted(edition: Edition) -> None:
    compared = valid = 0
    for number in range(SCHEMAS):
        random = Random(f"read and written/{edition.name}/{number}")
        generated = generate_schema(random, edition)
        try:
            written, wider = read_and_written(generated)
        except RequestError:
            continue
        if is_avoided(LATEST, written):
            continue
        before = edition.oracle(generated.question.schema, generated.question.documents)
        after = LATEST.oracle(written, {})
        assert LATEST.oracle_admits(written)
        for payload in _payloads(random, generated):
            if edition.draft is Draft.DRAFT_04 and has_whole_doubles(payload):
                continue
            said = before.is_valid(payload)
            if said or not wider:
                assert after.is_valid(payload) is said, (generated.question, written, payload)
            compared += 1
            valid += said
    assert compared > 3 * SCHEMAS
    assert 0.3 < valid / compared < 0.7
