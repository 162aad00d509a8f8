"""Share of the schemas of real tools on the fast engine, and the reasons for the rest.

Compiles the distinct input and output schemas of the corpus, which it reads from
SIDECHECK_SHARED, or from `shared` beside the checkout. Exits with 1 if fewer than
99.5 % of those that are admitted have code for the fast engine.

    python benchmarks/fast_share.py
"""

import gzip
import json
import os
import platform
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from sidecheck_server.core.compiler.compilation import compile_schema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.dialects import SchemaSource

_REPOSITORY = Path(__file__).resolve().parent.parent
_LEAST_PERCENT = 99.5


def main() -> int:
    """Print the table; return the exit status."""
    shared = Path(os.environ.get("SIDECHECK_SHARED") or _REPOSITORY.parent / "shared")
    schemas = list(dict.fromkeys(_schemas(shared / "corpus" / "tools.jsonl.gz")))
    outcomes: Counter[str] = Counter()
    milliseconds = []
    for schema in schemas:
        start = time.perf_counter()
        outcomes[_outcome(schema)] += 1
        milliseconds.append(1000 * (time.perf_counter() - start))
    admitted = sum(count for what, count in outcomes.items() if not what.startswith("error"))
    share = 100 * outcomes["fast"] / admitted

    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores")
    print(f"fastjsonschema {version('fastjsonschema')}")
    print(f"{len(schemas):,} distinct schemas, {sum(map(len, schemas)):,} bytes")
    quartiles = ", ".join(f"{quantile:.2f}" for quantile in statistics.quantiles(milliseconds, n=4))
    print(f"milliseconds to compile: quartiles {quartiles}, longest {max(milliseconds):.1f}\n")
    for what, count in outcomes.most_common():
        print(f"{count:>7,}  {what}")
    print(f"\n{share:.2f} % of the {admitted:,} admitted run on the fast engine")
    return int(share < _LEAST_PERCENT)


def _schemas(path: Path) -> Iterator[bytes]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            tool = json.loads(line)["tool"]
            for key in ("inputSchema", "outputSchema"):
                if key in tool:
                    yield json.dumps(tool[key], ensure_ascii=False).encode()


def _outcome(schema: bytes) -> str:
    try:
        artifact = compile_schema(SchemaSource(schema), Limits())
    except RequestError as error:
        return f"error: {error.reason}"
    return (
        "fast" if artifact.fast is not None else f"complete only: {artifact.complete_only_reason}"
    )


if __name__ == "__main__":
    sys.exit(main())
