"""JSON Schema as pydantic writes it, without titles that no author gave."""

from typing import Any

import pydantic
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, JsonSchemaWarningKind
from pydantic_core import core_schema

__all__ = ["GENERATOR", "NotDescribed", "ToolSchema", "tidied"]

#: What wrote the schemas, and its version: another one may write them differently.
GENERATOR = f"pydantic {pydantic.VERSION}"

_DEFINITIONS = "#/$defs/"
#: The most references that lead from the root to what it is.
_MOST_STEPS = 32


class NotDescribed(TypeError):
    """Part of a type has no JSON Schema."""


class ToolSchema(GenerateJsonSchema):
    """Writes schemas of tools.

    Titles come from authors alone: not from the names of fields or classes. A choice of
    a union that cannot be described is an error, not left out.
    """

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  (as in the base)
        """Make no title from the name of a field."""
        return False

    def emit_warning(self, kind: JsonSchemaWarningKind, detail: str) -> None:
        """Raise `NotDescribed` where a part would be left out.

        A default that is no JSON is left out of a class's field without a word: it is
        no part of what is admitted.
        """
        if kind == "skipped-choice":
            raise NotDescribed(detail)

    def p_arguments_schema(
        self,
        arguments: list[core_schema.ArgumentsParameter],
        var_args_schema: core_schema.CoreSchema | None,
    ) -> JsonSchemaValue:
        """Write a named tuple without titles from its names, as later pydantic does by itself."""
        written = super().p_arguments_schema(arguments, var_args_schema)
        for argument, item in zip(arguments, written.get("prefixItems", ()), strict=False):
            name = self.get_argument_name(argument)
            if item.get("title") == self.get_title_from_name(name):
                del item["title"]
        return written

    def is_subclass_schema(self, schema: core_schema.IsSubclassSchema) -> JsonSchemaValue:
        """Raise `NotDescribed`: JSON has no classes, and pydantic would admit anything."""
        raise NotDescribed(f"JSON has no classes, so no type[{schema['cls'].__name__}]")

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Write a model without its name as the title."""
        return _untitled(super().model_schema(schema), schema["cls"])

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        """Write a dataclass without its name as the title."""
        return _untitled(super().dataclass_schema(schema), schema["cls"])

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        """Write a typed dictionary without its name as the title."""
        return _untitled(super().typed_dict_schema(schema), schema.get("cls"))

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        """Write an enumeration without its name as the title.

        pydantic puts that in after the method that writes enumerations.
        """
        written = super().generate_inner(schema)
        if schema["type"] == "enum":
            reference = written.get("$ref")
            definition = self.get_schema_from_definitions(reference) if reference else written
            _untitled(definition or {}, schema["cls"])
        return written


def _untitled(written: JsonSchemaValue, cls: Any) -> JsonSchemaValue:
    config = getattr(cls, "model_config", None) or getattr(cls, "__pydantic_config__", None) or {}
    if "title" not in config and written.get("title") == getattr(cls, "__name__", None):
        written.pop("title", None)
    return written


def tidied(schema: dict[str, Any]) -> dict[str, Any]:
    """Return *schema* with its root in place of a reference, and no definition unused.

    Members beside a reference at the root go before those of what it leads to. A
    definition that is the root stays if anything refers to it.
    """
    definitions = schema.get("$defs", {})
    root = {name: value for name, value in schema.items() if name != "$defs"}
    for _ in range(_MOST_STEPS):
        name = root.get("$ref", "")
        if not isinstance(name, str) or not name.startswith(_DEFINITIONS):
            break
        rest = {member: value for member, value in root.items() if member != "$ref"}
        root = {**definitions[name.removeprefix(_DEFINITIONS)], **rest}
    used: set[str] = set()
    waiting = [root]
    while waiting:
        for name in _references(waiting.pop()):
            if name in definitions and name not in used:
                used.add(name)
                waiting.append(definitions[name])
    if used:
        root["$defs"] = {name: one for name, one in definitions.items() if name in used}
    return root


def _references(value: Any) -> set[str]:
    """Return the definitions that *value* points to, at any depth.

    A default or constant that looks like a reference counts too: it keeps a definition
    that nobody needs, and breaks nothing.
    """
    found: set[str] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            waiting += one.values()
            reference = one.get("$ref")
            if isinstance(reference, str) and reference.startswith(_DEFINITIONS):
                found.add(reference.removeprefix(_DEFINITIONS))
    return found
