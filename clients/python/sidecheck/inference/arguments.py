"""Validation of a call's arguments, and conversion to the types of the function."""

# Decision 0046: the service and this module decode the same strings in arguments.

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from types import NoneType
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic_core import ErrorDetails, ValidationError

from sidecheck.inference.errors import ArgumentViolation, InvalidArguments
from sidecheck.inference.input_schema import ADDITIONAL, InputModel
from sidecheck.inference.json_strings import (
    Path,
    change_of,
    decode_container,
    replace_at,
    value_at,
)
from sidecheck.json_copies import NotJson, copy_json
from sidecheck.pointers import as_pointer
from sidecheck.values.verdict import Change

__all__ = ["MAX_ROUNDS", "MAX_VIOLATIONS", "ValidArguments", "convert_arguments", "convert_values"]

#: Maximum violations in an error, and strings to decode in one round.
MAX_VIOLATIONS: Final = 100
#: Maximum rounds of decoding. Every nesting of strings doubles their backslashes, which bounds
#: the useful number.
MAX_ROUNDS: Final = 16

_MEMBER: Final = re.compile(r"<\w+\.\w+: ([^<>]*)>")
_PLAIN: Final = frozenset({str, int, bool, NoneType})


@dataclass(frozen=True, slots=True)
class ValidArguments:
    """Arguments that the function accepts."""

    #: Values by parameter, together with additional arguments.
    values: dict[str, Any]
    #: Strings that were decoded to an object or array; nothing else differs.
    changes: tuple[Change, ...]


class _InvalidValues(Exception):
    """The arguments are invalid; ``violations`` has the faults."""

    def __init__(self, violations: tuple[ArgumentViolation, ...]) -> None:
        super().__init__(violations)
        self.violations = violations


def convert_arguments(
    tool: str, input_model: InputModel, arguments: Mapping[str, Any]
) -> ValidArguments:
    """Return the Python values of *arguments*, decoded JSON.

    Validation is that of JSON, so "5" is not an integer. If an object or array is required, a
    string with the JSON text of a valid one is decoded, and reported as a change. Valid strings
    stay unchanged.

    Raises:
        InvalidArguments: the arguments violate the input schema, or are not JSON.
    """
    if not isinstance(arguments, Mapping):
        raise InvalidArguments(tool, (ArgumentViolation("", "must be an object"),))
    try:
        payload = _pack(input_model, copy_json(dict(arguments), "arguments"))
    except NotJson as error:
        raise InvalidArguments(tool, (ArgumentViolation("", str(error)),)) from None
    unknown = _unknown_arguments(input_model, payload)
    try:
        values, changes = _convert(input_model, input_model.adapter, payload)
    except _InvalidValues as invalid:
        raise InvalidArguments(tool, (*invalid.violations, *unknown)) from None
    if unknown:
        raise InvalidArguments(tool, unknown)
    return ValidArguments(_unpack(values), changes)


def convert_values(tool: str, input_model: InputModel, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the converted *values* of parameters in a call from Python.

    A JSON value is converted as in `convert_arguments`. Any other value must be of the
    annotated type; a tuple may also represent a JSON array.

    Raises:
        InvalidArguments: the values violate the types of the parameters.
    """
    wire_names = {argument.name: argument.wire_name for argument in input_model.signature.arguments}
    payload: dict[str, Any] = {}
    converted: dict[str, Any] = {}
    violations: list[ArgumentViolation] = []
    for name, value in values.items():
        single = {wire_names.get(name, name): value}
        try:
            if _is_json(value):
                payload |= single
            else:
                converted[name] = _convert_python(input_model, single)[name]
        except _InvalidValues as invalid:
            try:
                payload |= copy_json(single, "")
            except NotJson:
                violations += invalid.violations
        except RecursionError:
            violations.append(ArgumentViolation(as_pointer((*single,)), "is nested too deeply"))
    try:
        decoded, _ = _convert(input_model, input_model.partial, _pack(input_model, payload))
        # Without the values of absent parameters, which are defaults of fields.
        converted = {
            **{name: item for name, item in _unpack(decoded).items() if name in values},
            **converted,
        }
    except _InvalidValues as invalid:
        violations += invalid.violations
    if violations:
        raise InvalidArguments(tool, tuple(violations))
    return converted


def _is_json(value: Any) -> bool:
    """Return whether *value* is decoded JSON, as `json.loads` returns it."""
    kind = type(value)
    if kind is list:
        return all(map(_is_json, value))
    if kind is dict:
        return all(type(key) is str and _is_json(item) for key, item in value.items())
    return kind in _PLAIN or (kind is float and math.isfinite(value))


def _convert_python(input_model: InputModel, single: dict[str, Any]) -> dict[str, Any]:
    payload = _pack(input_model, single)
    try:
        return _unpack(input_model.partial.validate_python(payload, strict=True))
    except ValidationError as error:
        raise _InvalidValues(_violations(payload, _errors(error))) from None


def _convert(
    input_model: InputModel, adapter: TypeAdapter[dict[str, Any]], payload: dict[str, Any]
) -> tuple[dict[str, Any], tuple[Change, ...]]:
    """Return the values of *payload*, and the strings in it that were decoded.

    Raises:
        _InvalidValues: *payload* is not valid.
    """
    repaired = payload
    changes: dict[Path, Change] = {}
    violations: tuple[ArgumentViolation, ...] = ()
    for _ in range(MAX_ROUNDS):
        try:
            return _validate(adapter, repaired), tuple(changes.values())
        except ValidationError as error:
            errors = _errors(error)
        except RecursionError:
            raise _InvalidValues((ArgumentViolation("", "is nested too deeply"),)) from None
        # Keep the violations of the original arguments, not of the attempted repair.
        violations = violations or _violations(payload, errors)
        replacements = _replacements(repaired, errors)
        if not replacements:
            break
        for path, value in replacements.items():
            if isinstance(value, dict | list):
                argument_path = _without_additional(path)
                changes[path] = change_of(input_model.schema, argument_path, value)
            repaired = replace_at(repaired, path, value)
    raise _InvalidValues(violations)


def _pack(input_model: InputModel, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return *arguments* with the additional ones under `ADDITIONAL`."""
    signature = input_model.signature
    if signature.additional is None:
        return dict(arguments)
    # Names of injected parameters are not additional arguments, so they are rejected as unknown.
    known = {argument.wire_name for argument in signature.arguments}
    known |= {injection.name for injection in signature.injections}
    payload = {name: value for name, value in arguments.items() if name in known}
    additional = {name: value for name, value in arguments.items() if name not in known}
    return {**payload, ADDITIONAL: additional}


def _unpack(values: dict[str, Any]) -> dict[str, Any]:
    return {**values.pop(ADDITIONAL, {}), **values}


def _unknown_arguments(
    input_model: InputModel, payload: dict[str, Any]
) -> tuple[ArgumentViolation, ...]:
    known = {argument.wire_name for argument in input_model.signature.arguments}
    if input_model.signature.additional is not None:
        known.add(ADDITIONAL)
    unknown = (name for name in payload if name not in known)
    return tuple(
        ArgumentViolation(as_pointer((name,)), "unknown argument")
        for name in islice(unknown, MAX_VIOLATIONS)
    )


def _validate(adapter: TypeAdapter[dict[str, Any]], payload: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return adapter.validate_json(text.encode("utf-8", "surrogatepass"), strict=True)


def _errors(error: ValidationError) -> list[ErrorDetails]:
    return error.errors(include_url=False, include_context=False, include_input=False)


def _replacements(payload: dict[str, Any], errors: list[ErrorDetails]) -> dict[Path, Any]:
    """Return the replacements of invalid values, by path.

    Strings are replaced by the containers in them, and numbers such as 1.0 by integers: in JSON
    Schema, a number without a fraction is an integer in any notation (core, section 4.2.3), but
    not in pydantic's strict mode.
    """
    replacements: dict[Path, Any] = {}
    for error in errors[:MAX_VIOLATIONS]:
        path = _path(payload, error)
        value = value_at(payload, path)
        if isinstance(value, float) and value.is_integer() and error["type"] == "int_type":
            replacements[path] = int(value)
        elif isinstance(value, str) and error["type"] != "extra_forbidden":
            decoded = decode_container(value)
            if decoded is not None:
                replacements[path] = decoded
    return replacements


def _violations(payload: Any, errors: list[ErrorDetails]) -> tuple[ArgumentViolation, ...]:
    violations: dict[tuple[str, str], ArgumentViolation] = {}
    for error in errors[:MAX_VIOLATIONS]:
        message = error["msg"]
        if error["type"] == "missing":
            message = f"{error['loc'][-1]!r} is required"
        elif error["type"] == "extra_forbidden":
            message = "unknown property"
        # The message names members of an enumeration, whose JSON form is their value.
        message = _MEMBER.sub(r"\1", message)
        location = as_pointer(_without_additional(_path(payload, error)))
        violations.setdefault((location, message), ArgumentViolation(location, message))
    return tuple(violations.values())


def _path(payload: Any, error: ErrorDetails) -> Path:
    """Return the path of *error* without the names of union branches."""
    path: list[str | int] = []
    value = payload
    for step in error["loc"]:
        if (isinstance(value, Mapping) and step in value) or (
            isinstance(value, list | tuple) and isinstance(step, int) and step < len(value)
        ):
            path.append(step)
            value = value[step]  # type: ignore[index]
    return tuple(path)


def _without_additional(path: Path) -> Path:
    return path[1:] if path[:1] == (ADDITIONAL,) else path
