"""Rows of text: coloured on a terminal, plain elsewhere."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sidecheck_server.cli.files import write_output

__all__ = ["Part", "Row", "escape", "fact_rows", "is_terminal", "page_width", "table", "write_rows"]

if TYPE_CHECKING:
    from rich.console import Console


#: Text and its style, "" for none. Styles are those of rich, restricted to the terminal's sixteen
#: colours, which are readable on the background of its theme.
Part: TypeAlias = tuple[str, str]

_DEFAULT_WIDTH = 100
"""Width in characters where standard output is not a terminal."""


@dataclass(frozen=True, slots=True)
class Row:
    """Styled line of text; *indent* applies to its continuation lines too."""

    parts: tuple[Part, ...] = ()
    indent: int = 0
    #: Whether the row is wrapped at the width of the terminal.
    wraps: bool = True

    @property
    def plain(self) -> str:
        """Text of the row without styles."""
        return (" " * self.indent + "".join(text for text, _ in self.parts)).rstrip()


def escape(text: str) -> str:
    """Return *text* with unprintable characters escaped.

    Names from a file must not begin a new line or contain control sequences of the terminal.
    """
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def is_terminal(*, to_stderr: bool = False) -> bool:
    """Return whether standard output, or standard error if *to_stderr*, is a terminal."""
    stream = sys.stderr if to_stderr else sys.stdout
    return stream is not None and stream.isatty()


def page_width(*, to_stderr: bool = False) -> int:
    """Return the width in characters of standard output, or of standard error."""
    return (
        _console(to_stderr=to_stderr).width if is_terminal(to_stderr=to_stderr) else _DEFAULT_WIDTH
    )


def write_rows(rows: Iterable[Row], *, to_stderr: bool = False) -> None:
    """Write *rows* to standard output, or *to_stderr* to standard error.

    Raises:
        click.UsageError: the stream cannot be written; exit code 2.
    """
    if not is_terminal(to_stderr=to_stderr):
        write_output("\n".join(row.plain for row in rows), to_stderr=to_stderr)
        return
    from rich.text import Text  # noqa: PLC0415  (rich is slow to import)

    console = _console(to_stderr=to_stderr)
    with console.capture() as capture:
        for row in rows:
            text = Text.assemble(*row.parts)
            lines = (
                text.wrap(console, max(console.width - row.indent, 20), overflow="fold")
                if row.wraps
                else [text]
            )
            for line in lines or [text]:
                line.rstrip()
                console.print(Text(" " * row.indent).append_text(line), soft_wrap=True)
    write_output(capture.get().removesuffix("\n"), to_stderr=to_stderr)


def _console(*, to_stderr: bool) -> "Console":
    from rich.console import Console  # noqa: PLC0415

    stream = sys.stderr if to_stderr else sys.stdout
    return Console(file=stream, highlight=False, markup=False, emoji=False)


def table(lines: Sequence[Sequence[str]], styles: Sequence[str]) -> Iterator[Row]:
    """Yield a row for each line, with aligned columns in *styles*; escape the cells."""
    escaped = [[escape(cell) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*escaped, strict=True)]
    for line in escaped:
        padded = [f"{cell:<{width}}  " for cell, width in zip(line, widths, strict=True)]
        yield Row(tuple(zip(padded, styles, strict=True)), wraps=False)


def fact_rows(entries: Sequence[tuple[str, Sequence[str]]]) -> Iterator[Row]:
    """Yield a row for each value of *entries*; the first row of an entry has its name."""
    lines = [
        (name if index == 0 else "", value)
        for name, values in entries
        for index, value in enumerate(values)
    ]
    yield from table(lines, ("bold", ""))
