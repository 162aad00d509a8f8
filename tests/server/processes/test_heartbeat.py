"""Which looks at a serving process find that it stands still."""

import asyncio

import pytest
from sidecheck_server.server.processes.serving_process import Heartbeat, StallCause

STOPPED, BLOCKED = StallCause.STOPPED, StallCause.BLOCKED


class Process:
    """A process whose answers and use of a processor a test decides."""

    def __init__(self) -> None:
        self.seconds = 1.0
        self.beats: list[asyncio.Future[None]] = []
        self.heartbeat = Heartbeat(self._beat, lambda: self.seconds)

    def _beat(self) -> "asyncio.Future[None]":
        self.beats.append(asyncio.get_running_loop().create_future())
        return self.beats[-1]

    def look(self, before: str) -> StallCause | None:
        """Look after what *before* says happens: a(nswer), u(se of a processor), p(ause)."""
        if "a" in before:
            self.beats[-1].set_result(None)
        if "u" in before:
            self.seconds += 1e-6
        if "p" in before:
            self.heartbeat.reset()
        return self.heartbeat.check()


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        pytest.param("- au au au au au au", None, id="works"),
        pytest.param("- a a a a a a a a", None, id="idle"),
        pytest.param("- - - -", STOPPED, id="never answered"),
        pytest.param("- au au au - - -", STOPPED, id="stopped later"),
        pytest.param("- - - a - - a - - a", None, id="answers late"),
        pytest.param("- - - u - - u - - u", None, id="starved"),
        pytest.param("- - - u - - -", STOPPED, id="stopped after it was starved"),
        pytest.param("- " + "u " * 29, None, id="busy"),
        pytest.param("- " + "u " * 30, BLOCKED, id="busy for ten times as long"),
        pytest.param("- " + "u " * 29 + "a " + "u " * 29, None, id="busy twice"),
        pytest.param("- - - p- -", None, id="the first process was stopped too"),
        pytest.param("- " + "u " * 29 + "pu " + "u " * 28, None, id="and the busy one"),
    ],
)
async def test_looks(looks: str, expected: StallCause | None) -> None:
    """The last look decides; those before find nothing."""
    process = Process()
    *before, last = [process.look(state) for state in looks.split()]

    assert ({None}, expected) == (set(before), last)


async def test_at_most_one_heartbeat_is_outstanding() -> None:
    """No message is queued for a process that does not answer."""
    process = Process()
    for happened in ("-", "u", "u", "au", "u"):
        process.look(happened)

    assert [True, False] == [beat.done() for beat in process.beats]
