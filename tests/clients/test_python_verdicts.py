"""The Python client: its settings and its verdicts."""

import pytest
from sidecheck import (
    InvalidPayload,
    Repair,
    Severity,
    Verdict,
    Violation,
)
from sidecheck.absence import OnUnavailable
from sidecheck.conversations import Conversations


@pytest.mark.parametrize(
    ("timeout", "policy"),
    [(0, "raise"), (-1.0, "raise"), (float("nan"), "raise"), (2.0, "ignore")],
)
def test_settings_are_checked_at_once(timeout: float, policy: OnUnavailable) -> None:
    """A client that could never work is not made."""
    with pytest.raises(ValueError, match=r"timeout|on_unavailable"):
        Conversations(timeout, policy)


def test_an_invalid_verdict_is_raised_on_demand() -> None:
    """Its text names the codes of the errors and nothing out of the payload."""
    verdict = Verdict(
        valid=False,
        violations=(
            Violation(code="TYPE", instance_location="/secret", message="secret"),
            Violation(code="TYPE"),
            Violation(code="REQUIRED"),
            Violation(code="FORMAT", severity=Severity.WARNING),
        ),
    )
    Verdict(valid=True).raise_for_invalid()
    with pytest.raises(InvalidPayload) as raised:
        verdict.raise_for_invalid()
    assert (verdict, "the payload is invalid: TYPE, REQUIRED") == (
        raised.value.verdict,
        str(raised.value),
    )


def test_what_is_not_enforced_is_not_raised() -> None:
    """A server that only reports lets its payloads through, also invalid ones."""
    Verdict(valid=False, violations=(Violation(code="TYPE"),), enforced=False).raise_for_invalid()


def test_a_repair_does_not_make_a_verdict_valid() -> None:
    """Whether to go on with the repaired payload is for the caller to say."""
    repair = Repair(payload=b'{"days":2}', valid=True)
    verdict = Verdict(valid=False, violations=(Violation(code="TYPE"),), repair=repair)
    with pytest.raises(InvalidPayload):
        verdict.raise_for_invalid()
    assert {"days": 2} == repair.value
