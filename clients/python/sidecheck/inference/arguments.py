"""Arguments of calls: JSON to Python values, judged by the types of the function."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from pydantic_core import ErrorDetails, ValidationError

from sidecheck.inference.errors import ArgumentViolation, InvalidArguments
from sidecheck.inference.inputs import FURTHER, Inputs
from sidecheck.json_copies import NotJson, copy_json

__all__ = ["ArgumentChange", "ValidArguments", "valid_arguments", "valid_values"]

#: The most faults that are told, and strings that are read as JSON.
_MOST: Final = 100

_Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class ArgumentChange:
    """A string that was read as the JSON text that it holds, for it was not valid itself."""

    #: Where it is, as a JSON Pointer (RFC 6901).
    pointer: str
    #: The type of what it holds: ``array``, ``object``, ``boolean``, ``number`` or ``null``.
    read_as: str


@dataclass(frozen=True, slots=True)
class ValidArguments:
    """Arguments that a function takes."""

    #: The values by parameter; further ones beside them.
    values: dict[str, Any]
    #: What was changed so that they are valid.
    changes: tuple[ArgumentChange, ...]


def valid_arguments(tool: str, inputs: Inputs, given: Mapping[str, Any]) -> ValidArguments:
    """Return the Python values of the arguments *given* as decoded JSON.

    They are judged as JSON is, so "5" is no integer. A string that is not valid, and
    holds JSON text of something else that then is, counts as that; it is told as a change.
    Strings that are valid stay as they are, whatever they hold.

    Raises:
        InvalidArguments: They are not what the tool takes, or no JSON.
    """
    if not isinstance(given, Mapping):
        raise InvalidArguments(tool, (ArgumentViolation("", "must be an object"),))
    try:
        payload = _packed(inputs, copy_json(dict(given), "arguments"))
    except NotJson as error:
        raise InvalidArguments(tool, (ArgumentViolation("", str(error)),)) from None
    unknown = _unknown(inputs, payload)
    try:
        values = _unpacked(_judged(inputs, payload))
        if unknown:
            raise InvalidArguments(tool, unknown)
        return ValidArguments(values, ())
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
    except RecursionError:
        raise InvalidArguments(tool, (ArgumentViolation("", "is nested too deeply"),)) from None
    changes = _read_strings(payload, faults)
    if unknown or not changes:
        raise InvalidArguments(tool, (*_violations(payload, faults), *unknown))
    mended = payload
    for path, value in changes.items():
        mended = _replaced(mended, path, value)
    try:
        values = _unpacked(_judged(inputs, mended))
    except ValidationError:
        # Told of what was given, not of what was tried.
        raise InvalidArguments(tool, _violations(payload, faults)) from None
    told = [
        ArgumentChange(_pointer(path), _kind(value))
        for path, value in changes.items()
        if isinstance(_at(payload, path), str)
    ]
    return ValidArguments(values, tuple(told))


def valid_values(tool: str, inputs: Inputs, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values for the Python values *given* by parameter, as pydantic takes them.

    Raises:
        InvalidArguments: They are not what the tool takes.
    """
    wires = {one.name: one.wire for one in inputs.signature.arguments}
    payload = _packed(inputs, {wires.get(name, name): value for name, value in given.items()})
    try:
        return _unpacked(inputs.adapter.validate_python(payload))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        raise InvalidArguments(tool, _violations(payload, faults)) from None


def _packed(inputs: Inputs, given: Mapping[str, Any]) -> dict[str, Any]:
    """Put what no parameter is called by under `FURTHER`, where it is judged together."""
    if inputs.signature.further is None:
        return dict(given)
    # What the server fills in stays outside, where it is unknown.
    known = {one.wire for one in inputs.signature.arguments}
    known |= {one.name for one in inputs.signature.injections}
    payload = {name: value for name, value in given.items() if name in known}
    return {**payload, FURTHER: {n: v for n, v in given.items() if n not in known}}


def _unknown(inputs: Inputs, payload: dict[str, Any]) -> tuple[ArgumentViolation, ...]:
    known = {one.wire for one in inputs.signature.arguments}
    if inputs.signature.further is not None:
        known.add(FURTHER)
    unknown = (name for name in payload if name not in known)
    return tuple(
        ArgumentViolation(f"/{_escaped(name)}", "no argument is called so")
        for name in islice(unknown, _MOST)
    )


def _unpacked(values: dict[str, Any]) -> dict[str, Any]:
    return {**values.pop(FURTHER, {}), **values}


def _judged(inputs: Inputs, payload: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return inputs.adapter.validate_json(text.encode("utf-8", "surrogatepass"), strict=True)


def _read_strings(payload: dict[str, Any], faults: list[ErrorDetails]) -> dict[_Path, Any]:
    """Return what invalid strings hold, by path, and 1 where an integer is written 1.0.

    JSON Schema's integers are numbers without a fraction, however written (core,
    section 4.2.3); pydantic's strict ones are not.
    """
    found: dict[_Path, Any] = {}
    for fault in faults[:_MOST]:
        path = _path(payload, fault)
        value = _at(payload, path)
        if isinstance(value, float) and value.is_integer() and fault["type"] == "int_type":
            found[path] = int(value)
        elif isinstance(value, str) and fault["type"] != "extra_forbidden":
            try:
                inner = copy_json({"": json.loads(value)}, "")[""]
            except (ValueError, RecursionError):
                continue
            if not isinstance(inner, str):
                found[path] = inner
    return found


def _violations(payload: Any, faults: list[ErrorDetails]) -> tuple[ArgumentViolation, ...]:
    told: dict[tuple[str, str], ArgumentViolation] = {}
    for fault in faults[:_MOST]:
        message = fault["msg"]
        if fault["type"] == "missing":
            message = f"{fault['loc'][-1]!r} is required"
        elif fault["type"] == "extra_forbidden":
            message = "no such member is known"
        one = ArgumentViolation(_pointer(_path(payload, fault)), message)
        told.setdefault((one.pointer, one.message), one)
    return tuple(told.values())


def _path(payload: Any, fault: ErrorDetails) -> _Path:
    """Return the path of *fault* without what pydantic calls the branches of unions."""
    path: list[str | int] = []
    value = payload
    for step in fault["loc"]:
        if (isinstance(value, Mapping) and step in value) or (
            isinstance(value, list | tuple) and isinstance(step, int) and step < len(value)
        ):
            path.append(step)
            value = value[step]  # type: ignore[index]
    return tuple(path)


def _at(payload: Any, path: _Path) -> Any:
    for step in path:
        payload = payload[step]
    return payload


def _replaced(value: Any, path: _Path, leaf: Any) -> Any:
    """Return a copy of *value* with *leaf* at *path*."""
    if not path:
        return leaf
    copy = value.copy()
    copy[path[0]] = _replaced(value[path[0]], path[1:], leaf)
    return copy


def _pointer(path: _Path) -> str:
    return "".join(f"/{_escaped(step)}" for step in path if step != FURTHER)


def _escaped(step: str | int) -> str:
    return str(step).replace("~", "~0").replace("/", "~1")


def _kind(value: Any) -> str:
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
