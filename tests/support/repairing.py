"""What tests of repairs share."""

from sidecheck_server.core.budget import Budget, Exhausted
from sidecheck_server.core.limits import Limits

__all__ = ["STOPPED", "budget"]

STOPPED = (Exhausted, RecursionError)
"""What ends a repair that takes too much work."""


def budget(steps: int = Limits().steps) -> Budget:
    """Return a budget for one repair."""
    return [steps]
