"""Time to compare a tool with a changed one, and the share of changes that are decided.

Each tool of the corpus is compared with its mutations, those of the tests. A comparison
reads both definitions, finds what changed, and decides both readings of both schemas.

    python benchmarks/comparison.py [--quick] [--report FOLDER]
"""

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from report import Claim, Effort, Section, Table, run
from sidecheck_server.core.compat.changes import Reading
from sidecheck_server.core.compat.compare import compare_definitions
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import read_tool
from subjects import all_subjects, corpus_tools

# The mutations belong to the tests, which hold their verdicts to account.
sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

from comparisons.mutations import MUTATIONS, mutate

__all__ = ["measure"]

_LIMITS = Limits()
_MOST_MILLISECONDS = 5
_LEAST_DECIDED = 0.95

_TEXT = (
    "A tool is compared with each of its mutations: both definitions are read, what changed is "
    "found, and whether it breaks callers is decided for both readings, in one process and with "
    "nothing cached. Times are of the processor. A change is decided if it is proved to be "
    "compatible, or a payload shows that it breaks callers."
)


@dataclass(slots=True)
class _Measured:
    """Times and verdicts of the comparisons by one mutation."""

    seconds: list[float] = field(default_factory=list)
    levels: Counter[str] = field(default_factory=Counter)

    @property
    def decided(self) -> float:
        """The share of verdicts that are not undecided."""
        return 1 - self.levels["undecided"] / max(self.levels.total(), 1)


def measure(effort: Effort) -> Section:
    """Measure and return the section."""
    measured = {name: _Measured() for name in MUTATIONS}
    random = Random(1)  # noqa: S311  (chooses what to measure)
    for tool in _tools(effort, random):
        for name in MUTATIONS:
            _compare(tool, name, random, measured[name])
    measured = {name: each for name, each in measured.items() if each.seconds}
    seconds = sorted(second for each in measured.values() for second in each.seconds)
    levels = sum((each.levels for each in measured.values()), Counter[str]())
    median, decided = _at(seconds, 0.5), 1 - levels["undecided"] / levels.total()
    rows = [
        [
            name,
            f"{len(each.seconds):,}",
            f"{_at(sorted(each.seconds), 0.5):.2f}",
            f"{_at(sorted(each.seconds), 0.99):.2f}",
            *(f"{each.levels[level]:,}" for level in _LEVELS),
        ]
        for name, each in measured.items()
    ]
    head = ["change", "tools", "median ms", "p99 ms", *_LEVELS]
    total = f"all {len(seconds):,}: p50 {median:.2f} ms, p99 {_at(seconds, 0.99):.2f} ms"
    return Section(
        "comparison",
        "Comparing tools",
        _TEXT,
        [Table(f"Verdicts in both readings, and times ({total})", head, rows)],
        [
            Claim(
                "median time to compare a tool",
                f"less than {_MOST_MILLISECONDS} ms",
                f"{median:.2f} ms",
                median < _MOST_MILLISECONDS,
            ),
            Claim(
                "verdicts on mutated tools that are decided",
                f"at least {_LEAST_DECIDED:.0%}",
                f"{decided:.2%}",
                decided >= _LEAST_DECIDED,
            ),
        ],
    )


_LEVELS = ("breaking", "undecided", "compatible", "cosmetic")


def _tools(effort: Effort, random: Random) -> Iterator[dict[str, Any]]:
    tools = [tool for tool in corpus_tools() if isinstance(tool.get("inputSchema"), dict)]
    if not tools:
        tools = [subject.definition for subject in all_subjects()]
    yield from random.sample(tools, min(effort.choose(1000, 5), len(tools)))


def _compare(tool: dict[str, Any], name: str, random: Random, measured: _Measured) -> None:
    schema = mutate(tool["inputSchema"], name, random)
    if schema is None:
        return
    texts = [json.dumps(each).encode() for each in (tool, {**tool, "inputSchema": schema})]
    begun = time.process_time()
    try:
        old, new = (read_tool(text, (), _LIMITS) for text in texts)
    except RequestError:
        return
    compared = compare_definitions(old, new, _LIMITS)
    measured.seconds.append(time.process_time() - begun)
    measured.levels.update(
        part.verdicts.of(reading).level.value for part in compared.schemas for reading in Reading
    )


def _at(seconds: list[float], quantile: float) -> float:
    """Return the *quantile* of *seconds*, in milliseconds."""
    return seconds[int(len(seconds) * quantile)] * 1000


if __name__ == "__main__":
    run(measure, __doc__)
