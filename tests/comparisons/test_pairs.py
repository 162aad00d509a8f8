"""Random pairs of schemas: no payload refutes a verdict."""

import os
from random import Random

from comparisons.pairs import check_pairs

COUNT = int(os.environ.get("SIDECHECK_COMPARED_PAIRS", "300"))
"""Pairs; `python -m comparisons` compares ten thousand."""


def test_no_payload_refutes_a_verdict() -> None:
    """No "compatible" and no "breaking" is wrong, and most pairs are decided."""
    tally = check_pairs(Random(2026), COUNT)

    assert [] == tally.wrong
    assert [] == tally.disagreements
    assert tally.decided > 0.85
    # Many payloads distinguish the schemas, so they could refute a verdict.
    assert tally.refuting > COUNT
