"""Sidecheck's judge and its peers, all asked in one way.

This is the one place of the benchmarks that calls the core's judge, and the peers'.
Options are set so that all do the same work: formats are not asserted, and no payload is
edited. That is kind to stock fastjsonschema, which does both unless it is told not to.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import fastjsonschema
import jsonschema
import jsonschema_rs
from jsonschema.validators import validator_for
from sidecheck_server.core.compiler.compilation import compile_source
from sidecheck_server.core.compiler.compiled_schema import CompiledSchema
from sidecheck_server.core.evaluate import EvaluationOptions, judge
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.payload import decode
from sidecheck_server.core.schemas.source import SchemaSource

__all__ = [
    "EXPLAINING",
    "FASTJSONSCHEMA",
    "FRESH",
    "JUDGES",
    "KEPT",
    "RUST",
    "SIDECHECK",
    "Judge",
    "compile_ours",
    "compile_stock",
    "decode_ours",
]

SIDECHECK = "Sidecheck"
FRESH = "jsonschema.validate"
KEPT = "jsonschema, kept validator"
FASTJSONSCHEMA = "fastjsonschema, stock"
RUST = "jsonschema-rs"
EXPLAINING = "jsonschema, all errors"

_LIMITS = Limits()
_HOW = EvaluationOptions()


@dataclass(frozen=True, slots=True)
class Judge:
    """One contender, ready for one schema."""

    #: From JSON text to whether it is valid, with the decoder that its users have.
    of_text: Callable[[bytes], bool]
    #: From a decoded value to whether it is valid.
    of_value: Callable[[Any], bool]


def compile_ours(schema: bytes) -> CompiledSchema:
    """Compile with Sidecheck, in this process."""
    source = SchemaSource(schema)
    return CompiledSchema(source, compile_source(source, _LIMITS), _LIMITS)


def decode_ours(text: bytes) -> Any:
    """Decode as Sidecheck does: strictly, and bounded."""
    return decode(text, max_depth=_LIMITS.payload_depth)


def compile_stock(schema: Any) -> Callable[[Any], Any]:
    """Compile with fastjsonschema as it is published."""
    compiled: Callable[[Any], Any] = fastjsonschema.compile(
        schema, use_default=False, use_formats=False
    )
    return compiled


def _sidecheck(schema: bytes) -> Judge:
    compiled = compile_ours(schema)
    fast = compiled.fast
    if fast is None:
        raise ValueError(f"the fast engine does not take the schema: {compiled.why_complete}")
    return Judge(lambda text: judge(compiled, text, _HOW).valid, fast.is_valid)


def _decoding(of_value: Callable[[Any], bool]) -> Judge:
    return Judge(lambda text: of_value(json.loads(text)), of_value)


def _fresh(schema: bytes) -> Judge:
    known = json.loads(schema)

    def of_value(value: Any) -> bool:
        try:
            jsonschema.validate(value, known)
        except jsonschema.ValidationError:
            return False
        return True

    return _decoding(of_value)


def _kept(schema: bytes) -> Judge:
    return _decoding(_validator(schema).is_valid)


def _explaining(schema: bytes) -> Judge:
    validator = _validator(schema)
    return _decoding(lambda value: not list(validator.iter_errors(value)))


def _validator(schema: bytes) -> Any:
    known = json.loads(schema)
    return validator_for(known, default=jsonschema.Draft202012Validator)(known)


def _fastjsonschema(schema: bytes) -> Judge:
    compiled = compile_stock(json.loads(schema))

    def of_value(value: Any) -> bool:
        try:
            compiled(value)
        except fastjsonschema.JsonSchemaException:
            return False
        return True

    return _decoding(of_value)


def _rust(schema: bytes) -> Judge:
    validator = jsonschema_rs.validator_for(json.loads(schema), validate_formats=False)
    return _decoding(validator.is_valid)


JUDGES: dict[str, Callable[[bytes], Judge]] = {
    SIDECHECK: _sidecheck,
    FRESH: _fresh,
    KEPT: _kept,
    EXPLAINING: _explaining,
    FASTJSONSCHEMA: _fastjsonschema,
    RUST: _rust,
}
"""How each contender is made ready for the JSON text of a schema."""
