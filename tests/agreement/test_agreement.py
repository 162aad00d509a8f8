"""The fast engine, the complete engine and jsonschema-rs give the same verdicts.

On random schemas of every edition, with payloads that are about half of them valid.
The time is bounded by ``SIDECHECK_AGREEMENT_SECONDS``, for all editions together; see
`agreement.__main__` for a longer run with another seed.
"""

import json
import os

import pytest
from agreement.__main__ import reproduction
from agreement.editions import EDITIONS, Edition
from agreement.run import run
from agreement.shrinking import shrunk
from sidecheck_server.core.errors import ErrorReason

SECONDS = float(os.environ.get("SIDECHECK_AGREEMENT_SECONDS", "10"))
LEAST_SCHEMAS = 200
SEED = "sidecheck"


@pytest.mark.parametrize("edition", EDITIONS, ids=[edition.name for edition in EDITIONS])
def test_the_validators_agree(edition: Edition, capsys: pytest.CaptureFixture[str]) -> None:
    """The verdicts on thousands of payloads agree, and every invalid payload has violations.

    Nor does anything raise, change what it evaluates, or answer twice differently; and
    schemas are rejected for a reason, the right one as far as jsonschema-rs can tell.
    """
    tally = run(edition, SEED, SECONDS / len(EDITIONS), least_schemas=LEAST_SCHEMAS)
    with capsys.disabled():
        print(f"\n{edition.name}: {tally}")

    assert [] == [json.dumps(reproduction(shrunk(finding))) for finding in tally.findings]
    assert tally.schemas >= LEAST_SCHEMAS
    assert tally.payloads >= 8 * LEAST_SCHEMAS
    assert 0.35 < tally.valid / tally.payloads < 0.65
    assert tally.fast / tally.schemas > 0.75
    assert tally.excinfo[ErrorReason.INVALID_SCHEMA] > 0
    assert tally.abstained < 0.01 * tally.payloads
