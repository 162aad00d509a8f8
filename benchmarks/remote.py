"""What one call to the server takes, against one local `jsonschema.validate`.

As a caller sees it: the time on the wall from the arguments to a verdict, for the blocking
client, which encodes them, and for the generated stub, which sends their bytes. The server
runs on the same machine and is reached over a unix socket.

    python benchmarks/remote.py [--quick] [--report FOLDER]
"""

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
from judges import FRESH, JUDGES, KEPT
from plots import plot_bars
from report import Claim, Effort, Section, Table, run, told
from rounds import Rounds, summary, take_turns, timed
from servers import sidecheck
from sidecheck import BlockingClient, RegisteredTool
from sidecheck.v1 import target_pb2
from sidecheck.v1 import validation_service_pb2 as validation
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from subjects import Subject, all_subjects

__all__ = ["measure"]

_CLIENT, _STUB = "BlockingClient", "stub"
_SERVER = "benchmark"
_LOCAL = (FRESH, KEPT)

_TEXT = (
    "A ratio is the local validator's time over that of the call in the same round, so more "
    "than 1 means that asking the server is quicker. `jsonschema.validate` checks the schema "
    "and makes a validator each time, as most servers that use it do; the kept one does not. "
    "Local validators and the client are given a decoded value, the stub is given its bytes. "
    "Times are on the wall, of valid payloads."
)


def measure(effort: Effort) -> Section:
    """Answer the question of this script."""
    rounds, seconds = effort.choose((21, 0.02), (3, 0.001))
    subjects = all_subjects(effort.choose(None, 3))
    found = []
    with (
        tempfile.TemporaryDirectory() as folder,
        sidecheck(Path(folder)) as server,
        BlockingClient(server.address("unix")) as client,
        grpc.insecure_channel(server.address("unix")) as channel,
    ):
        client.register(_SERVER, [subject.definition for subject in subjects])
        for subject in subjects:
            value = json.loads(subject.valid)
            actions: dict[str, Callable[[Any], bool]] = {
                _CLIENT: _by_client(client, subject),
                _STUB: _by_stub(channel, subject),
                **{name: JUDGES[name](subject.schema).of_value for name in _LOCAL},
            }
            for name, action in actions.items():
                if not action(value):
                    raise AssertionError(f"{name} finds a valid payload of {subject.name} invalid")
            turns = {
                name: timed(action, value, seconds, time.perf_counter_ns)
                for name, action in actions.items()
            }
            found.append((subject, Rounds(take_turns(turns, rounds))))
    if effort.folder is not None:
        _plot(effort.folder, found)
    return Section(
        "remote",
        "A call to the server, against validating locally",
        _TEXT,
        [_table(found)],
        [_claim(found, _CLIENT), _claim(found, _STUB)],
        [("remote.svg", "How many times as long validating locally takes as a call")],
    )


def _by_client(client: BlockingClient, subject: Subject) -> Callable[[Any], bool]:
    target = RegisteredTool(_SERVER, subject.name)
    return lambda value: client.validate(target, value).valid


def _by_stub(channel: grpc.Channel, subject: Subject) -> Callable[[Any], bool]:
    stub: Any = ValidationServiceStub(channel)
    named = target_pb2.RegisteredTool(server=_SERVER, name=subject.name)

    def ask(_value: Any) -> bool:
        request = validation.ValidateRequest(
            target=target_pb2.Target(registered_tool=named),
            subject=target_pb2.Subject(arguments=subject.valid),
        )
        return bool(stub.Validate(request, timeout=5).verdict.valid)

    return ask


def _table(found: list[tuple[Subject, Rounds]]) -> Table:
    rows = [
        [
            f"{subject.origin}: {subject.title}",
            *(told(rounds.of(name), 1e6) for name in (_CLIENT, _STUB, *_LOCAL)),
            *(told(rounds.ratio(name, _CLIENT)) for name in _LOCAL),
        ]
        for subject, rounds in found
    ]
    over = (told(summary(_medians(found, name, _CLIENT))) for name in _LOCAL)
    rows.append(["**median over tools**", "", "", "", "", *over])
    head = [
        "tool (schema)",
        *(f"{name}, µs" for name in (_CLIENT, _STUB, *_LOCAL)),
        *(f"{name} / {_CLIENT}, x" for name in _LOCAL),
    ]
    return Table(f"One call ({found[0][1].of(_CLIENT).n} rounds)", head, rows)


def _medians(found: list[tuple[Subject, Rounds]], name: str, to: str) -> list[float]:
    return [rounds.ratio(name, to).median for _, rounds in found]


def _claim(found: list[tuple[Subject, Rounds]], way: str) -> Claim:
    ratio = summary(_medians(found, FRESH, way))
    return Claim(
        f"a call ({way}) is quicker than a local {FRESH}",
        "1 times at least, median over tools",
        f"{ratio.median:.2f} (least {ratio.least:.2f})",
        ratio.median >= 1,
    )


def _plot(folder: Path, found: list[tuple[Subject, Rounds]]) -> None:
    plot_bars(
        folder / "remote.svg",
        "Time to validate locally, in multiples of a call by BlockingClient",
        "times the call's: median and quartiles of the rounds",
        {
            subject.title: {name: rounds.ratio(name, _CLIENT) for name in _LOCAL}
            for subject, rounds in found
        },
        begin=1.0,
        line=(1.0, "a call to the server"),
    )


if __name__ == "__main__":
    run(measure, __doc__)
