"""Recorded sessions of real implementations have the pinned findings, each of them assessed."""

import json
from itertools import groupby

from click.testing import CliRunner
from sidecheck_server.cli.lint_messages import lint_messages
from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE
from traffic.__main__ import differences
from traffic.recordings import count_findings, locate_violations, recordings
from traffic.tables import VERDICTS, assess, read_assessments, read_pins

_REMEDY = "if that is intended: cd tests && python -m traffic --write, and assess what differs"


def test_recordings_have_the_pinned_findings() -> None:
    """Findings of all severities are pinned, and no other recording has any."""
    counts = {name: count_findings(path) for name, path in recordings().items()}
    differing = differences(read_pins(), counts)

    assert not differing, "\n".join([*differing, _REMEDY])


def test_lint_messages_finds_the_same() -> None:
    """The first recording of each folder is tested."""
    by_folder = groupby(recordings().items(), lambda item: item[0].partition("/")[0])
    for _, items in by_folder:
        name, path = next(items)
        arguments = [str(path), "--format", "json", "--min-severity", "info"]
        result = CliRunner().invoke(lint_messages, arguments, catch_exceptions=False)
        expected = [
            (located.line, located.violation.code, located.violation.message)
            for located in locate_violations(path)
        ]

        assert expected == [
            (line["line"], violation["code"], violation["message"])
            for line in json.loads(result.stdout)
            for violation in line["violations"]
        ], name


def test_every_finding_is_assessed_and_every_assessment_used() -> None:
    """An assessment that an earlier one hides is not used."""
    assessments = read_assessments()
    assessed = list(assess(read_pins(), assessments))

    assert [] == [
        (recording, finding) for recording, finding, _, assessment in assessed if assessment is None
    ]
    used = {assessment for *_, assessment in assessed}
    assert [] == [assessment for assessment in assessments if assessment not in used]


def test_assessments_have_a_verdict_and_a_reason() -> None:
    """The reason is one line."""
    for assessment in read_assessments():
        assert assessment.verdict in VERDICTS, assessment
        assert 1 == len(assessment.why.splitlines()), assessment


def test_errors_break_a_requirement() -> None:
    """Only what a requirement forbids is an error; advice is a warning or information."""
    assert [] == [
        (recording, finding)
        for recording, finding, _, assessment in assess(read_pins(), read_assessments())
        if assessment is not None
        and assessment.verdict == "advice"
        and finding.startswith("error ")
    ]


def test_recordings_break_rules_of_the_catalogue_or_schemas_of_tools() -> None:
    """Keywords of tools' schemas are no rules."""
    codes = {finding.split()[1] for counts in read_pins().values() for finding in counts}

    assert {"ONE_OF"} == codes - CATALOGUE.keys()


def test_no_finding_is_a_false_alarm() -> None:
    """The recordings have faults of others only."""
    assert [] == [
        (recording, finding)
        for recording, finding, _, assessment in assess(read_pins(), read_assessments())
        if assessment is not None and assessment.verdict == "ours"
    ]
