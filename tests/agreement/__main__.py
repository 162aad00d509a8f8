"""Searches for disagreements between engines for a given time.

From the folder ``tests``: ``python -m agreement --seconds 600 --seed 7``. Prints the
coverage of each edition and, for each finding, a reduced reproduction as JSON. Exits with 1
if there is a finding.
"""

import argparse
import json
import random
import sys
from typing import Any

from agreement.editions import EDITIONS, edition_named
from agreement.engines import Finding
from agreement.run import run
from agreement.shrinking import shrunk

__all__ = ["main", "reproduction"]


def main() -> int:
    """Run the comparison with the command line's options; return the exit status."""
    parser = argparse.ArgumentParser(prog="agreement", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="of all editions together")
    parser.add_argument("--seed", default=str(random.randrange(10**6)), help="default: random")
    parser.add_argument("--edition", action="append", choices=[e.name for e in EDITIONS])
    parser.add_argument(
        "--findings", type=int, default=3, help="maximum number of findings of an edition"
    )
    options = parser.parse_args()
    editions = [edition_named(name) for name in options.edition or ()] or EDITIONS
    print(f"seed {options.seed}")
    has_findings = False
    for edition in editions:
        tally = run(
            edition,
            options.seed,
            options.seconds / len(editions),
            most_findings=options.findings,
        )
        print(f"{edition.name}: {tally}", flush=True)
        for finding in tally.findings:
            has_findings = True
            print(json.dumps(reproduction(shrunk(finding)), indent=1), flush=True)
    return int(has_findings)


def reproduction(finding: Finding) -> dict[str, Any]:
    """Return the reproduction of *finding* as JSON."""
    question = finding.question
    return {
        "kind": finding.kind,
        "detail": finding.detail,
        "edition": question.edition.name,
        "assert_formats": question.assert_formats,
        "schema": question.schema,
        "documents": question.documents,
        "payload": None if finding.payload is None else json.loads(finding.payload),
    }


if __name__ == "__main__":
    sys.exit(main())
