"""JSON Schema generation by pydantic, without generated titles."""

from typing import Any

import pydantic
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, JsonSchemaWarningKind
from pydantic_core import core_schema

__all__ = ["GENERATOR", "NoJsonSchema", "ToolSchemaGenerator", "inline_root"]

#: Name and version of the package that generates the schemas, which differ between versions.
GENERATOR = f"pydantic {pydantic.VERSION}"

_DEFINITIONS = "#/$defs/"
#: Maximum references to follow from the root to the definition that replaces it.
_MAX_REFERENCES = 32


class NoJsonSchema(TypeError):
    """Part of a type has no JSON Schema."""


class ToolSchemaGenerator(GenerateJsonSchema):
    """Generator of the schemas of tools.

    Titles are only those of authors, not names of fields or classes. A branch of a union without
    a schema is an error instead of being omitted.
    """

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  (as in the base)
        """Return False: the name of a field is not a title."""
        return False

    def emit_warning(self, kind: JsonSchemaWarningKind, detail: str) -> None:
        """Raise `NoJsonSchema` for a branch that would be omitted.

        A default of a class's field that is not JSON is omitted silently, since it does not
        restrict values.
        """
        if kind == "skipped-choice":
            raise NoJsonSchema(detail)

    def p_arguments_schema(
        self,
        arguments: list[core_schema.ArgumentsParameter],
        var_args_schema: core_schema.CoreSchema | None,
    ) -> JsonSchemaValue:
        """Return the schema of a named tuple without titles, as later releases do."""
        schema = super().p_arguments_schema(arguments, var_args_schema)
        for argument, item in zip(arguments, schema.get("prefixItems", ()), strict=False):
            name = self.get_argument_name(argument)
            if item.get("title") == self.get_title_from_name(name):
                del item["title"]
        return schema

    def is_subclass_schema(self, schema: core_schema.IsSubclassSchema) -> JsonSchemaValue:
        """Raise `NoJsonSchema`, since pydantic would admit any value."""
        raise NoJsonSchema(f"JSON has no classes, so no type[{schema['cls'].__name__}]")

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Return the schema of a model without its name as the title."""
        return _without_name_title(super().model_schema(schema), schema["cls"])

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        """Return the schema of a dataclass without its name as the title."""
        return _without_name_title(super().dataclass_schema(schema), schema["cls"])

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        """Return the schema of a typed dictionary without its name as the title."""
        return _without_name_title(super().typed_dict_schema(schema), schema.get("cls"))

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of a type, without the name of an enumeration as title.

        Pydantic adds that title after its method for enumerations, so it is removed here.
        """
        json_schema = super().generate_inner(schema)
        if schema["type"] == "enum":
            reference = json_schema.get("$ref")
            definition = self.get_schema_from_definitions(reference) if reference else json_schema
            _without_name_title(definition or {}, schema["cls"])
        return json_schema


def _without_name_title(schema: JsonSchemaValue, cls: Any) -> JsonSchemaValue:
    config = getattr(cls, "model_config", None) or getattr(cls, "__pydantic_config__", None) or {}
    if "title" not in config and schema.get("title") == getattr(cls, "__name__", None):
        schema.pop("title", None)
    return schema


def inline_root(schema: dict[str, Any]) -> dict[str, Any]:
    """Return *schema* with the definition that its root refers to inlined.

    Keywords beside the reference take precedence over those of the definition. Unused
    definitions are omitted.
    """
    definitions = schema.get("$defs", {})
    root = {keyword: value for keyword, value in schema.items() if keyword != "$defs"}
    for _ in range(_MAX_REFERENCES):
        reference = root.get("$ref", "")
        if not isinstance(reference, str) or not reference.startswith(_DEFINITIONS):
            break
        siblings = {keyword: value for keyword, value in root.items() if keyword != "$ref"}
        root = {**definitions[reference.removeprefix(_DEFINITIONS)], **siblings}
    used: set[str] = set()
    pending = [root]
    while pending:
        for name in _referenced_names(pending.pop()):
            if name in definitions and name not in used:
                used.add(name)
                pending.append(definitions[name])
    if used:
        root["$defs"] = {name: value for name, value in definitions.items() if name in used}
    return root


def _referenced_names(schema: Any) -> set[str]:
    """Return the names of the definitions that *schema* refers to, at any depth.

    A default or constant that looks like a reference counts as well, which at most keeps an
    unused definition.
    """
    names: set[str] = set()
    pending = [schema]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending += value
        elif isinstance(value, dict):
            pending += value.values()
            reference = value.get("$ref")
            if isinstance(reference, str) and reference.startswith(_DEFINITIONS):
                names.add(reference.removeprefix(_DEFINITIONS))
    return names
