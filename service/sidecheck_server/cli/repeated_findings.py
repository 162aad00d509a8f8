"""Grouping of findings that many messages of a transcript repeat.

A tool that breaks a rule breaks it in every list that contains it. Such findings are
reported once, at their first place, with the number of messages that have them.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from sidecheck_server.cli.findings import Finding
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.types import pointer_steps

__all__ = ["group_repeated", "with_count"]

_Key: TypeAlias = tuple[object, ...]

#: Properties that name what an object is about.
_NAMING = ("method", "name", "uri")


def group_repeated(messages: Sequence[Sequence[Finding]], limits: Limits) -> list[list[Finding]]:
    """Return the findings of each of *messages* without those that an earlier one has.

    The message of a finding that was repeated ends in the number of messages that have it.
    Two findings are the same if code, severity and text are, and if the objects around
    them have the same names; indexes in arrays do not matter.
    """
    keys = [_keys_of(findings, limits) for findings in messages]
    counts = Counter(key for of_message in keys for key in of_message)
    seen: set[_Key] = set()
    grouped: list[list[Finding]] = []
    for findings, of_message in zip(messages, keys, strict=True):
        first = [
            with_count(finding, counts[key])
            for finding, key in zip(findings, of_message, strict=True)
            if key not in seen
        ]
        seen.update(of_message)
        grouped.append(first)
    return grouped


def with_count(finding: Finding, count: int) -> Finding:
    """Return *finding* with the number of messages that have it, *count*, in its text."""
    if count == 1:
        return finding
    violation = finding.violation
    message = f"{violation.message} (in {count:,} messages, first here)"
    return replace(finding, violation=replace(violation, message=message))


def _keys_of(findings: Sequence[Finding], limits: Limits) -> list[_Key]:
    """Return the key of each of *findings*, all of one message, so that no two are equal."""
    if not findings:
        return []
    try:
        value: Any = decode(findings[0].source.text, max_depth=limits.payload_depth + 1)
    except MalformedError:
        value = None
    occurrences: defaultdict[_Key, int] = defaultdict(int)
    keys = []
    for finding in findings:
        violation = finding.violation
        key = (
            violation.code,
            violation.severity,
            violation.message,
            *_names_around(value, violation.instance_location),
        )
        occurrences[key] += 1
        keys.append((*key, occurrences[key]))
    return keys


def _names_around(value: Any, pointer: str) -> tuple[object, ...]:
    """Return the steps of *pointer* without indexes, and the names of the objects on the way."""
    names: list[object] = []
    for step in (*pointer_steps(pointer), ""):
        if isinstance(value, Mapping):
            names += [value.get(name) for name in _NAMING if isinstance(value.get(name), str)]
            names.append(step)
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            names.append(step)
            value = None
    return tuple(names)
