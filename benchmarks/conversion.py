"""Time to convert a tool for OpenAI Chat Completions, against openai-agents.

Also the peak memory of one conversion of the largest schema. openai-agents makes a function tool
from a tool of the MCP SDK, and a request member from that. In strict mode it rewrites schemas, and
leaves a tool non-strict if it cannot. Sidecheck's conversion is that of its server: reading the
definition, the form for the API, names, and the mapping for calls; with and without its cache of
forms.

    python benchmarks/conversion.py [--quick] [--report FOLDER]
"""

import asyncio
import gc
import json
import tracemalloc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

# First, since it reports missing modules.
import harness  # noqa: F401

# isort: split

from agents.mcp import MCPServerStdio, MCPUtil
from agents.models.chatcmpl_converter import Converter
from harness.plots import plot_bars
from harness.report import Claim, Effort, Section, Table, digits, format_summary, run
from harness.subjects import Subject, all_subjects, compact_json
from harness.turns import Rounds, Summary, make_turn, summarize, take_turns
from mcp.types import Tool
from sidecheck import MCPToOpenAIConverter
from sidecheck_server.cli.in_process import InProcessWorker
from sidecheck_server.core.convert.converted_tool import ToolForm, build_converted_tool
from sidecheck_server.core.convert.names import ToolName, assign_tool_names
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.tool_conversion import convert_definition
from sidecheck_server.core.convert.types import ConversionOptions, Mode, ModelApi, ServerPrefix
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.tool_definitions import read_tool
from sidecheck_server.services.conversion import ConversionCache
from sidecheck_server.services.targets import InlineTool

__all__ = ["measure"]

_SIDECHECK = "Sidecheck"
_LOSSLESS = "Sidecheck, if lossless"
_CACHED = "Sidecheck, cached"
_CLIENT = "client alone"
_AGENTS = "openai-agents"
_NON_STRICT, _STRICT = "non-strict", "strict"

#: Contenders without a cache, which read and check the whole definition each time.
_UNCACHED = frozenset({_SIDECHECK, _LOSSLESS})

_MAX_TIME_RATIO = 4
_MAX_MEMORY_RATIO = 2
_LIMITS = Limits()
_API = PROVIDERS[ModelApi.OPENAI_CHAT]

# As openai-agents does it: objects without `additionalProperties` count as closed, and a tool
# without a strict form stays non-strict.
_IF_LOSSLESS = ConversionOptions(mode=Mode.STRICT_IF_LOSSLESS, assume_closed=True)

#: Not started: the conversion reads its name and policies only.
_SERVER = MCPServerStdio(params={"command": "none"}, name="bench")

Maker: TypeAlias = Callable[[bytes], tuple[Callable[[Any], Any], Any]]
"""Returns, for the JSON text of a tool, the conversion and its argument."""

_TEXT = (
    "Contenders take turns; a ratio is the time of openai-agents over that of the other in the "
    "same round, so 2 means that openai-agents takes twice as long. Each cell is a median with "
    "its quartiles. Times are processor times. From bytes to bytes, a contender decodes the "
    "definition of a tool and encodes the member of a request. *Sidecheck* is the work of its "
    "server for an unknown tool: strict decoding, every check of a schema that is registered, the "
    "conversion with every loss, and the mapping for calls; *cached* is its work for a known one. "
    "Strict, *Sidecheck* makes every tool strict and lists the losses; *if lossless* makes only "
    "those strict that lose nothing but undeclared members. openai-agents is the SDK's "
    "`Tool.model_validate_json`, `MCPUtil.to_function_tool`, which also makes the function that "
    "its agents call, `Converter.tool_to_openai` and `json`; its strict mode makes all members "
    "required, and leaves a tool non-strict where it gives up. Whether the API accepts the "
    "results is not checked here. *Client alone* is `sidecheck.MCPToOpenAIConverter` between "
    "`json.loads` and `json.dumps`: it removes defaults, wraps, and repairs nothing else. On "
    "decoded tools, the arguments of those two are decoded before, and their results are not "
    "encoded. Memory is the peak of Python's allocations during one conversion (`tracemalloc`), "
    "without its argument."
)


@dataclass(frozen=True, slots=True)
class Measurement:
    """Rounds of one tool."""

    subject: Subject
    rounds: Rounds
    #: Contenders that made it strict.
    strict: frozenset[str]

    def ratio(self, name: str) -> Summary:
        """Return the ratio of the time of openai-agents to that of *name*."""
        return self.rounds.ratio(_AGENTS, name)


Measurements: TypeAlias = Mapping[tuple[str, str], Sequence[Measurement]]
"""Measurements of all tools, by task and mode."""


def measure(effort: Effort) -> Section:
    """Measure and return the section."""
    subjects = all_subjects(effort.choose(None, 3))
    tasks = {"From bytes to bytes": _FROM_BYTES, "On decoded tools": _FROM_VALUE}
    measurements = {
        (task, mode): [_compare(effort, subject, makers) for subject in subjects]
        for task, modes in tasks.items()
        for mode, makers in modes.items()
    }
    largest = max(subjects, key=lambda subject: len(subject.schema))
    peaks = {
        mode: {name: _peak_memory(largest, make) for name, make in makers.items()}
        for mode, makers in _FROM_BYTES.items()
    }
    if effort.folder is not None:
        _plot(effort.folder, measurements)
    return Section(
        "conversion",
        "Converting tools for OpenAI's Chat Completions",
        _TEXT,
        [
            *(_table(f"{task}, {mode}", tools) for (task, mode), tools in measurements.items()),
            _rates_table(measurements),
            _peaks_table(largest, peaks),
        ],
        [*_claims(measurements), *_peak_claims(peaks[_NON_STRICT])],
        [("conversion.svg", "Time of openai-agents to convert a tool, in multiples of others'")],
    )


def _compare(effort: Effort, subject: Subject, makers: Mapping[str, Maker]) -> Measurement:
    rounds, seconds = effort.choose((41, 0.004), (3, 0.0002))
    text = _definition(subject)
    conversions = {name: make(text) for name, make in makers.items()}
    strict = frozenset(
        name for name, (convert, argument) in conversions.items() if _is_strict(convert(argument))
    )
    turns = {
        name: make_turn(convert, argument, seconds)
        for name, (convert, argument) in conversions.items()
    }
    return Measurement(subject, Rounds(take_turns(turns, rounds)), strict)


def _definition(subject: Subject) -> bytes:
    return compact_json({"description": f"Calls {subject.name}.", **subject.definition})


def _is_strict(converted: Any) -> bool:
    """Return whether a converted tool, as JSON text or decoded, is strict."""
    tool = json.loads(converted) if isinstance(converted, bytes) else converted
    return bool(tool["function"].get("strict"))


def _peak_memory(subject: Subject, make: Maker) -> int:
    """Return the peak memory of one conversion, in bytes."""
    convert, argument = make(_definition(subject))
    # One-time initialization is not counted.
    convert(argument)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        convert(argument)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


# Contenders


def _by_sidecheck(options: ConversionOptions) -> Maker:
    def convert(text: bytes) -> bytes:
        definition = read_tool(text, (), _LIMITS)
        return _build_tool(convert_definition(definition, _API, options, _LIMITS))

    return lambda text: (convert, text)


def _by_cache(options: ConversionOptions) -> Maker:
    cache = ConversionCache(InProcessWorker(_LIMITS).run, _LIMITS)

    def convert(tool: InlineTool) -> bytes:
        # A cached conversion never waits: its coroutine ends at the first step, so the time
        # excludes the cost of an event loop.
        conversion = cache.convert(tool, _API, options)
        try:
            conversion.send(None)
        except StopIteration as result:
            return _build_tool(result.value)
        raise AssertionError("the tool is not cached")

    def make(text: bytes) -> tuple[Callable[[Any], Any], Any]:
        tool = InlineTool(text)
        asyncio.run(cache.convert(tool, _API, options))
        return convert, tool

    return make


def _build_tool(form: ToolForm) -> bytes:
    tool_name = ToolName("", form.tool)
    name = assign_tool_names([tool_name], _API.tool_names, ServerPrefix.AUTOMATIC)[0]
    return build_converted_tool(form, tool_name, name, _API).json


def _by_client(text: bytes) -> tuple[Callable[[Any], Any], Any]:
    return lambda text: compact_json(MCPToOpenAIConverter.convert_tool(json.loads(text))), text


def _by_client_decoded(text: bytes) -> tuple[Callable[[Any], Any], Any]:
    return MCPToOpenAIConverter.convert_tool, json.loads(text)


def _convert_with_agents(tool: Tool, *, strict: bool) -> Any:
    return Converter.tool_to_openai(MCPUtil.to_function_tool(tool, _SERVER, strict))


def _by_agents(*, strict: bool) -> Maker:
    def convert(text: bytes) -> bytes:
        return compact_json(_convert_with_agents(Tool.model_validate_json(text), strict=strict))

    return lambda text: (convert, text)


def _by_agents_decoded(text: bytes) -> tuple[Callable[[Any], Any], Any]:
    return lambda tool: _convert_with_agents(tool, strict=False), Tool.model_validate_json(text)


_FROM_BYTES: Mapping[str, Mapping[str, Maker]] = MappingProxyType(
    {
        _NON_STRICT: {
            _SIDECHECK: _by_sidecheck(ConversionOptions()),
            _CACHED: _by_cache(ConversionOptions()),
            _CLIENT: _by_client,
            _AGENTS: _by_agents(strict=False),
        },
        _STRICT: {
            _SIDECHECK: _by_sidecheck(ConversionOptions(mode=Mode.STRICT)),
            _LOSSLESS: _by_sidecheck(_IF_LOSSLESS),
            _CACHED: _by_cache(_IF_LOSSLESS),
            _AGENTS: _by_agents(strict=True),
        },
    }
)
"""Contenders by mode, from the text of a tool to the text of a request member."""

_FROM_VALUE: Mapping[str, Mapping[str, Maker]] = MappingProxyType(
    {_NON_STRICT: {_CLIENT: _by_client_decoded, _AGENTS: _by_agents_decoded}}
)
"""Contenders that convert decoded tools."""


# Report


def _table(caption: str, measurements: Sequence[Measurement]) -> Table:
    names = list(measurements[0].rounds.figures)
    others = [name for name in names if name != _AGENTS]
    rows = [
        [
            measurement.subject.title,
            *(format_summary(measurement.rounds.of(name), 1e6) for name in names),
            *(format_summary(measurement.ratio(name)) for name in others),
        ]
        for measurement in measurements
    ]
    totals = [_over_tools(measurements, name) for name in others]
    empty = [""] * len(names)
    rows.append(["**median over tools**", *empty, *(format_summary(total) for total in totals)])
    rows.append(["least", *empty, *(f"{total.minimum:.2f}" for total in totals)])
    head = [
        "tool (schema)",
        *(f"{name}, µs" for name in names),
        *(f"{_AGENTS} / {name}, x" for name in others),
    ]
    n = measurements[0].rounds.of(_AGENTS).n
    return Table(f"{caption} ({n} rounds)", head, rows)


def _over_tools(measurements: Iterable[Measurement], name: str) -> Summary:
    return summarize(measurement.ratio(name).median for measurement in measurements)


def _rates_table(measurements: Measurements) -> Table:
    """Return the number of tools converted per second, and of strict ones."""
    rows = []
    for (task, mode), tools in measurements.items():
        for name in tools[0].rounds.figures:
            seconds = [tool.rounds.of(name).median for tool in tools]
            strict = sum(name in tool.strict for tool in tools)
            rows.append(
                [
                    f"{task}, {mode}: {name}",
                    digits(len(seconds) / sum(seconds)),
                    digits(1 / summarize(seconds).median),
                    f"{strict} of {len(tools)}",
                ]
            )
    head = ["contender", "all in turn, per second", "the median tool, per second", "strict"]
    return Table("Conversions per second, and strict tools among them", head, rows)


def _peaks_table(subject: Subject, peaks: Mapping[str, Mapping[str, int]]) -> Table:
    size = len(_definition(subject))
    rows = [
        [f"{mode}: {name}", f"{peak / 1000:,.0f}", f"{peak / size:.1f}"]
        for mode, contenders in peaks.items()
        for name, peak in contenders.items()
    ]
    caption = f"Peak of memory from bytes to bytes, {subject.title}"
    return Table(caption, ["contender", "KB", "times the text"], rows)


def _claims(measurements: Measurements) -> Iterable[Claim]:
    for (task, mode), tools in measurements.items():
        for name in tools[0].rounds.figures:
            if name == _AGENTS:
                continue
            total = _over_tools(tools, name)
            scope = f"{task.lower()}, {mode}"
            if name in _UNCACHED:
                yield Claim(
                    f"{name} takes not much longer than openai-agents: {scope}",
                    f"{_MAX_TIME_RATIO} times its time at most, median over tools",
                    f"{1 / total.median:.1f} (worst tool {1 / total.minimum:.1f})",
                    1 / total.median <= _MAX_TIME_RATIO,
                )
            else:
                yield Claim(
                    f"{name} is never slower than openai-agents: {scope}",
                    "1 times at least, least of the tools",
                    f"{total.minimum:.2f} (median {total.median:.1f})",
                    total.minimum >= 1,
                )


def _peak_claims(peaks: Mapping[str, int]) -> Iterable[Claim]:
    for name, peak in peaks.items():
        if name != _AGENTS:
            ratio = peak / peaks[_AGENTS]
            yield Claim(
                f"{name} takes no more memory than twice that of openai-agents",
                f"{_MAX_MEMORY_RATIO} times its peak at most, largest schema",
                f"{ratio:.2f}",
                ratio <= _MAX_MEMORY_RATIO,
            )


def _plot(folder: Path, measurements: Measurements) -> None:
    bars: dict[str, dict[str, Summary]] = {}
    for (task, mode), tools in measurements.items():
        for name in tools[0].rounds.figures:
            if name != _AGENTS:
                bars.setdefault(f"{name}, {mode}", {})[task.lower()] = _over_tools(tools, name)
    plot_bars(
        folder / "conversion.svg",
        "Time of openai-agents to convert a tool, in multiples of others'",
        "ratio of times: median and quartiles over the tools",
        bars,
        begin=1.0,
        line=(1.0, "openai-agents"),
    )


if __name__ == "__main__":
    run(measure, __doc__)
