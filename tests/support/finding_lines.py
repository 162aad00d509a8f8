"""Lines of findings that a proxy wrote to standard error."""

import re

__all__ = ["codes", "explanations"]

_LINE = re.compile(r"^\S+ (\w+->\w+.*?): (.*) \((\S+?)(?: at (.*))?, (\w+), (\w+)\)$")


def codes(err: str) -> list[str]:
    """Return direction, names, code, location, severity and action of each finding in *err*."""
    return [
        " ".join(filter(None, [context, code, location, f"{severity}, {action}"]))
        for context, _, code, location, severity, action in _read(err)
    ]


def explanations(err: str) -> list[str]:
    """Return what each finding in *err* says in words."""
    return [explanation for _, explanation, *_ in _read(err)]


def _read(err: str) -> list[tuple[str, ...]]:
    lines = [line for line in err.splitlines() if "->" in line]
    matches = [_LINE.fullmatch(line) for line in lines]
    assert all(matches), lines
    return [match.groups() for match in matches if match]
