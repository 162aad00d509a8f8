"""Puts the sections of a report together, with the claims of all in one table.

Reads what the other scripts kept in the folder, and writes its README.md.

    python benchmarks/claims.py [FOLDER]
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from report import Section, claims_table, read_section, table_lines

__all__ = ["main"]

_ORDER = (
    "judging",
    "protocol",
    "admission",
    "conversion",
    "inference",
    "inference_differences",
    "inferred_servers",
    "serving",
    "remote",
)
_FOLDER = Path(__file__).resolve().parent / "report"

_TEXT = """\
# What Sidecheck costs

Made by `make bench`; each section names the script that made it. Speed is told as ratios of
contenders that took turns on the same machine, because other work on it makes times what
they are; a figure is a median, with its quartiles in brackets. `own` tools are in
`benchmarks/tools`; `corpus` tools are real ones, and only there where the corpus is."""


def main() -> int:
    """Write the report and print its claims; return the exit status."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else _FOLDER
    files = [folder / f"{name}.json" for name in _ORDER]
    sections = [read_section(file) for file in files if file.exists()]
    if not sections:
        print(f"no section is in {folder}", file=sys.stderr)
        return 1
    report = "\n".join(_lines(sections)).rstrip("\n") + "\n"
    (folder / "README.md").write_text(report, encoding="utf-8")
    print("\n".join(table_lines(claims_table(*sections))))
    return 0


def _lines(sections: list[Section]) -> Iterator[str]:
    yield from (_TEXT, "", "## Machine", "")
    machines = dict.fromkeys(line for section in sections for line in section.machine)
    yield from (f"- {line}" for line in machines)
    yield from ("", "## Claims", "", *table_lines(claims_table(*sections)), "")
    for section in sections:
        yield from section.markdown()


if __name__ == "__main__":
    sys.exit(main())
