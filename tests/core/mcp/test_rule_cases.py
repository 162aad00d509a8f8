"""Every rule reports exactly the violations of its cases."""

from collections import defaultdict

import pytest
from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE, GROUPS, RULES
from support.rule_cases import RuleCase, rule_cases, verdict_of

_SINGLE = (
    "definition",
    "tool",
    "elicitation",
    "elicitation_result",
    "sampling",
    "tool_result",
    "message",
)
_CASES = list(rule_cases(*_SINGLE))


@pytest.mark.parametrize("case", _CASES, ids=str)
def test_rule_reports_its_violations(case: RuleCase) -> None:
    violations = [
        violation for violation in verdict_of(case).violations if violation.code == case.code
    ]
    assert [violation.instance_location for violation in violations] == sorted(case.at), violations


def test_every_rule_has_a_valid_and_an_invalid_case() -> None:
    outcomes: dict[str, set[bool]] = defaultdict(set)
    for case in rule_cases():
        if CATALOGUE[case.code].holds_in(case.version):
            outcomes[case.code].add(bool(case.at))
    assert {rule.code: outcomes[rule.code] for rule in RULES} == {
        rule.code: {True, False} for rule in RULES
    }


def test_every_case_has_a_rule() -> None:
    assert {case.code for case in rule_cases()} <= CATALOGUE.keys()


def test_codes_are_unique() -> None:
    assert sorted(CATALOGUE) == sorted(rule.code for rule in RULES)


def test_every_group_has_rules() -> None:
    """A module that the catalogue does not import registers none."""
    assert [group for group, rules in GROUPS.items() if not rules] == []


@pytest.mark.parametrize(
    ("code", "example"), [("IMAGE_MIME_TYPE", "image/png"), ("AUDIO_MIME_TYPE", "audio/wav")]
)
def test_the_suggested_media_type_has_the_same_kind(code: str, example: str) -> None:
    messages = {
        violation.message.partition(";")[0]
        for case in _CASES
        if case.code == code
        for violation in verdict_of(case).violations
        if violation.code == code
    }

    assert {f"mimeType must be a media type such as {example}"} == messages
