"""Gathering: the members that unions and references beside an object declare, put into it."""

from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.convert.fitting.fitting import Fitting
from sidecheck_server.core.convert.part import Part

__all__ = ["gather"]

_VISIT = 80
"""Steps of looking at one part."""
_DEEPEST = 64
"""Of what stands beside what stands beside an object."""


class _Gathered:
    """What the parts that judge the same object declare together."""

    def __init__(self, fitting: Fitting) -> None:
        self.fitting = fitting
        self.seen: set[int] = set()
        #: Members by name, as each place that must hold or may hold declares them.
        self.certain: dict[str, Part] = {}
        self.possible: dict[str, list[Part]] = {}
        self.required: dict[str, None] = {}
        self.type: str | list[str] | None = None
        self.others: Part | None = None

    def take(self, part: Part, depth: int, *, must: bool) -> None:
        """Take what *part* declares, and what stands beside that."""
        spend(self.fitting.record.budget, _VISIT + len(part.keywords.get("properties", ())))
        if id(part) in self.seen or depth > _DEEPEST:
            return
        self.seen.add(id(part))
        keywords = part.keywords
        for name, member in keywords.get("properties", {}).items():
            if must:
                self.certain.setdefault(name, member)
            else:
                self.possible.setdefault(name, []).append(member)
        if must:
            self.required.update(dict.fromkeys(keywords.get("required", ())))
            self.type = self.type or keywords.get("type")
        if self.others is None:
            self.others = _others(keywords, own=depth == 0)
        for below, certain in _beside(part):
            self.take(below, depth + 1, must=must and certain)


def _others(keywords: dict[str, Any], *, own: bool) -> Part | None:
    """Return what is said of members that are not declared, if that leaves some."""
    others: Part | None = keywords.get("additionalProperties")
    if own or (others is not None and not others.never):
        return others
    patterns = keywords.get("patternProperties")
    return Part(next(iter(patterns.values())).at) if patterns else None


def _beside(part: Part) -> Iterator[tuple[Part, bool]]:
    """Yield the parts that judge the same value as *part*, and whether they must hold."""
    keywords = part.keywords
    if "$ref" in keywords:
        yield keywords["$ref"], True
    for below in keywords.get("allOf", ()):
        yield below, True
    for keyword in ("anyOf", "oneOf"):
        for below in keywords.get(keyword, ()):
            yield below, False
    for keyword in ("then", "else"):
        if keyword in keywords:
            yield keywords[keyword], False
    for below in keywords.get("dependentSchemas", {}).values():
        yield below, False


def gather(part: Part, fitting: Fitting) -> None:
    """Declare in *part* what the parts that judge the same object declare.

    Members that only some of them declare are declared where the subset closes objects
    anyway: left out, they could not be given at all.
    """
    found = _Gathered(fitting)
    found.take(part, 0, must=True)
    own = part.keywords
    closed = "additionalProperties" in own and own["additionalProperties"].never
    members: dict[str, Part] = dict(own.get("properties", {})) if closed else dict(found.certain)
    if fitting.subset.closed and not closed:
        for name, several in found.possible.items():
            members.setdefault(name, _any_of(several))
    _put(own, "properties", members)
    _put(own, "required", list(found.required))
    if found.type is not None:
        own.setdefault("type", found.type)
    if found.others is not None:
        own.setdefault("additionalProperties", found.others)


def _put(keywords: dict[str, Any], keyword: str, value: Any) -> None:
    if value:
        keywords[keyword] = value


def _any_of(several: list[Part]) -> Part:
    if len(several) == 1:
        return several[0]
    return Part(several[0].at, {"anyOf": list(several)})
