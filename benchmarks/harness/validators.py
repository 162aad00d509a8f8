"""Sidecheck's validator and its peers, behind one interface.

With the chosen options all do the same work: none asserts formats or edits the payload. Stock
fastjsonschema does both by default, so it is faster here than by default.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import fastjsonschema
import jsonschema
import jsonschema_rs
from jsonschema.validators import validator_for
from sidecheck_server.core.compiler.compilation import CompiledSchema, compile_schema
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.payload import decode
from sidecheck_server.core.schemas.dialects import SchemaSource

__all__ = [
    "CONTENDERS",
    "DECIDING",
    "EXPLAINING",
    "FASTJSONSCHEMA",
    "FRESH",
    "PREPARED",
    "RUST",
    "SIDECHECK",
    "Contender",
    "compile_with_fastjsonschema",
    "compile_with_sidecheck",
    "decode_strictly",
]

SIDECHECK = "Sidecheck"
DECIDING = "Sidecheck, valid or not"
FRESH = "jsonschema.validate"
PREPARED = "jsonschema, prepared validator"
FASTJSONSCHEMA = "fastjsonschema, stock"
RUST = "jsonschema-rs"
EXPLAINING = "jsonschema, all errors"

_LIMITS = Limits()
_OPTIONS = EvaluationOptions()


@dataclass(frozen=True, slots=True)
class Contender:
    """Validator of one library, prepared for one schema."""

    #: Returns whether a JSON text is valid; decodes with the library's usual decoder.
    validate_text: Callable[[bytes], bool]
    #: Returns whether a decoded value is valid.
    validate_value: Callable[[Any], bool]


def compile_with_sidecheck(schema: bytes) -> CompiledSchema:
    """Compile a schema with Sidecheck, in this process."""
    source = SchemaSource(schema)
    return CompiledSchema(source, compile_schema(source, _LIMITS), _LIMITS)


def decode_strictly(text: bytes) -> Any:
    """Decode JSON with Sidecheck's strict, bounded decoder."""
    return decode(text, max_depth=_LIMITS.payload_depth)


def compile_with_fastjsonschema(schema: Any) -> Callable[[Any], Any]:
    """Compile a schema with stock fastjsonschema."""
    compiled: Callable[[Any], Any] = fastjsonschema.compile(
        schema, use_default=False, use_formats=False
    )
    return compiled


def _sidecheck(schema: bytes) -> Contender:
    compiled = compile_with_sidecheck(schema)
    fast = compiled.fast
    if fast is None:
        raise ValueError(
            f"the fast engine does not support the schema: {compiled.complete_only_reason}"
        )
    return Contender(lambda text: evaluate(compiled, text, _OPTIONS).valid, fast.is_valid)


def _deciding(schema: bytes) -> Contender:
    is_valid = _sidecheck(schema).validate_value
    return Contender(lambda text: is_valid(decode_strictly(text)), is_valid)


def _decoding(validate_value: Callable[[Any], bool]) -> Contender:
    return Contender(lambda text: validate_value(json.loads(text)), validate_value)


def _fresh(schema: bytes) -> Contender:
    decoded = json.loads(schema)

    def validate_value(value: Any) -> bool:
        try:
            jsonschema.validate(value, decoded)
        except jsonschema.ValidationError:
            return False
        return True

    return _decoding(validate_value)


def _prepared(schema: bytes) -> Contender:
    return _decoding(_validator(schema).is_valid)


def _explaining(schema: bytes) -> Contender:
    validator = _validator(schema)
    return _decoding(lambda value: not list(validator.iter_errors(value)))


def _validator(schema: bytes) -> Any:
    decoded = json.loads(schema)
    return validator_for(decoded, default=jsonschema.Draft202012Validator)(decoded)


def _fastjsonschema(schema: bytes) -> Contender:
    compiled = compile_with_fastjsonschema(json.loads(schema))

    def validate_value(value: Any) -> bool:
        try:
            compiled(value)
        except fastjsonschema.JsonSchemaException:
            return False
        return True

    return _decoding(validate_value)


def _rust(schema: bytes) -> Contender:
    validator = jsonschema_rs.validator_for(json.loads(schema), validate_formats=False)
    return _decoding(validator.is_valid)


CONTENDERS: dict[str, Callable[[bytes], Contender]] = {
    SIDECHECK: _sidecheck,
    DECIDING: _deciding,
    FRESH: _fresh,
    PREPARED: _prepared,
    EXPLAINING: _explaining,
    FASTJSONSCHEMA: _fastjsonschema,
    RUST: _rust,
}
"""Preparation of each contender for the JSON text of a schema."""
