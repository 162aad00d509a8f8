"""A server under watch: what it writes, how much memory it takes, whether it still works."""

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
    """A real server with small caches, so that what grows without bound shows.

    And with much time for its workers, which on a busy machine may take ten times as long.
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
        """Return what was written since the last time: events, and lines of text together."""
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
        """Return how much memory the server has, and all its workers together."""
        process = psutil.Process(self.process.pid)
        workers = sum(child.memory_info().rss for child in process.children(recursive=True))
        return process.memory_info().rss / 1e6, workers / 1e6

    def faults(self, caller: Caller) -> Iterator[str]:
        """Yield what no longer works: the process, its answers, its workers."""
        if self.process.poll() is not None:
            yield f"the server ended with {self.process.returncode}"
            return
        self._checks += 1
        # A schema that was never seen is compiled by a worker.
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
                validation_service_pb2.ValidateResponse.FromString(status).verdict.valid
                for status in outcome.responses
            ]
            if answers != [valid]:
                yield f"a sound call is answered {outcome.code.name} {outcome.details} {answers}"


_UNSENT = "ExecuteBatchError raised in core by servicer method"
"""What gRPC logs if an answer cannot be sent, and it was not told yet that the caller has
left (grpcio, ``_cython/_cygrpc/aio/server.pyx.pxi``, ``_handle_exceptions``)."""


def unexpected(entry: str, left: Collection[str] = ()) -> str | None:
    """Return what is wrong with an entry of the log, if anything is.

    Callers of the methods that were *left*, by their paths, did not wait for the answer.
    """
    try:
        event: dict[str, Any] = json.loads(entry)
    except ValueError:
        return f"no event: {entry!r}"
    message = str(event.get("said"))
    if message.startswith(_UNSENT) and any(path in message for path in left):
        return None
    return entry.strip() if event.get("level") == "error" else None
