"""The pinned findings of the recordings, and the assessment on each of them.

``findings.json`` has the number of violations by folder, recording and finding. The entries
of ``assessments.json`` apply to the recordings of a folder whose names match ``files`` and to
the findings that match ``finding`` (both with ``*``); of several, the first one.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

__all__ = [
    "VERDICTS",
    "Assessment",
    "Pins",
    "assess",
    "read_assessments",
    "read_pins",
    "write_pins",
]

#: Number of violations by finding, by recording ("folder/name.jsonl").
Pins = dict[str, dict[str, int]]

VERDICTS = {
    "fault": "the implementation breaks a requirement of the specification",
    "deliberate": "the recording breaks a requirement on purpose, to see the response",
    "advice": "nothing is broken: deprecation, a limit of model providers, or a likely mistake",
    "ours": "a false alarm of Sidecheck",
}
"""Meaning of each verdict."""

_FINDINGS = Path(__file__).with_name("findings.json")
_ASSESSMENTS = Path(__file__).with_name("assessments.json")


@dataclass(frozen=True)
class Assessment:
    """Verdict on findings in recordings of one folder."""

    folder: str
    files: str
    finding: str
    verdict: str
    why: str

    def applies_to(self, recording: str, finding: str) -> bool:
        """Return whether it assesses *finding* of *recording*."""
        pattern = f"{self.folder}/{self.files}.jsonl"
        return fnmatchcase(recording, pattern) and fnmatchcase(finding, self.finding)


def read_assessments() -> list[Assessment]:
    """Return the assessments, in order."""
    return [Assessment(**entry) for entry in json.loads(_ASSESSMENTS.read_text())]


def assess(
    pins: Pins, assessments: list[Assessment]
) -> Iterator[tuple[str, str, int, Assessment | None]]:
    """Yield each finding of *pins* with its recording, count, and first assessment."""
    for recording, counts in pins.items():
        for finding, count in counts.items():
            assessment = next(
                (
                    assessment
                    for assessment in assessments
                    if assessment.applies_to(recording, finding)
                ),
                None,
            )
            yield recording, finding, count, assessment


def read_pins() -> Pins:
    """Return the pinned findings."""
    folders = json.loads(_FINDINGS.read_text())
    return {
        f"{folder}/{name}": counts
        for folder, recordings in folders.items()
        for name, counts in recordings.items()
    }


def write_pins(pins: Pins) -> None:
    """Replace the pinned findings."""
    folders: dict[str, Pins] = {}
    for recording, counts in sorted(pins.items()):
        folder, _, name = recording.partition("/")
        folders.setdefault(folder, {})[name] = counts
    _FINDINGS.write_text(json.dumps(folders, indent=2) + "\n")
