"""What an attack costs others: it repeats without pause while a bystander goes on calling."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hostile.asking import Question, question_of
from hostile.cases import Case
from hostile.resilience import Siege

__all__ = ["Latencies", "calls_beside"]

_TESTS = Path(__file__).resolve().parent.parent
_SHAPES = 8
"""In how many other words an attack is made, so that the server has not seen it."""


@dataclass(frozen=True, slots=True)
class Latencies:
    """How long the calls of a bystander took, in milliseconds."""

    calls: int
    median: float
    p99: float
    longest: float
    #: How often the attack was made meanwhile.
    attacks: int


def calls_beside(siege: Siege, case: Case | None, seconds: float) -> Latencies:
    """Return how a bystander of *siege* fares while *case* repeats, on a connection of its own.

    The first ones are by turns new to the server and known to it, so that both admitting
    and judging are tried. Without a case there is no attack.
    """
    turns = range(_SHAPES if case else 0)
    attacks = [question_of(case.asks, siege.baits, turn=turn) for turn in turns if case]
    bystander = subprocess.Popen(
        [sys.executable, "-m", "hostile.bystander", siege.server.address, str(seconds)],
        cwd=_TESTS,
        env={**os.environ},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert bystander.stdout is not None
    assert bystander.stdout.readline() == "ready\n"
    made = _attack(siege, attacks, bystander.poll) if attacks else 0
    said, _ = bystander.communicate(timeout=seconds + 600)
    latencies = json.loads(said)
    cuts = statistics.quantiles(latencies, n=100, method="inclusive")
    return Latencies(len(latencies), cuts[49], cuts[98], max(latencies), made)


def _attack(siege: Siege, attacks: Sequence[Question], ended: Callable[[], int | None]) -> int:
    made = 0
    while ended() is None:
        again, new = divmod(made, 2)
        siege.ask(attacks[again % _SHAPES if new else 0])
        made += 1
    return made
