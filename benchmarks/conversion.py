"""Time to convert a tool for OpenAI Chat Completions, against openai-agents.

Also the peak memory of one conversion of the largest schema.

    python benchmarks/conversion.py [--quick] [--report FOLDER]
"""

import gc
import tracemalloc
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from conversion_peers import (
    AGENTS,
    FROM_BYTES,
    FROM_VALUE,
    NON_STRICT,
    UNCACHED,
    Maker,
    definition,
    is_strict,
)
from plots import plot_bars
from report import Claim, Effort, Section, Table, digits, format_summary, run
from subjects import Subject, all_subjects
from turns import Rounds, Summary, make_turn, summarize, take_turns

__all__ = ["measure"]

_MOST_TIMES_LONGER = 4
_MOST_TIMES_MEMORY = 2

_TEXT = (
    "Contenders take turns; a ratio is the time of openai-agents over that of the other in the "
    "same round, so 2 means that openai-agents takes twice as long. Each cell is a median with "
    "its quartiles. Times are of the processor. From bytes to bytes, a contender decodes the "
    "definition of a tool and encodes what goes into a request. *Sidecheck* is what its server "
    "does when it sees a tool for the first time: strict decoding, every check of a schema that "
    "is registered, the conversion with every loss, and the mapping for calls; "
    "*cached* is what it does from then on. Strict, *Sidecheck* makes every tool strict, and "
    "tells what is lost; *if lossless* only those that lose nothing but "
    "members that are not declared. openai-agents is the SDK's `Tool.model_validate_json`, "
    "`MCPUtil.to_function_tool`, which also makes what its agents call, "
    "`Converter.tool_to_openai` and `json`; its strict mode makes all members required, and "
    "leaves a tool non-strict where it gives up. Whether the API takes what comes out is not "
    "looked at here. *Client alone* is "
    "`sidecheck.MCPToOpenAIConverter` between `json.loads` and `json.dumps`: it takes defaults "
    "away, wraps, and mends nothing else. On decoded tools, those two are given what they "
    "decode, and nothing is encoded. Memory is the peak of what Python allocates during one "
    "conversion (`tracemalloc`), beside what was given."
)


@dataclass(frozen=True, slots=True)
class Measured:
    """Rounds of one tool."""

    subject: Subject
    rounds: Rounds
    #: Contenders that made it strict.
    strict: frozenset[str]

    def ratio(self, name: str) -> Summary:
        """Return the ratio of the time of openai-agents to that of *name*."""
        return self.rounds.ratio(AGENTS, name)


def measure(effort: Effort) -> Section:
    """Measure and return the section."""
    subjects = all_subjects(effort.choose(None, 3))
    kinds = {
        "From bytes to bytes": FROM_BYTES,
        "On decoded tools": FROM_VALUE,
    }
    found = {
        (kind, mode): [_compare(effort, one, makers) for one in subjects]
        for kind, modes in kinds.items()
        for mode, makers in modes.items()
    }
    peaks = {
        mode: {name: _peak(_largest(subjects), make) for name, make in makers.items()}
        for mode, makers in FROM_BYTES.items()
    }
    if effort.folder is not None:
        _plot(effort, found)
    return Section(
        "conversion",
        "Converting tools for OpenAI's Chat Completions",
        _TEXT,
        [
            *(_table(f"{kind}, {mode}", each) for (kind, mode), each in found.items()),
            _rates_table(found),
            _peaks_table(_largest(subjects), peaks),
        ],
        [*_claims(found), *_peak_claims(peaks[NON_STRICT])],
        [("conversion.svg", "How many times as long openai-agents takes to convert a tool")],
    )


def _compare(effort: Effort, subject: Subject, makers: Mapping[str, Maker]) -> Measured:
    rounds, seconds = effort.choose((41, 0.004), (3, 0.0002))
    text = definition(subject)
    ready = {name: make(text) for name, make in makers.items()}
    strict = frozenset(
        name for name, (convert, given) in ready.items() if is_strict(convert(given))
    )
    turns = {name: make_turn(convert, given, seconds) for name, (convert, given) in ready.items()}
    return Measured(subject, Rounds(take_turns(turns, rounds)), strict)


def _largest(subjects: Iterable[Subject]) -> Subject:
    return max(subjects, key=lambda subject: len(subject.schema))


def _peak(subject: Subject, make: Maker) -> int:
    """Return the peak memory of one conversion, in bytes."""
    convert, given = make(definition(subject))
    # One-time initialization is not counted.
    convert(given)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        convert(given)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


# Report


def _table(caption: str, found: Sequence[Measured]) -> Table:
    names = list(found[0].rounds.figures)
    others = [name for name in names if name != AGENTS]
    rows = [
        [
            f"{measured.subject.origin}: {measured.subject.title}",
            *(format_summary(measured.rounds.of(name), 1e6) for name in names),
            *(format_summary(measured.ratio(name)) for name in others),
        ]
        for measured in found
    ]
    if others:
        over = [_over_tools(found, name) for name in others]
        rest = [""] * len(names)
        rows.append(["**median over tools**", *rest, *(format_summary(one) for one in over)])
        rows.append(["least", *rest, *(f"{one.least:.2f}" for one in over)])
    head = [
        "tool (schema)",
        *(f"{name}, µs" for name in names),
        *(f"{AGENTS} / {name}, x" for name in others),
    ]
    n = found[0].rounds.of(AGENTS).n
    return Table(f"{caption} ({n} rounds)", head, rows)


def _over_tools(found: Iterable[Measured], name: str) -> Summary:
    return summarize(measured.ratio(name).median for measured in found)


def _rates_table(found: Mapping[tuple[str, str], Sequence[Measured]]) -> Table:
    """Return the number of tools converted in a second, and of strict ones."""
    rows = []
    for (kind, mode), each in found.items():
        for name in each[0].rounds.figures:
            seconds = [one.rounds.of(name).median for one in each]
            strict = sum(name in one.strict for one in each)
            rows.append(
                [
                    f"{kind}, {mode}: {name}",
                    digits(len(seconds) / sum(seconds)),
                    digits(1 / summarize(seconds).median),
                    f"{strict} of {len(each)}",
                ]
            )
    head = ["contender", "all in turn, in a second", "one of middle size, in a second", "strict"]
    return Table("Conversions in a second, and strict tools among them", head, rows)


def _peaks_table(subject: Subject, peaks: Mapping[str, Mapping[str, int]]) -> Table:
    text = definition(subject)
    rows = [
        [f"{mode}: {name}", f"{peak / 1000:,.0f}", f"{peak / len(text):.1f}"]
        for mode, each in peaks.items()
        for name, peak in each.items()
    ]
    caption = f"Peak of memory from bytes to bytes, {subject.origin}: {subject.title}"
    return Table(caption, ["contender", "KB", "times the text"], rows)


def _claims(found: Mapping[tuple[str, str], Sequence[Measured]]) -> Iterable[Claim]:
    for (kind, mode), each in found.items():
        for name in each[0].rounds.figures:
            if name == AGENTS:
                continue
            where = f"{kind.lower()}, {mode}"
            over = _over_tools(each, name)
            if name in UNCACHED:
                yield Claim(
                    f"{name} takes not much longer than openai-agents: {where}",
                    f"{_MOST_TIMES_LONGER} times its time at most, median over tools",
                    f"{1 / over.median:.1f} (worst tool {1 / over.least:.1f})",
                    1 / over.median <= _MOST_TIMES_LONGER,
                )
            else:
                yield Claim(
                    f"{name} is never slower than openai-agents: {where}",
                    "1 times at least, least of the tools",
                    f"{over.least:.2f} (median {over.median:.1f})",
                    over.least >= 1,
                )


def _peak_claims(peaks: Mapping[str, int]) -> Iterable[Claim]:
    for name, peak in peaks.items():
        if name != AGENTS:
            times = peak / peaks[AGENTS]
            yield Claim(
                f"{name} takes no more memory than twice that of openai-agents",
                f"{_MOST_TIMES_MEMORY} times its peak at most, largest schema",
                f"{times:.2f}",
                times <= _MOST_TIMES_MEMORY,
            )


def _plot(effort: Effort, found: Mapping[tuple[str, str], Sequence[Measured]]) -> None:
    assert effort.folder is not None
    bars: dict[str, dict[str, Summary]] = {}
    for (kind, mode), each in found.items():
        for name in each[0].rounds.figures:
            if name != AGENTS:
                bars.setdefault(f"{name}, {mode}", {})[kind.lower()] = _over_tools(each, name)
    plot_bars(
        effort.folder / "conversion.svg",
        "How many times as long openai-agents takes to convert a tool",
        "ratio of times: median and quartiles over the tools",
        bars,
        begin=1.0,
        line=(1.0, "openai-agents"),
    )


if __name__ == "__main__":
    run(measure, __doc__)
