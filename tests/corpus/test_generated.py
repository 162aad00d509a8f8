"""All validators agree on payloads generated for the schemas of real tools."""

import json
from random import Random

import pytest
from agreement.__main__ import reproduction
from agreement.corpus import follow_within, tool_schemas
from agreement.engines import Engines, Finding, create_engines
from agreement.mutations import mutated
from agreement.payloads import PayloadMaker
from agreement.shrinking import shrunk

PAYLOADS = 3
NAMES = ("a", "b", "id", "name", "unknown", "$ref", "__proto__", "")


def test_the_validators_agree_on_real_schemas(capsys: pytest.CaptureFixture[str]) -> None:
    """Generated payloads and small changes of them have one verdict."""
    valid = [schema.question for schema in tool_schemas() if schema.recorded_valid]
    findings: list[Finding] = []
    verdicts: list[bool] = []
    for number, question in enumerate(valid):
        engines = create_engines(question)
        if not isinstance(engines, Engines):
            findings += [engines] if isinstance(engines, Finding) else []
            continue
        random = Random(f"corpus/{number}")
        maker = PayloadMaker(random, follow_within(question.schema), names=NAMES)
        for _ in range(PAYLOADS):
            payload = maker.make(question.schema)
            changed = [mutated(random, payload, NAMES) for _ in range(2)]
            for variant in (payload, *changed):
                findings += engines.examine(json.dumps(variant))
        verdicts += engines.verdicts.values()
    valid_share = sum(verdicts) / len(verdicts)
    with capsys.disabled():
        print(f"\n{len(verdicts):,} payloads for real schemas, {100 * valid_share:.1f} % valid")

    assert [] == [json.dumps(reproduction(shrunk(finding))) for finding in findings[:3]]
    assert len(verdicts) > 30_000
    assert 0.3 < valid_share < 0.7
