"""Tables for people: columns as wide as what stands in them."""

from collections.abc import Iterator, Sequence

from sidecheck_server.cli.rows import Row, printable

__all__ = ["facts", "table"]


def table(lines: Sequence[Sequence[str]], styles: Sequence[str]) -> Iterator[Row]:
    """Yield a row for each of *lines*, whose columns have *styles*; names are escaped."""
    escaped = [[printable(cell) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*escaped, strict=True)]
    for line in escaped:
        padded = [f"{cell:<{width}}  " for cell, width in zip(line, widths, strict=True)]
        yield Row(tuple(zip(padded, styles, strict=True)), wraps=False)


def facts(told: Sequence[tuple[str, Sequence[str]]]) -> Iterator[Row]:
    """Yield rows for names and what they stand for, each of which has a row of its own."""
    lines = [
        (name if index == 0 else "", value)
        for name, values in told
        for index, value in enumerate(values)
    ]
    yield from table(lines, ("bold", ""))
