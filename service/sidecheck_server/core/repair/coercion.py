"""Values of a wrong type, turned into the right one where that is certain.

Models write numbers, objects and arrays as strings, mostly by accident. A value is
changed only where a ``type`` is demanded that it does not have:

- the text of an object or an array becomes what it holds. What is inside may be wrong
  as well; that is found in the next round, or reported where it is;
- a scalar becomes another one only if then nothing is wrong with it. So it keeps its
  type where another keyword would refuse the new value, and the type is what is
  reported.

Of a choice, what counts is the branch that was meant if that makes it accept the value,
or else the only change under which some branch does.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.engines.applied import Path
from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.engines.json_types import has_type
from sidecheck_server.core.engines.unevaluated import accepts
from sidecheck_server.core.equality import json_equal
from sidecheck_server.core.explain.choices import meant
from sidecheck_server.core.explain.schemas import MOST_BRANCHES, types_in_words
from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.payload import decoding_steps
from sidecheck_server.core.repair.conversions import CONTAINERS, LONGEST, SCALARS, decoded
from sidecheck_server.core.repair.edits import edited
from sidecheck_server.core.repair.types import Coercion
from sidecheck_server.core.types import Change, ChangeRule, JsonValue, as_pointer

__all__ = ["coerce"]

_PAYLOAD_DEPTH = Limits().payload_depth

_MOST_ROUNDS = 16
"""How often the result is looked at again. Texts within texts double their backslashes
with each level, so that even a large payload has hardly more levels."""

# In steps: a fault with what is said of its repair, reading a branch of a choice.
_FAULT = 300
_BRANCH = 400

_DEEPEST = 4
"""How many choices, one under the other, are tried branch by branch."""


def coerce(
    engine: CompleteEngine,
    value: JsonValue,
    coercion: Coercion,
    budget: Budget,
    *,
    hide_values: bool,
    max_depth: int = _PAYLOAD_DEPTH,
) -> tuple[JsonValue, tuple[Change, ...]]:
    """Return *value* with values of a wrong type turned into the right one, and the changes.

    A valid value stays as it is. What is decoded nests no deeper than *max_depth* with
    what is around it.

    Raises:
        Exhausted: *budget* has too few steps.
    """
    if coercion is Coercion.NONE:
        return value, ()
    scalars = coercion is Coercion.SAFE_SCALARS
    coercer = _Coercer(engine, budget, scalars=scalars, max_depth=max_depth)
    value, made = coercer.coerce(value)
    values = Values(hidden=hide_values)
    return value, tuple(_change(each, values) for each in made)


@dataclass(frozen=True, slots=True)
class _Repair:
    """A value to take the place of another."""

    path: Path
    old: Any
    new: Any
    rule: ChangeRule
    #: The type that was demanded, and where.
    wanted: str
    schema_path: Path


def _change(repair: _Repair, values: Values) -> Change:
    wanted = types_in_words(repair.wanted)
    if repair.rule is _DECODED:
        said = f"decoded a string that holds the JSON text of {wanted}"
    else:
        said = f"took {values.found(repair.old)} for {wanted}"
    return Change(as_pointer(repair.path), repair.rule, as_pointer(repair.schema_path), said)


_Repairs = dict[Path, _Repair]
_DECODED = ChangeRule.JSON_STRING_DECODED


class _Coercer:
    """The rounds of one coercion."""

    def __init__(
        self, engine: CompleteEngine, budget: Budget, *, scalars: bool, max_depth: int
    ) -> None:
        self._validator, self._schema = engine.at_root(budget)
        self._budget = budget
        self._scalars = scalars
        self._max_depth = max_depth
        #: Places that are not looked at again: two subschemas may demand two types.
        self._settled: set[Path] = set()
        self._fresh: _Repairs = {}
        self._wrong: set[Path] = set()
        self._texts: dict[Path, list[JsonValue]] = {}

    def coerce(self, original: JsonValue) -> tuple[JsonValue, list[_Repair]]:
        """Return *original* as it is after the last round, and what was changed."""
        value = original
        made: _Repairs = {}
        for left in reversed(range(_MOST_ROUNDS)):
            found = self._look(value)
            for path in self._wrong:
                del made[path]
            value = edited(
                value, {path: self._fresh[path].old for path in self._wrong}, self._budget
            )
            found = {path: each for path, each in found.items() if not self._is_within_wrong(path)}
            # What the last look finds could not be looked at again.
            if not found or not left:
                break
            self._fresh = found
            self._settled |= found.keys()
            made |= found
            value = edited(
                value, {path: repair.new for path, repair in found.items()}, self._budget
            )
        return (value if made else original), list(made.values())

    def _is_within_wrong(self, path: Path) -> bool:
        return any(path[:length] in self._wrong for length in range(len(path) + 1))

    def _look(self, value: JsonValue) -> _Repairs:
        """Return what to repair in *value*; note which repairs of the last round were none."""
        found: _Repairs = {}
        self._wrong = set()
        self._texts = {}
        for fault in self._validator.descend(value, self._schema):
            self._repair(fault, found, 0, certain=True)
        return found

    def _repair(self, fault: Fault, found: _Repairs, depth: int, *, certain: bool) -> bool:
        """Add to *found* what would mend *fault*, which is *certain* if its branches are.

        Return whether there was nothing else to it.
        """
        spend(self._budget, _FAULT)
        path = tuple(fault.absolute_path)
        made = self._fresh.get(path) if certain else None
        # Of what was decoded only the type was promised.
        if made is not None and (made.rule is not _DECODED or fault.validator == "type"):
            self._wrong.add(path)
        if fault.explore is not None:
            return self._choose(fault, found, depth, certain=certain)
        if fault.validator == "type" and path not in self._settled and path not in found:
            for repair in islice(self._retyped(fault, path), 1):
                found[path] = repair
                return repair.rule is not _DECODED
        return False

    def _retyped(self, fault: Fault, path: Path) -> Iterator[_Repair]:
        """Yield the repair of a value that does not have the type that *fault* demands."""
        types = fault.validator_value
        demanded = [types] if isinstance(types, str) else types
        old, at = fault.instance, tuple(fault.absolute_schema_path)
        for name in CONTAINERS:
            if name in demanded and isinstance(old, str):
                for new in self._decode(path, old):
                    if has_type(new, name, fault.scope.dialect.draft):
                        yield _Repair(path, old, new, _DECODED, name, at)
        for row in SCALARS if self._scalars else ():
            if row.wanted in demanded:
                spend(self._budget, _length(old))
                for new in row.convert(old):
                    if self._accepts(fault, new, fault.schema):
                        yield _Repair(path, old, new, row.rule, row.wanted, at)

    def _choose(self, fault: Fault, found: _Repairs, depth: int, *, certain: bool) -> bool:
        """Add to *found* what would make one branch of a choice accept the value, or nearly.

        Return whether it does.
        """
        names = len(fault.instance) if isinstance(fault.instance, dict) else 0
        spend(self._budget, (_BRANCH + names) * min(len(fault.validator_value), MOST_BRANCHES))
        likely: _Repairs = {}
        chosen = meant(fault)
        if isinstance(chosen, int):
            likely, mended = self._within(fault, chosen, depth, certain=certain)
            if mended:
                _merge(found, likely)
                return True
        fitting: list[_Repairs] = []
        partly: list[_Repairs] = []
        if depth < _DEEPEST:
            for index in range(min(len(fault.validator_value), MOST_BRANCHES)):
                if index != chosen:
                    repairs, mended = self._within(fault, index, depth + 1, certain=False)
                    (fitting if mended else partly).append(repairs)
        if not fitting and not isinstance(chosen, int):
            # What a text holds is looked into once it is decoded.
            likely = next((each for each in partly if _decodes_itself(fault, each)), {})
        only = bool(fitting) and all(_are_same(each, fitting[0]) for each in fitting)
        _merge(found, fitting[0] if only else likely)
        return only

    def _within(
        self, fault: Fault, index: int, depth: int, *, certain: bool
    ) -> tuple[_Repairs, bool]:
        """Return what would mend one branch of a choice, and whether it then accepts."""
        assert fault.explore is not None
        found: _Repairs = {}
        mended = True
        for inner in fault.explore(index):
            inner.parent = fault
            mended = self._repair(inner, found, depth, certain=certain) and mended
        return found, bool(found) and (mended or self._mends(fault, index, found))

    def _mends(self, fault: Fault, index: int, repairs: _Repairs) -> bool:
        """Return whether a branch of a choice accepts the value after *repairs*."""
        above = len(fault.absolute_path)
        edits = {path[above:]: repair.new for path, repair in repairs.items()}
        mended = edited(fault.instance, edits, self._budget)
        return self._accepts(fault, mended, fault.validator_value[index])

    def _accepts(self, fault: Fault, value: JsonValue, schema: Any) -> bool:
        """Return whether *schema*, which stands where *fault* does, accepts *value*."""
        return accepts(self._validator.evolve(_resolver=fault.scope), value, schema)

    def _decode(self, path: Path, text: str) -> list[JsonValue]:
        """Return what *text*, which stands at *path*, holds; it is read once a round."""
        if path not in self._texts:
            spend(self._budget, decoding_steps(text))
            self._texts[path] = decoded(text, self._max_depth - len(path))
        return self._texts[path]


def _length(value: Any) -> int:
    """Return how many steps it takes to read or write *value* as a scalar, at the most."""
    if isinstance(value, str):
        return min(len(value), LONGEST)
    return value.bit_length() if isinstance(value, int) else 1


def _merge(found: _Repairs, more: _Repairs) -> None:
    for path, repair in more.items():
        found.setdefault(path, repair)


def _decodes_itself(fault: Fault, repairs: _Repairs) -> bool:
    repair = repairs.get(tuple(fault.absolute_path))
    return repair is not None and repair.rule is _DECODED


def _are_same(one: _Repairs, two: _Repairs) -> bool:
    return one.keys() == two.keys() and all(
        json_equal(one[path].new, two[path].new) for path in one
    )
