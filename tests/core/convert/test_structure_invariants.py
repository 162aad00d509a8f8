"""Transforms of the structure admit all that the original admits, in any subset.

Random schemas of every dialect and random subsets; jsonschema-rs evaluates the original and
the result. Where no loss widens, both admit the same.
"""

from dataclasses import replace
from random import Random

import pytest
from agreement.editions import EDITIONS, Edition
from agreement.known_differences import is_avoided
from agreement.run import _payloads
from agreement.schemas import generate_schema
from sidecheck_server.core.convert.providers.subset import References, Subset
from sidecheck_server.core.convert.schema_reader import read_schema
from sidecheck_server.core.convert.tool_conversion import write_schema
from sidecheck_server.core.convert.transforms.pipeline import transform_schema
from sidecheck_server.core.convert.types import Effect, LossLog
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.types import Draft
from support.compiling import LIMITS
from support.core_conversion import ALL, has_whole_doubles, written_keywords

SCHEMAS = 250
LATEST = EDITIONS[-1]
"""The edition in which everything is written."""
STRUCTURE = (
    *("allOf", "oneOf", "not", "if", "contains", "propertyNames", "dependentSchemas"),
    *("dependentRequired", "unevaluatedProperties", "unevaluatedItems"),
)
AT_ROOT = frozenset({"anyOf", "oneOf", "allOf", "not", "enum", "const", "if"})


def a_subset(random: Random) -> Subset:
    unsupported = {name for name in STRUCTURE if random.random() < 0.5}
    unsupported |= {"then", "else"} & ({"then", "else"} if "if" in unsupported else set())
    if random.random() < 0.2:
        unsupported.add("anyOf")
    return Subset(
        keywords=ALL - unsupported,
        not_at_root=AT_ROOT if random.random() < 0.5 else frozenset(),
        references=random.choice(list(References)),
        recursion=random.random() < 0.5,
        boolean_schemas=random.random() < 0.5,
        properties_at_root=random.random() < 0.5,
    )


@pytest.mark.parametrize("edition", EDITIONS, ids=[item.name for item in EDITIONS])
def test_payloads_of_the_original_are_admitted(edition: Edition) -> None:
    compared = valid = same = 0
    for number in range(SCHEMAS):
        random = Random(f"structure/{edition.name}/{number}")
        generated = generate_schema(random, edition)
        question = replace(generated.question, assert_formats=False)
        subset = a_subset(random)
        log = LossLog([LIMITS.steps])
        try:
            root = read_schema(question.source(), ("inputSchema",), log, LIMITS)
            transformed = transform_schema(root, subset, {}, log)
            written = write_schema(transformed, subset)
        except RequestError:
            continue
        case = (question, subset, written, log.losses)
        unsupported = ALL - (subset.keywords or ALL) - {"unevaluatedItems", "unevaluatedProperties"}
        assert written_keywords(transformed).isdisjoint(unsupported), case
        if is_avoided(LATEST, written):
            continue
        is_wider = any(
            loss.effect is Effect.WIDENED
            for loss in log.losses
            if edition.draft is not Draft.DRAFT_04 or loss.keyword != "type"
        )
        original = edition.oracle(question.schema, question.documents)
        rewritten = LATEST.oracle(written, {})
        for payload in _payloads(random, generated):
            if not isinstance(payload, dict) or (
                edition.draft is Draft.DRAFT_04 and has_whole_doubles(payload)
            ):
                continue
            message = original.is_valid(payload)
            sample = (
                {transformed.encoding.wrapped: payload} if transformed.encoding.wrapped else payload
            )
            if message or not is_wider:
                assert rewritten.is_valid(sample) is message, (payload, *case)
            compared += 1
            valid += message
            same += not is_wider
    assert compared > SCHEMAS
    assert 0.2 < valid / compared < 0.8
    assert 0.2 < same / compared < 0.8
