"""A schema that is read and written admits the same payloads, in every dialect.

Random schemas of every dialect; jsonschema-rs evaluates the original and the result, which is
in 2020-12.
"""

from random import Random
from typing import Any

import pytest
from agreement.editions import EDITIONS, Edition
from agreement.known_differences import is_avoided
from agreement.run import _payloads
from agreement.schemas import Generated, generate_schema
from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.convert.schema_reader import read_schema
from sidecheck_server.core.convert.tool_conversion import write_schema
from sidecheck_server.core.convert.types import Effect, LossLog
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.types import Draft
from support.compiling import LIMITS
from support.core_conversion import has_whole_doubles

SCHEMAS = 250
LATEST = EDITIONS[-1]


def read_and_written(generated: Generated) -> tuple[Any, bool]:
    log = LossLog([LIMITS.steps])
    root = read_schema(generated.question.source(), ("inputSchema",), log, LIMITS)
    is_wider = any(
        loss.effect is Effect.WIDENED
        for loss in log.losses
        if generated.question.edition.draft is not Draft.DRAFT_04 or loss.keyword != "type"
    )
    return write_schema(root, Subset()), is_wider


@pytest.mark.parametrize("edition", EDITIONS, ids=[item.name for item in EDITIONS])
def test_the_same_payloads_are_admitted(edition: Edition) -> None:
    compared = valid = 0
    for number in range(SCHEMAS):
        random = Random(f"read and written/{edition.name}/{number}")
        generated = generate_schema(random, edition)
        try:
            written, is_wider = read_and_written(generated)
        except RequestError:
            continue
        if is_avoided(LATEST, written):
            continue
        original = edition.oracle(generated.question.schema, generated.question.documents)
        rewritten = LATEST.oracle(written, {})
        assert LATEST.oracle_admits(written)
        for payload in _payloads(random, generated):
            if edition.draft is Draft.DRAFT_04 and has_whole_doubles(payload):
                continue
            message = original.is_valid(payload)
            if message or not is_wider:
                assert rewritten.is_valid(payload) is message, (
                    generated.question,
                    written,
                    payload,
                )
            compared += 1
            valid += message
    assert compared > 3 * SCHEMAS
    assert 0.3 < valid / compared < 0.7
