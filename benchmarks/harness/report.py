"""Sections of a report: tables, claims and plots, for the terminal and as Markdown.

Each script measures one section and prints it. With ``--report FOLDER`` it also stores it
there as JSON; `python benchmarks` combines the stored sections.
"""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from harness.turns import Summary

__all__ = [
    "Claim",
    "Effort",
    "MissingRequirement",
    "Section",
    "Table",
    "claims_table",
    "digits",
    "format_summary",
    "read_section",
    "run",
    "table_lines",
]

_PACKAGES = (
    "fastjsonschema",
    "fastmcp",
    "google-re2",
    "grpcio",
    "jsonschema",
    "jsonschema-rs",
    "mcp",
    "msgspec",
    "openai-agents",
    "protobuf",
    "pydantic",
)


class MissingRequirement(Exception):
    """A program or material that a benchmark needs is missing."""


@dataclass(frozen=True, slots=True)
class Table:
    """Table of figures with a caption."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Claim:
    """Goal for a figure, and the measured figure."""

    statement: str
    goal: str
    measured: str
    met: bool


def _machine() -> list[str]:
    """Return processor and software versions, one line each."""
    return [
        f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        f"{platform.python_implementation()} {platform.python_version()}",
        ", ".join(f"{name} {_version(name)}" for name in _PACKAGES),
    ]


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "an unknown processor"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


@dataclass(frozen=True, slots=True)
class Section:
    """Results of one script."""

    name: str
    title: str
    #: Method of the measurement.
    text: str
    tables: Sequence[Table] = ()
    claims: Sequence[Claim] = ()
    #: Names of SVG files, each with its caption.
    plots: Sequence[tuple[str, str]] = ()
    machine: Sequence[str] = field(default_factory=_machine)
    #: Day of the measurement in UTC, in ISO 8601.
    date: str = field(default_factory=lambda: time.strftime("%Y-%m-%d", time.gmtime()))
    command: str = ""
    seconds: int = 0

    def markdown(self) -> Iterator[str]:
        """Yield the lines of the section."""
        yield from (f"## {self.title}", "", self.text, "")
        yield from (f"Command: `{self.command}`, {self.seconds} s, {self.date}.", "")
        for file, caption in self.plots:
            yield from (f"![{caption}]({file})", "")
        for table in self.tables:
            yield from (f"**{table.caption}**", "", *table_lines(table), "")

    def claim_rows(self) -> Iterator[list[str]]:
        """Yield the claims as rows of a table."""
        for claim in self.claims:
            met = "yes" if claim.met else "**no**"
            yield [claim.statement, claim.goal, claim.measured, met]


@dataclass(frozen=True, slots=True)
class Effort:
    """Extent of the measurement, and the folder for plots."""

    quick: bool
    folder: Path | None
    arguments: argparse.Namespace

    def choose(self, full: Any, quick: Any) -> Any:
        """Return *quick* for a quick measurement, otherwise *full*."""
        return quick if self.quick else full


def run(
    measure: Callable[[Effort], Section],
    description: str | None,
    add_options: Callable[[argparse.ArgumentParser], None] = lambda _parser: None,
) -> Section:
    """Parse the command line, measure, and print the section; store it in a chosen folder.

    Exits with 2 if a program or material is missing.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="measure few rounds of few subjects")
    parser.add_argument("--report", type=Path, metavar="FOLDER", help="store the section in FOLDER")
    add_options(parser)
    arguments = parser.parse_args()
    if arguments.report is not None:
        arguments.report.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    try:
        measured = measure(Effort(arguments.quick, arguments.report, arguments))
    except MissingRequirement as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None
    stored = {
        **asdict(measured),
        "command": _command(arguments.report),
        "seconds": round(time.monotonic() - started),
    }
    section = _section(stored)
    print("\n".join((*section.machine, "", *section.markdown())))
    if section.claims:
        print("\n".join(table_lines(claims_table(section))))
    if arguments.report is not None:
        text = json.dumps(stored, ensure_ascii=False, indent=1)
        (arguments.report / f"{section.name}.json").write_text(text + "\n", encoding="utf-8")
    return section


def _command(folder: Path | None) -> str:
    options = [option for option in sys.argv[1:] if option not in {"--report", str(folder)}]
    return " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *options])


def read_section(path: Path) -> Section:
    """Return a stored section."""
    return _section(json.loads(path.read_text(encoding="utf-8")))


def claims_table(*sections: Section) -> Table:
    """Return the claims of *sections*."""
    rows = [row for section in sections for row in section.claim_rows()]
    return Table("Claims", ["claim", "goal", "measured", "met"], rows)


def table_lines(table: Table) -> Iterator[str]:
    """Yield the lines of a Markdown table, with figures aligned to the right."""
    rows = [list(table.head), *map(list, table.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.head))]
    for index, row in enumerate(rows):
        cells = (
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield f"| {' | '.join(cells)} |"
        if index == 0:
            rules = [
                "-" * width if column == 0 else "-" * (width - 1) + ":"
                for column, width in enumerate(widths)
            ]
            yield f"| {' | '.join(rules)} |"


def format_summary(figures: Summary, scale: float = 1.0) -> str:
    """Return a median with its quartiles, as text."""
    return (
        f"{digits(figures.median * scale)} "
        f"[{digits(figures.lower * scale)}..{digits(figures.upper * scale)}]"
    )


def digits(figure: float) -> str:
    """Return *figure* with three significant digits."""
    if figure >= 100:
        return f"{figure:,.0f}"
    return f"{figure:.{1 if figure >= 10 else 2 if figure >= 0.1 else 3}f}"


def _section(stored: dict[str, Any]) -> Section:
    return Section(
        **{
            **stored,
            "tables": [Table(**table) for table in stored["tables"]],
            "claims": [Claim(**claim) for claim in stored["claims"]],
        }
    )
