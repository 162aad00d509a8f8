"""Mapping of a converted tool: what converts a model's call back, in any process.

A mapping is a JSON object with ``sidecheck_mapping``, the version of this format, ``api``,
``name``, ``server``, ``tool``, ``definition_digest``, ``strict`` and ``decoder``. The server
and the decoder are optional.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.convert.argument_decoder import ArgumentDecoder
from sidecheck_server.core.convert.decoder_check import (
    check_decoder,
    check_properties,
    expect_type,
    invalid_mapping,
)
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.explain.values import describe_kind, join_phrase, quote
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.payload import MalformedError, decode, encode_json
from sidecheck_server.core.types import JsonValue

__all__ = ["ToolMapping", "mapping_from_json", "mapping_to_json"]

_FORMAT = "sidecheck_mapping"
_VERSION = 1

_MAX_BYTES = Limits().schema_bytes


@dataclass(frozen=True, slots=True)
class ToolMapping:
    """Identity of a converted tool, and how its arguments are decoded."""

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
    #: None if the arguments are those of the original schema.
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
    """Return the mapping with the JSON *text*, which may come from anywhere.

    It may be as large as a schema, and nest twice as deep.

    Raises:
        RequestError: INVALID_MAPPING, with the location and a code in its metadata;
            LIMIT_EXCEEDED.
    """
    if len(text) > limits.schema_bytes:
        raise limit_exceeded_error("schema_bytes", limits.schema_bytes, "the mapping", len(text))
    try:
        value = decode(
            text, max_depth=2 * limits.schema_depth, depth_bound="schema_depth", max_violations=1
        )
    except MalformedError as error:
        violation = error.violations[0]
        raise invalid_mapping((), violation.code, violation.message) from None
    properties = _check(value)
    decoder = properties.get("decoder")
    if "decoder" in properties:
        check_decoder(decoder, ("decoder",), limits)
    return ToolMapping(
        api=ModelApi(properties["api"]),
        name=properties["name"],
        server=properties.get("server", ""),
        tool=properties["tool"],
        definition_digest=properties["definition_digest"],
        strict=properties["strict"],
        decoder=decoder,
    )


def _check(value: JsonValue) -> dict[str, Any]:
    """Return the properties of *value*, a mapping whose decoder is not checked yet."""
    expect_type(value, dict, "an object, a mapping", ())
    assert isinstance(value, dict), "its type was checked"
    # Before all else: nothing is known about other versions, or objects of other kinds.
    if _FORMAT not in value:
        message = f"a mapping requires {quote(_FORMAT)}; send it as the conversion returned it"
        raise invalid_mapping((), "MAPPING_PROPERTY_MISSING", message)
    _check_version(value[_FORMAT], _FORMAT)
    check_properties(value, _CHECKS, _REQUIRED, "a mapping", ())
    for name, property_value in value.items():
        _CHECKS[name](property_value, name)
    return value


def _check_version(value: Any, name: str) -> None:
    if type(value) is not int or value != _VERSION:
        found = (
            f"version {value}" if type(value) is int and 0 <= value < 1000 else describe_kind(value)
        )
        message = f"unknown version; expected {_VERSION}, found {found}"
        raise invalid_mapping((name,), "MAPPING_VERSION", message)


def _check_api(value: Any, name: str) -> None:
    expect_type(value, str, "the name of an API, a string", (name,))
    if value not in _APIS:
        message = f"expected one of {join_phrase(_APIS)}, found {quote(value)}"
        raise invalid_mapping((name,), "MAPPING_WRONG_VALUE", message)


_APIS = [str(api) for api in ModelApi]


def _check_name(value: Any, name: str) -> None:
    expect_type(value, str, "a name, a string", (name,))
    if not value:
        raise invalid_mapping((name,), "MAPPING_WRONG_VALUE", "the name is empty")


def _check_digest(value: Any, name: str) -> None:
    expect_type(value, str, "a digest, a string", (name,))
    if _DIGEST.fullmatch(value) is None:
        expected = 'expected "sha256:" and 64 lower-case hexadecimal digits'
        raise invalid_mapping((name,), "MAPPING_WRONG_VALUE", f"{expected}, found {quote(value)}")


_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def _check_boolean(value: Any, name: str) -> None:
    expect_type(value, bool, "true or false", (name,))


def _check_decoder_type(value: Any, name: str) -> None:
    expect_type(value, dict, "an object, a decoder", (name,))


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
