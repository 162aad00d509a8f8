"""Every rule finds what breaks it and nothing else."""

from collections import defaultdict

import pytest
from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE, RULES
from support.rule_cases import RuleCase, rule_cases, verdict_of

_SINGLE = ("tool", "elicitation", "elicitation_result", "sampling", "tool_result", "message")
_CASES = list(rule_cases(*_SINGLE))


@pytest.mark.parametrize("case", _CASES, ids=str)
def test_the_rule_finds_what_breaks_it(case: RuleCase) -> None:
    found = [violation for violation in verdict_of(case).violations if violation.code == case.code]
    assert [violation.instance_location for violation in found] == sorted(case.at), found


def test_every_rule_has_a_case_that_keeps_it_and_one_that_breaks_it() -> None:
    seen: dict[str, set[bool]] = defaultdict(set)
    for case in rule_cases():
        if CATALOGUE[case.code].holds_in(case.version):
            seen[case.code].add(bool(case.at))
    assert {rule.code: seen[rule.code] for rule in RULES} == {
        rule.code: {True, False} for rule in RULES
    }


def test_every_case_is_of_a_rule() -> None:
    assert {case.code for case in rule_cases()} <= CATALOGUE.keys()


def test_codes_are_unique() -> None:
    assert sorted(CATALOGUE) == sorted(rule.code for rule in RULES)
