"""Rows of text for people: coloured on a terminal, plain elsewhere."""

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sidecheck_server.cli.files import write_output

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Part", "Row", "is_terminal", "page_width", "printable", "write_rows"]

#: A text and its style, "" for none; styles are those of rich, in the terminal's own
#: sixteen colours, which its theme keeps readable on its background.
Part: TypeAlias = tuple[str, str]

_WIDTH_OF_A_PIPE = 100


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its parts, and how far it is indented where it goes on in a second line."""

    parts: tuple[Part, ...] = ()
    indent: int = 0
    #: Whether it may go on in another line of the terminal.
    wraps: bool = True

    @property
    def plain(self) -> str:
        """The row without its styles."""
        return (" " * self.indent + "".join(text for text, _ in self.parts)).rstrip()


def printable(text: str) -> str:
    """Return *text* with escapes for what cannot be printed.

    Names out of a file must not start a line of their own, or talk to the terminal.
    """
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text)


def is_terminal(*, aside: bool = False) -> bool:
    """Whether a person at a terminal reads standard output, or standard error if *aside*."""
    stream = sys.stderr if aside else sys.stdout
    return stream is not None and stream.isatty()


def page_width(*, aside: bool = False) -> int:
    """Return how many characters a row of standard output holds, or of standard error."""
    return _console(aside=aside).width if is_terminal(aside=aside) else _WIDTH_OF_A_PIPE


def write_rows(rows: Iterable[Row], *, aside: bool = False) -> None:
    """Write *rows* to standard output, or *aside*, to standard error.

    Raises:
        click.UsageError: it cannot be written; the command exits with 2.
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
