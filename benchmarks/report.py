"""What a benchmark found: tables, claims and plots, for the terminal and as Markdown.

A script makes one section. It prints it, and with ``--report FOLDER`` keeps it there, so
that `claims.py` can put all of them together.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from machine import machine
from rounds import Summary

__all__ = [
    "Claim",
    "Effort",
    "Section",
    "Table",
    "claims_table",
    "digits",
    "read_section",
    "run",
    "table_lines",
    "told",
]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of figures under a caption."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Claim:
    """What is wanted of a figure, and what it is."""

    what: str
    wanted: str
    found: str
    met: bool


@dataclass(frozen=True, slots=True)
class Section:
    """The answer to one question."""

    name: str
    title: str
    #: How it was measured.
    text: str
    tables: Sequence[Table] = ()
    claims: Sequence[Claim] = ()
    #: Names of SVG files, each with its caption.
    plots: Sequence[tuple[str, str]] = ()
    machine: Sequence[str] = field(default_factory=machine)
    command: str = ""
    seconds: int = 0

    def markdown(self) -> Iterator[str]:
        """Yield the lines of the section."""
        yield from (f"## {self.title}", "", self.text, "")
        yield from (f"Command: `{self.command}`, {self.seconds} s.", "")
        for file, caption in self.plots:
            yield from (f"![{caption}]({file})", "")
        for table in self.tables:
            yield from (f"**{table.caption}**", "", *table_lines(table), "")

    def claim_rows(self) -> Iterator[list[str]]:
        """Yield the claims as rows of a table."""
        for claim in self.claims:
            yield [claim.what, claim.wanted, claim.found, "yes" if claim.met else "**no**"]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much to measure, and where plots go."""

    quick: bool
    folder: Path | None
    given: argparse.Namespace

    def choose(self, full: Any, quick: Any) -> Any:
        """Return one of two, by how much is to be measured."""
        return quick if self.quick else full


def run(
    measure: Callable[[Effort], Section],
    about: str | None,
    options: Callable[[argparse.ArgumentParser], None] = lambda _parser: None,
) -> None:
    """Read the command line, measure, print the section, and keep it if a folder is given."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few rounds, few subjects")
    parser.add_argument("--report", type=Path, metavar="FOLDER", help="keep the section there")
    options(parser)
    given = parser.parse_args()
    if given.report is not None:
        given.report.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    section = measure(Effort(given.quick, given.report, given))
    flags = [flag for flag in sys.argv[1:] if flag != "--report" and flag != str(given.report)]
    command = " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *flags])
    finished = {**asdict(section), "command": command, "seconds": round(time.monotonic() - began)}
    section = _section(finished)
    print("\n".join((*section.machine, "", *section.markdown())))
    if section.claims:
        print("\n".join(table_lines(claims_table(section))))
    if given.report is not None:
        text = json.dumps(finished, ensure_ascii=False, indent=1)
        (given.report / f"{section.name}.json").write_text(text + "\n", encoding="utf-8")


def read_section(path: Path) -> Section:
    """Return a section that was kept."""
    return _section(json.loads(path.read_text(encoding="utf-8")))


def claims_table(*sections: Section) -> Table:
    """Return the claims of *sections*."""
    rows = [row for section in sections for row in section.claim_rows()]
    return Table("Claims", ["claim", "wanted", "found", "met"], rows)


def table_lines(table: Table) -> Iterator[str]:
    """Yield the lines of a table in Markdown, its columns of figures to the right."""
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


def told(found: Summary, scale: float = 1.0) -> str:
    """Return a median with its quartiles."""
    return (
        f"{digits(found.median * scale)} "
        f"[{digits(found.lower * scale)}..{digits(found.upper * scale)}]"
    )


def digits(figure: float) -> str:
    """Return *figure* to three digits, as far as they mean something."""
    if figure >= 100:
        return f"{figure:,.0f}"
    return f"{figure:.{1 if figure >= 10 else 2 if figure >= 0.1 else 3}f}"


def _section(kept: dict[str, Any]) -> Section:
    return Section(
        **{
            **kept,
            "tables": [Table(**table) for table in kept["tables"]],
            "claims": [Claim(**claim) for claim in kept["claims"]],
        }
    )
