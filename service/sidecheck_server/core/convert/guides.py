"""Guides: the way back from a model's arguments to those of the original schema.

A guide is a JSON object that mirrors a schema only on the ways to places where something is
to be undone. Its members, all optional:

- ``nulls``: members, by their names in the API, that are removed if they are null;
- ``renamed``: the original names of members by those in the API;
- ``members``: guides of members, by their names in the API; ``values``: that of all others;
- ``items``: the guide of items; ``prefix``: those of the first ones, or null, in its place;
- ``entries``: the array is an object, one entry for each member, ``{"name", "value",
  "each"}``: which members of entries have the name and the value, and the guide of values;
- ``json_text``: the string holds the JSON text of the value;
- ``wrapped``: the value is the one member of that name; ``inner``: its guide;
- ``any_of``: a union, a list of ``{"when", "as"}``: a test (see `branches`) and a guide;
- ``also``: a list of guides of the same value;
- ``ref``: another guide of the same value, by its name in ``defs``, which the top has.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

import msgspec

from sidecheck_server.core.convert.branch_tests import Tests
from sidecheck_server.core.convert.part import Part, Undo, reachable
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits

__all__ = ["Guide", "guide_of"]

Guide: TypeAlias = dict[str, Any]
"""A JSON object, as above."""

_DEEPEST = 8
"""How many guides stand one in the other before the next one stands in ``defs``: schemas may
nest deeper than plans."""

_LARGEST = Limits().schema_bytes // 2
"""The largest text of a guide, in bytes: a plan has more, and must be readable again."""

_MOST = Limits().subschemas
"""The most objects in a guide: a plan may have as many guides."""

_UNIONS = ("anyOf", "oneOf")


def guide_of(root: Part) -> Guide | None:
    """Return how to undo what was done to payloads at *root*, or None if nothing was.

    Raises:
        Refusal: NOT_CONVERTIBLE if it would be larger than a plan may be.
    """
    if all(part.undo == _NOTHING for part in reachable(root)):
        return None
    leading, shared = _leading(root)
    if id(root) not in leading:
        return None
    guide = _Guides(leading, shared).of(root)
    text = msgspec.json.encode(guide)
    # Every guide is an object, so there are no more of them.
    if len(text) > _LARGEST or text.count(b"{") > _MOST:
        said = (
            "turning calls back would take a plan that is too large: its guide has "
            f"{text.count(b'{'):,} objects and {len(text):,} bytes; at most {_MOST:,} and "
            f"{_LARGEST:,} can be read again"
        )
        raise RequestError(
            ErrorReason.NOT_CONVERTIBLE, said, {"bound": "plan", "limit": str(_LARGEST)}
        )
    return guide


def _leading(root: Part) -> tuple[set[int], set[int]]:
    """Return the parts from which a way leads to an undo, and those to which several ways lead."""
    above: dict[int, list[int]] = {id(root): []}
    undone: list[int] = []
    pending = [root]
    while pending:
        part = pending.pop()
        if part.undo != _NOTHING:
            undone.append(id(part))
        for below in _below(part):
            if id(below) not in above:
                above[id(below)] = []
                pending.append(below)
            above[id(below)].append(id(part))
    leading = set(undone)
    while undone:
        more = [part for part in above[undone.pop()] if part not in leading]
        leading.update(more)
        undone += more
    shared = {part for part in leading if len(above[part]) + (part == id(root)) > 1}
    return leading, shared


_NOTHING = Undo()


def _below(part: Part) -> Iterator[Part]:
    """Yield the parts to which a guide can lead from *part*."""
    for keyword in ("$ref", "allOf", *_UNIONS):
        yield from _listed(part, keyword)
    if part.undo.wrapped or part.undo.entries is not None:
        yield from _inside(part)
        return
    yield from part.keywords.get("properties", {}).values()
    for keyword in ("additionalProperties", "prefixItems", "items"):
        yield from _listed(part, keyword)


def _inside(part: Part) -> Iterator[Part]:
    """Yield the part of what *part* wraps, or of the values of its entries."""
    undo = part.undo
    found = part
    name = undo.wrapped
    if not name and undo.entries is not None:
        found = part.keywords.get("items", part)
        name = undo.entries.value
    member = found.keywords.get("properties", {}).get(name)
    if isinstance(member, Part):
        yield member


def _listed(part: Part, keyword: str) -> list[Part]:
    value = part.keywords.get(keyword)
    values = value if isinstance(value, list) else [value]
    return [each for each in values if isinstance(each, Part)]


class _Guides:
    """The guides of the parts of one schema, each made once."""

    def __init__(self, leading: set[int], shared: set[int]) -> None:
        self._leading = leading
        self._shared = shared
        self._tests = Tests()
        self._names: dict[int, str] = {}
        self._defs: dict[str, Guide] = {}
        #: Guides that are empty as yet, with their part and how deep they stand.
        self._pending: list[tuple[Part, Guide, int]] = []

    def of(self, root: Part) -> Guide:
        """Return the guide of *root*, from which a way leads to an undo."""
        top = self._guide(root, 0)
        assert top is not None, "the root leads to an undo"
        while self._pending:
            part, guide, depth = self._pending.pop()
            self._fill(part, guide, depth)
        return {**top, "defs": self._defs} if self._defs else top

    def _guide(self, part: Part | None, depth: int) -> Guide | None:
        """Return the guide of *part*, which stands *depth* deep, or None if it has none."""
        if part is None or id(part) not in self._leading:
            return None
        if id(part) in self._shared or depth == _DEEPEST:
            return {"ref": self._name(part)}
        guide: Guide = {}
        self._pending.append((part, guide, depth + 1))
        return guide

    def _name(self, part: Part) -> str:
        """Return the name by which ``defs`` has the guide of *part*."""
        name = self._names.get(id(part))
        if name is None:
            name = self._names[id(part)] = f"d{len(self._defs)}"
            self._defs[name] = {}
            self._pending.append((part, self._defs[name], 1))
        return name

    def _fill(self, part: Part, guide: Guide, depth: int) -> None:
        undo = part.undo
        if undo.nulls:
            guide["nulls"] = list(undo.nulls)
        if undo.renamed:
            guide["renamed"] = dict(undo.renamed)
        if undo.json_text:
            guide["json_text"] = True
        if undo.wrapped or undo.entries is not None:
            self._fill_encoded(part, guide, depth)
        else:
            self._fill_members(part, guide, depth)
            self._fill_items(part, guide, depth)
        self._fill_in_place(part, guide, depth)

    def _fill_encoded(self, part: Part, guide: Guide, depth: int) -> None:
        inner = self._guide(next(_inside(part), None), depth)
        if part.undo.wrapped:
            guide["wrapped"] = part.undo.wrapped
            if inner is not None:
                guide["inner"] = inner
        elif (entries := part.undo.entries) is not None:
            guide["entries"] = {"name": entries.name, "value": entries.value}
            if inner is not None:
                guide["entries"]["each"] = inner

    def _fill_members(self, part: Part, guide: Guide, depth: int) -> None:
        declared = part.keywords.get("properties", {})
        members = {name: self._guide(below, depth) for name, below in declared.items()}
        values = self._one(part, "additionalProperties", depth)
        if values is not None:
            guide["values"] = values
            # A declared member is not among the others, whether or not it leads anywhere.
            members = {name: below or {} for name, below in members.items()}
        members = {name: below for name, below in members.items() if below is not None}
        if members:
            guide["members"] = members

    def _fill_items(self, part: Part, guide: Guide, depth: int) -> None:
        items = self._one(part, "items", depth)
        prefix = [self._guide(below, depth) for below in _listed(part, "prefixItems")]
        if items is not None:
            guide["items"] = items
        else:
            while prefix and prefix[-1] is None:
                prefix.pop()
        if prefix:
            guide["prefix"] = prefix

    def _fill_in_place(self, part: Part, guide: Guide, depth: int) -> None:
        for target in _listed(part, "$ref"):
            if id(target) in self._leading:
                guide["ref"] = self._name(target)
        also = [self._guide(below, depth) for below in _listed(part, "allOf")]
        for keyword in _UNIONS:
            branches = self._branches(part, keyword, depth)
            if branches and "any_of" not in guide:
                guide["any_of"] = branches
            elif branches:
                also.append({"any_of": branches})
        also = [each for each in also if each is not None]
        if also:
            guide["also"] = also

    def _branches(self, part: Part, keyword: str, depth: int) -> list[Guide]:
        """Return the branches of a union, or none if none of them leads anywhere."""
        branches = [below for below in _listed(part, keyword) if not below.never]
        if not any(id(below) in self._leading for below in branches):
            return []
        found: list[Guide] = []
        for below in branches:
            branch: Guide = {"when": self._tests.of(below)}
            guide = self._guide(below, depth)
            if guide is not None:
                branch["as"] = guide
            found.append(branch)
        return found

    def _one(self, part: Part, keyword: str, depth: int) -> Guide | None:
        return self._guide(next(iter(_listed(part, keyword)), None), depth)
