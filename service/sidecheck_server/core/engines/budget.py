"""Budgets: how much work one judgement may take."""

from sidecheck_server.core.limits import exceeded

__all__ = ["Budget"]


class Budget:
    """Counts steps down; a step is one subschema applied to one value."""

    __slots__ = ("_left", "_limit")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._left = limit

    def spend(self) -> None:
        """Take one step.

        Raises:
            Refusal: LIMIT_EXCEEDED after the last one.
        """
        self._left -= 1
        if self._left < 0:
            raise exceeded("complete_steps", self._limit, "judging the payload takes too long")
