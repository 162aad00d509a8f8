"""Checks of decoded JSON against the JSON Schema of a tool."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import extend, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from sidecheck.inference.arguments import MAX_ROUNDS, MAX_VIOLATIONS, ValidArguments
from sidecheck.inference.errors import ArgumentViolation, InvalidArguments
from sidecheck.inference.json_strings import (
    Path,
    change_of,
    decode_container,
    replace_at,
)
from sidecheck.json_copies import NotJson, copy_json
from sidecheck.pointers import as_pointer
from sidecheck.values.verdict import Change

__all__ = ["BrokenSchema", "SchemaChecker"]

#: An empty registry, to which jsonschema adds the published meta-schemas. Without a registry,
#: jsonschema would fetch documents.
_NO_DOCUMENTS: Final[Registry[Any]] = Registry()

#: Maximum length of a keyword's value in a message, in characters.
_MAX_VALUE: Final = 80


class BrokenSchema(ValueError):
    """A schema of a tool has a reference to a location outside of it."""


class SchemaChecker:
    """Checks decoded JSON against one schema, by default of JSON Schema 2020-12.

    References must be to locations in the schema, since nothing is fetched. Formats are
    annotations. Patterns that Python's ``re`` cannot express are not checked.

    Raises:
        ValueError: The schema violates its meta-schema.
    """

    def __init__(self, schema: Mapping[str, Any], name: str) -> None:
        draft = validator_for(schema, default=Draft202012Validator)
        try:
            # Without formats, since patterns of JSON Schema need not be patterns of Python.
            draft.check_schema(schema, format_checker=FormatChecker(()))
        except SchemaError as error:
            location = as_pointer((name, *error.absolute_path))
            raise ValueError(f"{location} {_message(error)}") from None
        self._name = name
        self._schema = schema
        checker = extend(draft, {"pattern": _check_pattern})
        self._validator = checker(schema, registry=_NO_DOCUMENTS)

    def violations(self, value: Any) -> tuple[ArgumentViolation, ...]:
        """Return at most 100 violations of *value*, whose messages do not contain values.

        Raises:
            BrokenSchema: a reference cannot be resolved.
        """
        try:
            return _violations(self._errors(value))
        except RecursionError:
            return (ArgumentViolation("", "is nested too deeply"),)

    def _errors(self, value: Any) -> list[ValidationError]:
        try:
            return list(islice(self._validator.iter_errors(value), MAX_VIOLATIONS))
        except Unresolvable as error:
            raise BrokenSchema(
                f"{self._name} refers to {error.ref!r}, which it does not contain, and nothing is"
                " fetched"
            ) from None

    def read_arguments(self, tool: str, arguments: Mapping[str, Any]) -> ValidArguments:
        """Return a valid copy of *arguments*, decoded JSON.

        If the schema requires an object or array, a string with its JSON text is decoded, and
        reported as a change.

        Raises:
            InvalidArguments: the arguments violate the schema, or are not JSON.
            BrokenSchema: a reference cannot be resolved.
        """
        if not isinstance(arguments, Mapping):
            raise InvalidArguments(tool, (ArgumentViolation("", "must be an object"),))
        try:
            payload = copy_json(dict(arguments), "arguments")
        except NotJson as error:
            raise InvalidArguments(tool, (ArgumentViolation("", str(error)),)) from None
        violations: tuple[ArgumentViolation, ...] = ()
        changes: dict[Path, Change] = {}
        for _ in range(MAX_ROUNDS):
            try:
                errors = self._errors(payload)
            except RecursionError:
                violations = (ArgumentViolation("", "is nested too deeply"),)
                break
            if not errors:
                return ValidArguments(payload, tuple(changes.values()))
            # Keep the violations of the original arguments, not of the attempted repair.
            violations = violations or _violations(errors)
            decoded = dict(_decoded_strings(errors))
            if not decoded:
                break
            for path, container in decoded.items():
                changes[path] = change_of(self._schema, path, container)
                payload = replace_at(payload, path, container)
        raise InvalidArguments(tool, violations)


def _decoded_strings(errors: list[ValidationError]) -> Iterator[tuple[Path, Any]]:
    """Yield the containers in strings that a type rejects, with their paths."""
    pending = list(errors)
    while pending:
        error = pending.pop()
        pending += error.context
        if error.validator == "type" and isinstance(error.instance, str):
            container = decode_container(error.instance)
            required_types = error.validator_value
            kind = "object" if isinstance(container, dict) else "array"
            if container is not None and (kind == required_types or kind in required_types):
                yield tuple(error.absolute_path), container


def _violations(errors: list[ValidationError]) -> tuple[ArgumentViolation, ...]:
    return tuple(
        dict.fromkeys(
            ArgumentViolation(as_pointer(tuple(error.absolute_path)), _message(error))
            for error in errors
        )
    )


def _message(error: ValidationError | SchemaError) -> str:
    """Return a description of the violated keyword, without the value."""
    keyword, value = error.validator, error.validator_value
    if keyword == "required" and isinstance(error.instance, dict):
        missing = [name for name in value if name not in error.instance]
        return f"{', '.join(map(repr, missing))} is required"
    if keyword == "additionalProperties" and value is False:
        return "has a property that the schema does not declare"
    text = json.dumps(value, ensure_ascii=False)
    return f'must satisfy "{keyword}"' + (f": {text}" if len(text) <= _MAX_VALUE else "")


def _check_pattern(
    validator: Any, pattern: str, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    del schema
    if validator.is_type(instance, "string"):
        try:
            matches = re.search(pattern, instance)
        except re.error:
            return
        if not matches:
            yield ValidationError("does not match")
