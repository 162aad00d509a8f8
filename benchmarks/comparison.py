"""Time to compare two definitions of a tool, and the share of changes that are decided.

Each tool of the corpus is compared with its mutations, which the tests define. A comparison
reads both definitions, lists the changes, and decides both readings of both schemas.

    python benchmarks/comparison.py [--quick] [--report FOLDER]
"""

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from harness.report import Claim, Effort, Section, Table, run
from harness.subjects import REPOSITORY, all_subjects, corpus_tools
from sidecheck_server.core.compat.changes import Reading
from sidecheck_server.core.compat.compare import compare_definitions
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import read_tool

# The tests define the mutations, and check their verdicts.
sys.path.append(str(REPOSITORY / "tests"))

from comparisons.mutations import MUTATIONS, mutate

__all__ = ["measure"]

_LIMITS = Limits()
_MAX_MILLISECONDS = 5
_MIN_DECIDED = 0.95
_LEVELS = ("breaking", "undecided", "compatible", "cosmetic")

_TEXT = (
    "Each tool is compared with each of its mutations, in one process and without caches. A "
    "comparison reads both definitions, lists the changes, and decides for both readings whether "
    "they break callers. Times are processor times. A change is decided if it is proved to be "
    "compatible, or a payload shows that it breaks callers."
)


@dataclass(slots=True)
class Measurement:
    """Times and verdicts of the comparisons with one mutation."""

    seconds: list[float] = field(default_factory=list)
    levels: Counter[str] = field(default_factory=Counter)


def measure(effort: Effort) -> Section:
    """Measure and return the section."""
    measurements = {name: Measurement() for name in MUTATIONS}
    random = Random(1)  # noqa: S311  (chooses tools)
    for tool in _tools(effort, random):
        for name, measurement in measurements.items():
            _compare(tool, name, random, measurement)
    measurements = {
        name: measurement for name, measurement in measurements.items() if measurement.seconds
    }
    seconds = sorted(
        second for measurement in measurements.values() for second in measurement.seconds
    )
    levels = sum((measurement.levels for measurement in measurements.values()), Counter[str]())
    median, decided = _quantile(seconds, 0.5), 1 - levels["undecided"] / levels.total()
    rows = [
        [
            name,
            f"{len(measurement.seconds):,}",
            f"{_quantile(sorted(measurement.seconds), 0.5):.2f}",
            f"{_quantile(sorted(measurement.seconds), 0.99):.2f}",
            *(f"{measurement.levels[level]:,}" for level in _LEVELS),
        ]
        for name, measurement in measurements.items()
    ]
    head = ["change", "tools", "median ms", "p99 ms", *_LEVELS]
    total = f"all {len(seconds):,}: p50 {median:.2f} ms, p99 {_quantile(seconds, 0.99):.2f} ms"
    return Section(
        "comparison",
        "Comparing tools",
        _TEXT,
        [Table(f"Verdicts in both readings, and times ({total})", head, rows)],
        [
            Claim(
                "median time to compare a tool",
                f"less than {_MAX_MILLISECONDS} ms",
                f"{median:.2f} ms",
                median < _MAX_MILLISECONDS,
            ),
            Claim(
                "verdicts on mutated tools that are decided",
                f"at least {_MIN_DECIDED:.0%}",
                f"{decided:.2%}",
                decided >= _MIN_DECIDED,
            ),
        ],
    )


def _tools(effort: Effort, random: Random) -> Iterator[dict[str, Any]]:
    tools = [tool for tool in corpus_tools() if isinstance(tool.get("inputSchema"), dict)]
    if not tools:
        tools = [subject.definition for subject in all_subjects()]
    yield from random.sample(tools, min(effort.choose(1000, 5), len(tools)))


def _compare(tool: dict[str, Any], name: str, random: Random, measurement: Measurement) -> None:
    schema = mutate(tool["inputSchema"], name, random)
    if schema is None:
        return
    mutated = {**tool, "inputSchema": schema}
    texts = [json.dumps(definition).encode() for definition in (tool, mutated)]
    started = time.process_time()
    try:
        old, new = (read_tool(text, (), _LIMITS) for text in texts)
    except RequestError:
        return
    comparison = compare_definitions(old, new, _LIMITS)
    measurement.seconds.append(time.process_time() - started)
    measurement.levels.update(
        part.verdicts.of(reading).level.value for part in comparison.schemas for reading in Reading
    )


def _quantile(seconds: list[float], quantile: float) -> float:
    """Return a quantile of sorted *seconds*, in milliseconds."""
    return seconds[int(len(seconds) * quantile)] * 1000


if __name__ == "__main__":
    run(measure, __doc__)
