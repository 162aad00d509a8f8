"""Log of losses of one conversion."""

import pytest
from sidecheck_server.core.convert.schema_graph import SchemaNode
from sidecheck_server.core.convert.types import Action, Effect, Loss, LossLog
from sidecheck_server.core.limits import Exhausted


def reported(log: LossLog, *pointers: str) -> None:
    log.add(SchemaNode(pointers), "pattern", Action.DESCRIBED, Effect.WIDENED, "?")


def test_losses_are_ordered_by_location() -> None:
    """There are no repetitions."""
    log = LossLog([10_000])
    for name in ("b", "a", "b"):
        reported(log, name)

    widening = ("pattern", Action.DESCRIBED, Effect.WIDENED, "?")
    assert (Loss("/a", *widening), Loss("/b", *widening)) == log.sort_losses()


def test_a_location_costs_steps_by_its_length() -> None:
    """Otherwise a definition could be repeated for each of its locations."""
    log = LossLog([100_000])
    reported(log, "x" * 4_000)
    reported(log, "x" * 4_000)
    with pytest.raises(Exhausted):
        reported(log, "x" * 4_000)


def test_closing_an_object_is_exact_with_assume_closed() -> None:
    """Other losses still count."""
    log = LossLog([10_000])
    log.add_closing(SchemaNode(("a",)))
    only = (
        log.first_inexact(assume_closed=True),
        log.first_inexact(assume_closed=False),
    )
    reported(log, "b")

    assert (None, log.losses[0]) == only
    assert log.losses[1] == log.first_inexact(assume_closed=True)
