"""What `sidecheck convert` says: the tools, and what is not as in the originals."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from sidecheck_server.cli.conversions import Conversions
from sidecheck_server.cli.files import write_output
from sidecheck_server.cli.reports import STYLES, counted, in_json
from sidecheck_server.cli.rows import Part, Row, is_terminal, page_width, printable, write_rows
from sidecheck_server.cli.tables import table
from sidecheck_server.core.convert.converted import ConvertedTool
from sidecheck_server.core.convert.shapes.tools import assembled
from sidecheck_server.core.convert.words import Direction, Loss
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.types import Violation

__all__ = ["plans_text", "write_conversions"]

_HEADING = ("TOOL", "PLACE", "KEYWORD", "ACTION", "DIRECTION", "WHAT")
_STYLES = ("bold", "cyan", "cyan", "", "bold", "")


def plans_text(done: Conversions) -> str:
    """Return the plans of the converted tools, as a JSON array."""
    return in_json(_plans(done))


def write_conversions(form: str, done: Conversions) -> None:
    """Write the tools to standard output in the format *form*.

    In text, what is to be told of them goes to standard error.
    """
    if form == "json":
        write_output(in_json(_object(done)))
        return
    write_output(in_json(_tools(done)))
    write_rows(_rows(done), aside=True)


def _tools(done: Conversions) -> Any:
    return json.loads(assembled(done.api.key, [one.json for one in done.converted]))


def _plans(done: Conversions) -> list[Any]:
    return [json.loads(one.plan) for one in done.converted]


def _object(done: Conversions) -> dict[str, Any]:
    return {
        "tools": _tools(done),
        "refused": [
            {"file": file, "name": name, "reason": one.reason.value, "message": one.message}
            for file, name, one in _refused(done)
        ],
        "losses": [
            {
                "tool": name,
                "pointer": loss.pointer,
                "keyword": loss.keyword,
                "action": loss.action.value,
                "direction": loss.direction.value,
                "message": loss.message,
            }
            for name, loss in _losses(done)
        ],
        "not_strict": [{"tool": name, "reason": why_not} for name, why_not in _not_strict(done)],
        "plan": _plans(done),
        "request": {
            "valid": done.request.valid,
            "violations": [_problem(found) for found in done.request.violations],
        },
    }


def _problem(found: Violation) -> dict[str, str]:
    return {
        "code": found.code,
        "severity": found.severity.value,
        "instance_location": found.instance_location,
        "message": found.message,
        "clause": found.clause,
    }


def _rows(done: Conversions) -> Iterator[Row]:
    yield from _loss_rows(done)
    for file, name, refusal in _refused(done):
        said = f"{refusal.reason.value}: {refusal.message}"
        yield _told(": ".join(filter(None, (file, name))), ("refused", "bold red"), said)
    for name, why_not in _not_strict(done):
        yield _told(name, ("not strict", "bold yellow"), why_not)
    for found in done.request.violations:
        severity = (found.severity.value, STYLES[found.severity])
        at = f" (at {found.instance_location})" if found.instance_location else ""
        yield _told("the request", severity, f"{found.code}: {found.message}{at}")
    yield Row(((_summary(done), "bold"),))


def _loss_rows(done: Conversions) -> Iterator[Row]:
    """Yield a row for each loss, in columns; two, below their tool, where those are too wide."""
    lines = [
        (
            name,
            loss.pointer or "(root)",
            loss.keyword,
            loss.action.value,
            loss.direction.value,
            loss.message,
        )
        for name, loss in _losses(done)
    ]
    if not lines:
        return
    rows = list(table([_HEADING, *lines], _STYLES))
    width = page_width(aside=True)
    if not is_terminal(aside=True) or all(len(row.plain) <= width for row in rows):
        yield from rows
        return
    above = None
    for line in lines:
        name, place, keyword, action, direction, said = map(printable, line)
        if name != above:
            yield Row(((name, "bold"),))
        where = " ".join(filter(None, (place, keyword)))
        yield Row(((f"{where}: ", "cyan"), (f"{action}, ", ""), (direction, "bold")), indent=2)
        yield Row(((said, ""),), indent=4)
        above = name


def _told(what: str, word: Part, said: str) -> Row:
    return Row(((printable(what), "bold"), (": ", ""), word, (printable(f": {said}"), "")))


def _summary(done: Conversions) -> str:
    strict = sum(one.strict for one in done.converted)
    refused = len(done.tools) - len(done.converted)
    said = [f"{counted(len(done.converted), 'tool')} for {done.api.in_words}"]
    said += [f"{strict:,} strict"] if strict else []
    said += [f"{refused:,} refused"] if refused else []
    losses = [loss.direction for _, loss in _losses(done)]
    if not losses:
        return ", ".join([*said, "no losses"])
    counts = Counter(losses)
    told = (f"{counts[one]:,} {one.value}" for one in reversed(Direction) if counts[one])
    differences = f"{len(losses):,} loss{'' if len(losses) == 1 else 'es'}"
    return ", ".join([*said, f"{differences} ({', '.join(told)})"])


def _losses(done: Conversions) -> Iterator[tuple[str, Loss]]:
    for one in done.tools:
        if isinstance(one.outcome, ConvertedTool):
            for loss in one.outcome.losses:
                yield one.name, loss


def _refused(done: Conversions) -> Iterator[tuple[str, str, RequestError]]:
    for one in done.tools:
        if isinstance(one.outcome, RequestError):
            yield one.file, one.name, one.outcome


def _not_strict(done: Conversions) -> Iterator[tuple[str, str]]:
    for one in done.tools:
        if isinstance(one.outcome, ConvertedTool) and one.outcome.not_strict_reason:
            yield one.name, one.outcome.not_strict_reason
