"""The results of a suite directly and through the proxy, side by side."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp_conformance.endpoints import proxied, serving
from mcp_conformance.suite import Check, Results, Suite, run_suite

__all__ = ["Comparison", "compare", "is_passed"]

_ATTEMPTS = 3
"""Runs of a scenario until both sides agree.

Some scenarios give the server half a second, which a machine that does other work may need.
"""


def is_passed(checks: Sequence[Check]) -> bool:
    """Return whether a scenario with *checks* passed: none failed or warned, and one succeeded."""
    statuses = {status for _, _, status in checks}
    return "SUCCESS" in statuses and statuses.isdisjoint({"FAILURE", "WARNING"})


@dataclass(frozen=True, slots=True)
class Comparison:
    """Results of the same scenarios, directly and through the proxy."""

    direct: Results
    proxied: Results

    @property
    def scenarios(self) -> list[str]:
        """All scenarios, by name."""
        return sorted({*self.direct, *self.proxied})

    def differing(self) -> list[str]:
        """Return the scenarios whose checks differ in id, name, number or status."""
        return [
            scenario
            for scenario in self.scenarios
            if self.direct.get(scenario) != self.proxied.get(scenario)
        ]

    def lost(self) -> list[str]:
        """Return the scenarios that pass directly, but not through the proxy."""
        return [
            scenario
            for scenario in self.scenarios
            if is_passed(self.direct.get(scenario, ()))
            and not is_passed(self.proxied.get(scenario, ()))
        ]

    def differences(self, scenario: str) -> Iterator[str]:
        """Yield the checks of *scenario* that only one side has, in words."""
        sides = (self.direct.get(scenario, ()), self.proxied.get(scenario, ()))
        of_one = [Counter(sides[0]) - Counter(sides[1]), Counter(sides[1]) - Counter(sides[0])]
        for side, checks in zip(("directly", "through the proxy"), of_one, strict=True):
            for (id_, name, status), number in sorted(checks.items()):
                times = "" if number == 1 else f" {number} times"
                yield f"{scenario}: {id_} ({name}) is {status} {side}{times}"

    def totals(self) -> tuple[int, int, int]:
        """Return how many scenarios there are, pass directly, and pass through the proxy."""
        sides = (self.direct, self.proxied)
        direct, proxied = (sum(map(is_passed, side.values())) for side in sides)
        return len(self.scenarios), direct, proxied


def compare(suite: Suite, folder: Path) -> Comparison:
    """Run *suite* directly and through the proxy, each with a server of its own.

    What it writes is left in *folder*.

    Raises:
        SuiteFailed: it did not run to its end.
    """
    comparison = _compare(suite, folder / "all", "")
    for attempt in range(2, _ATTEMPTS + 1):
        for scenario in comparison.differing():
            again = _compare(suite, folder / f"{scenario}-{attempt}", scenario)
            comparison = Comparison(
                {**comparison.direct, **again.direct}, {**comparison.proxied, **again.proxied}
            )
    return comparison


def _compare(suite: Suite, folder: Path, scenario: str) -> Comparison:
    direct, through = folder / "directly", folder / "through-the-proxy"
    direct.mkdir(parents=True)
    through.mkdir()
    with serving(direct) as url:
        results = run_suite(suite, url, direct, scenario)
    with serving(through) as url, proxied(url, through) as proxy:
        return Comparison(results, run_suite(suite, proxy, through, scenario))
