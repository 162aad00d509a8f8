"""Plots as SVG files, deterministic for the same figures."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from harness.report import digits
from harness.turns import Summary

__all__ = ["plot_bars", "plot_lines"]

mpl.rcParams["svg.hashsalt"] = "sidecheck"
mpl.rcParams["svg.fonttype"] = "none"
_COLOURS = ("#1f5fa8", "#c8553d", "#588b5b", "#8a6bb1", "#b08b2e", "#5c5c5c")
_MARKERS = "os^Dvx"


def plot_bars(
    path: Path,
    title: str,
    axis: str,
    groups: Mapping[str, Mapping[str, Summary]],
    *,
    begin: float = 0.0,
    line: tuple[float, str] | None = None,
) -> None:
    """Write bars of medians, with error bars of quartiles.

    *groups* maps labels to bars by name; a name has one colour. Bars start at *begin*; if it
    is above zero, the axis is logarithmic. *line* is a reference figure and its name.
    """
    names = list(dict.fromkeys(name for group in groups.values() for name in group))
    figure = Figure(figsize=(8, 1 + 0.15 * len(groups) + 0.22 * len(groups) * len(names)))
    axes = figure.add_subplot()
    height = 0.8 / len(names)
    for number, name in enumerate(names):
        bars = [
            (index + (number - (len(names) - 1) / 2) * height, group[name])
            for index, group in enumerate(groups.values())
            if name in group
        ]
        axes.barh(
            [position for position, _ in bars],
            [summary.median - begin for _, summary in bars],
            height * 0.9,
            left=begin,
            color=_COLOURS[number % len(_COLOURS)],
            label=name,
            xerr=_errors([summary for _, summary in bars]),
            error_kw={"elinewidth": 1.2, "capsize": 2, "ecolor": "#222222"},
        )
        for position, summary in bars:
            axes.annotate(
                digits(summary.median),
                (max(summary.upper, begin), position),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
            )
    axes.set_yticks(range(len(groups)), list(groups))
    axes.invert_yaxis()
    if begin > 0:
        axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    if line is not None:
        axes.axvline(line[0], color="#222222", linewidth=1, linestyle="--", label=line[1])
    axes.margins(x=0.15, y=0.02)
    _finish(figure, axes, path, title, axis)


def plot_lines(
    path: Path,
    title: str,
    axes_titles: tuple[str, str],
    lines: Mapping[str, Sequence[tuple[float, Summary]]],
) -> None:
    """Write lines of medians with quartiles, on logarithmic axes."""
    figure = Figure(figsize=(8, 4.4))
    axes = figure.add_subplot()
    for number, (name, points) in enumerate(lines.items()):
        axes.errorbar(
            [abscissa for abscissa, _ in points],
            [summary.median for _, summary in points],
            yerr=_errors([summary for _, summary in points]),
            color=_COLOURS[number % len(_COLOURS)],
            marker=_MARKERS[number % len(_MARKERS)],
            markersize=5,
            linewidth=1.4,
            capsize=2,
            label=name,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    for ticks in (axes.xaxis, axes.yaxis):
        ticks.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.set_ylabel(axes_titles[1])
    _finish(figure, axes, path, title, axes_titles[0])


def _errors(summaries: Sequence[Summary]) -> list[list[float]]:
    """Return the distances of the quartiles from the medians."""
    return [
        [summary.median - summary.lower for summary in summaries],
        [summary.upper - summary.median for summary in summaries],
    ]


def _finish(figure: Figure, axes: "mpl.axes.Axes", path: Path, title: str, axis: str) -> None:
    axes.set_title(title, fontsize=11, loc="left")
    axes.set_xlabel(axis)
    axes.grid(visible=True, axis="both", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    # Without a date, a plot changes only with its figures.
    figure.savefig(path, format="svg", bbox_inches="tight", metadata={"Date": None})
