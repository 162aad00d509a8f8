"""A worker process, which runs one task at a time and has a separate pipe.

Processes share nothing, so that killing one affects no other. The death of a process closes
its end of the pipe, which ends every wait for it at once. So killing the process is the way
to end a wait, even if the process is stopped and does not read.
"""

import atexit
import math
import multiprocessing
import os
import pickle
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Lock
from typing import Any
from weakref import WeakSet

from sidecheck_server.workers.operating_system import (
    OUT_OF_TIME,
    OutOfTimeError,
    blocked_stop_signals,
    limited_task,
    processor_seconds,
    wait_for_answer,
)

__all__ = [
    "OUT_OF_MEMORY",
    "WALL_FACTOR",
    "ProcessDiedError",
    "WorkerProcess",
]

OUT_OF_MEMORY = 100
"""Exit code of a process whose memory limit is too small to start, or to receive a task."""

WALL_FACTOR = 10
"""Longest time without progress before a process counts as hung, as a multiple of the limit of
processor time. A process that makes progress, however slowly, is ended by that limit."""

_READY = b"ready"
_RECEIPT = b"received"
_ORPHAN_FACTOR = 100
"""Longest time of a task whose server has died, as a multiple of the limit of processor time. It
is far above `WALL_FACTOR`, since an alarm cannot distinguish slow processes from hung ones."""

_CONTEXT = multiprocessing.get_context("spawn")
_BOOKKEEPING = Lock()
"""Lock for starting, killing and reaping processes: `multiprocessing` reaps all children when it
starts another process, and is not thread-safe."""


_STARTED: WeakSet[BaseProcess] = WeakSet()
"""The processes of this process, some of which have ended."""


# Runs before the handler of `multiprocessing`, which is registered earlier: it would send SIGTERM,
# which workers block, and wait for their end.
@atexit.register
def _kill_started() -> None:
    for process in [*_STARTED]:
        with suppress(ValueError):  # it has ended and is closed
            process.kill()


class ProcessDiedError(Exception):
    """The process ended with *exit_code*, which is negative for a signal.

    *received* says whether it had received the whole task.
    """

    def __init__(self, exit_code: int, *, received: bool) -> None:
        super().__init__(exit_code, received)
        self.exit_code = exit_code
        self.received = received


class WorkerProcess:
    """A worker process, prepared by calling *prepare* with *argument*.

    All methods except `kill` and `fileno` block, and must be called from one thread at a time.

    Raises:
        OSError: the system cannot start another process.
    """

    def __init__(self, prepare: Callable[[int], object], argument: int) -> None:
        self._connection, worker_connection = _CONTEXT.Pipe()
        self._exit_code: int | None = None
        #: Whether the process has received the whole current task.
        self.has_received = False
        # A daemon process does not keep the interpreter, which exits without closing the pool.
        self._process = _CONTEXT.Process(
            target=_run_tasks, args=(worker_connection, prepare, argument), daemon=True
        )
        try:
            with worker_connection, _BOOKKEEPING, blocked_stop_signals():
                self._process.start()
                _STARTED.add(self._process)
                self._id = self._process.pid or 0
        except BaseException:
            self._connection.close()
            raise

    @property
    def id(self) -> int:
        """The id of the process."""
        return self._id

    def processor_seconds(self) -> float:
        """Return the processor time of the process, in seconds; 0 if unknown."""
        # Rounded to hundredths, so that receiving a task does not count as progress.
        return round(processor_seconds(self._id), 2)

    def fileno(self) -> int:
        """Return a descriptor that becomes readable when the process dies.

        It is not the descriptor of the pipe: an event loop, such as uvloop, may make watched
        descriptors non-blocking, but the threads that read the pipe rely on blocking.
        """
        return self._process.sentinel

    def wait_until_ready(self) -> None:
        """Wait until the process can run tasks.

        Raises:
            ProcessDiedError: the process died before.
        """
        try:
            self._connection.recv_bytes()
        except (EOFError, OSError):
            raise ProcessDiedError(self.end(), received=False) from None

    def call(self, seconds: float, function: Callable[..., Any], arguments: Any) -> Any:
        """Return the result of *function*, limited to *seconds* of processor time.

        The caller must kill the process if it makes no progress: if it has not received the
        task after *seconds*, or not finished after `WALL_FACTOR` times *seconds*.

        Raises:
            ProcessDiedError: the process died.
            Exception: raised by *function*; MemoryError also if the task or the result exceeds
                the memory limit of the process.
        """
        message = pickle.dumps((seconds, function, arguments), pickle.HIGHEST_PROTOCOL)
        self.has_received = False
        try:
            self._connection.send_bytes(message)
            self._connection.recv_bytes()
            self.has_received = True
            wait_for_answer(self._connection, self._id, seconds)
            answer = self._connection.recv_bytes()
        except OutOfTimeError:
            self.end()
            raise ProcessDiedError(OUT_OF_TIME, received=True) from None
        except (EOFError, OSError, MemoryError):  # the pipe may hold a partial message
            raise ProcessDiedError(self.end(), received=self.has_received) from None
        succeeded, result = pickle.loads(answer)  # noqa: S301 - written by our own process
        if not succeeded:
            raise result
        return result

    def kill(self) -> None:
        """Kill the process if it is running."""
        with _BOOKKEEPING:
            if self._exit_code is None:
                self._process.kill()

    def end(self) -> int:
        """Kill the process, release its resources, and return its exit code."""
        self.kill()
        if self._exit_code is None:
            connection.wait([self._process.sentinel])
            with _BOOKKEEPING:
                self._process.join()
                exit_code = self._process.exitcode
                # None if the system has reaped the process, as with an ignored SIGCHLD.
                self._exit_code = 0 if exit_code is None else exit_code
                if exit_code is not None:
                    self._process.close()
            self._connection.close()
        return self._exit_code


def _run_tasks(pipe: Connection, prepare: Callable[[int], object], argument: int) -> None:
    """Run the tasks received through *pipe* until its other end is closed."""
    try:
        prepare(argument)
        pipe.send_bytes(_READY)
        while True:
            message = pipe.recv_bytes()
            pipe.send_bytes(_RECEIPT)
            pipe.send_bytes(_execute_message(message))
            del message
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except (EOFError, ConnectionError):
        os._exit(0)  # The server has ended.


def _execute_message(message: bytes) -> bytes:
    """Run the task in *message*; return its pickled result or exception."""
    try:
        seconds, function, arguments = pickle.loads(message)  # noqa: S301 - from the server
        with limited_task(seconds, math.ceil(_ORPHAN_FACTOR * seconds)):
            result = function(*arguments)
        return pickle.dumps((True, result), pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return _NO_MEMORY
    except Exception as error:  # noqa: BLE001 - the caller raises it
        return _pickle_failure(error)


_NO_MEMORY = pickle.dumps((False, MemoryError()))


def _pickle_failure(error: Exception) -> bytes:
    try:
        answer = pickle.dumps((False, error))
        pickle.loads(answer)  # noqa: S301 - written in the line above
    except Exception:  # noqa: BLE001 - pickling an arbitrary exception may fail
        answer = pickle.dumps((False, RuntimeError(type(error).__qualname__)))
    return answer
