"""What the normal form of an input schema admits of the arguments of a call."""

from dataclasses import replace
from typing import Any

from sidecheck_server.core.compat.changes import Reading
from sidecheck_server.core.compat.normal_form import NormalForm

__all__ = ["restrict_to_arguments"]

_OBJECT = {"type": "object"}


def restrict_to_arguments(form: NormalForm, reading: Reading) -> NormalForm:
    """Return *form* without the values that are no objects, which no call can have.

    A schema that says no more than that declares no arguments: with objects assumed
    closed, a tool that has it takes none.
    """
    schema = _of_objects(form.schema)
    if schema == _OBJECT and reading is Reading.ASSUME_CLOSED:
        return replace(form, schema={**_OBJECT, "additionalProperties": False}, closes=True)
    return replace(form, schema=schema)


def _of_objects(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return _OBJECT if schema else schema
    if "$ref" in schema:
        # Keywords beside a reference have no effect in draft 4.
        schema = {**schema, "allOf": [{"$ref": schema["$ref"]}, *schema.get("allOf", ())]}
        del schema["$ref"]
    if "object" in schema.get("type", "object"):  # One name, or several.
        return {**schema, **_OBJECT}
    return {**schema, "allOf": [_OBJECT, *schema.get("allOf", ())]}
