"""Server in this process whose event loop measures its turns."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import grpc
from sidecheck_server.config.settings import Settings
from sidecheck_server.core.limits import Limits
from sidecheck_server.server.service import running_service

__all__ = ["MeasuredLoop", "MeasuredServer", "run_with_server"]

_Result = TypeVar("_Result")


class MeasuredLoop(asyncio.SelectorEventLoop):
    """Event loop that counts its turns and measures the processor time of each.

    A turn is the work between two polls for events; events that arrive meanwhile wait. The
    time is the processor time of this thread, without other threads and processes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.turns = 0
        #: The longest turn, and the sum of all turns, in seconds.
        self.longest = 0.0
        self.total = 0.0

    def reset(self) -> None:
        """Set the measurements to 0."""
        self.turns, self.longest, self.total = 0, 0.0, 0.0

    def _run_once(self) -> None:
        began = time.thread_time()
        # asyncio has no public hook for turns.
        super()._run_once()  # type: ignore[misc]
        seconds = time.thread_time() - began
        self.turns += 1
        self.longest = max(self.longest, seconds)
        self.total += seconds


@dataclass(frozen=True, slots=True)
class MeasuredServer:
    """A running server whose event loop is measured."""

    loop: MeasuredLoop
    channel: grpc.Channel


def run_with_server(attack: Callable[[MeasuredServer], _Result], **limits: Any) -> _Result:
    """Return the result of *attack* on a server with *limits*, called in another thread."""

    async def serve() -> _Result:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, MeasuredLoop)
        settings = Settings(
            listen="127.0.0.1:0",
            workers=2,
            limits=Limits(compile_seconds=300, validation_seconds=300, **limits),
        )
        async with running_service(settings) as server:
            with grpc.insecure_channel(
                server.addresses[0], [("grpc.max_receive_message_length", -1)]
            ) as channel:
                return await asyncio.to_thread(attack, MeasuredServer(loop, channel))

    with asyncio.Runner(loop_factory=MeasuredLoop) as runner:
        return runner.run(serve())
