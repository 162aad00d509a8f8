"""Time of one call to the server, against one local `jsonschema.validate`.

Wall time from arguments to a verdict, for the blocking client, which encodes them, and for the
generated stub, which sends their bytes. The server runs on the same machine, behind a unix
socket.

    python benchmarks/remote.py [--quick] [--report FOLDER]
"""

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
from harness.plots import plot_bars
from harness.report import Claim, Effort, Section, Table, format_summary, run
from harness.servers import sidecheck
from harness.subjects import Subject, all_subjects
from harness.turns import Rounds, make_turn, summarize, take_turns
from harness.validators import CONTENDERS, FRESH, PREPARED
from sidecheck import BlockingClient, RegisteredTool
from sidecheck.v1 import target_pb2
from sidecheck.v1 import validation_service_pb2 as validation
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub

__all__ = ["measure"]

_CLIENT, _STUB = "BlockingClient", "stub"
_SERVER = "benchmark"
_LOCAL = (FRESH, PREPARED)

_TEXT = (
    "A ratio is the local validator's time over that of the call in the same round, so more "
    "than 1 means that the call is faster. `jsonschema.validate` checks the schema "
    "and creates a validator each time, as most servers that use it do; the prepared one does not. "
    "Local validators and the client take a decoded value, the stub takes its bytes. "
    "Wall times, valid payloads."
)


def measure(effort: Effort) -> Section:
    """Measure and return the section."""
    rounds, seconds = effort.choose((21, 0.02), (3, 0.001))
    subjects = all_subjects(effort.choose(None, 3))
    measurements = []
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
                **{name: CONTENDERS[name](subject.schema).validate_value for name in _LOCAL},
            }
            for name, action in actions.items():
                if not action(value):
                    raise AssertionError(f"{name} rejects a valid payload of {subject.name}")
            turns = {
                name: make_turn(action, value, seconds, time.perf_counter_ns)
                for name, action in actions.items()
            }
            measurements.append((subject, Rounds(take_turns(turns, rounds))))
    if effort.folder is not None:
        _plot(effort.folder, measurements)
    return Section(
        "remote",
        "A call to the server, against validating locally",
        _TEXT,
        [_table(measurements)],
        [_claim(measurements, _CLIENT), _claim(measurements, _STUB)],
        [("remote.svg", "Time of local validation, in multiples of a call")],
    )


def _by_client(client: BlockingClient, subject: Subject) -> Callable[[Any], bool]:
    target = RegisteredTool(_SERVER, subject.name)
    return lambda value: client.validate(target, value).valid


def _by_stub(channel: grpc.Channel, subject: Subject) -> Callable[[Any], bool]:
    stub: Any = ValidationServiceStub(channel)
    tool = target_pb2.RegisteredTool(server=_SERVER, name=subject.name)

    def call_once(_value: Any) -> bool:
        request = validation.ValidateRequest(
            target=target_pb2.Target(registered_tool=tool),
            subject=target_pb2.Subject(arguments=subject.valid),
        )
        return bool(stub.Validate(request, timeout=5).verdict.valid)

    return call_once


def _table(measurements: list[tuple[Subject, Rounds]]) -> Table:
    rows = [
        [
            subject.title,
            *(format_summary(rounds.of(name), 1e6) for name in (_CLIENT, _STUB, *_LOCAL)),
            *(format_summary(rounds.ratio(name, _CLIENT)) for name in _LOCAL),
        ]
        for subject, rounds in measurements
    ]
    totals = (format_summary(summarize(_medians(measurements, name, _CLIENT))) for name in _LOCAL)
    rows.append(["**median over tools**", "", "", "", "", *totals])
    head = [
        "tool (schema)",
        *(f"{name}, µs" for name in (_CLIENT, _STUB, *_LOCAL)),
        *(f"{name} / {_CLIENT}, x" for name in _LOCAL),
    ]
    return Table(f"One call ({measurements[0][1].of(_CLIENT).n} rounds)", head, rows)


def _medians(measurements: list[tuple[Subject, Rounds]], name: str, to: str) -> list[float]:
    return [rounds.ratio(name, to).median for _, rounds in measurements]


def _claim(measurements: list[tuple[Subject, Rounds]], caller: str) -> Claim:
    ratio = summarize(_medians(measurements, FRESH, caller))
    return Claim(
        f"a call ({caller}) is faster than a local {FRESH}",
        "1 times at least, median over tools",
        f"{ratio.median:.2f} (least {ratio.minimum:.2f})",
        ratio.median >= 1,
    )


def _plot(folder: Path, measurements: list[tuple[Subject, Rounds]]) -> None:
    plot_bars(
        folder / "remote.svg",
        "Time to validate locally, in multiples of a call by BlockingClient",
        "times the call's: median and quartiles of the rounds",
        {
            subject.title: {name: rounds.ratio(name, _CLIENT) for name in _LOCAL}
            for subject, rounds in measurements
        },
        begin=1.0,
        line=(1.0, "a call to the server"),
    )


if __name__ == "__main__":
    run(measure, __doc__)
