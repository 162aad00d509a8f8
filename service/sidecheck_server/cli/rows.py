"""Rows of text: coloured on a terminal, plain elsewhere."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sidecheck_server.cli.files import write_output

__all__ = ["Part", "Row", "facts", "is_terminal", "page_width", "printable", "table", "write_rows"]

if TYPE_CHECKING:
    from rich.console import Console


#: A text and its style, "" for none; styles are those of rich, in the terminal's own
#: sixteen colours, which its theme keeps readable on its background.
Part: TypeAlias = tuple[str, str]

_WIDTH_OF_A_PIPE = 100


@dataclass(frozen=True, slots=True)
class Row:
    """Styled line of text; *indent* applies to its continuation lines too."""

    parts: tuple[Part, ...] = ()
    indent: int = 0
    #: Whether it may go on in another line of the terminal.
    wraps: bool = True

    @property
    def plain(self) -> str:
        """Text of the row without styles."""
        return (" " * self.indent + "".join(text for text, _ in self.parts)).rstrip()


def printable(text: str) -> str:
    """Return *text* with unprintable characters escaped.

    Names out of a file must not start a line of their own, or talk to the terminal.
    """
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def is_terminal(*, aside: bool = False) -> bool:
    """Whether standard output, or standard error if *aside*, is a terminal."""
    stream = sys.stderr if aside else sys.stdout
    return stream is not None and stream.isatty()


def page_width(*, aside: bool = False) -> int:
    """Return the width in characters of standard output, or of standard error if *aside*."""
    return _console(aside=aside).width if is_terminal(aside=aside) else _WIDTH_OF_A_PIPE


def write_rows(rows: Iterable[Row], *, aside: bool = False) -> None:
    """Write *rows* to standard output, or *aside* to standard error.

    Raises:
        click.UsageError: the stream cannot be written; exit code 2.
    """
    if not is_terminal(aside=aside):
        write_output("\n".join(row.plain for row in rows), aside=aside)
        return
    from rich.text import Text  # noqa: PLC0415  (only terminals wait for rich)

    console = _console(aside=aside)
    with console.capture() as captured:
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
    write_output(captured.get().removesuffix("\n"), aside=aside)


def _console(*, aside: bool) -> "Console":
    from rich.console import Console  # noqa: PLC0415

    stream = sys.stderr if aside else sys.stdout
    return Console(file=stream, highlight=False, markup=False, emoji=False)


def table(lines: Sequence[Sequence[str]], styles: Sequence[str]) -> Iterator[Row]:
    """Yield a row per line, with columns in *styles*; unprintable characters are escaped."""
    escaped = [[printable(cell) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*escaped, strict=True)]
    for line in escaped:
        padded = [f"{cell:<{width}}  " for cell, width in zip(line, widths, strict=True)]
        yield Row(tuple(zip(padded, styles, strict=True)), wraps=False)


def facts(entries: Sequence[tuple[str, Sequence[str]]]) -> Iterator[Row]:
    """Yield a row per value, the first of each name with the name beside it."""
    lines = [
        (name if index == 0 else "", value)
        for name, values in entries
        for index, value in enumerate(values)
    ]
    yield from table(lines, ("bold", ""))
