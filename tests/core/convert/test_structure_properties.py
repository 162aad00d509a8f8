"""Whatever the structure that an API takes, fitting to it admits all that was admitted.

On random schemas of every edition and random subsets; jsonschema-rs judges by the original
and by what came of it. Where no loss says that more is admitted, the same is.
"""

from dataclasses import replace
from random import Random

import pytest
from agreement.editions import EDITIONS, Edition
from agreement.known_differences import is_avoided
from agreement.run import _payloads
from agreement.schemas import generate_schema
from sidecheck_server.core.convert.apis.api import References, Subset
from sidecheck_server.core.convert.fitting import fit
from sidecheck_server.core.convert.reading import read_parts
from sidecheck_server.core.convert.record import Record
from sidecheck_server.core.convert.words import Direction
from sidecheck_server.core.convert.writing import write_schema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.schemas.keywords import Draft
from support.compiling import LIMITS
from support.core_conversion import ALL, has_whole_doubles, keywords_written

SCHEMAS = 250
LATEST = EDITIONS[-1]
"""The edition in which everything is written."""
STRUCTURE = (
    *("allOf", "oneOf", "not", "if", "contains", "propertyNames", "dependentSchemas"),
    *("dependentRequired", "unevaluatedProperties", "unevaluatedItems"),
)
AT_ROOT = frozenset({"anyOf", "oneOf", "allOf", "not", "enum", "const", "if"})


def a_subset(random: Random) -> Subset:
    refused = {name for name in STRUCTURE if random.random() < 0.5}
    refused |= {"then", "else"} & ({"then", "else"} if "if" in refused else set())
    if random.random() < 0.2:
        refused.add("anyOf")
    return Subset(
        keywords=ALL - refused,
        not_at_root=AT_ROOT if random.random() < 0.5 else frozenset(),
        references=random.choice(list(References)),
        recursion=random.random() < 0.5,
        boolean_schemas=random.random() < 0.5,
        properties_at_root=random.random() < 0.5,
    )


@pytest.mark.parametrize("edition", EDITIONS, ids=[each.name for each in EDITIONS])
def test_all_that_was_admitted_is(edition: Edition) -> None:
    compared = valid = same = 0
    for number in range(SCHEMAS):
        random = Random(f"structure/{edition.name}/{number}")
        generated = generate_schema(random, edition)
        question = replace(generated.question, assert_formats=False)
        subset = a_subset(random)
        record = Record([LIMITS.steps])
        try:
            root = read_parts(question.source(), ("inputSchema",), record, LIMITS)
            fitted = fit(root, subset, {}, record)
            written = write_schema(fitted, subset)
        except RequestError:
            continue
        case = (question, subset, written, record.losses)
        refused = ALL - (subset.keywords or ALL) - {"unevaluatedItems", "unevaluatedProperties"}
        assert keywords_written(fitted).isdisjoint(refused), case
        if is_avoided(LATEST, written):
            continue
        wider = any(
            loss.direction is Direction.WIDER
            for loss in record.losses
            if edition.draft is not Draft.DRAFT_04 or loss.keyword != "type"
        )
        before = edition.oracle(question.schema, question.documents)
        after = LATEST.oracle(written, {})
        for payload in _payloads(random, generated):
            if not isinstance(payload, dict) or (
                edition.draft is Draft.DRAFT_04 and has_whole_doubles(payload)
            ):
                continue
            said = before.is_valid(payload)
            given = {fitted.undo.wrapped: payload} if fitted.undo.wrapped else payload
            if said or not wider:
                assert after.is_valid(given) is said, (payload, *case)
            compared += 1
            valid += said
            same += not wider
    assert compared > SCHEMAS
    assert 0.2 < valid / compared < 0.8
    assert 0.2 < same / compared < 0.8
