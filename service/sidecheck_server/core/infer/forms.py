"""Forms: schemas of types, and what a constraint beside the type makes of them."""

from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.infer.constraints import Constraint, constrain
from sidecheck_server.core.infer.known import Kind

__all__ = ["NULL", "Form", "IsContent", "enumerated", "mapping", "union"]

NULL = {"type": "null"}


class IsContent(Exception):
    """The type is, or holds, content and no data, and has no output schema."""


@dataclass(slots=True)
class Form:
    """The schema of a type, and what constraints mean for it."""

    schema: dict[str, Any]
    kind: Kind = Kind.OTHER
    #: Of a type that may be null: the type without null.
    inner: "Form | None" = None

    def finished(self) -> dict[str, Any]:
        """Return the schema."""
        if self.inner is None:
            return self.schema
        return union([self.inner.finished(), dict(NULL)]) | self.schema

    def add(self, constraint: Constraint) -> None:
        """Add *constraint*, which is of the values that are not null."""
        if self.inner is not None:
            self.inner.add(constraint)
        else:
            constrain(self.schema, self.kind, constraint)


def union(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the schema that admits what one of *schemas* admits, without repetitions."""
    members: list[dict[str, Any]] = []
    for schema in schemas:
        members += schema["anyOf"] if list(schema) == ["anyOf"] else [schema]
    once = list({repr(member): member for member in members}.values())
    return once[0] if len(once) == 1 else {"anyOf": once}


_NAMES_OF_TYPES = {
    str: "string", int: "integer", float: "number", bool: "boolean", list: "array",
}  # fmt: skip


def enumerated(values: list[Any], *, one: bool) -> dict[str, Any]:
    """Return the schema of these *values*; a single one is a constant if *one* says so."""
    kinds = {type(value) for value in values}
    schema: dict[str, Any] = {"const": values[0]} if one and len(values) == 1 else {"enum": values}
    if len(kinds) == 1:
        kind = kinds.pop()
        name = "null" if one and kind is type(None) else _NAMES_OF_TYPES.get(kind)
        if name:
            schema["type"] = name
    return schema


def mapping(keys: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a mapping. Names of members are texts, whatever *keys* are."""
    schema: dict[str, Any] = {"type": "object"}
    keys = {name: value for name, value in keys.items() if name != "title"}
    values = {name: value for name, value in values.items() if name != "title"}
    pattern = None if "$ref" in keys else keys.pop("pattern", None)
    if pattern is not None:
        schema["patternProperties"] = {pattern: values}
    else:
        schema["additionalProperties"] = values or True
    if (keys.get("type") == "string" and len(keys) > 1) or "$ref" in keys:
        keys.pop("type", None)
        schema["propertyNames"] = keys
    return schema
