"""Rejected tools of a registration."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import grpc

from sidecheck.errors import SidecheckError
from sidecheck.values.error_reasons import ErrorReason
from sidecheck.verdicts import describe_violation, list_lines, quote

if TYPE_CHECKING:
    from sidecheck.values.registry import Registration, RegistrationOutcome

__all__ = ["RegistrationMethods", "ToolsRejected"]


class RegistrationMethods:
    """Methods of `Registration`."""

    __slots__ = ()

    outcomes: "Sequence[RegistrationOutcome]"

    def raise_for_rejected(self) -> None:
        """Raise if a tool was rejected.

        Raises:
            ToolsRejected: A tool was rejected.
        """
        if any(outcome.action == "rejected" for outcome in self.outcomes):
            raise ToolsRejected(cast("Registration", self))


class ToolsRejected(SidecheckError):
    """Tools were not registered, because their definitions have errors.

    All other tools were registered. ``registration`` has the outcomes of all tools; the message
    describes the first error of each rejected tool, for up to ten tools. The reason is
    ``TOOLS_REJECTED``.
    """

    def __init__(self, registration: "Registration") -> None:
        rejected = {
            index: outcome
            for index, outcome in enumerate(registration.outcomes)
            if outcome.action == "rejected"
        }
        total = len(registration.outcomes)
        others = "" if len(rejected) == total else ", the others are unaffected"
        message = list_lines(
            f"{len(rejected)} of {total} tools rejected{others}",
            [_describe_rejection(index, outcome) for index, outcome in rejected.items()],
        )
        metadata = {"rejected": str(len(rejected)), "tools": str(total)}
        super().__init__(
            ErrorReason.TOOLS_REJECTED, message, metadata, grpc.StatusCode.INVALID_ARGUMENT
        )
        self.registration = registration
        self.args = (registration,)

    def __str__(self) -> str:
        # The lines of the message are printable, and keep their breaks.
        return f"{self.reason}: {self.message}"


def _describe_rejection(index: int, outcome: "RegistrationOutcome") -> str:
    name = f"tools[{index}] {quote(outcome.name) if outcome.name else ''}"
    errors = [v for v in outcome.violations if v.severity == "error"]
    parts = [name.rstrip(), *map(describe_violation, errors[:1])]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return ": ".join(parts) + more
