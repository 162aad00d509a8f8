"""Tasks on their way to processes."""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["Task", "TaskQueue", "Turn"]


@dataclass(eq=False, slots=True)
class Task:
    """A call of a function, with the future of its outcome."""

    seconds: float
    function: Callable[..., Any]
    arguments: tuple[object, ...]
    outcome: asyncio.Future[Any]
    #: How many processes died before they had received the task.
    lost_attempts: int = 0

    def succeed(self, result: Any) -> None:
        """Give the *result* to whoever awaits it."""
        if not self.outcome.done():
            self.outcome.set_result(result)

    def fail(self, error: Exception) -> None:
        """Raise *error* where the outcome is awaited."""
        if not self.outcome.done():
            self.outcome.set_exception(error)


#: Future that delivers the next task to an idle process, or None when it died.
Turn: TypeAlias = asyncio.Future[Task | None]


class TaskQueue:
    """Gives tasks to idle processes, both in the order in which they came."""

    def __init__(self) -> None:
        #: All tasks without an outcome, and those of them that wait for a process.
        self._open: set[Task] = set()
        self._waiting: deque[Task] = deque()
        self._idle: deque[Turn] = deque()

    async def run(self, task: Task) -> Any:
        """Return the result of *task*, or raise what it failed with."""
        self._open.add(task)
        self._waiting.append(task)
        self._assign()
        try:
            return await task.outcome
        finally:
            self._open.remove(task)

    def put_back(self, task: Task) -> None:
        """Let *task* be the next to go to a process."""
        self._waiting.appendleft(task)
        self._assign()

    def take(self, turn: Turn) -> None:
        """Let *turn* receive a task."""
        self._idle.append(turn)
        self._assign()

    def withdraw(self, turn: Turn) -> None:
        """Let *turn* receive no task any more."""
        with suppress(ValueError):
            self._idle.remove(turn)

    def fail_all(self, error: Callable[[], Exception]) -> None:
        """Fail all tasks without an outcome, each with an *error* of its own."""
        self._waiting.clear()
        for task in self._open:
            task.fail(error())

    def _assign(self) -> None:
        while self._waiting and self._idle:
            turn = self._idle.popleft()
            if not turn.done():
                turn.set_result(self._waiting.popleft())
