"""What an attack costs others: it repeats without pause while a bystander goes on calling."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hostile.asking import question_of
from hostile.cases import Case
from hostile.siege import Siege

__all__ = ["Latencies", "calls_beside"]

_TESTS = Path(__file__).resolve().parent.parent
_SHAPES = 64


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

    Every second attack is new to the server, so that both admitting it and judging under
    it are tried. Without a case there is no attack.
    """
    bystander = subprocess.Popen(
        [sys.executable, "-m", "hostile.bystander", siege.server.address, str(seconds)],
        cwd=_TESTS,
        env={**os.environ},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert bystander.stdout is not None
    assert bystander.stdout.readline() == "ready\n"
    attacks = _attack(siege, case, bystander.poll) if case else 0
    said, _ = bystander.communicate(timeout=seconds + 120)
    latencies = json.loads(said)
    cuts = statistics.quantiles(latencies, n=100, method="inclusive")
    return Latencies(len(latencies), cuts[49], cuts[98], max(latencies), attacks)


def _attack(siege: Siege, case: Case, ended: Callable[[], int | None]) -> int:
    known = question_of(case.asks, siege.baits)
    shapes = [question_of(case.asks, siege.baits, turn=1 + n) for n in range(_SHAPES)]
    attacks = 0
    while ended() is None:
        again, new = divmod(attacks, 2)
        siege.ask(shapes[again % _SHAPES] if new else known)
        attacks += 1
    return attacks
