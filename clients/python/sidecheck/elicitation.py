"""Forms of elicitation out of model classes of pydantic.

A model says in Python what a server wants to know. `schema_of` writes it as the
``requestedSchema`` of a request, and judges nothing: what the protocol has no form
field for (a ``list[str]``, a nested model, a pattern) is written all the same, and the
check of the request names the field. Needs pydantic: ``pip install sidecheck[pydantic]``.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, TypeGuard

try:
    from pydantic import BaseModel
    from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
    from pydantic_core import core_schema
except ImportError as error:
    raise ImportError(
        "forms are model classes of pydantic, which is not installed:"
        " pip install sidecheck[pydantic]"
    ) from error

from sidecheck.verdicts import Verdict
from sidecheck.violations import Severity

__all__ = ["form", "raise_for_fields", "schema_of"]

DEFINITIONS: Final = "#/$defs/"
FIELDS: Final = "/requestedSchema/properties/"


def all_text(values: list[Any]) -> TypeGuard[list[str]]:
    """Say whether *values* are what a person can choose from: text."""
    return all(isinstance(value, str) for value in values)


def words(name: str) -> list[str]:
    """Return the words of a name, however they are joined and in whatever case."""
    return name.replace("_", " ").replace("-", " ").casefold().split()


class FormSchema(GenerateJsonSchema):
    """Writes a model the way that forms are written.

    ``T | None`` is ``T``, for a field may be left empty; a default of None is none; a
    choice of one is a choice; every field has a title.
    """

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """Write ``T | None`` as ``T``."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Leave out a default of None."""
        written = super().default_schema(schema)
        if written.get("default", ...) is None:
            del written["default"]
        return written

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JsonSchemaValue:
        """Write a ``Literal`` of text as a choice, and leave out None."""
        expected = [one for one in schema["expected"] if one is not None]
        values = [one.value if isinstance(one, Enum) else one for one in expected]
        if all_text(values):
            return {"type": "string", "enum": values}
        return super().literal_schema({**schema, "expected": expected})

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchemaValue:
        """Write an enumeration of text as a choice, titled if the names tell more."""
        values = [member.value for member in schema["members"]]
        names = [member.name for member in schema["members"]]
        if not all_text(values):
            return super().enum_schema(schema)
        if all(words(name) == words(value) for name, value in zip(names, values, strict=True)):
            return {"type": "string", "enum": values}
        options = [
            {"const": value, "title": name} for name, value in zip(names, values, strict=True)
        ]
        return {"type": "string", "oneOf": options}

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  (as in the base)
        """Have every field titled, also those of classes that have titles of their own."""
        return True


def inlined(value: Any, definitions: Mapping[str, Any], within: tuple[str, ...] = ()) -> Any:
    """Return *value* with what its references lead to in their place.

    What stands beside a reference goes before what it leads to. A reference that leads
    back to where it stands stays.
    """
    if isinstance(value, list):
        return [inlined(one, definitions, within) for one in value]
    if not isinstance(value, dict):
        return value
    reference = value.get("$ref")
    if isinstance(reference, str) and reference.startswith(DEFINITIONS):
        name = reference.removeprefix(DEFINITIONS)
        if name not in within:
            beside = {key: one for key, one in value.items() if key != "$ref"}
            return inlined({**definitions[name], **beside}, definitions, (*within, name))
    return {key: inlined(one, definitions, within) for key, one in value.items()}


def of_many(field: dict[str, Any]) -> dict[str, Any]:
    """Return *field* as a choice of many, if it is a list of choices of one.

    What pydantic says of an enumeration itself has no place in the items.
    """
    match field:
        case {"type": "array", "items": {"type": "string", **rest}}:
            match {key: one for key, one in rest.items() if key not in {"title", "description"}}:
                case {"oneOf": options, **more} if not more:
                    return {**field, "items": {"anyOf": options}}
                case {"enum": values, **more} if not more:
                    return {**field, "items": {"type": "string", "enum": values}}
    return field


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the ``requestedSchema`` of a form with the fields of *model*.

    Enumerations and literals of text are choices: of one, or of many in a list. If the
    names of an enumeration's members are other words than the values they are titles,
    which protocol versions before 2025-11-25 do not have. Titles, descriptions, defaults
    and aliases else are pydantic's. What pydantic says of the model as a whole, its
    title and description, is left out: a form has neither.

    Raises:
        TypeError: *model* is no model class.
        pydantic.PydanticUserError: JSON Schema cannot express a field at all.
    """
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise TypeError(f"a form is a model class of pydantic, and {model!r} is none")
    written = model.model_json_schema(schema_generator=FormSchema)
    definitions = written.pop("$defs", {})
    whole: dict[str, Any] = inlined(written, definitions)
    for extra in ("title", "description"):
        whole.pop(extra, None)
    if "properties" in whole:
        fields = whole["properties"].items()
        whole["properties"] = {name: of_many(field) for name, field in fields}
    return whole


def form(model: type[BaseModel], message: str = "") -> dict[str, Any]:
    """Return the ``params`` of an ``elicitation/create`` request for the fields of *model*.

    Without a *message* it is the title of the model.

    Raises:
        TypeError: As `schema_of`.
        pydantic.PydanticUserError: As `schema_of`.
    """
    schema = schema_of(model)
    title = model.model_config.get("title") or model.__name__
    return {"message": message or title, "requestedSchema": schema}


def raise_for_fields(model: type[BaseModel], verdict: Verdict) -> None:
    """Do nothing unless *verdict*, on a `form` of *model*, has an error in a field.

    Raises:
        TypeError: It has. The text is that of the Python SDK, and names the first such
            field.
    """
    for found in verdict.violations:
        if found.severity is Severity.ERROR and found.instance_location.startswith(FIELDS):
            name = found.instance_location.removeprefix(FIELDS).split("/")[0]
            # RFC 6901, section 4: "~1" is read before "~0".
            name = name.replace("~1", "/").replace("~0", "~")
            rendered = schema_of(model)["properties"].get(name)
            raise TypeError(
                f"Elicitation schema field {name!r} rendered as {rendered!r},"
                " which is not a valid PrimitiveSchemaDefinition"
            )
