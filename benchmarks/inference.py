"""Time to infer a tool from a function, against FastMCP and the MCP SDK.

python benchmarks/inference.py [--quick] [--report FOLDER]
"""

import ast
import inspect
import logging
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import inference_functions
from inference_functions import ORDINARY
from inference_peers import FASTMCP, INFERENCES, SDK, SIDECHECK
from plots import plot_bars
from report import Claim, Effort, Section, Table, digits, format_summary, run
from sidecheck_server.core.infer.infer import infer_tools
from sidecheck_server.core.infer.types import InferenceOptions
from sidecheck_server.core.limits import Limits
from turns import Rounds, Summary, make_turn, summarize, take_turns

__all__ = ["measure"]

FROM_TEXT = "Sidecheck, from text"
_MOST_TIMES_LONGER = 2
_PEERS = (FASTMCP, SDK)
_LIMITS = Limits()

_TEXT = (
    "Contenders take turns; a ratio is the time of a peer over that of Sidecheck in the same "
    "round, so 2 means that the peer takes twice as long. Each cell is a median with its "
    "quartiles. Times are of the processor. Each infers a tool from a live function: "
    "Sidecheck by `infer_tool`, FastMCP and the SDK by `from_function`, including the "
    "validation of calls. *From text* is what the server does with the source text of the "
    "function and of what it refers to: it parses the text and writes the definition, without "
    "anything callable. The functions are the ordinary ones of "
    "`benchmarks/inference_functions.py`."
)


@dataclass(frozen=True, slots=True)
class Measured:
    """Rounds of one function."""

    name: str
    rounds: Rounds

    def ratio(self, peer: str, to: str) -> Summary:
        """Return the ratio of the time of a peer to that of *to*."""
        return self.rounds.ratio(peer, to)


def measure(effort: Effort) -> Section:
    """Measure and return the section."""
    functions = list(ORDINARY.items())[: effort.choose(None, 3)]
    texts = _texts()
    with _quiet():
        found = [_compare(effort, name, one, texts[name]) for name, one in functions]
    if effort.folder is not None:
        _plot(effort.folder, found)
    return Section(
        "inference",
        "Making tools of functions",
        _TEXT,
        [_table(found), _rates_table(found)],
        list(_claims(found)),
        [("inference.svg", "How many times as long others take to make a tool of a function")],
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Let nobody tell of names and of annotations while they are measured."""
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)


def _texts() -> dict[str, bytes]:
    """Return by function the text of it, with the imports and the classes before it."""
    source = inspect.getsource(inference_functions)
    tree = ast.parse(source)
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    first = next(each for each in tree.body if isinstance(each, functions))
    before = "\n".join(source.splitlines()[: first.lineno - 1])
    return {
        each.name: f"{before}\n{ast.get_source_segment(source, each)}\n".encode()
        for each in tree.body
        if isinstance(each, functions)
    }


def _compare(effort: Effort, name: str, function: Callable[..., Any], text: bytes) -> Measured:
    rounds, seconds = effort.choose((21, 0.004), (3, 0.0002))
    turns = {who: make_turn(infer, function, seconds) for who, infer in INFERENCES.items()}
    options = InferenceOptions(functions=(name,))

    def by_reading(given: bytes) -> object:
        return infer_tools(given, options, _LIMITS)

    if not infer_tools(text, options, _LIMITS).tools:
        raise AssertionError(f"the text of {name} gives no tool")
    turns[FROM_TEXT] = make_turn(by_reading, text, seconds)
    return Measured(name, Rounds(take_turns(turns, rounds)))


# What is told


def _table(found: Sequence[Measured]) -> Table:
    names = list(found[0].rounds.figures)
    rows = [
        [
            measured.name,
            *(format_summary(measured.rounds.of(name), 1e6) for name in names),
            *(format_summary(measured.ratio(peer, SIDECHECK)) for peer in _PEERS),
        ]
        for measured in found
    ]
    over = [_over_functions(found, peer, SIDECHECK) for peer in _PEERS]
    rest = [""] * len(names)
    rows.append(["**median over functions**", *rest, *(format_summary(one) for one in over)])
    rows.append(["least", *rest, *(f"{one.least:.2f}" for one in over)])
    head = [
        "function",
        *(f"{name}, µs" for name in names),
        *(f"{peer} / {SIDECHECK}, x" for peer in _PEERS),
    ]
    return Table(f"A tool of a function ({found[0].rounds.of(SIDECHECK).n} rounds)", head, rows)


def _over_functions(found: Iterable[Measured], peer: str, to: str) -> Summary:
    return summarize(measured.ratio(peer, to).median for measured in found)


def _rates_table(found: Sequence[Measured]) -> Table:
    rows = []
    for name in found[0].rounds.figures:
        seconds = [measured.rounds.of(name).median for measured in found]
        rows.append([name, digits(len(seconds) / sum(seconds)), digits(1000 * max(seconds))])
    head = ["contender", "all in turn, in a second", "the slowest, ms"]
    return Table("Tools in a second", head, rows)


def _claims(found: Sequence[Measured]) -> Iterable[Claim]:
    for peer in _PEERS:
        for who in (SIDECHECK, FROM_TEXT):
            over = _over_functions(found, peer, who)
            yield Claim(
                f"making a tool of a function takes not much longer than with {peer}: {who}",
                f"{_MOST_TIMES_LONGER} times its time at most, median over functions",
                f"{1 / over.median:.2f} (worst function {1 / over.least:.2f})",
                1 / over.median <= _MOST_TIMES_LONGER,
            )


def _plot(folder: Path, found: Sequence[Measured]) -> None:
    bars: Mapping[str, dict[str, Summary]] = {
        who: {peer: _over_functions(found, peer, who) for peer in _PEERS}
        for who in (SIDECHECK, FROM_TEXT)
    }
    plot_bars(
        folder / "inference.svg",
        "How many times as long others take to make a tool of a function",
        "ratio of times: median and quartiles over the functions",
        bars,
        begin=1.0,
        line=(1.0, "as long"),
    )


if __name__ == "__main__":
    run(measure, __doc__)
