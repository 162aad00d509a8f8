"""A bar on standard error that tells how far long work has come."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

__all__ = ["with_progress"]

Item = TypeVar("Item")

_SOON = 1.0
"""Work that takes no longer than so many seconds gets no bar."""


def with_progress(items: Iterable[Item], total: int, doing: str) -> Iterator[Item]:
    """Yield *items*, and tell a person at a terminal of it if it takes long."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    begun = time.monotonic()
    steps = iter(items)
    done = 0
    for item in steps:
        yield item
        done += 1
        if time.monotonic() - begun > _SOON:
            break
    else:
        return
    from rich.console import Console  # noqa: PLC0415  (only long work waits for rich)
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn(doing), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(doing, total=total, completed=done)
        for item in steps:
            yield item
            progress.advance(task)
