"""Progress bar on standard error for long operations."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

__all__ = ["with_progress"]

Item = TypeVar("Item")

_DELAY_SECONDS = 1.0
"""Seconds before the bar appears."""


def with_progress(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    """Yield *items*; show a progress bar on a terminal after a second."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    started = time.monotonic()
    iterator = iter(items)
    done = 0
    for item in iterator:
        yield item
        done += 1
        if time.monotonic() - started > _DELAY_SECONDS:
            break
    else:
        return
    from rich.console import Console  # noqa: PLC0415  (rich is slow to import)
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total, completed=done)
        for item in iterator:
            yield item
            progress.advance(task)
