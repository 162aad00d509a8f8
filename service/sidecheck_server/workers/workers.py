"""Workers: compile schemas, and do what takes too many steps for the event loop."""

import asyncio
import resource
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar
from weakref import WeakValueDictionary

from sidecheck_server.core.compat.changes import ToolComparison
from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema
from sidecheck_server.core.convert.converted_tool import ToolForm
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.infer.types import InferenceOptions, InferenceResult
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.subjects import CheckRequest
from sidecheck_server.core.mcp.tool_definitions import ToolDefinition
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document, Verdict
from sidecheck_server.workers.events import EndCause, WorkerEvent, WorkerStartError
from sidecheck_server.workers.pool import (
    NoWorkerError,
    Pool,
    WorkerCrashedError,
    WorkerStalledError,
    WorkerTimeoutError,
)
from sidecheck_server.workers.tasks import (
    check_task,
    compare_task,
    compile_task,
    convert_task,
    infer_task,
    prepare_process,
    validate_task,
)

__all__ = ["CALLER", "Workers"]

_Result = TypeVar("_Result")

CALLER: ContextVar[str] = ContextVar("CALLER", default="")
"""The caller that the current task works for: a connection, or "" for the server."""

_TASKS_PER_WORKER = 2
"""How many tasks the pool has for each worker, so that none waits for the next."""


def _ignore() -> None:
    """Do nothing when a task begins."""


class Workers:
    """Processes that can be killed and whose memory is limited.

    All methods raise LIMIT_EXCEEDED if the task takes too much of a processor or memory, and
    WORKER_CRASHED if its process died twice, if it stood still, or if no worker lived for a
    while.
    """

    def __init__(self, count: int, limits: Limits) -> None:
        self._limits = limits
        self._slots = _TaskSlots(count * _TASKS_PER_WORKER, per_caller=count)
        self._observers: list[Callable[[WorkerEvent], None]] = []
        #: How many tasks ended, and how many seconds they took, by the name of their work.
        self.tasks: Counter[str] = Counter()
        self.task_seconds: defaultdict[str, float] = defaultdict(float)
        #: How many tasks have a slot or run, and how many wait for a slot.
        self.busy = self.waiting = 0
        #: How many processes there should be.
        self.count = count
        self._pool = Pool(
            count, prepare_process, limits.worker_bytes, limits.worker_wait_seconds, self._report
        )

    @property
    def alive(self) -> int:
        """The number of workers that can run tasks."""
        return self._pool.alive

    def resident_bytes(self) -> int:
        """Return the memory that all processes have in use; 0 if the system does not tell."""
        return sum(map(_resident_bytes, self._pool.process_ids()))

    def subscribe(self, observer: Callable[[WorkerEvent], None]) -> None:
        """Call *observer* with each event from now on, in the event loop."""
        self._observers.append(observer)

    async def start(self) -> None:
        """Return when a worker is ready, and has memory enough to compile a schema.

        Raises:
            WorkerStartError: none can be started.
        """
        await self._pool.wait_until_ready()
        try:
            await self.compile(SchemaSource(b"true"))
        except RequestError as error:
            out_of_memory = error.metadata.get("bound") == "worker_bytes"
            cause = EndCause.MEMORY if out_of_memory else EndCause.CRASH
            raise WorkerStartError(cause, error.message) from None

    async def compile(self, source: SchemaSource, begun: Callable[[], None] = _ignore) -> Artifact:
        """Compile *source*; *begun* is called when the task has a slot.

        Raises:
            RequestError: as `compile_source`, and as the class says.
        """
        work, bound = "compiling the schema", "compile_seconds"
        return await self._run(work, bound, begun, compile_task, source, self._limits)

    async def validate(
        self,
        compiled: CompiledSchema,
        payload: bytes,
        options: EvaluationOptions,
        begun: Callable[[], None] = _ignore,
    ) -> Verdict:
        """Validate *payload* against *compiled*; *begun* is called when the task has a slot.

        Raises:
            RequestError: as `judge`, and as the class says.
        """
        work, bound = "validating the payload", "validation_seconds"
        task = (validate_task, compiled.source, compiled.artifact, self._limits, payload, options)
        return await self._run(work, bound, begun, *task)

    async def check(
        self, request: CheckRequest, begun: Callable[[], None] = _ignore
    ) -> CheckReport:
        """Check the subject of *request*, without the deferred checks.

        *begun* is called when the task has a slot.

        Raises:
            RequestError: as `check`, and as the class says.
        """
        # A worker may have to compile the protocol's schemas first.
        work, bound = "checking the payload", "compile_seconds"
        return await self._run(work, bound, begun, check_task, request, self._limits)

    async def convert(
        self,
        text: bytes,
        documents: tuple[Document, ...],
        api: ModelApi,
        options: ConversionOptions,
        begun: Callable[[], None] = _ignore,
    ) -> ToolForm:
        """Convert the tool definition *text*; the result has no name yet.

        *begun* is called when the task has a slot.

        Raises:
            RequestError: as `form_of` and `read_tool`, and as the class says.
        """
        work, bound = "converting the tool", "compile_seconds"
        task = (convert_task, text, documents, api, options, self._limits)
        return await self._run(work, bound, begun, *task)

    async def infer(
        self,
        source: bytes,
        options: InferenceOptions,
        begun: Callable[[], None] = _ignore,
    ) -> InferenceResult:
        """Infer the definitions of the tools in *source*; *begun* as in `check`.

        Raises:
            RequestError: as `infer_tools`, and as the class says.
        """
        work, bound = "parsing the source text", "compile_seconds"
        task = (infer_task, source, options, self._limits)
        return await self._run(work, bound, begun, *task)

    async def compare(
        self,
        old: ToolDefinition,
        new: ToolDefinition,
        undecided: str = "",
        begun: Callable[[], None] = _ignore,
    ) -> ToolComparison:
        """Compare two definitions, or with *undecided* only find what changed.

        *begun* is called when the task has a slot.

        Raises:
            RequestError: as the class says.
        """
        work, bound = "comparing the tool", "compile_seconds"
        task = (compare_task, old, new, undecided, self._limits)
        return await self._run(work, bound, begun, *task)

    def _report(self, event: WorkerEvent) -> None:
        for observer in self._observers:
            observer(event)

    async def _run(
        self,
        work: str,
        bound: str,
        begun: Callable[[], None],
        function: Callable[..., _Result | RequestError],
        *arguments: object,
    ) -> _Result:
        async with AsyncExitStack() as slot:
            self.waiting += 1
            try:
                await slot.enter_async_context(self._slots.acquire())
            finally:
                self.waiting -= 1
            begun()
            # A cancelled caller keeps its slot until the worker is done: stopping the worker
            # means killing it, and a new one takes a second to start.
            task = asyncio.create_task(
                self._run_in_slot(slot.pop_all(), work, bound, function, *arguments)
            )
        result = await asyncio.shield(task)
        if isinstance(result, RequestError):
            raise result
        return result

    async def _run_in_slot(
        self,
        slot: AsyncExitStack,
        work: str,
        bound: str,
        function: Callable[..., _Result | RequestError],
        *arguments: object,
    ) -> _Result | RequestError:
        seconds: int = getattr(self._limits, bound)
        begun = time.monotonic()
        self.busy += 1
        async with slot:
            try:
                return await self._run_twice(seconds, function, *arguments)
            except WorkerTimeoutError:
                return limit_exceeded_error(
                    bound, seconds, f"{work} takes too many seconds of a processor"
                )
            except WorkerStalledError:
                return RequestError(
                    ErrorReason.WORKER_CRASHED,
                    f"the worker {work} stood still; the call may be retried",
                )
            except MemoryError:
                limit = self._limits.worker_bytes
                return limit_exceeded_error("worker_bytes", limit, f"{work} takes too much memory")
            except NoWorkerError:
                return RequestError(
                    ErrorReason.WORKER_CRASHED,
                    f"no worker was alive for {work}; the call may be retried",
                )
            except WorkerCrashedError:
                return RequestError(
                    ErrorReason.WORKER_CRASHED,
                    f"the worker {work} crashed; the call may be retried",
                )
            finally:
                self.busy -= 1
                name = function.__name__.removesuffix("_task")
                self.tasks[name] += 1
                self.task_seconds[name] += time.monotonic() - begun

    async def _run_twice(
        self, seconds: float, function: Callable[..., _Result], *arguments: object
    ) -> _Result:
        """Run *function* in a process, and in another one if the first died.

        The system may have killed it, for the memory of others.
        """
        try:
            return await self._pool.run(seconds, function, *arguments)
        except NoWorkerError:
            raise
        except WorkerCrashedError:
            return await self._pool.run(seconds, function, *arguments)

    def close(self) -> None:
        """Stop all workers at once."""
        self._pool.close()


def _resident_bytes(process_id: int) -> int:
    try:
        pages = int(Path(f"/proc/{process_id}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * resource.getpagesize()


class _TaskSlots:
    """A number of *slots* for tasks in total, and one *per_caller*.

    A task with a slot is in a worker, or the next in line for one. Tasks get slots in the
    order in which they arrive, apart from callers that have all of theirs.
    """

    def __init__(self, slots: int, per_caller: int) -> None:
        self._slots = asyncio.Semaphore(slots)
        self._per_caller = per_caller
        self._callers: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[None]:
        """Hold a slot for the current `CALLER`."""
        name = CALLER.get()
        own_slots = self._callers.get(name)
        if own_slots is None:
            own_slots = self._callers[name] = asyncio.Semaphore(self._per_caller)
        async with own_slots, self._slots:
            yield
