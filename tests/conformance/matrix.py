"""Outcomes of the shared cases by group and language, as a table."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Outcomes", "format_matrix", "read_outcomes"]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Numbers of cases of one client, by group."""

    cases: dict[str, int]
    passed: dict[str, int]
    skipped: dict[str, int]
    #: Ids of cases that failed, or that have no result.
    failed: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the outcomes as JSON, for the summary of another process."""
        return {"cases": self.cases, "passed": self.passed, "skipped": self.skipped}

    def cell(self, group: str) -> str:
        """Return the cell of a group: passed cases of all, and the skipped ones."""
        text = f"{self.passed.get(group, 0):,}/{self.cases.get(group, 0):,}"
        skipped = self.skipped.get(group, 0)
        return f"{text} ({skipped:,} skipped)" if skipped else text


def read_outcomes(settings: Mapping[str, Any]) -> Outcomes:
    """Return the outcomes in the results that *settings* names."""
    groups = {}
    with Path(settings["cases"]).open() as lines:
        for line in lines:
            case = json.loads(line)
            if case["id"] in groups:
                raise ValueError(f"two cases have the id {case['id']!r}")
            groups[case["id"]] = case["group"]
    results: dict[str, dict[str, Any]] = {}
    path = Path(settings["results"])
    if path.exists():
        with path.open() as lines:
            results = {result["id"]: result for result in map(json.loads, lines)}
    passed, skipped, failed = Counter[str](), Counter[str](), []
    for id_, group in groups.items():
        result = results.get(id_, {})
        if result.get("passed"):
            passed[group] += 1
        elif "skipped" in result:
            skipped[group] += 1
        else:
            failed.append(id_)
    return Outcomes(dict(Counter(groups.values())), dict(passed), dict(skipped), tuple(failed))


def format_matrix(clients: Mapping[str, Outcomes]) -> str:
    """Return a table with a row for each group and a column for each client."""
    groups = list(dict.fromkeys(group for results in clients.values() for group in results.cases))
    rows = [["cases", *clients]]
    rows += [[group, *(results.cell(group) for results in clients.values())] for group in groups]
    totals = (
        f"{sum(results.passed.values()):,}/{sum(results.cases.values()):,}"
        for results in clients.values()
    )
    rows.append(["all", *totals])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
