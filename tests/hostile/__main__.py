"""Measures the cost of each attack; runs in the folder ``tests``.

``python -m hostile --table`` sends every case to a real server twice. It prints the time and
the size of the answers, the server's memory, and the unexpected answers, then the slowest
cases again. ``python -m hostile --beside --seconds 10`` repeats each attack for the given time
while another client makes small valid calls, and prints the latencies of that client.
``--family`` and ``--case`` select cases. The exit status is 1 after an unexpected answer.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hostile.asking import Question, question_of
from hostile.beside import measure_bystander
from hostile.cases import CASES, Case
from hostile.resilience import Siege

__all__ = ["main"]

_HEAD = "  first s second s  answer KB  all MB    case"
_SLOWEST = 25


def main() -> int:
    """Run as the command line says; return the exit status."""
    parser = argparse.ArgumentParser(prog="hostile", description=(__doc__ or "").split("\n")[0])
    modes = parser.add_mutually_exclusive_group(required=True)
    modes.add_argument(
        "--table", action="store_true", help="measure time and memory of each attack"
    )
    modes.add_argument("--beside", action="store_true", help="measure another client's latencies")
    parser.add_argument("--seconds", type=float, default=10, help="of each attack, with --beside")
    parser.add_argument("--patience", type=float, default=15, help="seconds to wait for an answer")
    parser.add_argument("--family", help="only the cases of this family")
    parser.add_argument("--case", default="", help="only the cases with this in their names")
    wanted = parser.parse_args()
    cases = [
        case for case in CASES if wanted.family in {None, case.family} and wanted.case in case.name
    ]
    with tempfile.TemporaryDirectory() as folder:
        siege = Siege(Path(folder), patience=wanted.patience)
        try:
            if wanted.table:
                return _table(siege, cases)
            return _print_latencies(siege, cases, wanted.seconds)
        finally:
            siege.close()


def _table(siege: Siege, cases: Sequence[Case]) -> int:
    rows = []
    wrong = 0
    print(_HEAD)
    for case in cases:
        siege.weight.recent = 0
        question: Question = question_of(case.asks, siege.baits)
        first = siege.ask(question)
        second = siege.ask(question)
        right = first.summary == case.expect and first.whole == second.whole
        wrong += not right
        row = (
            f"{first.seconds:8.3f} {second.seconds:8.3f} {second.bytes / 1024:9.1f} "
            f"{siege.weight.recent >> 20:6d}  {'  ' if right else '! '}{case.id}"
        )
        note = "" if right else f"\n{'':40}{json.dumps(first.summary)}"
        if first.summary != case.expect:
            note += f" for {json.dumps(case.expect)}"
        elif not right:
            note += f" then {json.dumps(second.summary)}"
        print(row + note, flush=True)
        rows.append((max(first.seconds, second.seconds), row))
    print(f"\nthe slowest\n{_HEAD}")
    for _, row in sorted(rows, reverse=True)[:_SLOWEST]:
        print(row)
    print(
        f"{len(cases)} cases, {wrong} not as expected, {siege.restarts} restarts, "
        f"{siege.weight.peak >> 20} MB at most, "
        f"{len(siege.hits)} hits, alarms: {sorted(set(siege.alarms()))}"
    )
    return int(wrong > 0)


def _print_latencies(siege: Siege, cases: Sequence[Case], seconds: float) -> int:
    print("  calls  p50 ms  p99 ms  max ms  attacks  case")
    for case in (None, *cases):
        latencies = measure_bystander(siege, case, seconds)
        print(
            f"{latencies.calls:7d} {latencies.median:7.1f} {latencies.p99:7.1f} "
            f"{latencies.longest:7.1f} {latencies.attacks:8d}  {case.id if case else 'no attack'}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
