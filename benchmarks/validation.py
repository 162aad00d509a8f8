"""Time of a validation in one process, against other validators.

From the same bytes to a verdict, each with its usual decoder (`json.loads` for all but
Sidecheck, jsonschema-rs included), and on the same decoded value. With growing payloads,
the cost of a byte.

    python benchmarks/validation.py [--quick] [--report FOLDER]
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import validators
from plots import plot_bars, plot_lines
from report import Claim, Effort, Section, Table, format_summary, run
from subjects import Subject, all_subjects, own_tool
from turns import Rounds, Summary, make_turn, summarize, take_turns
from validators import CONTENDERS, EXPLAINING, FASTJSONSCHEMA, FRESH, PREPARED, RUST, SIDECHECK

__all__ = ["measure"]

_TEXT_CONTENDERS = (PREPARED, FRESH, FASTJSONSCHEMA, RUST)
_VALUE_CONTENDERS = (PREPARED, FASTJSONSCHEMA, RUST)
_WITH_VIOLATIONS = (EXPLAINING, PREPARED, FASTJSONSCHEMA, RUST)
_GROWTH_PLOTS = {"one long text": "growth-text.svg", "an order of many lines": "growth-lines.svg"}
_FLAT = 1.5
"""Maximum cost of a byte of the largest payload, in multiples of a byte at 10 KB."""

_TEXT = (
    "Contenders take turns; a ratio is the peer's time over Sidecheck's in the same round, "
    "so 2 means that the peer takes twice as long. Each cell is a median with its quartiles. "
    "Times are of the processor. Formats are not asserted and no payload is edited, by "
    "anybody. A valid payload is validated from its bytes; Sidecheck's strict decoder, which "
    "finds duplicate keys, is in its time, and `json.loads`, which does not, is in that of "
    "the others. Of an invalid payload Sidecheck tells where and why, up to 20 violations, "
    "and so does the contender with all errors; the others say no. A validator "
    "with another verdict than expected is marked as wrong."
)


@dataclass(frozen=True, slots=True)
class Measured:
    """Rounds of one subject, and the contenders with a wrong verdict."""

    subject: Subject
    rounds: Rounds
    wrong: frozenset[str]

    def ratio(self, name: str) -> Summary | None:
        """Return the ratio of *name* to Sidecheck, unless it was wrong."""
        if name in self.wrong:
            return None
        return self.rounds.ratio(name, SIDECHECK)


def measure(effort: Effort) -> Section:
    """Answer the question of this script."""
    rounds, seconds = effort.choose((41, 0.002), (3, 0.0002))
    subjects = all_subjects(effort.choose(None, 3))
    ready = [{name: make(one.schema) for name, make in CONTENDERS.items()} for one in subjects]

    def compare(names: Iterable[str], subject: str, kind: str) -> list[Measured]:
        found = []
        for one, known in zip(subjects, ready, strict=True):
            text: bytes = getattr(one, subject)
            given: Any = text if kind == "validate_text" else json.loads(text)
            actions = {name: getattr(known[name], kind) for name in (SIDECHECK, *names)}
            found.append(_compare(one, actions, given, rounds, seconds, subject == "valid"))
        return found

    validate_text = compare(_TEXT_CONTENDERS, "valid", "validate_text")
    validate_value = compare(_VALUE_CONTENDERS, "valid", "validate_value")
    no_of_value = compare(_VALUE_CONTENDERS, "invalid", "validate_value")
    with_violations = compare(_WITH_VIOLATIONS, "invalid", "validate_text")
    growth = _growth(effort)
    if effort.folder is not None:
        _plot(effort, validate_text, validate_value, growth)
    return Section(
        "validation",
        "Validation in one process",
        _TEXT,
        [
            _table(
                "From bytes to a verdict, valid payloads", validate_text, _TEXT_CONTENDERS, "valid"
            ),
            _table("From a decoded value to yes", validate_value, _VALUE_CONTENDERS, "valid"),
            _table("From a decoded value to no", no_of_value, _VALUE_CONTENDERS, "invalid"),
            _table("From bytes to violations", with_violations, _WITH_VIOLATIONS, "invalid"),
            *(_growth_table(shape, points) for shape, points in growth.items()),
        ],
        [*_claims(validate_text, validate_value), *_growth_claims(growth)],
        [
            ("validation.svg", "How many times as long peers take"),
            *((file, f"Nanoseconds for a byte: {shape}") for shape, file in _GROWTH_PLOTS.items()),
        ],
    )


def _compare(
    subject: Subject,
    actions: Mapping[str, Callable[[Any], bool]],
    given: Any,
    rounds: int,
    seconds: float,
    expected: bool,  # noqa: FBT001  (the verdict of every contender)
) -> Measured:
    wrong = frozenset(name for name, action in actions.items() if action(given) != expected)
    if SIDECHECK in wrong:
        raise AssertionError(f"Sidecheck has an unexpected verdict on {subject.name}")
    turns = {name: make_turn(action, given, seconds) for name, action in actions.items()}
    return Measured(subject, Rounds(take_turns(turns, rounds)), wrong)


def _table(caption: str, found: list[Measured], names: Iterable[str], payload: str) -> Table:
    names = tuple(names)
    rows = []
    for measured in found:
        cells = [measured.ratio(name) for name in names]
        rows.append(
            [
                f"{measured.subject.origin}: {measured.subject.title}",
                f"{len(getattr(measured.subject, payload)):,}",
                format_summary(measured.rounds.of(SIDECHECK), 1e6),
                *("wrong" if cell is None else format_summary(cell) for cell in cells),
            ]
        )
    over = [_over_tools(found, name) for name in names]
    rows.append(["**median over tools**", "", "", *(format_summary(one) for one in over)])
    rows.append(["least", "", "", *(f"{one.least:.2f}" for one in over)])
    head = ["tool (schema)", "payload, B", "Sidecheck, µs", *(f"{name}, x" for name in names)]
    n = found[0].rounds.of(SIDECHECK).n
    return Table(f"{caption} ({n} rounds)", head, rows)


def _over_tools(found: list[Measured], name: str) -> Summary:
    ratios = (measured.ratio(name) for measured in found)
    return summarize(ratio.median for ratio in ratios if ratio is not None)


def _claims(validate_text: list[Measured], validate_value: list[Measured]) -> list[Claim]:
    claims = []
    for where, found in (("from bytes", validate_text), ("on a value", validate_value)):
        kept, stock, rust = (_over_tools(found, name) for name in _VALUE_CONTENDERS)
        claims += [
            _claim(
                f"validation {where} is faster than a kept jsonschema validator", 25, kept.median
            ),
            _claim(f"validation {where} is never slower than stock fastjsonschema", 1, stock.least),
            Claim(
                f"validation {where} is near jsonschema-rs",
                "4 times its time at most, median over tools",
                f"{1 / rust.median:.2f} (worst tool {1 / rust.least:.1f})",
                rust.median >= 1 / 4,
            ),
        ]
    return claims


def _claim(what: str, least: float, found: float) -> Claim:
    over = "least of the tools" if least == 1 else "median over tools"
    return Claim(what, f"{least} times at least, {over}", f"{found:.2f}", found >= least)


# Growing payloads


def _growth(effort: Effort) -> dict[str, list[tuple[int, Rounds]]]:
    rounds, seconds, sizes = effort.choose(
        (11, 0.002, (300, 1_000, 10_000, 100_000, 1_000_000)), (3, 0.0002, (300, 10_000, 30_000))
    )
    shapes = {"one long text": _long_text, "an order of many lines": _many_lines}
    return {
        shape: [_grown(*make(size), rounds, seconds) for size in sizes]
        for shape, make in shapes.items()
    }


def _grown(subject: Subject, text: bytes, rounds: int, seconds: float) -> tuple[int, Rounds]:
    actions: dict[str, Callable[[bytes], object]] = {
        name: CONTENDERS[name](subject.schema).validate_text
        for name in (SIDECHECK, PREPARED, FASTJSONSCHEMA, RUST)
    }
    actions["Sidecheck, decoding"] = validators.decode_strictly
    actions["json.loads"] = json.loads
    turns = {name: make_turn(action, text, seconds) for name, action in actions.items()}
    nanoseconds = {
        name: [seconds * 1e9 / len(text) for seconds in found]
        for name, found in take_turns(turns, rounds).items()
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
    wanted = max(1, (size - 230) // line)
    order["lines"] = (order["lines"] * (wanted // len(order["lines"]) + 1))[:wanted]
    return subject, json.dumps(order).encode()


def _growth_table(shape: str, points: list[tuple[int, Rounds]]) -> Table:
    names = list(points[0][1].figures)
    rows = [
        [f"{size:,}", *(format_summary(found.of(name)) for name in names)] for size, found in points
    ]
    n = points[0][1].of(names[0]).n
    return Table(f"Nanoseconds for a byte, {shape} ({n} rounds)", ["payload, B", *names], rows)


def _growth_claims(growth: dict[str, list[tuple[int, Rounds]]]) -> Iterable[Claim]:
    for shape, points in growth.items():
        middle = min(points, key=lambda point: abs(point[0] - 10_000))
        most = points[-1]
        found = most[1].of(SIDECHECK).median / middle[1].of(SIDECHECK).median
        yield Claim(
            f"the cost of a byte is flat: {shape}",
            f"at {most[0]:,} B at most {_FLAT} times that at {middle[0]:,} B",
            f"{found:.2f}",
            found <= _FLAT,
        )
        stock = min(one.ratio(FASTJSONSCHEMA, SIDECHECK).median for _, one in points)
        yield Claim(
            f"validation is never slower than stock fastjsonschema: {shape}",
            "1 times at least, least of the sizes",
            f"{stock:.2f}",
            stock >= 1,
        )


def _plot(
    effort: Effort,
    validate_text: list[Measured],
    validate_value: list[Measured],
    growth: dict[str, list[tuple[int, Rounds]]],
) -> None:
    assert effort.folder is not None
    bars = {
        name: {
            "from bytes": _over_tools(validate_text, name),
            **(
                {"on a decoded value": _over_tools(validate_value, name)}
                if name in _VALUE_CONTENDERS
                else {}
            ),
        }
        for name in _TEXT_CONTENDERS
    }
    plot_bars(
        effort.folder / "validation.svg",
        "Time to validate valid payloads, in multiples of Sidecheck's",
        "times Sidecheck's time: median and quartiles over the tools",
        bars,
        begin=1.0,
        line=(1.0, "Sidecheck"),
    )
    for shape, points in growth.items():
        names = [name for name in points[0][1].figures if name != "Sidecheck, decoding"]
        plot_lines(
            effort.folder / _GROWTH_PLOTS[shape],
            f"From bytes to a verdict: {shape}",
            ("size of the payload, bytes", "nanoseconds for a byte"),
            {name: [(size, found.of(name)) for size, found in points] for name in names},
        )


if __name__ == "__main__":
    run(measure, __doc__)
