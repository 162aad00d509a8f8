"""What becomes of a judgement where no server is there to make it."""

from typing import Final, Literal, TypeAlias

from sidecheck.errors import Unavailable
from sidecheck.verdicts import Verdict
from sidecheck.violations import Severity, Violation

__all__ = ["OnUnavailable", "stand_in"]

#: What becomes of a judgement that no server was there to make: it is raised as
#: `Unavailable`, or answered with a verdict that is valid or invalid.
OnUnavailable: TypeAlias = Literal["raise", "allow", "deny"]

#: The code of the one violation of such a verdict.
SIDECHECK_UNAVAILABLE: Final = "SIDECHECK_UNAVAILABLE"


def stand_in(refusal: Unavailable, on_unavailable: OnUnavailable) -> Verdict:
    """Return the verdict to go on with where nobody could judge.

    Raises:
        Unavailable: *refusal* itself, if *on_unavailable* is "raise".
    """
    if on_unavailable == "raise":
        raise refusal
    allowed = on_unavailable == "allow"
    violation = Violation(
        code=SIDECHECK_UNAVAILABLE,
        severity=Severity.WARNING if allowed else Severity.ERROR,
        message=f"the payload was not judged: {refusal}",
    )
    text = "" if allowed else "This could not be checked and was not accepted. Try again later."
    return Verdict(valid=allowed, violations=(violation,), tool_error_text=text)
