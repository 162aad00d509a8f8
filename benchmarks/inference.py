"""Inference of tools from functions, against FastMCP and the MCP SDK: time, and differences.

Each difference from a peer's definitions has a judgment: the implementation that is right, with
the reason.

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
from types import MappingProxyType
from typing import Any

# First, since it reports missing modules.
import harness  # noqa: F401

# isort: split

from fastmcp.tools.function_tool import FunctionTool
from harness import functions
from harness.definition_kinds import differences
from harness.functions import HARD, ORDINARY
from harness.plots import plot_bars
from harness.report import Claim, Effort, Section, Table, digits, format_summary, run
from harness.turns import Rounds, Summary, make_turn, summarize, take_turns
from mcp.server.mcpserver.tools.base import Tool
from sidecheck.inference import InferenceError, infer_tool, tool_definition
from sidecheck_server.core.infer.infer import infer_tools
from sidecheck_server.core.infer.types import InferenceOptions
from sidecheck_server.core.limits import Limits

__all__ = ["JUDGMENTS", "find_differences", "measure"]

SIDECHECK, FASTMCP, SDK = "Sidecheck", "FastMCP", "mcp"
_PEERS = (FASTMCP, SDK)
_FROM_TEXT = "Sidecheck, from text"
_REJECTED_BY_PEER = "rejected by the peer alone"
_REJECTED_BY_SIDECHECK = "rejected by Sidecheck alone"
_MAX_TIME_RATIO = 2
_LIMITS = Limits()

_TEXT = (
    "Contenders take turns; a ratio is the time of a peer over that of Sidecheck in the same "
    "round, so 2 means that the peer takes twice as long. Each cell is a median with its "
    "quartiles. Times are processor times. Each contender infers a tool from a live function: "
    "Sidecheck with `infer_tool`, FastMCP and the SDK with `from_function`, including the "
    "validation of calls. *From text* is the server's work with the source text of the function "
    "and of its imports and classes: it parses the text and writes the definition, without a "
    "callable. The functions are the ordinary ones of `benchmarks/harness/functions.py`. "
    "Differences are those of all its functions: definitions are compared without titles, which "
    "count as a difference of their own. Right is what the protocol requires: schemas that can "
    "be resolved, results that conform to the output schema, arguments by the names that the "
    "function accepts, and no guarantee that a call breaks."
)

_WRAPPED = (
    "both",
    (
        "Versions before 2026-07-28 require an object at the root, later ones allow any schema. "
        "Sidecheck keeps the natural schema, and wraps it for the versions that require an "
        "object; the peer wraps it for all versions."
    ),
)
_NULL_DEFAULT = (
    "Sidecheck",
    (
        "The default null does not conform to the declared type integer; Sidecheck leaves it out, "
        "with a warning."
    ),
)

#: Implementation that is right, and the reason, by peer and kind of difference.
JUDGMENTS: Mapping[tuple[str, str], tuple[str, str]] = MappingProxyType(
    {
        (FASTMCP, "wrapped output"): _WRAPPED,
        (SDK, "wrapped output"): _WRAPPED,
        (FASTMCP, "defaults"): _NULL_DEFAULT,
        (SDK, "defaults"): _NULL_DEFAULT,
        (FASTMCP, "output"): (
            "both",
            (
                "For fields with an alias, FastMCP uses the name of the field and Sidecheck the "
                "alias, each as in its results; the author declared the alias."
            ),
        ),
        (FASTMCP, "output of one alone"): (
            "Sidecheck",
            (
                "The type object describes nothing of a result: a wrapper around any value "
                "guarantees nothing."
            ),
        ),
        (FASTMCP, _REJECTED_BY_PEER): (
            "Sidecheck",
            (
                "`**values: T` is `additionalProperties: T`; and Sidecheck leaves out a default "
                "that is not JSON, such as `...`, with a warning, since the argument stays "
                "optional."
            ),
        ),
        (FASTMCP, "titles"): (
            "Sidecheck",
            "Names of parameters are not titles; a title from Field(title=) stays.",
        ),
        (SDK, "titles"): (
            "Sidecheck",
            "A title made from a name adds nothing to the name for a model.",
        ),
        (SDK, "closed root"): (
            "Sidecheck",
            (
                "An open root admits arguments that the SDK then drops, misspelt ones among them; "
                "with a closed root the model gets an error."
            ),
        ),
        (SDK, "description of the tool"): (
            "Sidecheck",
            "Sections of a docstring describe their parameters, and are not repeated.",
        ),
        (SDK, "descriptions of parameters"): (
            "Sidecheck",
            "The SDK does not read docstrings, nor a text in Annotated.",
        ),
        (SDK, "output"): (
            "Sidecheck",
            (
                "The SDK writes output schemas for reading results, not for writing them: they "
                "lack serialization aliases and computed fields, a Decimal may be a number, and "
                "a field with a factory is required at the root and not below it."
            ),
        ),
        (SDK, "output of one alone"): (
            "Sidecheck",
            (
                "The SDK has no schema for dates, UUIDs, decimals, enumerations and dictionaries, "
                "which Sidecheck describes. Sidecheck has none for None and bytes: they are "
                "content, not data, and base64 would be sent twice."
            ),
        ),
        (SDK, "parameters"): (
            "Sidecheck",
            (
                "`**values` becomes a required argument called values, and the function receives "
                "it under that name."
            ),
        ),
        (SDK, _REJECTED_BY_PEER): (
            "Sidecheck",
            "A function may name a parameter model_config or _x.",
        ),
        (SDK, _REJECTED_BY_SIDECHECK): (
            "Sidecheck",
            (
                "`*values` and parameters before `/` cannot be passed by name: the tool would be "
                "listed, and every call of it fail."
            ),
        ),
        (SDK, "required"): (
            "Sidecheck",
            "A call of the function may omit a parameter with the default `...`.",
        ),
        (SDK, "types"): (
            "Sidecheck",
            "Sidecheck admits any value without an annotation, with a warning; the SDK, a string.",
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Measurement:
    """Rounds of one function."""

    name: str
    rounds: Rounds


def measure(effort: Effort) -> Section:
    """Measure and return the section."""
    texts = _source_texts()
    with _quiet():
        measurements = [
            _compare(effort, name, function, texts[name])
            for name, function in list(ORDINARY.items())[: effort.choose(None, 3)]
        ]
    differences_table, differences_claim = _report_differences(effort.choose(None, 12))
    if effort.folder is not None:
        _plot(effort.folder, measurements)
    return Section(
        "inference",
        "Inferring tools from functions",
        _TEXT,
        [_table(measurements), _rates_table(measurements), differences_table],
        [*_claims(measurements), differences_claim],
        [("inference.svg", "Time of peers to infer a tool, in multiples of Sidecheck's")],
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress warnings about names and annotations."""
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)


# Contenders


def _infer_by_sidecheck(function: Callable[..., Any]) -> dict[str, Any]:
    return tool_definition(infer_tool(function))


def _infer_by_fastmcp(function: Callable[..., Any]) -> dict[str, Any]:
    return _definition(FunctionTool.from_function(function))


def _infer_by_sdk(function: Callable[..., Any]) -> dict[str, Any]:
    return _definition(Tool.from_function(function))


def _definition(tool: Any) -> dict[str, Any]:
    definition = {
        "name": tool.name,
        "description": tool.description or "",
        "inputSchema": tool.parameters,
    }
    if tool.output_schema is not None:
        definition["outputSchema"] = tool.output_schema
    return definition


_INFERENCES: Mapping[str, Callable[[Callable[..., Any]], dict[str, Any]]] = MappingProxyType(
    {SIDECHECK: _infer_by_sidecheck, FASTMCP: _infer_by_fastmcp, SDK: _infer_by_sdk}
)


# Time


def _source_texts() -> dict[str, bytes]:
    """Return the text of each function, with the imports and classes before it."""
    source = inspect.getsource(functions)
    definitions = [
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    preamble = "\n".join(source.splitlines()[: definitions[0].lineno - 1])
    return {
        node.name: f"{preamble}\n{ast.get_source_segment(source, node)}\n".encode()
        for node in definitions
    }


def _compare(effort: Effort, name: str, function: Callable[..., Any], text: bytes) -> Measurement:
    rounds, seconds = effort.choose((21, 0.004), (3, 0.0002))
    options = InferenceOptions(functions=(name,))
    if not infer_tools(text, options, _LIMITS).tools:
        raise AssertionError(f"no tool was inferred from the text of {name}")
    turns = {
        contender: make_turn(infer, function, seconds) for contender, infer in _INFERENCES.items()
    }
    turns[_FROM_TEXT] = make_turn(
        lambda source: infer_tools(source, options, _LIMITS), text, seconds
    )
    return Measurement(name, Rounds(take_turns(turns, rounds)))


def _table(measurements: Sequence[Measurement]) -> Table:
    names = list(measurements[0].rounds.figures)
    rows = [
        [
            measurement.name,
            *(format_summary(measurement.rounds.of(name), 1e6) for name in names),
            *(format_summary(measurement.rounds.ratio(peer, SIDECHECK)) for peer in _PEERS),
        ]
        for measurement in measurements
    ]
    totals = [_over_functions(measurements, peer, SIDECHECK) for peer in _PEERS]
    empty = [""] * len(names)
    rows.append(["**median over functions**", *empty, *(format_summary(total) for total in totals)])
    rows.append(["least", *empty, *(f"{total.minimum:.2f}" for total in totals)])
    head = [
        "function",
        *(f"{name}, µs" for name in names),
        *(f"{peer} / {SIDECHECK}, x" for peer in _PEERS),
    ]
    n = measurements[0].rounds.of(SIDECHECK).n
    return Table(f"A tool from a function ({n} rounds)", head, rows)


def _over_functions(measurements: Iterable[Measurement], peer: str, contender: str) -> Summary:
    return summarize(
        measurement.rounds.ratio(peer, contender).median for measurement in measurements
    )


def _rates_table(measurements: Sequence[Measurement]) -> Table:
    rows = []
    for name in measurements[0].rounds.figures:
        seconds = [measurement.rounds.of(name).median for measurement in measurements]
        rows.append([name, digits(len(seconds) / sum(seconds)), digits(1000 * max(seconds))])
    head = ["contender", "all in turn, per second", "the slowest, ms"]
    return Table("Tools per second", head, rows)


def _claims(measurements: Sequence[Measurement]) -> Iterable[Claim]:
    for peer in _PEERS:
        for contender in (SIDECHECK, _FROM_TEXT):
            total = _over_functions(measurements, peer, contender)
            yield Claim(
                f"inferring a tool takes not much longer than with {peer}: {contender}",
                f"{_MAX_TIME_RATIO} times its time at most, median over functions",
                f"{1 / total.median:.2f} (worst function {1 / total.minimum:.2f})",
                1 / total.median <= _MAX_TIME_RATIO,
            )


def _plot(folder: Path, measurements: Sequence[Measurement]) -> None:
    bars: Mapping[str, dict[str, Summary]] = {
        contender: {peer: _over_functions(measurements, peer, contender) for peer in _PEERS}
        for contender in (SIDECHECK, _FROM_TEXT)
    }
    plot_bars(
        folder / "inference.svg",
        "Time of peers to infer a tool, in multiples of Sidecheck's",
        "ratio of times: median and quartiles over the functions",
        bars,
        begin=1.0,
        line=(1.0, "as long"),
    )


# Differences


def find_differences(max_functions: int | None = None) -> dict[str, dict[str, list[str]]]:
    """Return kinds of differences by function and peer, without empty entries."""
    kinds_by_function: dict[str, dict[str, list[str]]] = {}
    with _quiet():
        for name, function in list({**ORDINARY, **HARD}.items())[:max_functions]:
            ours = _infer(SIDECHECK, function)
            for peer in _PEERS:
                kinds = _kinds(_infer(peer, function), ours)
                if kinds:
                    kinds_by_function.setdefault(name, {})[peer] = sorted(kinds)
    return kinds_by_function


def _infer(contender: str, function: Callable[..., Any]) -> dict[str, Any] | str:
    """Return the definition, or the reason for a rejection."""
    try:
        return _INFERENCES[contender](function)
    except InferenceError as error:
        return error.code
    except Exception as error:  # noqa: BLE001  (peers reject with various exceptions)
        return type(error).__name__


def _kinds(theirs: object, ours: object) -> set[str]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return differences(theirs, ours)
    if isinstance(theirs, dict):
        return {_REJECTED_BY_SIDECHECK}
    return {_REJECTED_BY_PEER} if isinstance(ours, dict) else set()


def _report_differences(max_functions: int | None) -> tuple[Table, Claim]:
    names_by_kind: dict[tuple[str, str], list[str]] = {}
    for name, peers in find_differences(max_functions).items():
        for peer, kinds in peers.items():
            for kind in kinds:
                names_by_kind.setdefault((peer, kind), []).append(name)
    rows = [
        [f"{peer}: {kind}", _list_names(names), *JUDGMENTS.get((peer, kind), ("unknown", ""))]
        for (peer, kind), names in sorted(names_by_kind.items())
    ]
    unknown = [f"{peer}: {kind}" for peer, kind in names_by_kind if (peer, kind) not in JUDGMENTS]
    table = Table(
        f"Differences ({len(ORDINARY)} ordinary functions, {len(HARD)} hard ones)",
        ["peer and difference", "functions", "right", "reason"],
        rows,
    )
    return table, Claim(
        "every difference from other inferences has a judgment",
        "none left",
        ", ".join(unknown) or "none left",
        not unknown,
    )


def _list_names(names: list[str]) -> str:
    return f"{len(names)}: {', '.join(names)}" if len(names) <= 10 else f"{len(names)} functions"


if __name__ == "__main__":
    run(measure, __doc__)
