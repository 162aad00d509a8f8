"""Log of what one conversion lost, with the budget that it works within."""

from dataclasses import dataclass, field

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.types import Action, Effect, Loss

__all__ = ["LossLog"]

# In steps: a loss, and each character of its pointer. A definition of some hundred kilobytes
# can have a thousand locations whose pointers are as long as itself; ten million steps are a
# megabyte of them.
_LOSS = 100
_CHARACTER = 10


@dataclass(slots=True)
class LossLog:
    """Losses of one conversion, and the steps that are left for it."""

    budget: Budget
    losses: list[Loss] = field(default_factory=list)
    #: Those of `losses` that close an object which is open by default only.
    closings: set[Loss] = field(default_factory=set)

    def add(
        self, node: SchemaNode, keyword: str, action: Action, effect: Effect, message: str
    ) -> None:
        """Record that *keyword* of *node* is not as in the original.

        Raises:
            Exhausted: the budget is spent.
        """
        spend(self.budget, _LOSS + _CHARACTER * len(node.pointer))
        self.losses.append(Loss(node.pointer, keyword, action, effect, message))

    def add_closing(self, node: SchemaNode) -> None:
        """Record that the object at *node*, which has no additionalProperties, was closed."""
        message = "undeclared properties are allowed by default, but cannot be given in strict mode"
        self.add(node, "additionalProperties", Action.REWRITTEN, Effect.NARROWED, message)
        self.closings.add(self.losses[-1])

    def ordered(self) -> tuple[Loss, ...]:
        """Return the losses ordered by location, without repetition."""
        unique = dict.fromkeys(self.losses)
        return tuple(sorted(unique, key=lambda loss: (loss.pointer, loss.keyword, loss.message)))

    def first_inexact(self, *, assume_closed: bool) -> Loss | None:
        """Return the first loss that changes which payloads are valid.

        With *assume_closed*, closing an object that is open by default is no such loss.
        """
        for loss in self.ordered():
            ignored = assume_closed and loss in self.closings
            if not ignored and loss.effect is not Effect.EQUIVALENT:
                return loss
        return None
