"""Mapping of a converted tool: data that converts a model's call back.

A mapping is a JSON object with ``sidecheck_mapping``, the version of this format, ``api``,
``name``, ``server``, ``tool``, ``definition_digest``, ``strict`` and ``decoder``. The server
and the decoder are optional.

Any process can read a mapping. Mappings come from clients, so they are checked strictly,
including the decoder.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from sidecheck_server.core.convert.argument_decoder import ArgumentDecoder
from sidecheck_server.core.convert.branch_tests import MAX_CONSTANTS, TYPES
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.explain.values import describe_kind, join_phrase, quote
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.payload import MalformedError, decode, encode_json
from sidecheck_server.core.types import JsonValue, as_pointer

__all__ = ["ToolMapping", "mapping_from_json", "mapping_to_json"]

_FORMAT = "sidecheck_mapping"
_VERSION = 1

_MAX_BYTES = Limits().schema_bytes


@dataclass(frozen=True, slots=True)
class ToolMapping:
    """Identity of a converted tool, and the decoder of its arguments."""

    api: ModelApi
    #: Name of the tool at the provider.
    name: str
    #: Server that offers the tool, or "".
    server: str
    #: Original name of the tool.
    tool: str
    #: Digest of the original definition.
    definition_digest: str
    #: Whether strict mode was requested.
    strict: bool
    #: None if the arguments need no decoding.
    decoder: ArgumentDecoder | None


def mapping_to_json(mapping: ToolMapping) -> bytes:
    """Return *mapping* as JSON text.

    Raises:
        RequestError: NOT_CONVERTIBLE if it would be too large to be read again; tool names
            may be as long as their definitions.
    """
    properties = {
        _FORMAT: _VERSION,
        "api": mapping.api,
        "name": mapping.name,
        "server": mapping.server or None,
        "tool": mapping.tool,
        "definition_digest": mapping.definition_digest,
        "strict": mapping.strict,
        "decoder": mapping.decoder,
    }
    text = encode_json({name: value for name, value in properties.items() if value is not None})
    if len(text) > _MAX_BYTES:
        message = f"the mapping would have {len(text):,} bytes (limit {_MAX_BYTES:,})"
        metadata = {"bound": "mapping", "limit": str(_MAX_BYTES)}
        raise RequestError(ErrorReason.NOT_CONVERTIBLE, message, metadata)
    return text


def mapping_from_json(text: bytes, limits: Limits) -> ToolMapping:
    """Return the mapping with the JSON *text*, which a client sent.

    A mapping may be as large as a schema, and nest twice as deep.

    Raises:
        RequestError: INVALID_MAPPING, with the location and a code in its metadata;
            LIMIT_EXCEEDED.
    """
    # Decision 0035: callers keep mappings, so a mapping is bounded and checked like a payload.
    if len(text) > limits.schema_bytes:
        raise limit_exceeded_error("schema_bytes", limits.schema_bytes, "the mapping", len(text))
    try:
        value = decode(
            text, max_depth=2 * limits.schema_depth, depth_bound="schema_depth", max_violations=1
        )
    except MalformedError as error:
        violation = error.violations[0]
        raise _invalid_mapping((), violation.code, violation.message) from None
    properties = _check_mapping(value)
    decoder = properties.get("decoder")
    if "decoder" in properties:
        _check_decoder(decoder, ("decoder",), limits)
    return ToolMapping(
        api=ModelApi(properties["api"]),
        name=properties["name"],
        server=properties.get("server", ""),
        tool=properties["tool"],
        definition_digest=properties["definition_digest"],
        strict=properties["strict"],
        decoder=decoder,
    )


def _check_mapping(value: JsonValue) -> dict[str, Any]:
    """Check *value*, a mapping, except its decoder, and return its properties."""
    _expect_type(value, dict, "an object, a mapping", ())
    assert isinstance(value, dict), "its type was checked"
    # First: the other checks do not apply to other versions, or to objects of other kinds.
    if _FORMAT not in value:
        message = f"a mapping requires {quote(_FORMAT)}; send it as the conversion returned it"
        raise _invalid_mapping((), "MAPPING_PROPERTY_MISSING", message)
    _check_version(value[_FORMAT], _FORMAT)
    _check_properties(value, _CHECKS, _REQUIRED, "a mapping", ())
    for name, property_value in value.items():
        _CHECKS[name](property_value, name)
    return value


def _check_version(value: Any, name: str) -> None:
    if type(value) is not int or value != _VERSION:
        kind = (
            f"version {value}" if type(value) is int and 0 <= value < 1000 else describe_kind(value)
        )
        message = f"unknown version; expected {_VERSION}, found {kind}"
        raise _invalid_mapping((name,), "MAPPING_VERSION", message)


def _check_api(value: Any, name: str) -> None:
    _expect_type(value, str, "the name of an API, a string", (name,))
    if value not in _APIS:
        message = f"expected one of {join_phrase(_APIS)}, found {quote(value)}"
        raise _invalid_mapping((name,), "MAPPING_WRONG_VALUE", message)


_APIS = [str(api) for api in ModelApi]


def _check_name(value: Any, name: str) -> None:
    _expect_type(value, str, "a name, a string", (name,))
    if not value:
        raise _invalid_mapping((name,), "MAPPING_WRONG_VALUE", "the name is empty")


def _check_digest(value: Any, name: str) -> None:
    _expect_type(value, str, "a digest, a string", (name,))
    if _DIGEST.fullmatch(value) is None:
        expected = 'expected "sha256:" and 64 lower-case hexadecimal digits'
        raise _invalid_mapping((name,), "MAPPING_WRONG_VALUE", f"{expected}, found {quote(value)}")


_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def _check_boolean(value: Any, name: str) -> None:
    _expect_type(value, bool, "true or false", (name,))


def _check_decoder_type(value: Any, name: str) -> None:
    _expect_type(value, dict, "an object, a decoder", (name,))


_CHECKS: Mapping[str, Callable[[Any, str], None]] = {
    _FORMAT: _check_version,
    "api": _check_api,
    "name": _check_name,
    "server": _check_name,
    "tool": _check_name,
    "definition_digest": _check_digest,
    "strict": _check_boolean,
    "decoder": _check_decoder_type,
}

_REQUIRED = (_FORMAT, "api", "name", "tool", "definition_digest", "strict")


_Path: TypeAlias = tuple[str | int, ...]


def _invalid_mapping(path: _Path, code: str, message: str) -> RequestError:
    """Return the error for a fault at *path* of a mapping."""
    pointer = as_pointer(path)
    location = f" (at {pointer})" if pointer else ""
    metadata = {"code": code, "pointer": pointer}
    return RequestError(
        ErrorReason.INVALID_MAPPING, f"invalid mapping: {message}{location}", metadata
    )


def _expect_type(value: Any, type_: type, expected: str, path: _Path) -> None:
    """Check that *value*, at *path*, is of *type_*.

    Raises:
        RequestError: INVALID_MAPPING.
    """
    if type(value) is not type_:
        message = f"expected {expected}, found {describe_kind(value)}"
        raise _invalid_mapping(path, "MAPPING_WRONG_TYPE", message)


def _check_properties(
    value: Any, known: Mapping[str, Any], required: tuple[str, ...], noun: str, path: _Path
) -> None:
    """Check that *value* is an object with all *required* and no unknown properties.

    Raises:
        RequestError: INVALID_MAPPING.
    """
    _expect_type(value, dict, f"an object, {noun}", path)
    for name in value:
        if name not in known:
            message = f"{noun} has no property {quote(name)}"
            raise _invalid_mapping((*path, name), "MAPPING_UNKNOWN_PROPERTY", message)
    for name in required:
        if name not in value:
            message = f"{noun} requires the property {quote(name)}"
            raise _invalid_mapping(path, "MAPPING_PROPERTY_MISSING", message)


def _check_decoder(decoder: Any, path: _Path, limits: Limits) -> None:
    """Check *decoder*, at *path* of a mapping; the reader has bounded its depth.

    Raises:
        RequestError: INVALID_MAPPING; LIMIT_EXCEEDED if it has more nested decoders than a
            schema may have subschemas.
    """
    _DecoderChecker(limits).check(decoder, path)


class _DecoderChecker:
    """Check of one decoder."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._defs: dict[str, Any] = {}
        #: For each name in ``defs``, the names of decoders to which it delegates its value.
        self._delegates: dict[str, set[str]] = {}

    def check(self, top: Any, path: _Path) -> None:
        _check_properties(top, {**_PROPERTIES, "defs": None}, (), "a decoder", path)
        if "defs" in top:
            _expect_type(top["defs"], dict, "an object, decoders by name", (*path, "defs"))
            self._defs = top["defs"]
            self._delegates = {name: set() for name in self._defs}
        # Each decoder with its path, and the name in `defs` of the decoder that delegates its
        # own value to it, or "".
        pending = [
            (decoder, (*path, "defs", name), name) for name, decoder in reversed(self._defs.items())
        ]
        top_decoder = {name: value for name, value in top.items() if name != "defs"}
        pending.append((top_decoder, path, ""))
        checked = 0
        while pending:
            decoder, decoder_path, owner = pending.pop()
            checked += 1
            if checked > self._limits.subschemas:
                message = "the mapping has too many decoders"
                raise limit_exceeded_error("subschemas", self._limits.subschemas, message)
            pending += reversed(list(self._check_one(decoder, decoder_path, owner)))
        self._reject_cycles(path)

    def _check_one(self, decoder: Any, path: _Path, owner: str) -> Iterator[tuple[Any, _Path, str]]:
        """Check *decoder* without its nested decoders, and yield those."""
        _check_properties(decoder, _PROPERTIES, (), "a decoder", path)
        if "inner" in decoder and "wrapped" not in decoder:
            message = 'a decoder with "inner" requires "wrapped"'
            raise _invalid_mapping(path, "MAPPING_PROPERTY_MISSING", message)
        for name, value in decoder.items():
            for nested, nested_path in _PROPERTIES[name](value, (*path, name)):
                yield nested, nested_path, owner if name in _SAME_VALUE else ""
        if "ref" in decoder:
            self._check_reference(decoder["ref"], path, owner)

    def _check_reference(self, name: str, path: _Path, owner: str) -> None:
        if name not in self._defs:
            message = f"there is no decoder {quote(name)} in defs"
            raise _invalid_mapping((*path, "ref"), "MAPPING_REFERENCE_UNRESOLVED", message)
        if owner:
            self._delegates[owner].add(name)

    def _reject_cycles(self, path: _Path) -> None:
        """Reject decoders that delegate a value back to themselves."""
        delegators: dict[str, list[str]] = {name: [] for name in self._delegates}
        for name, delegates in self._delegates.items():
            for delegate in delegates:
                delegators[delegate].append(name)
        remaining = {name: len(delegates) for name, delegates in self._delegates.items()}
        acyclic = [name for name, count in remaining.items() if not count]
        while acyclic:
            name = acyclic.pop()
            del remaining[name]
            for delegator in delegators[name]:
                remaining[delegator] -= 1
                if not remaining[delegator]:
                    acyclic.append(delegator)
        if remaining:
            message = "the reference leads back to itself, or to such a cycle, for the same value"
            cyclic = (*path, "defs", next(iter(remaining)))
            raise _invalid_mapping(cyclic, "MAPPING_REFERENCE_CYCLE", message)


_Nested: TypeAlias = Iterator[tuple[Any, _Path]]
"""Decoders in the value of a property, each with its path."""


def _visit_name(value: Any, path: _Path) -> _Nested:
    _expect_type(value, str, "a name, a string", path)
    return iter(())


def _visit_names(value: Any, path: _Path) -> _Nested:
    _expect_type(value, list, "an array of names", path)
    for index, name in enumerate(value):
        _expect_type(name, str, "a name, a string", (*path, index))
    return iter(())


def _visit_renamed(value: Any, path: _Path) -> _Nested:
    _expect_type(value, dict, "an object, names by names", path)
    for name, original in value.items():
        _expect_type(original, str, "a name, a string", (*path, name))
    return iter(())


def _visit_decoder(value: Any, path: _Path) -> _Nested:
    yield value, path


def _visit_decoders_by_name(value: Any, path: _Path) -> _Nested:
    _expect_type(value, dict, "an object, decoders by name", path)
    for name, decoder in value.items():
        yield decoder, (*path, name)


def _visit_decoders(value: Any, path: _Path) -> _Nested:
    _expect_type(value, list, "an array of decoders", path)
    for index, decoder in enumerate(value):
        yield decoder, (*path, index)


def _visit_decoders_or_null(value: Any, path: _Path) -> _Nested:
    _expect_type(value, list, "an array of decoders or null", path)
    for index, decoder in enumerate(value):
        if decoder is not None:
            yield decoder, (*path, index)


def _visit_true(value: Any, path: _Path) -> _Nested:
    if value is not True:
        message = f"expected true, found {describe_kind(value)}"
        raise _invalid_mapping(path, "MAPPING_WRONG_VALUE", message)
    return iter(())


_ENTRIES: Mapping[str, Any] = {"name": _visit_name, "value": _visit_name, "each": _visit_decoder}


def _visit_entries(value: Any, path: _Path) -> _Nested:
    _check_properties(value, _ENTRIES, ("name", "value"), "a layout of entries", path)
    for name, nested in value.items():
        yield from _ENTRIES[name](nested, (*path, name))
    if value["name"] == value["value"]:
        message = "the name and the value of an entry must be different properties"
        raise _invalid_mapping(path, "MAPPING_WRONG_VALUE", message)


_BRANCH: Mapping[str, Any] = {"when": None, "as": None}


def _visit_branches(value: Any, path: _Path) -> _Nested:
    _expect_type(value, list, "an array of branches", path)
    for index, branch in enumerate(value):
        branch_path = (*path, index)
        _check_properties(branch, _BRANCH, ("when",), "a branch", branch_path)
        _check_test(branch["when"], (*branch_path, "when"))
        if "as" in branch:
            yield branch["as"], (*branch_path, "as")


def _visit_types(value: Any, path: _Path) -> _Nested:
    _visit_names(value, path)
    for index, name in enumerate(value):
        if name not in TYPES:
            message = f"{quote(name)} is not a JSON type"
            raise _invalid_mapping((*path, index), "MAPPING_WRONG_VALUE", message)
    return iter(())


def _visit_constants(value: Any, path: _Path) -> _Nested:
    _expect_type(value, dict, "an object, arrays of constants by name", path)
    for name, constants in value.items():
        constants_path = (*path, name)
        _expect_type(constants, list, "an array of constants", constants_path)
        if len(constants) > MAX_CONSTANTS:
            message = f"expected at most {MAX_CONSTANTS} constants, found {len(constants):,}"
            raise _invalid_mapping(constants_path, "MAPPING_WRONG_VALUE", message)
        for index, constant in enumerate(constants):
            if isinstance(constant, dict | list):
                message = f"expected a scalar, found {describe_kind(constant)}"
                raise _invalid_mapping((*constants_path, index), "MAPPING_WRONG_TYPE", message)
    return iter(())


_TEST: Mapping[str, Callable[[Any, _Path], _Nested]] = {
    "types": _visit_types,
    "required": _visit_names,
    "only": _visit_names,
    "constants": _visit_constants,
}


def _check_test(test: Any, path: _Path) -> None:
    _check_properties(test, _TEST, (), "a test of a branch", path)
    for name, value in test.items():
        _TEST[name](value, (*path, name))


_PROPERTIES: Mapping[str, Callable[[Any, _Path], _Nested]] = {
    "nulls": _visit_names,
    "renamed": _visit_renamed,
    "properties": _visit_decoders_by_name,
    "values": _visit_decoder,
    "items": _visit_decoder,
    "prefix": _visit_decoders_or_null,
    "entries": _visit_entries,
    "json_text": _visit_true,
    "wrapped": _visit_name,
    "inner": _visit_decoder,
    "any_of": _visit_branches,
    "also": _visit_decoders,
    "ref": _visit_name,
}
"""Checks of the properties of a decoder, which yield the decoders in the value."""

_SAME_VALUE = {"any_of", "also"}
"""Properties whose decoders apply to the same value as the enclosing decoder."""
