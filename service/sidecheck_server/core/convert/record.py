"""The record of one conversion: what was lost, and how much work is left."""

from dataclasses import dataclass, field

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.words import Action, Direction, Loss

__all__ = ["Record"]

# In steps: telling a loss, and each character of where it is. A definition of some hundred
# kilobytes can have a thousand places whose pointers are as long as itself; ten million
# steps are a megabyte of them.
_LOSS = 100
_CHARACTER = 10


@dataclass(slots=True)
class Record:
    """What one conversion did."""

    budget: Budget
    losses: list[Loss] = field(default_factory=list)
    #: Those of `losses` that close an object whose author left that open by saying nothing.
    closings: set[Loss] = field(default_factory=set)

    def tell(
        self, part: Part, keyword: str, action: Action, direction: Direction, message: str
    ) -> None:
        """Note that *keyword* of *part* is not as in the original.

        Raises:
            Exhausted: the budget is spent.
        """
        spend(self.budget, _LOSS + _CHARACTER * len(part.pointer))
        self.losses.append(Loss(part.pointer, keyword, action, direction, message))

    def tell_closed(self, part: Part) -> None:
        """Note that the object at *part*, which says nothing of other members, was closed."""
        said = "members that are not declared were admitted by default, and cannot be given"
        self.tell(part, "additionalProperties", Action.REWRITTEN, Direction.NARROWER, said)
        self.closings.add(self.losses[-1])

    def in_order(self) -> tuple[Loss, ...]:
        """Return the losses in the order of their places; each once."""
        once = dict.fromkeys(self.losses)
        return tuple(sorted(once, key=lambda loss: (loss.pointer, loss.keyword, loss.message)))

    def against_strict(self, *, assume_closed: bool) -> Loss | None:
        """Return the first loss for which other payloads are admitted than by the original.

        Closings count unless objects are *assumed closed* that do not say that they are open.
        """
        for loss in self.in_order():
            counts = not (assume_closed and loss in self.closings)
            if counts and loss.direction is not Direction.SAME:
                return loss
        return None
