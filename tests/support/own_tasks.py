"""A kind of task for tests."""

from dataclasses import dataclass

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.workers.tasks import Attributes, Task

__all__ = ["ReverseText"]


@dataclass(frozen=True, slots=True)
class ReverseText(Task[str]):
    """Reverses a text, unless it is empty."""

    name = "reverse"
    activity = "reversing the text"

    text: str

    def execute(self, limits: Limits) -> str:
        """Return the reversed text."""
        if not self.text:
            raise RequestError(ErrorReason.LIMIT_EXCEEDED, "empty", {"bound": "steps"})
        return self.text[::-1]

    def input_steps(self) -> int:
        """Return the steps of any text."""
        return 1000

    def result_steps(self, result: str, limits: Limits) -> int:
        """Return the steps of *result*."""
        return len(result)

    def input_attributes(self) -> Attributes:
        """Return the length of the text."""
        return {"sidecheck.text.bytes": len(self.text)}

    def result_attributes(self, result: str) -> Attributes:
        """Return the outcome."""
        return {"sidecheck.outcome": "reversed"}
