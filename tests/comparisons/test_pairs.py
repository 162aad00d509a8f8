"""Random pairs of schemas: no payload refutes a verdict."""

import os
from random import Random

from comparisons.pairs import check_pairs

COUNT = int(os.environ.get("SIDECHECK_COMPARED_PAIRS", "300"))
"""Pairs; `python -m comparisons` compares ten thousand."""


def test_no_payload_refutes_a_verdict() -> None:
    """Neither "compatible" nor "breaking" is ever wrong, and most pairs are decided."""
    tally = check_pairs(Random(2026), COUNT)

    assert [] == tally.wrong
    assert [] == tally.disagreements
    assert tally.decided > 0.85
    # The payloads could refute: many of them do tell the schemas apart.
    assert tally.refuting > COUNT
