"""Time of a validation in one process, against other validators.

Two tasks: from bytes to a verdict, each contender with its usual decoder (`json.loads` for all
but Sidecheck, jsonschema-rs included), and on a decoded value. With growing payloads, the cost
of a byte.

    python benchmarks/validation.py [--quick] [--report FOLDER]
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.plots import plot_bars, plot_lines
from harness.report import Claim, Effort, Section, Table, format_summary, run
from harness.subjects import Subject, all_subjects, own_tool
from harness.turns import Rounds, Summary, make_turn, summarize, take_turns
from harness.validators import (
    CONTENDERS,
    DECIDING,
    EXPLAINING,
    FASTJSONSCHEMA,
    FRESH,
    PREPARED,
    RUST,
    SIDECHECK,
    decode_strictly,
)

__all__ = ["measure"]

_TEXT_CONTENDERS = (PREPARED, FRESH, FASTJSONSCHEMA, RUST)
_VALUE_CONTENDERS = (PREPARED, FASTJSONSCHEMA, RUST)
_WITH_VIOLATIONS = (DECIDING, EXPLAINING, PREPARED, FASTJSONSCHEMA, RUST)
_GROWTH_PLOTS = {"one long text": "growth-text.svg", "an order of many lines": "growth-lines.svg"}
_TIMES_FASTER = 25
_MAX_GROWTH = 1.5
"""Maximum cost of a byte of the largest payload, in multiples of a byte at 10 KB."""

_TEXT = (
    "Contenders take turns; a ratio is the peer's time over Sidecheck's in the same round, "
    "so 2 means that the peer takes twice as long. Each cell is a median with its quartiles. "
    "Times are processor times. No contender asserts formats or edits the payload. From bytes, "
    "Sidecheck's time includes its strict decoder, which detects duplicate keys, and the time of "
    "the others includes `json.loads`, which does not. For an invalid payload Sidecheck returns "
    "up to 20 violations with their locations, and the contender with all errors returns all; "
    "the others, of which one is Sidecheck's own decision, return only that it is invalid. "
    "A validator with an unexpected verdict is marked as wrong."
)


@dataclass(frozen=True, slots=True)
class Measurement:
    """Rounds of one subject, and the contenders with a wrong verdict."""

    subject: Subject
    rounds: Rounds
    unexpected: frozenset[str]

    def ratio(self, name: str) -> Summary | None:
        """Return the ratio of *name* to Sidecheck, or None after a wrong verdict."""
        if name in self.unexpected:
            return None
        return self.rounds.ratio(name, SIDECHECK)


def measure(effort: Effort) -> Section:
    """Measure and return the section."""
    rounds, seconds = effort.choose((41, 0.002), (3, 0.0002))
    subjects = all_subjects(effort.choose(None, 3))
    prepared = [
        {name: prepare(subject.schema) for name, prepare in CONTENDERS.items()}
        for subject in subjects
    ]

    def compare(names: Iterable[str], payload: str, task: str) -> list[Measurement]:
        measurements = []
        for subject, contenders in zip(subjects, prepared, strict=True):
            text: bytes = getattr(subject, payload)
            data: Any = text if task == "validate_text" else json.loads(text)
            actions = {name: getattr(contenders[name], task) for name in (SIDECHECK, *names)}
            unexpected = _unexpected_verdicts(actions, data, expected=payload == "valid")
            if SIDECHECK in unexpected:
                raise AssertionError(f"Sidecheck has an unexpected verdict on {subject.name}")
            turns = {name: make_turn(action, data, seconds) for name, action in actions.items()}
            measurements.append(Measurement(subject, Rounds(take_turns(turns, rounds)), unexpected))
        return measurements

    from_bytes = compare(_TEXT_CONTENDERS, "valid", "validate_text")
    on_value = compare(_VALUE_CONTENDERS, "valid", "validate_value")
    on_invalid_value = compare(_VALUE_CONTENDERS, "invalid", "validate_value")
    with_violations = compare(_WITH_VIOLATIONS, "invalid", "validate_text")
    growth = _measure_growth(effort)
    if effort.folder is not None:
        _plot(effort.folder, from_bytes, on_value, growth)
    return Section(
        "validation",
        "Validation in one process",
        _TEXT,
        [
            _table(
                "From bytes to a verdict, valid payloads", from_bytes, _TEXT_CONTENDERS, "valid"
            ),
            _table("On a decoded value, valid payloads", on_value, _VALUE_CONTENDERS, "valid"),
            _table(
                "On a decoded value, invalid payloads",
                on_invalid_value,
                _VALUE_CONTENDERS,
                "invalid",
            ),
            _table("From bytes to violations", with_violations, _WITH_VIOLATIONS, "invalid"),
            *(_growth_table(shape, points) for shape, points in growth.items()),
        ],
        [*_claims(from_bytes, on_value), *_growth_claims(growth)],
        [
            ("validation.svg", "Times of peers, in multiples of Sidecheck's"),
            *((file, f"Nanoseconds for a byte: {shape}") for shape, file in _GROWTH_PLOTS.items()),
        ],
    )


def _unexpected_verdicts(
    actions: Mapping[str, Callable[[Any], bool]], data: Any, *, expected: bool
) -> frozenset[str]:
    return frozenset(name for name, action in actions.items() if action(data) != expected)


def _table(
    caption: str, measurements: list[Measurement], names: tuple[str, ...], payload: str
) -> Table:
    rows = []
    for measurement in measurements:
        ratios = [measurement.ratio(name) for name in names]
        rows.append(
            [
                measurement.subject.title,
                f"{len(getattr(measurement.subject, payload)):,}",
                format_summary(measurement.rounds.of(SIDECHECK), 1e6),
                *("wrong" if ratio is None else format_summary(ratio) for ratio in ratios),
            ]
        )
    totals = [_over_tools(measurements, name) for name in names]
    rows.append(["**median over tools**", "", "", *(format_summary(total) for total in totals)])
    rows.append(["least", "", "", *(f"{total.minimum:.2f}" for total in totals)])
    head = ["tool (schema)", "payload, B", "Sidecheck, µs", *(f"{name}, x" for name in names)]
    n = measurements[0].rounds.of(SIDECHECK).n
    return Table(f"{caption} ({n} rounds)", head, rows)


def _over_tools(measurements: list[Measurement], name: str) -> Summary:
    ratios = (measurement.ratio(name) for measurement in measurements)
    return summarize(ratio.median for ratio in ratios if ratio is not None)


def _claims(from_bytes: list[Measurement], on_value: list[Measurement]) -> list[Claim]:
    claims = []
    for task, measurements in (("from bytes", from_bytes), ("on a value", on_value)):
        prepared, stock, rust = (_over_tools(measurements, name) for name in _VALUE_CONTENDERS)
        claims += [
            Claim(
                f"validation {task} is faster than a prepared jsonschema validator",
                f"{_TIMES_FASTER} times at least, median over tools",
                f"{prepared.median:.2f}",
                prepared.median >= _TIMES_FASTER,
            ),
            Claim(
                f"validation {task} is never slower than stock fastjsonschema",
                "1 times at least, least of the tools",
                f"{stock.minimum:.2f}",
                stock.minimum >= 1,
            ),
            Claim(
                f"validation {task} is near jsonschema-rs",
                "4 times its time at most, median over tools",
                f"{1 / rust.median:.2f} (worst tool {1 / rust.minimum:.1f})",
                rust.median >= 1 / 4,
            ),
        ]
    return claims


# Growing payloads


def _measure_growth(effort: Effort) -> dict[str, list[tuple[int, Rounds]]]:
    """Return nanoseconds for a byte by shape and size of the payload."""
    rounds, seconds, sizes = effort.choose(
        (11, 0.002, (300, 1_000, 10_000, 100_000, 1_000_000)), (3, 0.0002, (300, 10_000, 30_000))
    )
    shapes = {"one long text": _long_text, "an order of many lines": _many_lines}
    return {
        shape: [_measure_payload(*make_payload(size), rounds, seconds) for size in sizes]
        for shape, make_payload in shapes.items()
    }


def _measure_payload(
    subject: Subject, text: bytes, rounds: int, seconds: float
) -> tuple[int, Rounds]:
    actions: dict[str, Callable[[bytes], object]] = {
        name: CONTENDERS[name](subject.schema).validate_text
        for name in (SIDECHECK, PREPARED, FASTJSONSCHEMA, RUST)
    }
    actions["Sidecheck, decoding"] = decode_strictly
    actions["json.loads"] = json.loads
    turns = {name: make_turn(action, text, seconds) for name, action in actions.items()}
    nanoseconds = {
        name: [seconds * 1e9 / len(text) for seconds in times]
        for name, times in take_turns(turns, rounds).items()
    }
    return len(text), Rounds(nanoseconds)


def _long_text(size: int) -> tuple[Subject, bytes]:
    text = ("The engine weaves algebraic patterns.\n" * (size // 38 + 1))[: size - size // 38 - 40]
    payload = {"path": "/a", "content": text}
    return own_tool("write_file"), json.dumps(payload).encode()


def _many_lines(size: int) -> tuple[Subject, bytes]:
    subject = own_tool("place_order")
    order = json.loads(subject.valid)
    line = len(json.dumps(order["lines"][0])) + 2
    count = max(1, (size - 230) // line)
    order["lines"] = (order["lines"] * (count // len(order["lines"]) + 1))[:count]
    return subject, json.dumps(order).encode()


def _growth_table(shape: str, points: list[tuple[int, Rounds]]) -> Table:
    names = list(points[0][1].figures)
    rows = [
        [f"{size:,}", *(format_summary(rounds.of(name)) for name in names)]
        for size, rounds in points
    ]
    n = points[0][1].of(names[0]).n
    return Table(f"Nanoseconds for a byte, {shape} ({n} rounds)", ["payload, B", *names], rows)


def _growth_claims(growth: dict[str, list[tuple[int, Rounds]]]) -> Iterable[Claim]:
    for shape, points in growth.items():
        middle_size, middle = min(points, key=lambda point: abs(point[0] - 10_000))
        largest_size, largest = points[-1]
        ratio = largest.of(SIDECHECK).median / middle.of(SIDECHECK).median
        yield Claim(
            f"the cost of a byte is flat: {shape}",
            f"at {largest_size:,} B at most {_MAX_GROWTH} times that at {middle_size:,} B",
            f"{ratio:.2f}",
            ratio <= _MAX_GROWTH,
        )
        stock = min(rounds.ratio(FASTJSONSCHEMA, SIDECHECK).median for _, rounds in points)
        yield Claim(
            f"validation is never slower than stock fastjsonschema: {shape}",
            "1 times at least, least of the sizes",
            f"{stock:.2f}",
            stock >= 1,
        )


def _plot(
    folder: Path,
    from_bytes: list[Measurement],
    on_value: list[Measurement],
    growth: dict[str, list[tuple[int, Rounds]]],
) -> None:
    bars = {
        name: {
            "from bytes": _over_tools(from_bytes, name),
            **(
                {"on a decoded value": _over_tools(on_value, name)}
                if name in _VALUE_CONTENDERS
                else {}
            ),
        }
        for name in _TEXT_CONTENDERS
    }
    plot_bars(
        folder / "validation.svg",
        "Time to validate valid payloads, in multiples of Sidecheck's",
        "times Sidecheck's time: median and quartiles over the tools",
        bars,
        begin=1.0,
        line=(1.0, "Sidecheck"),
    )
    for shape, points in growth.items():
        names = [name for name in points[0][1].figures if name != "Sidecheck, decoding"]
        plot_lines(
            folder / _GROWTH_PLOTS[shape],
            f"From bytes to a verdict: {shape}",
            ("size of the payload, bytes", "nanoseconds for a byte"),
            {name: [(size, rounds.of(name)) for size, rounds in points] for name in names},
        )


if __name__ == "__main__":
    run(measure, __doc__)
