"""What an attack costs others: it repeats without pause while a bystander goes on calling."""

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from hostile.asking import Question, question_of
from hostile.cases import Case
from hostile.resilience import Siege
from resilience.scene import Bystander

__all__ = ["Latencies", "calls_beside"]

_SHAPES = 8
"""In how many other words an attack is made, so that the server has not seen it."""


@dataclass(frozen=True, slots=True)
class Latencies:
    """How long the calls of a bystander took since each was due, in milliseconds."""

    calls: int
    median: float
    p99: float
    longest: float
    #: How often the attack was made meanwhile.
    attacks: int
    #: Calls that were answered before the last attack ended.
    answered_before_end: int


def calls_beside(siege: Siege, case: Case | None, seconds: float) -> Latencies:
    """Return how a bystander of *siege* fares while *case* repeats, on a connection of its own.

    The first ones are by turns new to the server and known to it, so that both admitting
    and judging are tried. Without a case there is no attack.
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
    """Make *attacks* in turn until *end*, and return how many were made."""
    count = 0
    while (left := end - time.monotonic()) > 0:
        if not attacks:
            time.sleep(left)
            break
        again, new = divmod(count, 2)
        siege.ask(attacks[again % _SHAPES if new else 0])
        count += 1
    return count
