"""The strict check of a guide that comes from outside: what every part of it must be."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from sidecheck_server.core.convert.branches import MOST_CONSTANTS, TYPES
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.explain.values import kind_of, quoted
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.types import as_pointer

__all__ = ["check_guide", "check_members", "expect", "invalid_plan"]

_Path: TypeAlias = tuple[str | int, ...]


def invalid_plan(path: _Path, code: str, said: str) -> RequestError:
    """Return the refusal of a plan for what stands at *path* of it."""
    pointer = as_pointer(path)
    at = f" (at {pointer})" if pointer else ""
    metadata = {"code": code, "pointer": pointer}
    return RequestError(
        ErrorReason.INVALID_MAPPING, f"the plan is not usable: {said}{at}", metadata
    )


def expect(value: Any, kind: type, in_words: str, path: _Path) -> None:
    """Check that *value*, which stands at *path*, is of a *kind*.

    Raises:
        Refusal: INVALID_MAPPING.
    """
    if type(value) is not kind:
        said = f"expected {in_words}, found {kind_of(value)}"
        raise invalid_plan(path, "PLAN_WRONG_TYPE", said)


def check_members(
    value: Any, known: Mapping[str, Any], required: tuple[str, ...], what: str, path: _Path
) -> None:
    """Check that *value* is an object with all that is *required* and nothing unknown.

    Raises:
        Refusal: INVALID_MAPPING.
    """
    expect(value, dict, f"an object, {what}", path)
    for name in value:
        if name not in known:
            said = f"{what} has no member {quoted(name)}"
            raise invalid_plan((*path, name), "PLAN_UNKNOWN_PROPERTY", said)
    for name in required:
        if name not in value:
            said = f"{what} needs the member {quoted(name)}"
            raise invalid_plan(path, "PLAN_MEMBER_MISSING", said)


def check_guide(guide: Any, path: _Path, limits: Limits) -> None:
    """Check *guide*, which stands at *path* of a plan; how deep it nests is bounded.

    Raises:
        Refusal: INVALID_MAPPING; LIMIT_EXCEEDED if it has more parts than a schema may have.
    """
    _Check(limits).check(guide, path)


class _Check:
    """The check of one guide."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._defs: dict[str, Any] = {}
        #: For each of ``defs``, which others guide the same value.
        self._leads: dict[str, set[str]] = {}

    def check(self, top: Any, path: _Path) -> None:
        check_members(top, {**_MEMBERS, "defs": None}, (), "a guide", path)
        if "defs" in top:
            expect(top["defs"], dict, "an object, guides by name", (*path, "defs"))
            self._defs = top["defs"]
            self._leads = {name: set() for name in self._defs}
        # With each guide, that of `defs` of whose value it is.
        pending = [
            (guide, (*path, "defs", name), name) for name, guide in reversed(self._defs.items())
        ]
        own = {name: member for name, member in top.items() if name != "defs"}
        pending.append((own, path, ""))
        checked = 0
        while pending:
            guide, at, of = pending.pop()
            checked += 1
            if checked > self._limits.subschemas:
                most = self._limits.subschemas
                raise exceeded("subschemas", most, "the plan has too many guides")
            pending += reversed(list(self._below(guide, at, of)))
        self._refuse_endless(path)

    def _below(self, guide: Any, at: _Path, of: str) -> Iterator[tuple[Any, _Path, str]]:
        """Yield the guides inside *guide*, which is checked but for them."""
        check_members(guide, _MEMBERS, (), "a guide", at)
        if "inner" in guide and "wrapped" not in guide:
            said = 'a guide with "inner" needs "wrapped"'
            raise invalid_plan(at, "PLAN_MEMBER_MISSING", said)
        for name, value in guide.items():
            for below, way in _MEMBERS[name](value, (*at, name)):
                yield below, way, of if name in _OF_ONE_VALUE else ""
        if "ref" in guide:
            self._follow(guide["ref"], at, of)

    def _follow(self, name: str, at: _Path, of: str) -> None:
        if name not in self._defs:
            said = f"there is no guide {quoted(name)} in defs"
            raise invalid_plan((*at, "ref"), "PLAN_REFERENCE_UNRESOLVED", said)
        if of:
            self._leads[of].add(name)

    def _refuse_endless(self, path: _Path) -> None:
        """Refuse guides of one value that lead back to themselves."""
        before: dict[str, list[str]] = {name: [] for name in self._leads}
        for name, leads in self._leads.items():
            for led in leads:
                before[led].append(name)
        left = {name: len(leads) for name, leads in self._leads.items()}
        ending = [name for name, leads in left.items() if not leads]
        while ending:
            name = ending.pop()
            del left[name]
            for earlier in before[name]:
                left[earlier] -= 1
                if not left[earlier]:
                    ending.append(earlier)
        if left:
            said = "the reference leads back to itself, or to one that does, in the same value"
            raise invalid_plan((*path, "defs", next(iter(left))), "PLAN_REFERENCE_ENDLESS", said)


_Below: TypeAlias = Iterator[tuple[Any, _Path]]


def _name(value: Any, path: _Path) -> _Below:
    expect(value, str, "a name, a string", path)
    return iter(())


def _names(value: Any, path: _Path) -> _Below:
    expect(value, list, "an array of names", path)
    for index, name in enumerate(value):
        expect(name, str, "a name, a string", (*path, index))
    return iter(())


def _renamed(value: Any, path: _Path) -> _Below:
    expect(value, dict, "an object, names by names", path)
    for name, original in value.items():
        expect(original, str, "a name, a string", (*path, name))
    return iter(())


def _guide(value: Any, path: _Path) -> _Below:
    yield value, path


def _guides_by_name(value: Any, path: _Path) -> _Below:
    expect(value, dict, "an object, guides by name", path)
    for name, guide in value.items():
        yield guide, (*path, name)


def _guides(value: Any, path: _Path) -> _Below:
    expect(value, list, "an array of guides", path)
    for index, guide in enumerate(value):
        yield guide, (*path, index)


def _guides_or_null(value: Any, path: _Path) -> _Below:
    expect(value, list, "an array of guides or null", path)
    for index, guide in enumerate(value):
        if guide is not None:
            yield guide, (*path, index)


def _true(value: Any, path: _Path) -> _Below:
    if value is not True:
        said = f"expected true, found {kind_of(value)}"
        raise invalid_plan(path, "PLAN_WRONG_VALUE", said)
    return iter(())


_ENTRIES: Mapping[str, Any] = {"name": _name, "value": _name, "each": _guide}


def _entries(value: Any, path: _Path) -> _Below:
    check_members(value, _ENTRIES, ("name", "value"), "what tells of entries", path)
    for name, member in value.items():
        yield from _ENTRIES[name](member, (*path, name))
    if value["name"] == value["value"]:
        said = "the name and the value of an entry cannot be one member"
        raise invalid_plan(path, "PLAN_WRONG_VALUE", said)


_BRANCH: Mapping[str, Any] = {"when": None, "as": None}


def _branches(value: Any, path: _Path) -> _Below:
    expect(value, list, "an array of branches", path)
    for index, branch in enumerate(value):
        at = (*path, index)
        check_members(branch, _BRANCH, ("when",), "a branch", at)
        _check_test(branch["when"], (*at, "when"))
        if "as" in branch:
            yield branch["as"], (*at, "as")


def _types(value: Any, path: _Path) -> _Below:
    _names(value, path)
    for index, name in enumerate(value):
        if name not in TYPES:
            said = f"{quoted(name)} is no type of JSON values"
            raise invalid_plan((*path, index), "PLAN_WRONG_VALUE", said)
    return iter(())


def _constants(value: Any, path: _Path) -> _Below:
    expect(value, dict, "an object, arrays of constants by name", path)
    for name, constants in value.items():
        at = (*path, name)
        expect(constants, list, "an array of constants", at)
        if len(constants) > MOST_CONSTANTS:
            said = f"expected at most {MOST_CONSTANTS} constants, found {len(constants):,}"
            raise invalid_plan(at, "PLAN_WRONG_VALUE", said)
        for index, constant in enumerate(constants):
            if isinstance(constant, dict | list):
                said = f"expected no array and no object, found {kind_of(constant)}"
                raise invalid_plan((*at, index), "PLAN_WRONG_TYPE", said)
    return iter(())


_TEST: Mapping[str, Callable[[Any, _Path], _Below]] = {
    "types": _types,
    "required": _names,
    "only": _names,
    "constants": _constants,
}


def _check_test(test: Any, path: _Path) -> None:
    check_members(test, _TEST, (), "a test of a branch", path)
    for name, value in test.items():
        _TEST[name](value, (*path, name))


_MEMBERS: Mapping[str, Callable[[Any, _Path], _Below]] = {
    "nulls": _names,
    "renamed": _renamed,
    "members": _guides_by_name,
    "values": _guide,
    "items": _guide,
    "prefix": _guides_or_null,
    "entries": _entries,
    "json_text": _true,
    "wrapped": _name,
    "inner": _guide,
    "any_of": _branches,
    "also": _guides,
    "ref": _name,
}
"""What each member of a guide must be, and the guides in it, with their places."""

_OF_ONE_VALUE = {"any_of", "also"}
"""The members whose guides are of the same value as the guide that has them."""
