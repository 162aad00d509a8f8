"""Runs an attack on a server, and measures its effect on the server and on a bystander."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from hostile.resilience import Weight
from support.running import RunningServer
from support.shared_material import REPOSITORY

__all__ = ["Attack", "Bystander", "Effect", "attack_server"]

_TESTS = REPOSITORY / "tests"


@dataclass(frozen=True, slots=True)
class Attack:
    """An attack on a running server."""

    name: str
    why: str
    #: Attacks a server for some seconds; returns counts of the attacker's observations.
    run: Callable[[RunningServer, float], Mapping[str, int]]
    #: Environment variables of the server.
    settings: Mapping[str, str] = field(default_factory=dict)
    #: The permitted statuses of the bystander's calls.
    statuses: frozenset[str] = frozenset({"OK"})


@dataclass(frozen=True, slots=True)
class Effect:
    """Effect of an attack."""

    #: Counts of the attacker's observations.
    observations: Mapping[str, int]
    #: Calls of the bystander by status, and their sorted latencies from the due times.
    statuses: Mapping[str, int]
    milliseconds: tuple[float, ...]
    #: Resident memory of the server and its workers, in bytes: before, and the peak.
    memory: int
    peak: int

    def percentile(self, share: float) -> float:
        """Return the percentile *share*, from 0 to 1, of the bystander's latencies."""
        return self.milliseconds[int(share * (len(self.milliseconds) - 1))]


def attack_server(attack: Attack, seconds: float) -> Effect:
    """Run *attack* for *seconds* on a server of its own, while a bystander calls it."""
    # Socket paths are short: at most some hundred bytes.
    with tempfile.TemporaryDirectory(prefix="sidecheck-") as folder:
        # At the level debug, the server logs each call of the attack.
        level = attack.settings.get("SIDECHECK_LOG_LEVEL", "info")
        server = RunningServer(Path(folder), "--log-level", level, **attack.settings)
        weight = Weight()
        try:
            memory = _tree_bytes(server.process.pid)
            weight.put_on_scales(server.process.pid)
            bystander = Bystander(server.address)
            observations = dict(attack.run(server, seconds))
            ended = bystander.end()
        finally:
            weight.close()
            server.close()
    statuses, milliseconds = ended["statuses"], tuple(sorted(ended["milliseconds"]))
    return Effect(observations, statuses, milliseconds, memory, weight.peak)


class Bystander:
    """The process of `resilience.bystander`, which calls the server at *address*."""

    def __init__(self, address: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "resilience.bystander", address],
            cwd=_TESTS,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def end(self) -> dict[str, Any]:
        """End the calls, and return the statuses and latencies."""
        output, _ = self._process.communicate(timeout=600)
        result: dict[str, Any] = json.loads(output)
        return result


def _tree_bytes(process: int) -> int:
    root = psutil.Process(process)
    return sum(process.memory_info().rss for process in (root, *root.children(recursive=True)))
