"""What of a result is not told as it was, with a bound."""

from sidecheck_server.core.convert.words import Action, Direction, Loss
from sidecheck_server.core.types import as_pointer

__all__ = ["Told"]

_MOST = 1000


class Told:
    """Losses of one result: at most 1,000, and then how many more there were."""

    def __init__(self) -> None:
        self._losses: list[Loss] = []
        self._more = 0

    def tell(self, at: tuple[str | int, ...], action: Action, message: str) -> None:
        """Note what became of the part of the result *at* that place.

        The direction is always the same: a result admits no payloads.
        """
        if len(self._losses) >= _MOST:
            self._more += 1
            return
        self._losses.append(Loss(as_pointer(at), "", action, Direction.SAME, message))

    def told(self) -> tuple[Loss, ...]:
        """Return the losses ordered by pointer."""
        losses = sorted(self._losses, key=lambda loss: (loss.pointer, loss.message))
        if self._more:
            said = f"{self._more:,} more differences are not listed"
            losses.insert(0, Loss("", "", Action.DROPPED, Direction.SAME, said))
        return tuple(losses)
