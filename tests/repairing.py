"""What tests of repairs share."""

from sidecheck_server.core.engines.budget import Budget

__all__ = ["budget"]


def budget(steps: int = 1_000_000) -> Budget:
    """Return a budget for one repair."""
    return Budget(steps)
