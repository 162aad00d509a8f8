"""Arguments of calls: validated with the types of the function, and converted to its values."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from pydantic_core import ErrorDetails, ValidationError

from sidecheck.inference.errors import ArgumentViolation, InvalidArguments
from sidecheck.inference.input_schema import ADDITIONAL, InputModel
from sidecheck.json_copies import NotJson, copied

__all__ = ["ArgumentChange", "ValidArguments", "convert_arguments", "validate_values"]

#: Violations that are reported, and strings that are decoded.
_MAX_VIOLATIONS: Final = 100

_Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class ArgumentChange:
    """An invalid string that was replaced with the JSON value in it."""

    #: JSON Pointer (RFC 6901) into the arguments.
    instance_location: str
    #: Type of the value: ``array``, ``object``, ``boolean``, ``number`` or ``null``.
    read_as: str


@dataclass(frozen=True, slots=True)
class ValidArguments:
    """Arguments that the function accepts."""

    #: Values by parameter, with additional arguments beside them.
    values: dict[str, Any]
    #: Changes that made the arguments valid.
    changes: tuple[ArgumentChange, ...]


def convert_arguments(
    tool: str, input_model: InputModel, arguments: Mapping[str, Any]
) -> ValidArguments:
    """Return the Python values of *arguments*, decoded JSON.

    Validation is that of JSON, so "5" is no integer. An invalid string that contains the JSON
    text of a valid value is replaced with that value, and reported as a change. Valid strings
    stay as they are.

    Raises:
        InvalidArguments: they violate the input schema, or are not JSON.
    """
    if not isinstance(arguments, Mapping):
        raise InvalidArguments(tool, (ArgumentViolation("", "must be an object"),))
    try:
        payload = _pack(input_model, copied(dict(arguments), "arguments"))
    except NotJson as error:
        raise InvalidArguments(tool, (ArgumentViolation("", str(error)),)) from None
    unknown = _unknown_arguments(input_model, payload)
    try:
        values = _unpack(_validate(input_model, payload))
        if unknown:
            raise InvalidArguments(tool, unknown)
        return ValidArguments(values, ())
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False, include_input=False)
    except RecursionError:
        raise InvalidArguments(tool, (ArgumentViolation("", "is nested too deeply"),)) from None
    replacements = _replacements(payload, errors)
    if unknown or not replacements:
        raise InvalidArguments(tool, (*_violations(payload, errors), *unknown))
    repaired = payload
    for path, value in replacements.items():
        repaired = _replace(repaired, path, value)
    try:
        values = _unpack(_validate(input_model, repaired))
    except ValidationError:
        # Violations of the original arguments, not of the attempted repair.
        raise InvalidArguments(tool, _violations(payload, errors)) from None
    changes = [
        ArgumentChange(_pointer(path), _json_type(value))
        for path, value in replacements.items()
        if isinstance(_value_at(payload, path), str)
    ]
    return ValidArguments(values, tuple(changes))


def validate_values(
    tool: str, input_model: InputModel, values: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the Python *values* of parameters as pydantic converts them.

    Raises:
        InvalidArguments: they violate the types of the parameters.
    """
    wire_names = {argument.name: argument.wire_name for argument in input_model.signature.arguments}
    by_wire_name = {wire_names.get(name, name): value for name, value in values.items()}
    payload = _pack(input_model, by_wire_name)
    try:
        return _unpack(input_model.adapter.validate_python(payload))
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False, include_input=False)
        raise InvalidArguments(tool, _violations(payload, errors)) from None


def _pack(input_model: InputModel, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return *arguments* with the additional ones under `ADDITIONAL`, to be validated together."""
    signature = input_model.signature
    if signature.additional is None:
        return dict(arguments)
    # Names of injected parameters stay outside, where they are unknown.
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
        ArgumentViolation(f"/{_escape(name)}", "unknown argument")
        for name in islice(unknown, _MAX_VIOLATIONS)
    )


def _validate(input_model: InputModel, payload: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return input_model.adapter.validate_json(text.encode("utf-8", "surrogatepass"), strict=True)


def _replacements(payload: dict[str, Any], errors: list[ErrorDetails]) -> dict[_Path, Any]:
    """Return, by path, the JSON values in invalid strings, and 1 for an integer written 1.0.

    In JSON Schema, integers are numbers without a fraction, however written (core, section
    4.2.3); in pydantic's strict mode they are not.
    """
    replacements: dict[_Path, Any] = {}
    for error in errors[:_MAX_VIOLATIONS]:
        path = _path(payload, error)
        value = _value_at(payload, path)
        if isinstance(value, float) and value.is_integer() and error["type"] == "int_type":
            replacements[path] = int(value)
        elif isinstance(value, str) and error["type"] != "extra_forbidden":
            try:
                decoded = copied({"": json.loads(value)}, "")[""]
            except (ValueError, RecursionError):
                continue
            if not isinstance(decoded, str):
                replacements[path] = decoded
    return replacements


def _violations(payload: Any, errors: list[ErrorDetails]) -> tuple[ArgumentViolation, ...]:
    violations: dict[tuple[str, str], ArgumentViolation] = {}
    for error in errors[:_MAX_VIOLATIONS]:
        message = error["msg"]
        if error["type"] == "missing":
            message = f"{error['loc'][-1]!r} is required"
        elif error["type"] == "extra_forbidden":
            message = "unknown property"
        location = _pointer(_path(payload, error))
        violations.setdefault((location, message), ArgumentViolation(location, message))
    return tuple(violations.values())


def _path(payload: Any, error: ErrorDetails) -> _Path:
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


def _value_at(payload: Any, path: _Path) -> Any:
    for step in path:
        payload = payload[step]
    return payload


def _replace(value: Any, path: _Path, leaf: Any) -> Any:
    """Return a copy of *value* with *leaf* at *path*."""
    if not path:
        return leaf
    copy = value.copy()
    copy[path[0]] = _replace(value[path[0]], path[1:], leaf)
    return copy


def _pointer(path: _Path) -> str:
    return "".join(f"/{_escape(step)}" for step in path if step != ADDITIONAL)


def _escape(step: str | int) -> str:
    return str(step).replace("~", "~0").replace("/", "~1")


def _json_type(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case list():
            return "array"
        case dict():
            return "object"
        case _:
            return "number"
