"""Defaults, put in where a member is absent.

``default`` is an annotation, which judges nothing (2020-12 validation, section 9.2);
many tools rely on it all the same. It is read in the ``properties`` of the subschemas
that apply to an object: through references and ``allOf``, in the branch that ``if``
selects, and in a branch of ``anyOf`` or ``oneOf`` if it alone accepts the object. The
subschema of the member may get it through a reference or ``allOf`` of its own, unless
it has one itself.

A default is skipped, and reported, if

- the subschemas that would judge it refuse it;
- two subschemas have different ones;
- it would make a valid payload invalid, as with a property that excludes another;
- it would stand, however deep, in a value that it made itself.

A default that was put in is filled like what was sent, so that ``{}`` and nothing at
all come to the same. No item of an array is made up.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.engines.applied import Applied, Path, always, only_accepting
from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.engines.places import Place, member_subschemas, places
from sidecheck_server.core.engines.unevaluated import accepts
from sidecheck_server.core.equality import json_equal
from sidecheck_server.core.explain.values import literal, quoted
from sidecheck_server.core.repair.edits import edited
from sidecheck_server.core.types import Change, ChangeRule, JsonValue, as_pointer

__all__ = ["apply_defaults"]

_DEFAULT = 200
"""Steps of one default, whatever its size."""

_MOST_ROUNDS = 32
"""How deep in defaults there may be defaults."""


def apply_defaults(
    engine: CompleteEngine, value: JsonValue, budget: Budget
) -> tuple[JsonValue, tuple[Change, ...]]:
    """Return *value* with the defaults of absent members, and what was put in or skipped.

    Raises:
        Exhausted: *budget* has too few steps.
    """
    filler = _Filler(engine, budget)
    value = filler.fill(value)
    return value, tuple(filler.changes.values())


@dataclass(frozen=True, slots=True)
class _Default:
    """A default, and where it was found."""

    path: Path
    value: JsonValue
    schema_path: Path
    #: The subschema that has it, by identity.
    owner: int

    def change(self, rule: ChangeRule, said: str) -> Change:
        """Return the report of it."""
        pointer, at = as_pointer(self.path), as_pointer(self.schema_path)
        name = quoted(str(self.path[-1]))
        return Change(pointer, rule, at, f"the default {literal(self.value)} of {name} {said}")


class _Filler:
    """The rounds of filling one payload."""

    def __init__(self, engine: CompleteEngine, budget: Budget) -> None:
        self._engine = engine
        self._budget = budget
        #: What was done or not about the default of each place.
        self.changes: dict[Path, Change] = {}
        #: The subschemas of the defaults that were put in.
        self._owners: dict[Path, int] = {}

    def fill(self, value: JsonValue) -> JsonValue:
        """Return *value* as it is when nothing is left to put in."""
        for _ in range(_MOST_ROUNDS):
            found = list(self._wanted(value))
            if not found:
                break
            value = self._put(value, found, guarded=self._is_valid(value))
        return value

    def _wanted(self, value: JsonValue) -> Iterator[_Default]:
        """Yield what can be put into *value*; note what is skipped."""
        for place in places(self._engine, value, self._budget, only_accepting):
            if isinstance(place.value, dict):
                for name, defaults in _defaults_in(place).items():
                    if defaults[0].path in self.changes:
                        continue
                    self._pay(defaults[0])
                    why_not = self._why_not(place, name, defaults)
                    if why_not:
                        self._skip(defaults[0], why_not)
                    else:
                        yield defaults[0]

    def _pay(self, default: _Default) -> None:
        # A default may stand in every item of an array; it is not copied, but written.
        spend(self._budget, _DEFAULT + _size(default.value))

    def _why_not(self, place: Place, name: str, defaults: list[_Default]) -> str:
        first = defaults[0]
        if not all(json_equal(each.value, first.value) for each in defaults):
            return "was not put in: another part of the schema has another default for it"
        judging = (each for here in place.applied for each in member_subschemas(here, name))
        if not all(
            each.asks or accepts(each.validator, first.value, each.schema) for each in judging
        ):
            return "was not put in: the schema itself does not allow it there"
        above = (first.path[:length] for length in range(1, len(first.path)))
        if any(self._owners.get(path) == first.owner for path in above):
            return "was not put in again within itself"
        return ""

    def _put(self, value: JsonValue, found: list[_Default], *, guarded: bool) -> JsonValue:
        """Return *value* with the defaults *found*, without those that make it invalid."""
        filled = edited(value, {each.path: each.value for each in found}, self._budget)
        if not guarded or self._is_valid(filled):
            for each in found:
                self._owners[each.path] = each.owner
                self.changes[each.path] = each.change(ChangeRule.DEFAULT_APPLIED, "was put in")
            return filled
        if len(found) == 1:
            self._skip(found[0], "was not put in: the payload is valid without it and not with it")
            return value
        half = len(found) // 2
        value = self._put(value, found[:half], guarded=True)
        return self._put(value, found[half:], guarded=True)

    def _skip(self, default: _Default, why: str) -> None:
        self.changes[default.path] = default.change(ChangeRule.DEFAULT_SKIPPED, why)

    def _is_valid(self, value: JsonValue) -> bool:
        validator, schema = self._engine.at_root(self._budget)
        return accepts(validator, value, schema)


def _defaults_in(place: Place) -> Mapping[str, list[_Default]]:
    """Return the defaults of the members that *place* lacks, by name."""
    found: dict[str, list[_Default]] = {}
    for here in place.applied:
        for name in () if here.asks else here.get("properties", ()):
            if name not in place.value:
                for default in _defaults_of(here, name, (*place.path, name)):
                    found.setdefault(name, []).append(default)
    return found


def _defaults_of(here: Applied, name: str, path: Path) -> Iterator[_Default]:
    """Yield the defaults that *here* has for its property *name*."""
    member = here.schema["properties"][name]
    if not isinstance(member, dict) or not _MAY_LEAD_TO_DEFAULTS & member.keys():
        return
    having = [each for each in always([here.below("properties", name)]) if each.has("default")]
    own = [each for each in having if each.schema is member]
    for each in own or having:
        yield _Default(path, each.schema["default"], (*each.path, "default"), id(each.schema))


def _size(value: JsonValue) -> int:
    """Return the size of *value* in the order of characters of its text."""
    if isinstance(value, str):
        return 2 + len(value)
    if isinstance(value, dict):
        return 2 + sum(4 + len(name) + _size(member) for name, member in value.items())
    if isinstance(value, list):
        return 2 + sum(1 + _size(item) for item in value)
    return 8


_MAY_LEAD_TO_DEFAULTS = {"default", "$ref", "$dynamicRef", "$recursiveRef", "allOf"}
