"""A process that runs one task at a time, with a pipe of its own.

Nothing is shared between processes, so that killing one affects no other. A process that
is killed closes its end of the pipe, which ends every wait for it at once; so whoever wants
to end a wait kills the process, also one that is stopped and does not read.
"""

import math
import multiprocessing
import os
import pickle
import resource
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import connection, resource_tracker
from multiprocessing.connection import Connection
from threading import Lock
from typing import Any

__all__ = [
    "OUT_OF_MEMORY",
    "OUT_OF_TIME",
    "WALL_FACTOR",
    "ProcessDiedError",
    "WorkerProcess",
    "prepare_process",
    "processor_seconds",
]

OUT_OF_MEMORY = 100
"""Exit code of a process that has too little memory to start, or to receive a task."""

OUT_OF_TIME = -signal.SIGPROF
"""Exit code of a process whose task took more seconds of a processor than it may."""

WALL_FACTOR = 10
"""How many times its seconds of a processor a task may last while its process does nothing: then it
hangs. Where it goes on, however slowly, the system ends it in time."""

_NICENESS = 10
"""Workers yield to the event loop of the server, which all calls wait for."""

_READY = b"ready"
_RECEIPT = b"received"
_ORPHAN_FACTOR = 100
"""How many times its seconds of a processor a task may last when nobody is left to kill its
process: far more than `WALL_FACTOR`, since an alarm cannot tell a slow process from one that
hangs."""

_CONTEXT = multiprocessing.get_context("spawn")
_BOOKKEEPING = Lock()
"""Held while a process is started, killed or reaped: `multiprocessing` reaps any child when it
starts another, and is not safe to use from several threads."""


class ProcessDiedError(Exception):
    """The process ended with *exit_code*, a negative one if by a signal.

    *received* tells whether it had received the whole task.
    """

    def __init__(self, exit_code: int, *, received: bool) -> None:
        super().__init__(exit_code, received)
        self.exit_code = exit_code
        self.received = received


class WorkerProcess:
    """A process that is prepared by calling *prepare* with *argument*.

    All methods but `kill` and `fileno` block, and are called from one thread at a time.

    Raises:
        OSError: the system has no room for another process.
    """

    def __init__(self, prepare: Callable[[int], object], argument: int) -> None:
        self._connection, theirs = _CONTEXT.Pipe()
        self._exit_code: int | None = None
        #: Whether the process has received all of the task that it is given.
        self.has_received = False
        # As a daemon, it is ended if the interpreter exits without closing the pool.
        self._process = _CONTEXT.Process(
            target=_run_tasks, args=(theirs, prepare, argument), daemon=True
        )
        try:
            with theirs, _BOOKKEEPING, _block_interrupts():
                self._process.start()
                self._id = self._process.pid or 0
        except BaseException:
            self._connection.close()
            raise

    @property
    def id(self) -> int:
        """The id of the process."""
        return self._id

    def processor_seconds(self) -> float:
        """Return what the process has taken of a processor; 0 if the system does not tell."""
        # Hundredths: to receive a task is no progress.
        return round(processor_seconds(self._id), 2)

    def fileno(self) -> int:
        """Return a descriptor that becomes readable when the process dies.

        It is not that of the pipe: an event loop may make those that it watches non-blocking,
        as that of uvloop does, and the pipe is read by threads that block.
        """
        return self._process.sentinel

    def wait_until_ready(self) -> None:
        """Return when the process can run tasks.

        Raises:
            ProcessDiedError: it died before.
        """
        try:
            self._connection.recv_bytes()
        except (EOFError, OSError):
            raise ProcessDiedError(self.end(), received=False) from None

    def call(self, seconds: float, function: Callable[..., Any], arguments: Any) -> Any:
        """Return the result of *function*, which may take so many *seconds* of a processor.

        Whoever calls this kills the process if it has not received the task after as many, or
        not ended it after `WALL_FACTOR` times as many, and has done nothing meanwhile.

        Raises:
            ProcessDiedError: the process died.
            Exception: *function* raised it; MemoryError also if the task or the result needs
                more memory than the process may use.
        """
        message = pickle.dumps((seconds, function, arguments), pickle.HIGHEST_PROTOCOL)
        self.has_received = False
        try:
            self._connection.send_bytes(message)
            self._connection.recv_bytes()
            self.has_received = True
            answer = self._connection.recv_bytes()
        except (EOFError, OSError, MemoryError):  # the rest of a message may be in the pipe
            raise ProcessDiedError(self.end(), received=self.has_received) from None
        succeeded, result = pickle.loads(answer)  # noqa: S301 - written by our own process
        if not succeeded:
            raise result
        return result

    def kill(self) -> None:
        """Kill the process, if it still runs."""
        with _BOOKKEEPING:
            if self._exit_code is None:
                self._process.kill()

    def end(self) -> int:
        """Kill the process, release what it holds, and return its exit code."""
        self.kill()
        if self._exit_code is None:
            connection.wait([self._process.sentinel])
            with _BOOKKEEPING:
                self._process.join()
                exit_code = self._process.exitcode
                # None if the system has reaped it, as it does where SIGCHLD is ignored.
                self._exit_code = 0 if exit_code is None else exit_code
                if exit_code is not None:
                    self._process.close()
            self._connection.close()
        return self._exit_code


def prepare_process(memory: int) -> None:
    """Limit the address space of this process to *memory* bytes, and lower its priority."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = memory if hard == resource.RLIM_INFINITY else min(hard, memory)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    os.nice(_NICENESS)
    # A process that is killed while it searches a text does not get to run a handler.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def processor_seconds(process_id: int) -> float:
    """Return what a process has taken of a processor; 0 if the system does not tell."""
    # The id that clock_getcpuclockid(3) makes, which Python has for threads only.
    try:
        return time.clock_gettime(~process_id << 3 | 2)
    except OSError:
        return 0.0


@contextmanager
def _block_interrupts() -> Iterator[None]:
    """Block SIGINT in the processes that this thread starts meanwhile.

    A Ctrl-C at the terminal reaches all processes; the server decides when they stop.
    """
    resource_tracker.ensure_running()  # starting it later would unblock SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run_tasks(pipe: Connection, prepare: Callable[[int], object], argument: int) -> None:
    """Run the tasks that come through *pipe* until its other end is closed."""
    try:
        prepare(argument)
        pipe.send_bytes(_READY)
        while True:
            message = pipe.recv_bytes()
            pipe.send_bytes(_RECEIPT)
            pipe.send_bytes(_answer(message))
            del message
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except (EOFError, ConnectionError):
        os._exit(os.EX_OK)  # The server has ended.


def _answer(message: bytes) -> bytes:
    """Return whether the task *message* succeeded, with its result or what it raised."""
    try:
        seconds, function, arguments = pickle.loads(message)  # noqa: S301 - from the server
        # The system kills this process, also while Python runs no handler: in seconds of a
        # processor, so that other load does not matter, and when the server that should kill
        # it was killed itself.
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.alarm(math.ceil(_ORPHAN_FACTOR * seconds))
        try:
            result = function(*arguments)
        finally:
            signal.alarm(0)
            signal.setitimer(signal.ITIMER_PROF, 0)
        return pickle.dumps((True, result), pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return _NO_MEMORY
    except Exception as error:  # noqa: BLE001 - the caller raises it
        return _failure(error)


_NO_MEMORY = pickle.dumps((False, MemoryError()))


def _failure(error: Exception) -> bytes:
    try:
        answer = pickle.dumps((False, error))
        pickle.loads(answer)  # noqa: S301 - written in the line above
    except Exception:  # noqa: BLE001 - an exception may have any state
        answer = pickle.dumps((False, RuntimeError(type(error).__qualname__)))
    return answer
