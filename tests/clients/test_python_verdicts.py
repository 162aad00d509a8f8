"""Settings and verdicts of the Python client."""

import pickle

import pytest
from sidecheck import (
    BlockingClient,
    Client,
    InvalidPayload,
    JsonText,
    OnUnavailable,
    Repair,
    Severity,
    Verdict,
    Violation,
)


@pytest.mark.parametrize("kind", [Client, BlockingClient])
@pytest.mark.parametrize(
    ("timeout", "policy"),
    [(0, "error"), (-1.0, "error"), (float("nan"), "error"), (2.0, "ignore")],
)
def test_settings_are_checked_at_once(
    kind: type[Client | BlockingClient], timeout: float, policy: OnUnavailable
) -> None:
    """Constructors reject invalid settings."""
    with pytest.raises(ValueError, match=r"timeout|on_unavailable"):
        kind("localhost:1", timeout=timeout, on_unavailable=policy)


ENUM = Violation(
    code="ENUM",
    instance_location="/city",
    message='expected one of "Oslo" or "Rome", found "Osl"; did you mean "Oslo"?',
    suggestion="Oslo",
)
UNKNOWN = Violation(
    code="UNKNOWN_PROPERTY",
    instance_location="/day",
    message="unknown\nproperty",
    suggestion="days",
)
WARNING = Violation(code="FORMAT", message="not a date", severity=Severity.WARNING)


@pytest.mark.parametrize(
    ("expected", "violations", "truncated"),
    [
        pytest.param("the payload is invalid", (), True, id="no details"),
        pytest.param(
            'the payload is invalid: /city: expected one of "Oslo" or "Rome", found "Osl";'
            ' did you mean "Oslo"? [ENUM]',
            (ENUM, WARNING),
            False,
            id="one error; its message has the suggestion",
        ),
        pytest.param(
            "the payload is invalid:\n"
            '- /day: unknown property; did you mean "days"? [UNKNOWN_PROPERTY]\n'
            "- [TYPE]\n"
            "- and possibly more",
            (UNKNOWN, Violation(code="TYPE")),
            True,
            id="several, one without details",
        ),
        pytest.param(
            "the payload is invalid:\n" + "- m [TYPE]\n" * 10 + "- and 2 more",
            (Violation(code="TYPE", message="m"),) * 12,
            False,
            id="the first ten",
        ),
        pytest.param(
            "the payload is invalid:\n" + "- m [TYPE]\n" * 10 + "- and at least 1 more",
            (Violation(code="TYPE", message="m"),) * 11,
            True,
            id="more than the verdict lists",
        ),
        pytest.param(
            f"the payload is invalid: {'x' * 599}… [TYPE]",
            (Violation(code="TYPE", message="x" * 1000),),
            False,
            id="a long message",
        ),
    ],
)
def test_an_invalid_verdict_is_raised_on_demand(
    expected: str, violations: tuple[Violation, ...], truncated: bool
) -> None:
    """The message has location, message, suggestion and code of the first errors."""
    verdict = Verdict(valid=False, violations=violations, truncated=truncated)
    Verdict(valid=True).raise_for_invalid()
    with pytest.raises(InvalidPayload) as raised:
        verdict.raise_for_invalid()
    assert (verdict, expected) == (raised.value.verdict, str(raised.value))
    assert expected == str(pickle.loads(pickle.dumps(raised.value)))


def test_an_unenforced_verdict_is_not_raised() -> None:
    """An invalid verdict of a server that only reports does not raise."""
    Verdict(valid=False, violations=(Violation(code="TYPE"),), enforced=False).raise_for_invalid()


def test_a_repair_does_not_make_a_verdict_valid() -> None:
    """The caller decides whether to use the repaired payload."""
    repair = Repair(payload=JsonText(b'{"days":2}'), valid=True)
    verdict = Verdict(valid=False, violations=(Violation(code="TYPE"),), repair=repair)
    with pytest.raises(InvalidPayload):
        verdict.raise_for_invalid()
    assert {"days": 2} == repair.value
