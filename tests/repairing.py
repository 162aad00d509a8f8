"""What tests of repairs share."""

from sidecheck_server.core.engines.budget import Budget
from sidecheck_server.core.refusals import Refusal

__all__ = ["STOPPED", "budget"]

STOPPED = (Refusal, RecursionError)
"""What ends a repair that takes too much work."""


def budget(steps: int = 1_000_000) -> Budget:
    """Return a budget for one repair."""
    return Budget(steps)
