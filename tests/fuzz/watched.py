"""Real server with access to its log, its memory and its health."""

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from queue import Empty
from typing import Any

import psutil
from fuzz.exchanges import Caller, Ending, Exchange
from sidecheck.v1 import target_pb2, validation_service_pb2
from support.running import RunningServer

__all__ = ["WatchedServer", "unexpected"]

_VALIDATE = "/sidecheck.v1.ValidationService/Validate"


class WatchedServer(RunningServer):
    """A real server with small caches, so that unbounded growth is visible.

    Its limits of seconds are ten times the usual duration, for a busy machine.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(
            folder,
            SIDECHECK_LIMITS__COMPILE_SECONDS="120",
            SIDECHECK_LIMITS__VALIDATION_SECONDS="120",
            SIDECHECK_INLINE_SCHEMAS="300",
            SIDECHECK_REGISTERED_SCHEMAS="300",
            SIDECHECK_REGISTRY=str(folder / "tools.db"),
        )
        self._checks = 0

    def log(self) -> list[str]:
        """Return the log since the last call: events, and consecutive lines of text joined."""
        lines: list[str] = []
        while True:
            try:
                line = self._lines.get(timeout=0.05)
            except Empty:
                return lines
            if line is None:
                return lines
            follows = lines and not line.startswith(("{", "Traceback")) and lines[-1][0] != "{"
            if follows:
                lines[-1] += line
            else:
                lines.append(line)

    def megabytes(self) -> tuple[float, float]:
        """Return the resident memory of the server, and the sum of its workers'."""
        process = psutil.Process(self.process.pid)
        workers = sum(child.memory_info().rss for child in process.children(recursive=True))
        return process.memory_info().rss / 1e6, workers / 1e6

    def faults(self, caller: Caller) -> Iterator[str]:
        """Yield faults of the process, of its answers and of its workers."""
        if self.process.poll() is not None:
            yield f"the server ended with {self.process.returncode}"
            return
        self._checks += 1
        # A worker compiles an unknown schema.
        schema = {"const": f"check {self._checks}"}
        for payload, valid in ((schema["const"], True), ("other", False)):
            request = validation_service_pb2.ValidateRequest(
                target=target_pb2.Target(
                    inline_schema=target_pb2.InlineSchema(json=json.dumps(schema).encode())
                ),
                subject=target_pb2.Subject(arguments=json.dumps(payload).encode()),
            )
            sent = Exchange(0, _VALIDATE, (request.SerializeToString(),), Ending.CLOSED)
            outcome = caller.send(sent)
            answers = [
                validation_service_pb2.ValidateResponse.FromString(response).verdict.valid
                for response in outcome.responses
            ]
            if answers != [valid]:
                yield f"a sound call is answered {outcome.code.name} {outcome.details} {answers}"


_UNSENT = "ExecuteBatchError raised in core by servicer method"
"""gRPC's log message for an answer that it cannot send, before it processes the cancellation
(grpcio, ``_cython/_cygrpc/aio/server.pyx.pxi``, ``_handle_exceptions``)."""


def unexpected(entry: str, left: Collection[str] = ()) -> str | None:
    """Return the description of an error in the log *entry*, or None.

    *left* has the paths of the methods whose callers cancelled.
    """
    try:
        event: dict[str, Any] = json.loads(entry)
    except ValueError:
        return f"no event: {entry!r}"
    message = str(event.get("said"))
    if message.startswith(_UNSENT) and any(path in message for path in left):
        return None
    return entry.strip() if event.get("level") == "error" else None
