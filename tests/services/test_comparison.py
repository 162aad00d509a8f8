"""Comparison service: pairs, errors of workers, and limits."""

import json
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from sidecheck_server.core.compat.changes import (
    Level,
    Reading,
    SetComparison,
)
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.services.comparison import ToolComparer
from sidecheck_server.services.request_work import open_request
from sidecheck_server.services.targets import InlineTool
from sidecheck_server.workers.tasks import CompareTools, Task, ignore_begin

Result = TypeVar("Result")

LIMITS = Limits(batch_items=4)
CRASH = RequestError(ErrorReason.WORKER_CRASHED, "the worker crashed; the call may be retried")
CRASHED = "the worker that searched for a proof crashed or was killed"


def tool(name: str, maximum: int) -> InlineTool:
    """Return a tool whose argument has a *maximum*."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"n": {"type": "integer", "maximum": maximum}},
    }
    return InlineTool(json.dumps({"name": name, "inputSchema": schema}).encode())


class Worker:
    """Compares in place of a worker, which crashes for some tools."""

    def __init__(self, proofs: frozenset[str] = frozenset(), all_: frozenset[str] = frozenset()):
        self.crashing_proofs = proofs
        self.crashing = all_
        self.compared: list[tuple[str, str]] = []

    async def __call__(
        self, task: Task[Result], on_begin: Callable[[], None] = ignore_begin
    ) -> Result:
        name, undecided = subject_of(task)
        self.compared.append((name, undecided))
        if name in self.crashing or (name in self.crashing_proofs and not undecided):
            raise CRASH
        return task.execute(LIMITS)


def subject_of(task: Task[Any]) -> tuple[str, str]:
    """Return the name of the tool that *task* compares, and why its proof is skipped."""
    assert isinstance(task, CompareTools)
    return task.new.name, task.undecided


def levels(compared: SetComparison) -> list[tuple[str, str, str]]:
    """Return name, status and level of each tool."""
    return [
        (tool.name, tool.status.value, tool.level(Reading.ASSUME_CLOSED).value)
        for tool in compared.tools
    ]


async def test_only_tools_that_differ_go_to_a_worker() -> None:
    """New tools come in their order, and removed ones last."""
    worker = Worker()
    compared = await ToolComparer(worker, LIMITS).compare(
        [tool("same", 1), tool("gone", 2), tool("less", 5), tool("old", 3)],
        [tool("less", 4), tool("new", 3), tool("same", 1), tool("added", 9)],
    )

    assert [
        ("less", "changed", "breaking"),
        ("new", "renamed", "breaking"),
        ("same", "unchanged", "cosmetic"),
        ("added", "added", "compatible"),
        ("gone", "removed", "breaking"),
    ] == levels(compared)
    assert [("less", "")] == worker.compared
    assert compared.differs


async def test_a_proof_that_is_killed_leaves_its_tool_undecided() -> None:
    """Its changes are listed, and the other tools are not affected."""
    worker = Worker(proofs=frozenset({"b"}))
    old, new = [[tool(name, maximum) for name in "abc"] for maximum in (5, 4)]
    compared = await ToolComparer(worker, LIMITS).compare(old, new)
    undecided = compared.tools[1]

    assert ["breaking", "undecided", "breaking"] == [level for _, _, level in levels(compared)]
    assert ["MAXIMUM_LOWERED"] == [change.code for change in undecided.changes]
    assert CRASHED == undecided.schemas[0].verdicts.as_written.reason
    assert {("b", ""), ("b", CRASHED)} <= set(worker.compared)


async def test_a_tool_without_computed_changes_is_undecided() -> None:
    """The comparison of the other tools succeeds."""
    worker = Worker(all_=frozenset({"t"}))
    compared = await ToolComparer(worker, LIMITS).compare([tool("t", 5)], [tool("t", 4)])

    assert [("t", "changed", "undecided")] == levels(compared)
    assert [("NOT_COMPARED", CRASHED)] == [
        (change.code, change.message) for change in compared.tools[0].changes
    ]
    assert Level.UNDECIDED is compared.level(Reading.AS_WRITTEN)


async def test_tools_that_a_request_has_no_steps_for_are_undecided() -> None:
    """The reason names the limit."""
    limits = Limits(request_steps=1)
    open_request(limits).charge(1)
    compared = await ToolComparer(Worker(), limits).compare([tool("t", 5)], [tool("t", 4)])

    assert "request_steps" in compared.tools[0].changes[0].message
    assert Level.UNDECIDED is compared.level(Reading.ASSUME_CLOSED)


@pytest.mark.parametrize("sides", [(5, 0), (0, 5)])
async def test_too_many_tools_are_an_error(sides: tuple[int, int]) -> None:
    """They may be on either side."""
    old, new = ([tool(str(number), 1) for number in range(count)] for count in sides)

    with pytest.raises(RequestError) as caught:
        await ToolComparer(Worker(), LIMITS).compare(old, new)

    assert "batch_items" == caught.value.metadata["bound"]
