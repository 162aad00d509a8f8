"""Recorded sessions of real implementations have the pinned findings, each of them judged."""

import json
from itertools import groupby

from click.testing import CliRunner
from sidecheck_server.cli.lint_messages import lint_messages
from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE
from traffic.__main__ import differences
from traffic.recordings import count_findings, locate_violations, recordings
from traffic.tables import VERDICTS, judge, read_judgements, read_pins

_REMEDY = "if that is intended: cd tests && python -m traffic --write, and judge what differs"


def test_recordings_have_the_pinned_findings() -> None:
    """With all severities, and none elsewhere."""
    found = {name: count_findings(path) for name, path in recordings().items()}
    differing = differences(read_pins(), found)

    assert not differing, "\n".join([*differing, _REMEDY])


def test_lint_messages_finds_the_same() -> None:
    """In the first recording of each folder."""
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


def test_every_finding_is_judged_and_every_judgement_used() -> None:
    """A judgement that an earlier one hides is not used."""
    judgements = read_judgements()
    judged = list(judge(read_pins(), judgements))

    assert [] == [
        (recording, finding) for recording, finding, _, judgement in judged if judgement is None
    ]
    used = {judgement for *_, judgement in judged}
    assert [] == [judgement for judgement in judgements if judgement not in used]


def test_judgements_have_a_verdict_and_a_reason() -> None:
    """The reason is one line."""
    for judgement in read_judgements():
        assert judgement.verdict in VERDICTS, judgement
        assert 1 == len(judgement.why.splitlines()), judgement


def test_errors_break_a_requirement() -> None:
    """Only what a requirement forbids is an error; advice is a warning or information."""
    assert [] == [
        (recording, finding)
        for recording, finding, _, judgement in judge(read_pins(), read_judgements())
        if judgement is not None and judgement.verdict == "advice" and finding.startswith("error ")
    ]


def test_recordings_break_rules_of_the_catalogue_or_schemas_of_tools() -> None:
    """Keywords of tools' schemas are no rules."""
    codes = {finding.split()[1] for counts in read_pins().values() for finding in counts}

    assert {"ONE_OF"} == codes - CATALOGUE.keys()


def test_no_finding_is_a_false_alarm() -> None:
    """The recordings have faults of others only."""
    assert [] == [
        (recording, finding)
        for recording, finding, _, judgement in judge(read_pins(), read_judgements())
        if judgement is not None and judgement.verdict == "ours"
    ]
