"""The official conformance suite of MCP gets through `sidecheck proxy` what it gets without."""

import shutil
from pathlib import Path

import pytest
from mcp_conformance.comparison import Comparison, compare, is_passed
from mcp_conformance.suite import SUITES
from support.shared_material import unavailable

#: How many scenarios there are, and which the server itself does not pass.
_RECORDED = {
    # The scenario sends the version 2025-03-26, whose events lack the requested field.
    "2025-11-25, suite 0.1.16": (32, {"server-sse-polling"}),
    "2025-11-25, suite 0.2.0-alpha.12": (33, set[str]()),
    # The extension for tasks, which the SDK of the server does not have.
    "2026-07-28, suite 0.2.0-alpha.12": (
        50,
        {
            "tasks-capability-negotiation",
            "tasks-dispatch-and-envelope",
            "tasks-lifecycle",
            "tasks-mrtr-composition",
            "tasks-mrtr-input",
            "tasks-request-headers",
            "tasks-request-state-removal",
            "tasks-required-task-error",
            "tasks-status-notifications",
            "tasks-wire-fields",
        },
    ),
}


@pytest.mark.parametrize("title", SUITES)
def test_every_check_has_the_same_outcome(title: str, tmp_path: Path) -> None:
    """Everything is enforced, and all scenarios run."""
    if shutil.which("npm") is None:
        unavailable("no npm on PATH, which installs the suite")
    comparison = compare(SUITES[title], tmp_path / "suite")
    failed = {name for name, checks in comparison.direct.items() if not is_passed(checks)}

    differences = [line for name in comparison.differing() for line in comparison.differences(name)]
    assert not differences, "\n".join(differences)
    assert [] == comparison.differing()
    assert _RECORDED[title] == (len(comparison.direct), failed)


def test_a_difference_is_noticed() -> None:
    """It may be in a check, in the number of checks, or in the set of scenarios."""
    good, bad = ("id", "Name", "SUCCESS"), ("id", "Name", "FAILURE")
    direct = {"same": [good], "worse": [good, good], "fewer": [good, good], "gone": [good]}
    through = {"same": [good], "worse": [bad, good], "fewer": [good], "added": [bad]}
    comparison = Comparison(direct, through)

    assert ["added", "fewer", "gone", "worse"] == comparison.differing()
    assert ["gone", "worse"] == comparison.lost()
    assert (5, 4, 2) == comparison.totals()
    assert ["fewer: id (Name) is SUCCESS directly"] == [*comparison.differences("fewer")]
