"""Runner of tasks in this process instead of a worker, which records the tasks."""

import json
from collections.abc import Callable
from typing import Any, TypeVar

from sidecheck_server.core.limits import Limits
from sidecheck_server.workers.tasks import CompileSchema, ConvertTool, Task, ignore_begin

__all__ = ["RecordedTasks"]

_Result = TypeVar("_Result")


class RecordedTasks:
    """Runs tasks within *limits*; the first ones raise *failures* instead."""

    def __init__(self, limits: Limits, *failures: Exception) -> None:
        self._limits = limits
        self.failures = list(failures)
        self.tasks: list[Task[Any]] = []

    async def __call__(
        self, task: Task[_Result], on_begin: Callable[[], None] = ignore_begin
    ) -> _Result:
        """Run *task*."""
        on_begin()
        self.tasks.append(task)
        return self.execute(task)

    def execute(self, task: Task[_Result]) -> _Result:
        """Return the result of *task*, or raise the next failure."""
        if self.failures:
            raise self.failures.pop(0)
        return task.execute(self._limits)

    @property
    def compiled(self) -> list[bytes]:
        """The schemas that were compiled."""
        return [task.source.json for task in self.tasks if isinstance(task, CompileSchema)]

    @property
    def converted(self) -> list[str]:
        """The names of the tools that were converted."""
        texts = [task.text for task in self.tasks if isinstance(task, ConvertTool)]
        return [json.loads(text)["name"] for text in texts]
