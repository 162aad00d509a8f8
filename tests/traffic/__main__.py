"""Shows, pins and assesses what the checks find in the recorded sessions.

From the folder ``tests``: ``python -m traffic`` prints what differs from the pinned findings,
an example of each finding that no assessment covers, and assessments without a finding.
``--write`` pins the findings. ``--summary`` prints the assessed findings by folder, and
``--show METHOD_UNKNOWN`` every message with a finding of that text. Exits with 1 if
something differs or is not assessed.
"""

import argparse
import sys
from collections import Counter

from traffic.recordings import count_findings, locate_violations, recordings
from traffic.tables import Assessment, Pins, assess, read_assessments, read_pins, write_pins

__all__ = ["differences", "main"]

_SHOWN_CHARACTERS = 600


def main() -> int:
    """Run the command with the command line's options; return the exit status."""
    parser = argparse.ArgumentParser(prog="traffic", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", action="store_true", help="pin the findings")
    parser.add_argument("--summary", action="store_true", help="print assessed findings by folder")
    parser.add_argument("--show", metavar="TEXT", help="print messages with findings of that text")
    options = parser.parse_args()
    if options.show:
        return _show(options.show)
    found_counts = {
        name: counts for name, path in recordings().items() if (counts := count_findings(path))
    }
    assessments = read_assessments()
    differing = differences(read_pins(), found_counts)
    if options.write:
        write_pins(found_counts)
    print(*differing, sep="\n", end="\n" if differing else "")
    if options.summary:
        _print_summary(found_counts, assessments)
    is_assessed = _report_assessments(found_counts, assessments)
    return int(not is_assessed or (bool(differing) and not options.write))


def differences(pinned: Pins, current: Pins) -> list[str]:
    """Return a line for each count that differs between *pinned* and *found*."""
    lines = []
    for recording in sorted(pinned.keys() | current.keys()):
        before, after = pinned.get(recording, {}), current.get(recording, {})
        for finding in sorted(before.keys() | after.keys()):
            counts = before.get(finding, 0), after.get(finding, 0)
            if counts[0] != counts[1]:
                lines.append(f"{recording}: {finding}: pinned {counts[0]}, found {counts[1]}")
    return lines


def _print_summary(found_counts: Pins, assessments: list[Assessment]) -> None:
    counts: Counter[tuple[str, str, str]] = Counter()
    for recording, finding, count, assessment in assess(found_counts, assessments):
        verdict = "not assessed" if assessment is None else assessment.verdict
        counts[recording.partition("/")[0], verdict, finding] += count
    for (folder, verdict, finding), count in sorted(counts.items()):
        print(f"{folder:12}{verdict:12}{count:5}  {finding}")


def _report_assessments(found_counts: Pins, assessments: list[Assessment]) -> bool:
    """Print what lacks an assessment, and assessments without use; return whether all is well."""
    used: set[Assessment] = set()
    examples: dict[tuple[str, str], str] = {}
    for recording, finding, _, assessment in assess(found_counts, assessments):
        if assessment is None:
            examples.setdefault((recording.partition("/")[0], finding), recording)
        else:
            used.add(assessment)
    for (_, finding), recording in examples.items():
        print(f"not assessed: {finding}")
        _show_first(recording, finding)
    unused = [assessment for assessment in assessments if assessment not in used]
    for assessment in unused:
        print(f"assessment without a finding: {assessment}")
    return not examples and not unused


def _show_first(recording: str, finding: str) -> None:
    for located in locate_violations(recordings()[recording]):
        if located.finding == finding:
            print(f"  {recording}:{located.line}: {located.violation.message}")
            print(f"  {located.message[:_SHOWN_CHARACTERS].decode(errors='replace')}")
            return


def _show(text: str) -> int:
    for recording, path in recordings().items():
        for located in locate_violations(path):
            if text in located.finding:
                print(f"{recording}:{located.line}: {located.finding}")
                print(f"  {located.violation.instance_location}: {located.violation.message}")
                print(f"  {located.message[:_SHOWN_CHARACTERS].decode(errors='replace')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
