"""Share of the schemas of real tools on the fast engine, and the reasons for the rest.

Compiles the distinct input and output schemas of the corpus. Exits with 1 if fewer than 99.5 % of
the valid ones have code for the fast engine.

    python benchmarks/fast_share.py [--report FOLDER]
"""

import json
import sys
import time
from collections import Counter

from harness.report import Claim, Effort, MissingRequirement, Section, Table, format_summary, run
from harness.subjects import corpus_tools
from harness.turns import summarize
from sidecheck_server.core.compiler.compilation import compile_schema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.dialects import SchemaSource

__all__ = ["measure"]

_MIN_PERCENT = 99.5
_FAST = "fast"
_LIMITS = Limits()


def measure(effort: Effort) -> Section:
    """Compile the schemas and return the section.

    Raises:
        MissingRequirement: the corpus is missing.
    """
    schemas = dict.fromkeys(
        json.dumps(tool[member], ensure_ascii=False).encode()
        for tool in corpus_tools()
        for member in ("inputSchema", "outputSchema")
        if member in tool
    )
    if not schemas:
        raise MissingRequirement(
            "the corpus is missing; set SIDECHECK_SHARED to the shared material"
        )
    outcomes: Counter[str] = Counter()
    milliseconds = []
    for schema in list(schemas)[: effort.choose(None, 200)]:
        started = time.perf_counter()
        outcomes[_compile(schema)] += 1
        milliseconds.append(1000 * (time.perf_counter() - started))
    valid = sum(count for outcome, count in outcomes.items() if not outcome.startswith("error"))
    percent = 100 * outcomes[_FAST] / valid
    times = summarize(milliseconds)
    return Section(
        "fast_share",
        "Schemas on the fast engine",
        f"{len(milliseconds):,} distinct schemas of the corpus, each compiled once: "
        f"{format_summary(times)} ms, longest {times.maximum:.1f} ms.",
        [
            Table(
                "Outcomes of compilation",
                ["outcome", "schemas"],
                [[outcome, f"{count:,}"] for outcome, count in outcomes.most_common()],
            )
        ],
        [
            Claim(
                "valid schemas of real tools have code for the fast engine",
                f"{_MIN_PERCENT} % at least",
                f"{percent:.2f} % ({outcomes[_FAST]:,} of {valid:,})",
                percent >= _MIN_PERCENT,
            )
        ],
    )


def _compile(schema: bytes) -> str:
    try:
        artifact = compile_schema(SchemaSource(schema), _LIMITS)
    except RequestError as error:
        return f"error: {error.reason}"
    return _FAST if artifact.fast is not None else f"complete only: {artifact.complete_only_reason}"


if __name__ == "__main__":
    section = run(measure, __doc__)
    sys.exit(not all(claim.met for claim in section.claims))
