"""Sends valid and broken requests to a real server for a given time.

From the folder ``tests``: ``python -m fuzz --seconds 3600 --seed 7``. Prints the coverage,
and writes the shrunk calls of each finding to a file that ``python -m fuzz --replay FILE``
sends again. Exits with 1 if there is a finding.
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

from fuzz.exchanges import read_exchanges, write_exchanges
from fuzz.properties import Finding
from fuzz.run import Run
from fuzz.shrinking import shrunk
from fuzz.watched import WatchedServer

__all__ = ["format_finding", "main"]


def main() -> int:
    """Run as the command line says; return the exit status."""
    parser = argparse.ArgumentParser(prog="fuzz", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", default=str(random.randrange(10**6)), help="default: random")
    parser.add_argument("--findings", type=int, default=3, help="maximum number of findings")
    parser.add_argument(
        "--replay", type=Path, metavar="FILE", help="send the calls of this file instead"
    )
    parser.add_argument(
        "--into",
        type=Path,
        default=Path(tempfile.gettempdir()),
        help="folder of the files of findings",
    )
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = WatchedServer(Path(folder))
        run = Run(server, wanted.seed)
        try:
            if wanted.replay:
                for exchange in read_exchanges(wanted.replay):
                    run.tally.findings += run.retry(exchange)
                run.look()
            else:
                print(f"seed {wanted.seed}", flush=True)
                run.go(wanted.seconds, most_findings=wanted.findings)
            print(run.tally)
            for number, finding in enumerate(run.tally.findings):
                file = wanted.into / f"fuzz-{wanted.seed}-{number}.jsonl"
                print(
                    format_finding(finding if wanted.replay else shrunk(finding, run.retry), file)
                )
        finally:
            run.close()
            server.close()
    return int(bool(run.tally.findings))


def format_finding(finding: Finding, file: Path) -> str:
    """Write the calls of *finding* to a file; return its description and replay command."""
    write_exchanges(file, finding.exchanges)
    return f"{finding.kind}: {finding.detail[:2000]}\n  python -m fuzz --replay {file}"


if __name__ == "__main__":
    sys.exit(main())
