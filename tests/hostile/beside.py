"""Latencies of a bystander's calls while an attack repeats without pause."""

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from hostile.asking import Question, question_of
from hostile.cases import Case
from hostile.resilience import Siege
from resilience.scene import Bystander

__all__ = ["Latencies", "measure_bystander"]

_SHAPES = 8
"""Number of variants of an attack, which differ in white space."""


@dataclass(frozen=True, slots=True)
class Latencies:
    """Latencies of a bystander's calls from their due times, in milliseconds."""

    calls: int
    median: float
    p99: float
    longest: float
    #: Number of attacks in that time.
    attacks: int
    #: Calls that were answered before the last attack ended.
    answered_before_end: int


def measure_bystander(siege: Siege, case: Case | None, seconds: float) -> Latencies:
    """Return the latencies of a bystander of *siege* while *case* repeats.

    The bystander has a connection of its own. Attacks alternate between a variant that the
    server has not compiled and the first variant, so that both compilation and evaluation run.
    Without a case there is no attack.
    """
    turns = range(_SHAPES if case else 0)
    attacks = [question_of(case.asks, siege.baits, turn=turn) for turn in turns if case]
    bystander = Bystander(siege.server.address)
    attack_count = _attack(siege, attacks, time.monotonic() + seconds)
    result = bystander.end()
    assert ["OK"] == list(result["statuses"]), result["statuses"]
    latencies = result["milliseconds"]
    cuts = statistics.quantiles(latencies, n=100, method="inclusive")
    return Latencies(
        len(latencies),
        cuts[49],
        cuts[98],
        max(latencies),
        attack_count,
        result["answered_before_end"],
    )


def _attack(siege: Siege, attacks: Sequence[Question], end: float) -> int:
    """Make *attacks* in turn until *end*, and return their number."""
    count = 0
    while (left := end - time.monotonic()) > 0:
        if not attacks:
            time.sleep(left)
            break
        again, new = divmod(count, 2)
        siege.ask(attacks[again % _SHAPES if new else 0])
        count += 1
    return count
