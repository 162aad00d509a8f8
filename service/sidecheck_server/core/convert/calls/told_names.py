"""Names of members in what a model is told: those that it knows, not those of the original."""

import re
from collections.abc import Iterator
from dataclasses import replace

from sidecheck_server.core.convert.guides import Guide
from sidecheck_server.core.explain.values import quoted
from sidecheck_server.core.types import Verdict

__all__ = ["with_known_names"]

# What is quoted in a message, but for the values that it says were found.
_QUOTED = re.compile(r'(?<!the string )"(?:[^"\\]|\\.)*"')

_OF_VALUES = ("const", "enum")
"""Keywords whose messages quote values that are wanted."""


def with_known_names(verdict: Verdict, guide: Guide | None) -> Verdict:
    """Return *verdict*, on arguments restored by *guide*, with the names that the model knows.

    One tool gives a member the same name in the API wherever it stands, so that pointers
    need not be followed through the guide.
    """
    known = {} if guide is None or verdict.valid else dict(_renamed(guide))
    if not known:
        return verdict
    in_quotes = {quoted(original): quoted(name) for original, name in known.items()}

    def said(found: re.Match[str]) -> str:
        return in_quotes.get(found[0], found[0])

    steps = {_escaped(original): _escaped(name) for original, name in known.items()}
    told = [
        replace(
            each,
            instance_location="/".join(
                steps.get(step, step) for step in each.instance_location.split("/")
            ),
            message=each.message if each.keyword in _OF_VALUES else _QUOTED.sub(said, each.message),
        )
        for each in verdict.violations
    ]
    return replace(verdict, violations=tuple(told))


def _escaped(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")


def _renamed(guide: Guide) -> Iterator[tuple[str, str]]:
    """Yield the members that are renamed anywhere in *guide*: original and new name."""
    pending: list[Guide | None] = [guide]
    while pending:
        each = pending.pop()
        if each is None:
            continue
        yield from ((original, name) for name, original in each.get("renamed", {}).items())
        pending += [each.get(one) for one in ("values", "items", "inner")]
        pending += [*each.get("members", {}).values(), *each.get("defs", {}).values()]
        pending += [*each.get("prefix", ()), *each.get("also", ())]
        pending += [branch.get("as") for branch in each.get("any_of", ())]
        pending.append(each.get("entries", {}).get("each"))
