"""Coercion of values to the required type, if the intent is certain.

Models write numbers, objects and arrays as strings, mostly by accident. A value is changed
only if ``type`` rejects it:

- The JSON text of an object or an array is decoded. Faults inside it are repaired in the
  next round, or reported at their location.
- A scalar is converted only if the schema accepts the result. Otherwise it keeps its type,
  and the wrong type is reported.

With the conversions of scalars, a property with null, "" or "null" is removed if the schema
rejects that value and does not require the property: models write these for arguments that
they leave out.

For a choice (``anyOf`` or ``oneOf``), the coercion for the intended branch is used if that
branch then accepts the value. Otherwise a coercion is used if it is the only one with which any
branch accepts the value.

Conversions preserve the value exactly, and apply only to texts in canonical spelling, since
other spellings may carry information: "007", "1e3" and " 5 " are not converted. The empty
string and "null" do not become null, a number does not become a boolean, and no value is
wrapped in an array.
"""
# Decision 0021: only conversions that are exactly safe, and only where a type was required.

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sidecheck_server.core.engines.application import Path
from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.engines.unevaluated import accepts
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.exact_numbers import MOST_DIGITS, ExactNumber, read_number
from sidecheck_server.core.explain.choices import select_branch
from sidecheck_server.core.explain.schemas import MOST_BRANCHES, describe_types
from sidecheck_server.core.explain.values import Values
from sidecheck_server.core.json_values import canonical_json, has_type, is_number, json_equal
from sidecheck_server.core.limits import Budget, Limits, spend
from sidecheck_server.core.payload import MalformedError, decode, decoding_steps
from sidecheck_server.core.repair.edits import ABSENT, apply_edits
from sidecheck_server.core.repair.types import Coercion
from sidecheck_server.core.types import Change, ChangeRule, JsonValue, as_pointer

__all__ = ["coerce"]

_LONGEST = MOST_DIGITS
"""Longest text that is converted to a number, in characters."""

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+")
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class _Conversion:
    """Conversion of a scalar to another type."""

    rule: ChangeRule
    #: The name of the target type.
    target: str
    #: Returns the converted value in a list, or an empty list if that is not safe.
    convert: Callable[[Any], list[JsonValue]]


def _decode_container(text: str, depth: int) -> list[JsonValue]:
    """Decode the object or array in *text*; return it in a list.

    The list is empty if *text* is not JSON, is ambiguous JSON, or nests deeper than *depth*.
    """
    if not text.lstrip(" \t\r\n").startswith(("{", "[")):
        return []
    try:
        return [decode(text.encode(), max_depth=depth)]
    except (MalformedError, RequestError, UnicodeEncodeError):
        return []


def _parse_integer(value: Any) -> list[JsonValue]:
    if not isinstance(value, str) or len(value) > _LONGEST or not _INTEGER.fullmatch(value):
        return []
    return [int(value)] if value != "-0" else []


def _parse_number(value: Any) -> list[JsonValue]:
    if isinstance(value, str) and len(value) <= _LONGEST and _DECIMAL.fullmatch(value):
        number = read_number(value)
        # An exact number keeps any spelling, but the zero of 1.10 may carry information.
        has_final_zero = isinstance(number, ExactNumber) and value.endswith("0")
        return [number] if repr(number) == value and not has_final_zero else []
    return _parse_integer(value)


def _parse_boolean(value: Any) -> list[JsonValue]:
    return [_BOOLEANS[value]] if isinstance(value, str) and value in _BOOLEANS else []


def _write_number(value: Any) -> list[JsonValue]:
    # 1.0 has several spellings, and decoding loses the original one.
    if not is_number(value) or (isinstance(value, float) and value.is_integer()):
        return []
    if isinstance(value, ExactNumber) and _DECIMAL.fullmatch(value.text):
        return [value.text]
    return [canonical_json(value).decode()]


def _write_boolean(value: Any) -> list[JsonValue]:
    return [canonical_json(value).decode()] if isinstance(value, bool) else []


_CONTAINERS = ("object", "array")
"""The types to which JSON texts are decoded."""

_SCALARS = (
    _Conversion(ChangeRule.STRING_TO_INTEGER, "integer", _parse_integer),
    _Conversion(ChangeRule.STRING_TO_NUMBER, "number", _parse_number),
    _Conversion(ChangeRule.STRING_TO_BOOLEAN, "boolean", _parse_boolean),
    _Conversion(ChangeRule.NUMBER_TO_STRING, "string", _write_number),
    _Conversion(ChangeRule.BOOLEAN_TO_STRING, "string", _write_boolean),
)
"""Safe conversions of scalars. At most one applies to a value and a set of required types."""

_EMPTY_TEXTS = ("", "null")
"""Strings that models write for an absent value; no conversion applies to them, or to null."""

_REQUIRING = ("required", "dependentRequired", "dependencies")
"""Keywords whose faults name a missing property."""

_PAYLOAD_DEPTH = Limits().payload_depth

_MOST_ROUNDS = 16
"""Most rounds of coercion. Each level of texts nested in texts doubles the backslashes, so
that even a large payload hardly has more levels."""

# Steps for a fault with the message of its repair, and for reading a branch of a choice.
_FAULT = 300
_BRANCH = 400

_DEEPEST = 4
"""Nesting depth of choices up to which all branches are tried."""


def coerce(
    engine: CompleteEngine,
    value: JsonValue,
    coercion: Coercion,
    budget: Budget,
    *,
    hide_values: bool,
    max_depth: int = _PAYLOAD_DEPTH,
) -> tuple[JsonValue, tuple[Change, ...]]:
    """Coerce values of a wrong type in *value*; return the result and the changes.

    A valid value is returned unchanged. With decoded texts, the result nests at most
    *max_depth* deep.

    Raises:
        Exhausted: *budget* has too few steps.
    """
    if coercion is Coercion.NONE:
        return value, ()
    scalars = coercion is Coercion.SAFE_SCALARS
    coercer = _Coercer(engine, budget, scalars=scalars, max_depth=max_depth)
    value, repairs = coercer.coerce(value)
    values = Values(hidden=hide_values)
    return value, tuple(_change(repair, values) for repair in repairs)


@dataclass(frozen=True, slots=True)
class _Repair:
    """The replacement or removal of one value."""

    path: Path
    old: Any
    #: `ABSENT` for a removal.
    new: Any
    rule: ChangeRule
    #: The path of the keyword that rejects the old value, and the type that it requires.
    schema_path: Path
    target: str = ""


def _change(repair: _Repair, values: Values) -> Change:
    old = values.describe(repair.old)
    if repair.rule is _REMOVED:
        name = values.property_named(str(repair.path[-1]))
        message = f"removed the optional {name}: its schema rejects {old}"
    elif repair.rule is _DECODED:
        message = f"decoded a string that holds the JSON text of {describe_types(repair.target)}"
    else:
        message = f"converted {old} to {describe_types(repair.target)}"
    return Change(as_pointer(repair.path), repair.rule, as_pointer(repair.schema_path), message)


_Repairs = dict[Path, _Repair]
_DECODED = ChangeRule.JSON_STRING_DECODED
_REMOVED = ChangeRule.EMPTY_OPTIONAL_REMOVED


class _Coercer:
    """The rounds of one coercion."""

    def __init__(
        self, engine: CompleteEngine, budget: Budget, *, scalars: bool, max_depth: int
    ) -> None:
        self._validator, self._schema = engine.at_root(budget)
        self._budget = budget
        self._scalars = scalars
        self._max_depth = max_depth
        #: Paths that are not repaired again: two subschemas may require different types.
        self._repaired_paths: set[Path] = set()
        #: The repairs of the last round, and the paths of the unsuccessful ones.
        self._last_repairs: _Repairs = {}
        self._wrong_paths: set[Path] = set()
        #: The removals of the last round, by the path of their object.
        self._last_removals: dict[Path, set[Path]] = {}
        #: The certain faults of this round and of the last one: path, schema, keyword.
        self._faults: set[tuple[Path, int, str]] = set()
        self._last_faults: set[tuple[Path, int, str]] = set()
        #: The texts decoded in this round.
        self._decoded: dict[Path, list[JsonValue]] = {}

    def coerce(self, original: JsonValue) -> tuple[JsonValue, list[_Repair]]:
        """Return *original* after the last round, and its repairs."""
        value = previous = original
        repairs: _Repairs = {}
        for rounds_left in reversed(range(_MOST_ROUNDS)):
            new_repairs = self._find_repairs(value)
            if self._wrong_paths:
                for path in self._wrong_paths:
                    del repairs[path]
                value = self._apply(previous, self._last_repairs)
            new_repairs = {
                path: repair
                for path, repair in new_repairs.items()
                if not self._is_within_wrong_path(path)
            }
            # Do not apply repairs in the last round: no further round would check them.
            if not new_repairs or not rounds_left:
                break
            self._last_repairs = new_repairs
            self._last_removals = _group_removals(new_repairs)
            self._repaired_paths |= new_repairs.keys()
            repairs |= new_repairs
            previous, value = value, self._apply(value, new_repairs)
        return (value if repairs else original), list(repairs.values())

    def _apply(self, value: JsonValue, repairs: _Repairs) -> JsonValue:
        """Return *value* after *repairs*, without the unsuccessful ones."""
        edits = {
            path: repair.new for path, repair in repairs.items() if path not in self._wrong_paths
        }
        return apply_edits(value, edits, self._budget)

    def _is_within_wrong_path(self, path: Path) -> bool:
        return any(path[:length] in self._wrong_paths for length in range(len(path) + 1))

    def _find_repairs(self, value: JsonValue) -> _Repairs:
        """Return the repairs for *value*; collect unsuccessful repairs of the last round."""
        repairs: _Repairs = {}
        self._wrong_paths = set()
        self._faults, self._last_faults = set(), self._faults
        self._decoded = {}
        for fault in self._validator.descend(value, self._schema):
            self._repair(fault, repairs, 0, certain=True)
        return repairs

    def _repair(self, fault: Fault, repairs: _Repairs, depth: int, *, certain: bool) -> bool:
        """Add the repair of *fault* to *repairs*; return whether no round must follow.

        *certain* is False for a fault in a branch that is only tried, not the intended one.
        """
        spend(self._budget, _FAULT)
        path = tuple(fault.absolute_path)
        if certain:
            self._check_last_repairs(fault, path)
        if self._is_empty_property(fault.instance, path):
            if path not in self._repaired_paths:
                schema_path = tuple(fault.absolute_schema_path)
                removal = _Repair(path, fault.instance, ABSENT, _REMOVED, schema_path)
                repairs.setdefault(path, removal)
            # The object may require the property.
            return False
        if fault.explore_branch is not None:
            return self._repair_choice(fault, repairs, depth, certain=certain)
        if fault.keyword == "type" and path not in self._repaired_paths and path not in repairs:
            for repair in islice(self._convert(fault, path), 1):
                repairs[path] = repair
                return repair.rule is not _DECODED
        return False

    def _check_last_repairs(self, fault: Fault, path: Path) -> None:
        """Add the repairs of the last round to which *fault* is due to the wrong paths."""
        last_repair = self._last_repairs.get(path)
        # A decoded container is wrong only if its type is; its contents may be invalid.
        if last_repair is not None and (
            last_repair.rule is not _DECODED or fault.keyword == "type"
        ):
            self._wrong_paths.add(path)
        identity = path, id(fault.schema), fault.keyword
        self._faults.add(identity)
        removed_paths = self._last_removals.get(path, set())
        if fault.keyword in _REQUIRING:
            name = fault.detail if isinstance(fault.detail, str) else fault.detail[1]
            self._wrong_paths |= removed_paths & {(*path, name)}
        elif identity not in self._last_faults:
            self._wrong_paths |= removed_paths

    def _is_empty_property(self, value: Any, path: Path) -> bool:
        is_empty = value is None or (isinstance(value, str) and value in _EMPTY_TEXTS)
        return self._scalars and is_empty and bool(path) and isinstance(path[-1], str)

    def _convert(self, fault: Fault, path: Path) -> Iterator[_Repair]:
        """Yield the repairs of a value without any of the types that *fault* requires."""
        types = fault.keyword_value
        required = [types] if isinstance(types, str) else types
        old, schema_path = fault.instance, tuple(fault.absolute_schema_path)
        for name in _CONTAINERS:
            if name in required and isinstance(old, str):
                for new in self._decode(path, old):
                    if has_type(new, name, fault.scope.dialect.draft):
                        yield _Repair(path, old, new, _DECODED, schema_path, name)
        for conversion in _SCALARS if self._scalars else ():
            if conversion.target in required:
                spend(self._budget, _conversion_steps(old))
                for new in conversion.convert(old):
                    if self._accepts(fault, new, fault.schema):
                        yield _Repair(
                            path, old, new, conversion.rule, schema_path, conversion.target
                        )

    def _repair_choice(self, fault: Fault, repairs: _Repairs, depth: int, *, certain: bool) -> bool:
        """Add the repairs for one branch of a choice; return whether it then accepts."""
        names = len(fault.instance) if isinstance(fault.instance, dict) else 0
        spend(self._budget, (_BRANCH + names) * min(len(fault.keyword_value), MOST_BRANCHES))
        partial: _Repairs = {}
        chosen = select_branch(fault)
        if isinstance(chosen, int):
            partial, accepted = self._repair_branch(fault, chosen, depth, certain=certain)
            if accepted:
                _merge(repairs, partial)
                return True
        complete: list[_Repairs] = []
        incomplete: list[_Repairs] = []
        if depth < _DEEPEST:
            for index in range(min(len(fault.keyword_value), MOST_BRANCHES)):
                if index != chosen:
                    branch_repairs, accepted = self._repair_branch(
                        fault, index, depth + 1, certain=False
                    )
                    (complete if accepted else incomplete).append(branch_repairs)
        if not complete and not isinstance(chosen, int):
            # The next round repairs the contents of the decoded text.
            partial = next(
                (candidate for candidate in incomplete if _decodes_value(fault, candidate)), {}
            )
        unambiguous = bool(complete) and all(
            _are_equal(candidate, complete[0]) for candidate in complete
        )
        _merge(repairs, complete[0] if unambiguous else partial)
        return unambiguous

    def _repair_branch(
        self, fault: Fault, index: int, depth: int, *, certain: bool
    ) -> tuple[_Repairs, bool]:
        """Return the repairs for one branch, and whether it accepts the result."""
        assert fault.explore_branch is not None
        repairs: _Repairs = {}
        complete = True
        for inner in fault.explore_branch(index):
            inner.parent = fault
            complete = self._repair(inner, repairs, depth, certain=certain) and complete
        return repairs, bool(repairs) and (complete or self._accepts_after(fault, index, repairs))

    def _accepts_after(self, fault: Fault, index: int, repairs: _Repairs) -> bool:
        """Return whether a branch of a choice accepts the value after *repairs*."""
        depth = len(fault.absolute_path)
        edits = {path[depth:]: repair.new for path, repair in repairs.items()}
        repaired = apply_edits(fault.instance, edits, self._budget)
        return self._accepts(fault, repaired, fault.keyword_value[index])

    def _accepts(self, fault: Fault, value: JsonValue, schema: Any) -> bool:
        """Return whether *schema*, in the scope of *fault*, accepts *value*."""
        return accepts(self._validator.within(fault.scope), value, schema)

    def _decode(self, path: Path, text: str) -> list[JsonValue]:
        """Decode the container in *text*, the value at *path*, once in each round."""
        if path not in self._decoded:
            spend(self._budget, decoding_steps(text))
            self._decoded[path] = _decode_container(text, self._max_depth - len(path))
        return self._decoded[path]


def _conversion_steps(value: Any) -> int:
    """Return the most steps of reading or writing *value* as a scalar."""
    if isinstance(value, str):
        return min(len(value), _LONGEST)
    return value.bit_length() if isinstance(value, int) else 1


def _merge(repairs: _Repairs, added: _Repairs) -> None:
    for path, repair in added.items():
        repairs.setdefault(path, repair)


def _group_removals(repairs: _Repairs) -> dict[Path, set[Path]]:
    removals: dict[Path, set[Path]] = {}
    for path, repair in repairs.items():
        if repair.rule is _REMOVED:
            removals.setdefault(path[:-1], set()).add(path)
    return removals


def _decodes_value(fault: Fault, repairs: _Repairs) -> bool:
    """Return whether *repairs* decode the value of *fault* itself, not a part of it."""
    repair = repairs.get(tuple(fault.absolute_path))
    return repair is not None and repair.rule is _DECODED


def _are_equal(left: _Repairs, right: _Repairs) -> bool:
    return left.keys() == right.keys() and all(
        json_equal(left[path].new, right[path].new) for path in left
    )
