"""Forms of elicitations from pydantic model classes.

`schema_of` generates the ``requestedSchema`` of a request from a model, without checking
it: fields that the protocol does not support in forms (a ``list[str]``, a nested model, a
pattern) are included, and the check of the request reports them. Requires pydantic:
the extra ``pydantic``.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, TypeGuard

try:
    from pydantic import BaseModel
    from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
    from pydantic_core import core_schema
except ImportError as error:
    raise ImportError("sidecheck.elicitation requires pydantic: pip install pydantic") from error

from sidecheck.pointers import pointer_steps
from sidecheck.values.verdict import Severity, Verdict

__all__ = ["form", "raise_for_fields", "schema_of"]

DEFINITIONS: Final = "#/$defs/"
FIELDS: Final = "/requestedSchema/properties/"

#: Maximum references of a form that are replaced by their targets.
MAX_INLINED: Final = 1_000


def are_strings(values: list[Any]) -> TypeGuard[list[str]]:
    """Return whether *values* are strings, as the choices of a form must be."""
    return all(isinstance(value, str) for value in values)


def split_words(name: str) -> list[str]:
    """Return the words of a name in lower case."""
    return name.replace("_", " ").replace("-", " ").casefold().split()


class FormSchema(GenerateJsonSchema):
    """Generates the schema of a model in the form that elicitation requires.

    ``T | None`` becomes ``T``, because a field may be left empty; a default of None is
    omitted; a single choice is still a choice; every field has a title.
    """

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """Return the schema of ``T`` for ``T | None``."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Omit a default of None."""
        generated = super().default_schema(schema)
        if generated.get("default", ...) is None:
            del generated["default"]
        return generated

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JsonSchemaValue:
        """Return a choice for a ``Literal`` of strings, without None."""
        expected = [value for value in schema["expected"] if value is not None]
        values = [value.value if isinstance(value, Enum) else value for value in expected]
        if are_strings(values):
            return {"type": "string", "enum": values}
        return super().literal_schema({**schema, "expected": expected})

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchemaValue:
        """Return a choice for an enumeration of strings, with titles if the names differ."""
        values = [member.value for member in schema["members"]]
        names = [member.name for member in schema["members"]]
        if not are_strings(values):
            return super().enum_schema(schema)
        if all(
            split_words(name) == split_words(value)
            for name, value in zip(names, values, strict=True)
        ):
            return {"type": "string", "enum": values}
        options = [
            {"const": value, "title": name} for name, value in zip(names, values, strict=True)
        ]
        return {"type": "string", "oneOf": options}

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  (as in the base)
        """Return True: every field has a title, even if its class has one."""
        return True


class ReferenceInliner:
    """Replaces references by their targets, at most `MAX_INLINED` of them.

    Without the limit, the result can grow exponentially, if each definition refers twice to
    the next one. Cyclic references and references beyond the limit are kept.
    """

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._remaining = MAX_INLINED

    def inline(self, value: Any, within: tuple[str, ...] = ()) -> Any:
        """Return *value* without references; *within* are the definitions that enclose it.

        Sibling keywords of a reference take precedence over its target.
        """
        if isinstance(value, list):
            return [self.inline(item, within) for item in value]
        if not isinstance(value, dict):
            return value
        reference = value.get("$ref")
        if isinstance(reference, str) and reference.startswith(DEFINITIONS):
            name = reference.removeprefix(DEFINITIONS)
            if name not in within and self._remaining > 0:
                self._remaining -= 1
                siblings = {key: item for key, item in value.items() if key != "$ref"}
                return self.inline({**self._definitions[name], **siblings}, (*within, name))
        return {key: self.inline(item, within) for key, item in value.items()}


def as_multiple_choice(field: dict[str, Any]) -> dict[str, Any]:
    """Return *field* as a multiple choice, if it is a list of single choices.

    Items must not have the title and the description of the enumeration class.
    """
    match field:
        case {"type": "array", "items": {"type": "string", **rest}}:
            match {key: v for key, v in rest.items() if key not in {"title", "description"}}:
                case {"oneOf": options, **more} if not more:
                    return {**field, "items": {"anyOf": options}}
                case {"enum": values, **more} if not more:
                    return {**field, "items": {"type": "string", "enum": values}}
    return field


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the ``requestedSchema`` of a form with the fields of *model*.

    Enumerations and literals of strings are single choices, and lists of them multiple
    choices. If the names of an enumeration's members differ from the values in more than
    spelling, they become titles, which protocol versions before 2025-11-25 lack. Other
    titles, descriptions, defaults and aliases are those of pydantic. The title and the
    description of the model are omitted, because a form has none.

    Raises:
        TypeError: *model* is not a pydantic model class.
        pydantic.PydanticUserError: JSON Schema cannot express a field.
    """
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise TypeError(f"a form must be a pydantic model class, not {model!r}")
    generated = model.model_json_schema(schema_generator=FormSchema)
    definitions = generated.pop("$defs", {})
    schema: dict[str, Any] = ReferenceInliner(definitions).inline(generated)
    for keyword in ("title", "description"):
        schema.pop(keyword, None)
    if "properties" in schema:
        fields = schema["properties"].items()
        schema["properties"] = {name: as_multiple_choice(field) for name, field in fields}
    return schema


def form(model: type[BaseModel], message: str = "") -> dict[str, Any]:
    """Return the ``params`` of a request for elicitation of the fields of *model*.

    The default *message* is the title of the model.

    Raises:
        TypeError: As `schema_of`.
        pydantic.PydanticUserError: As `schema_of`.
    """
    schema = schema_of(model)
    title = model.model_config.get("title") or model.__name__
    return {"message": message or title, "requestedSchema": schema}


_REJECTED = frozenset({"ELICITATION_FIELD_KEYWORD", "ELICITATION_FIELD_VALUE"})
"""Codes of warnings about fields that the Python SDK rejects."""


def raise_for_fields(model: type[BaseModel], verdict: Verdict) -> None:
    """Raise if *verdict* is about a field that the Python SDK rejects.

    The SDK rejects fields with an error, or with a keyword or value that their kind lacks.

    Raises:
        TypeError: The form has such a field. The message is that of the Python SDK for the
            first one.
    """
    for violation in verdict.violations:
        location = violation.instance_location
        is_rejected = violation.severity is Severity.ERROR or violation.code in _REJECTED
        if is_rejected and location.startswith(FIELDS):
            name = pointer_steps(f"/{location.removeprefix(FIELDS)}")[0]
            rendered = schema_of(model)["properties"].get(name)
            raise TypeError(
                f"Elicitation schema field {name!r} rendered as {rendered!r},"
                " which is not a valid PrimitiveSchemaDefinition"
            )
