"""Strict check of an argument decoder, which may come from anywhere."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from sidecheck_server.core.convert.branch_tests import MAX_CONSTANTS, TYPES
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.explain.values import kind_of, quoted
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.types import as_pointer

__all__ = ["check_decoder", "check_properties", "expect_type", "invalid_mapping"]

_Path: TypeAlias = tuple[str | int, ...]


def invalid_mapping(path: _Path, code: str, message: str) -> RequestError:
    """Return the error for a fault at *path* of a mapping."""
    pointer = as_pointer(path)
    location = f" (at {pointer})" if pointer else ""
    metadata = {"code": code, "pointer": pointer}
    return RequestError(
        ErrorReason.INVALID_MAPPING, f"invalid mapping: {message}{location}", metadata
    )


def expect_type(value: Any, type_: type, expected: str, path: _Path) -> None:
    """Check that *value*, which is at *path*, has that *type_*.

    Raises:
        RequestError: INVALID_MAPPING.
    """
    if type(value) is not type_:
        message = f"expected {expected}, found {kind_of(value)}"
        raise invalid_mapping(path, "MAPPING_WRONG_TYPE", message)


def check_properties(
    value: Any, known: Mapping[str, Any], required: tuple[str, ...], noun: str, path: _Path
) -> None:
    """Check that *value* is an object with all *required* properties and no unknown ones.

    Raises:
        RequestError: INVALID_MAPPING.
    """
    expect_type(value, dict, f"an object, {noun}", path)
    for name in value:
        if name not in known:
            message = f"{noun} has no property {quoted(name)}"
            raise invalid_mapping((*path, name), "MAPPING_UNKNOWN_PROPERTY", message)
    for name in required:
        if name not in value:
            message = f"{noun} requires the property {quoted(name)}"
            raise invalid_mapping(path, "MAPPING_PROPERTY_MISSING", message)


def check_decoder(decoder: Any, path: _Path, limits: Limits) -> None:
    """Check *decoder*, which is at *path* of a mapping; its depth was bounded by its reader.

    Raises:
        RequestError: INVALID_MAPPING; LIMIT_EXCEEDED if it has more nested decoders than a
            schema may have subschemas.
    """
    _Checker(limits).check(decoder, path)


class _Checker:
    """Check of one decoder."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._defs: dict[str, Any] = {}
        #: For each of ``defs``, the others to which it delegates the same value.
        self._delegates: dict[str, set[str]] = {}

    def check(self, top: Any, path: _Path) -> None:
        check_properties(top, {**_PROPERTIES, "defs": None}, (), "a decoder", path)
        if "defs" in top:
            expect_type(top["defs"], dict, "an object, decoders by name", (*path, "defs"))
            self._defs = top["defs"]
            self._delegates = {name: set() for name in self._defs}
        # With each decoder, the name in `defs` of the decoder of the same value, or "".
        pending = [
            (decoder, (*path, "defs", name), name) for name, decoder in reversed(self._defs.items())
        ]
        own = {name: value for name, value in top.items() if name != "defs"}
        pending.append((own, path, ""))
        checked = 0
        while pending:
            decoder, at, owner = pending.pop()
            checked += 1
            if checked > self._limits.subschemas:
                message = "the mapping has too many decoders"
                raise exceeded("subschemas", self._limits.subschemas, message)
            pending += reversed(list(self._nested(decoder, at, owner)))
        self._reject_cycles(path)

    def _nested(self, decoder: Any, path: _Path, owner: str) -> Iterator[tuple[Any, _Path, str]]:
        """Check *decoder* itself, and yield the decoders inside it."""
        check_properties(decoder, _PROPERTIES, (), "a decoder", path)
        if "inner" in decoder and "wrapped" not in decoder:
            message = 'a decoder with "inner" requires "wrapped"'
            raise invalid_mapping(path, "MAPPING_PROPERTY_MISSING", message)
        for name, value in decoder.items():
            for nested, nested_path in _PROPERTIES[name](value, (*path, name)):
                yield nested, nested_path, owner if name in _SAME_VALUE else ""
        if "ref" in decoder:
            self._follow(decoder["ref"], path, owner)

    def _follow(self, name: str, path: _Path, owner: str) -> None:
        if name not in self._defs:
            message = f"there is no decoder {quoted(name)} in defs"
            raise invalid_mapping((*path, "ref"), "MAPPING_REFERENCE_UNRESOLVED", message)
        if owner:
            self._delegates[owner].add(name)

    def _reject_cycles(self, path: _Path) -> None:
        """Reject decoders that lead back to themselves for the same value."""
        delegators: dict[str, list[str]] = {name: [] for name in self._delegates}
        for name, delegates in self._delegates.items():
            for delegate in delegates:
                delegators[delegate].append(name)
        left = {name: len(delegates) for name, delegates in self._delegates.items()}
        acyclic = [name for name, count in left.items() if not count]
        while acyclic:
            name = acyclic.pop()
            del left[name]
            for delegator in delegators[name]:
                left[delegator] -= 1
                if not left[delegator]:
                    acyclic.append(delegator)
        if left:
            message = "the reference leads back to itself, or to such a cycle, for the same value"
            cyclic = (*path, "defs", next(iter(left)))
            raise invalid_mapping(cyclic, "MAPPING_REFERENCE_CYCLE", message)


_Nested: TypeAlias = Iterator[tuple[Any, _Path]]
"""Decoders in a value, each with its path."""


def _name(value: Any, path: _Path) -> _Nested:
    expect_type(value, str, "a name, a string", path)
    return iter(())


def _names(value: Any, path: _Path) -> _Nested:
    expect_type(value, list, "an array of names", path)
    for index, name in enumerate(value):
        expect_type(name, str, "a name, a string", (*path, index))
    return iter(())


def _renamed(value: Any, path: _Path) -> _Nested:
    expect_type(value, dict, "an object, names by names", path)
    for name, original in value.items():
        expect_type(original, str, "a name, a string", (*path, name))
    return iter(())


def _decoder(value: Any, path: _Path) -> _Nested:
    yield value, path


def _decoders_by_name(value: Any, path: _Path) -> _Nested:
    expect_type(value, dict, "an object, decoders by name", path)
    for name, decoder in value.items():
        yield decoder, (*path, name)


def _decoders(value: Any, path: _Path) -> _Nested:
    expect_type(value, list, "an array of decoders", path)
    for index, decoder in enumerate(value):
        yield decoder, (*path, index)


def _decoders_or_null(value: Any, path: _Path) -> _Nested:
    expect_type(value, list, "an array of decoders or null", path)
    for index, decoder in enumerate(value):
        if decoder is not None:
            yield decoder, (*path, index)


def _true(value: Any, path: _Path) -> _Nested:
    if value is not True:
        message = f"expected true, found {kind_of(value)}"
        raise invalid_mapping(path, "MAPPING_WRONG_VALUE", message)
    return iter(())


_ENTRIES: Mapping[str, Any] = {"name": _name, "value": _name, "each": _decoder}


def _entries(value: Any, path: _Path) -> _Nested:
    check_properties(value, _ENTRIES, ("name", "value"), "a layout of entries", path)
    for name, nested in value.items():
        yield from _ENTRIES[name](nested, (*path, name))
    if value["name"] == value["value"]:
        message = "the name and the value of an entry must be different properties"
        raise invalid_mapping(path, "MAPPING_WRONG_VALUE", message)


_BRANCH: Mapping[str, Any] = {"when": None, "as": None}


def _branches(value: Any, path: _Path) -> _Nested:
    expect_type(value, list, "an array of branches", path)
    for index, branch in enumerate(value):
        branch_path = (*path, index)
        check_properties(branch, _BRANCH, ("when",), "a branch", branch_path)
        _check_test(branch["when"], (*branch_path, "when"))
        if "as" in branch:
            yield branch["as"], (*branch_path, "as")


def _types(value: Any, path: _Path) -> _Nested:
    _names(value, path)
    for index, name in enumerate(value):
        if name not in TYPES:
            message = f"{quoted(name)} is not a JSON type"
            raise invalid_mapping((*path, index), "MAPPING_WRONG_VALUE", message)
    return iter(())


def _constants(value: Any, path: _Path) -> _Nested:
    expect_type(value, dict, "an object, arrays of constants by name", path)
    for name, constants in value.items():
        constants_path = (*path, name)
        expect_type(constants, list, "an array of constants", constants_path)
        if len(constants) > MAX_CONSTANTS:
            message = f"expected at most {MAX_CONSTANTS} constants, found {len(constants):,}"
            raise invalid_mapping(constants_path, "MAPPING_WRONG_VALUE", message)
        for index, constant in enumerate(constants):
            if isinstance(constant, dict | list):
                message = f"expected a scalar, found {kind_of(constant)}"
                raise invalid_mapping((*constants_path, index), "MAPPING_WRONG_TYPE", message)
    return iter(())


_TEST: Mapping[str, Callable[[Any, _Path], _Nested]] = {
    "types": _types,
    "required": _names,
    "only": _names,
    "constants": _constants,
}


def _check_test(test: Any, path: _Path) -> None:
    check_properties(test, _TEST, (), "a test of a branch", path)
    for name, value in test.items():
        _TEST[name](value, (*path, name))


_PROPERTIES: Mapping[str, Callable[[Any, _Path], _Nested]] = {
    "nulls": _names,
    "renamed": _renamed,
    "properties": _decoders_by_name,
    "values": _decoder,
    "items": _decoder,
    "prefix": _decoders_or_null,
    "entries": _entries,
    "json_text": _true,
    "wrapped": _name,
    "inner": _decoder,
    "any_of": _branches,
    "also": _decoders,
    "ref": _name,
}
"""The check of each property of a decoder, which yields the decoders inside it."""

_SAME_VALUE = {"any_of", "also"}
"""Properties whose decoders are of the same value as the decoder around them."""
