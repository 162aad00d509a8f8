"""Settings and verdicts of the Python client."""

import pytest
from sidecheck import (
    BlockingClient,
    Client,
    InvalidPayload,
    OnUnavailable,
    Repair,
    Severity,
    Verdict,
    Violation,
)


@pytest.mark.parametrize("kind", [Client, BlockingClient])
@pytest.mark.parametrize(
    ("timeout", "policy"),
    [(0, "raise"), (-1.0, "raise"), (float("nan"), "raise"), (2.0, "ignore")],
)
def test_settings_are_checked_at_once(
    kind: type[Client | BlockingClient], timeout: float, policy: OnUnavailable
) -> None:
    """Constructors reject invalid settings."""
    with pytest.raises(ValueError, match=r"timeout|on_unavailable"):
        kind("localhost:1", timeout=timeout, on_unavailable=policy)


def test_an_invalid_verdict_is_raised_on_demand() -> None:
    """The message has the codes of the errors and no value of the payload."""
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


def test_an_unenforced_verdict_is_not_raised() -> None:
    """An invalid verdict of a server that only reports does not raise."""
    Verdict(valid=False, violations=(Violation(code="TYPE"),), enforced=False).raise_for_invalid()


def test_a_repair_does_not_make_a_verdict_valid() -> None:
    """The caller decides whether to use the repaired payload."""
    repair = Repair(payload=b'{"days":2}', valid=True)
    verdict = Verdict(valid=False, violations=(Violation(code="TYPE"),), repair=repair)
    with pytest.raises(InvalidPayload):
        verdict.raise_for_invalid()
    assert {"days": 2} == repair.value
