"""Runs the conformance suite directly and through the proxy, and prints both as a table.

usage: python -m mcp_conformance [FOLDER]

FOLDER gets what the suite writes; it must not exist. Exits with 1 if a scenario that passes
directly does not pass through the proxy, and with 2 if the suite cannot be run.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from mcp_conformance.comparison import Comparison, compare, is_passed
from mcp_conformance.suite import SUITES, Check, SuiteFailed


def main() -> int:
    """Run all suites, and return the exit status."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else temporary).absolute()
        try:
            comparisons = {
                title: compare(suite, folder / title.replace(", ", "-").replace(" ", "-"))
                for title, suite in SUITES.items()
            }
        except SuiteFailed as failure:
            print(failure, file=sys.stderr)
            return 2
    for title, comparison in comparisons.items():
        print(f"\n{title}\n")
        print(_table(comparison))
    return 1 if any(comparison.lost() for comparison in comparisons.values()) else 0


def _table(comparison: Comparison) -> str:
    """Return the scenarios with their passed checks of all, and the scenarios that passed."""
    total, direct, through = comparison.totals()
    lines = [f"{'scenario':48}{'directly':>12}{'through the proxy':>20}"]
    for scenario in comparison.scenarios:
        cells = [_cell(side.get(scenario, ())) for side in (comparison.direct, comparison.proxied)]
        lines.append(f"{scenario:48}{cells[0]:>12}{cells[1]:>20}")
    lines.append(f"{f'{total} scenarios, passed':48}{direct:>12}{through:>20}")
    lines += [
        line for scenario in comparison.differing() for line in comparison.differences(scenario)
    ]
    return "\n".join(lines)


def _cell(checks: Sequence[Check]) -> str:
    """Return how many of *checks* succeeded, of those with an outcome, and whether it passed."""
    statuses = [status for _, _, status in checks if status != "INFO"]
    return f"{statuses.count('SUCCESS')}/{len(statuses)} {'✓' if is_passed(checks) else '✗'}"


if __name__ == "__main__":
    sys.exit(main())
