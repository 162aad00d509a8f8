"""Schemas of types: composition, constraints, and whether they admit a default."""

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.infer.diagnostics import DiagnosticCode, SourceError
from sidecheck_server.core.infer.known_types import TypeKind
from sidecheck_server.core.infer.source import Meter
from sidecheck_server.core.json_values import json_equal

__all__ = [
    "CONSTRAINTS",
    "NULL",
    "Constraint",
    "HoldsContent",
    "TypeSchema",
    "admits",
    "enumeration_schema",
    "mapping_schema",
    "union_schema",
]

NULL = {"type": "null"}
#: Constraints by pydantic's names.
CONSTRAINTS = frozenset(
    {"ge", "gt", "le", "lt", "max_length", "min_length", "multiple_of", "pattern"}
)

_NUMBER_KEYWORDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_STRING_KEYWORDS = {"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern"}
_ARRAY_KEYWORDS = {"min_length": "minItems", "max_length": "maxItems"}
_KEYWORDS: dict[TypeKind, dict[str, str]] = {
    TypeKind.NUMBER: _NUMBER_KEYWORDS,
    TypeKind.INTEGER: _NUMBER_KEYWORDS,
    TypeKind.STRING: _STRING_KEYWORDS,
    TypeKind.ARRAY: _ARRAY_KEYWORDS,
    TypeKind.OBJECT: {"min_length": "minProperties", "max_length": "maxProperties"},
    TypeKind.URL: {"max_length": "maxLength"},
}
# Keywords that pydantic writes for constraints that do not apply to the type: keywords of
# strings for lengths, and the names of other constraints, which validators ignore.
_FALLBACK_KEYWORDS = {"min_length": "minLength", "max_length": "maxLength"}
_TYPE_NAMES = {
    str: "string", int: "integer", float: "number", bool: "boolean", list: "array",
}  # fmt: skip


class HoldsContent(Exception):
    """The type is or contains MCP content, so a result of it has no output schema."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """Constraint of a type, by pydantic's name; the value is None for a non-literal."""

    name: str
    value: Any
    node: ast.expr


@dataclass(slots=True)
class TypeSchema:
    """Schema of a type under construction."""

    schema: dict[str, Any]
    kind: TypeKind = TypeKind.OTHER
    #: For a type that admits null: the type without null.
    non_null: "TypeSchema | None" = None

    def build(self) -> dict[str, Any]:
        """Return the schema."""
        if self.non_null is None:
            return self.schema
        return union_schema([self.non_null.build(), dict(NULL)]) | self.schema

    def constrain(self, constraint: Constraint) -> None:
        """Add *constraint* for values other than null, in pydantic's form.

        Raises:
            SourceError: its value is not a literal, or the type cannot have it.
        """
        if self.non_null is not None:
            self.non_null.constrain(constraint)
            return
        name, value, node = constraint.name, constraint.value, constraint.node
        if self.kind is TypeKind.TIME and name in _NUMBER_KEYWORDS:
            return
        if value is None:
            raise SourceError(
                DiagnosticCode.UNSUPPORTED_SYNTAX,
                f"{name} must be a literal: the source is not run",
                node,
            )
        _check_constraint(constraint, self.kind)
        if self.kind is TypeKind.DECIMAL and name in _NUMBER_KEYWORDS:
            for branch in self.schema.get("anyOf", ())[:1]:
                branch[_NUMBER_KEYWORDS[name]] = value
            return
        keyword = _KEYWORDS.get(self.kind, {}).get(name) or _FALLBACK_KEYWORDS.get(name, name)
        is_integer = self.kind is TypeKind.INTEGER and name in _NUMBER_KEYWORDS
        self.schema[keyword] = int(value) if is_integer else value


def _check_constraint(constraint: Constraint, kind: TypeKind) -> None:
    name, value = constraint.name, constraint.value
    if name == "pattern":
        is_valid = isinstance(value, str) and kind is TypeKind.STRING
        expected = "a string, and its type a string type"
    elif name in _ARRAY_KEYWORDS:
        is_valid = type(value) is int and value >= 0
        expected = "an integer of at least 0"
    elif kind is TypeKind.INTEGER:
        is_valid = type(value) in (int, float) and float(value).is_integer()
        expected = "an integer, as its type is"
    else:
        is_valid = type(value) in (int, float)
        expected = "a number"
    if not is_valid:
        raise SourceError(
            DiagnosticCode.UNSUPPORTED_TYPE, f"{name} must be {expected}", constraint.node
        )


def union_schema(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the union of *schemas*, without duplicates."""
    branches: list[dict[str, Any]] = []
    for schema in schemas:
        branches += schema["anyOf"] if list(schema) == ["anyOf"] else [schema]
    unique = list({repr(branch): branch for branch in branches}.values())
    return unique[0] if len(unique) == 1 else {"anyOf": unique}


def enumeration_schema(values: list[Any], *, allow_const: bool) -> dict[str, Any]:
    """Return the schema of the constants *values*.

    With *allow_const*, a single value becomes ``const``.
    """
    value_types = {type(value) for value in values}
    is_const = allow_const and len(values) == 1
    schema: dict[str, Any] = {"const": values[0]} if is_const else {"enum": values}
    if len(value_types) == 1:
        value_type = value_types.pop()
        is_null = allow_const and value_type is type(None)
        name = "null" if is_null else _TYPE_NAMES.get(value_type)
        if name:
            schema["type"] = name
    return schema


def mapping_schema(keys: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a mapping.

    Property names are strings, whatever types *keys* admit.
    """
    schema: dict[str, Any] = {"type": "object"}
    keys = {keyword: value for keyword, value in keys.items() if keyword != "title"}
    values = {keyword: value for keyword, value in values.items() if keyword != "title"}
    pattern = None if "$ref" in keys else keys.pop("pattern", None)
    if pattern is not None:
        schema["patternProperties"] = {pattern: values}
    else:
        schema["additionalProperties"] = values or True
    if (keys.get("type") == "string" and len(keys) > 1) or "$ref" in keys:
        keys.pop("type", None)
        schema["propertyNames"] = keys
    return schema


def admits(
    schema: dict[str, Any], value: Any, definitions: dict[str, dict[str, Any]], meter: Meter
) -> bool:
    """Whether the inferred *schema* admits *value*.

    Types, constants, bounds and lengths count, and references are followed. Formats and
    patterns are ignored: no pattern runs here.

    Raises:
        core.limits.Exhausted: the evaluation exceeds a bound of *meter*.
    """
    try:
        return _admits(schema, value, definitions, meter)
    except (AttributeError, LookupError, TypeError, ValueError):
        return True  # ``json_schema_extra`` may add values that are not schemas.


def _admits(
    schema: dict[str, Any], value: Any, definitions: dict[str, dict[str, Any]], meter: Meter
) -> bool:
    pending, followed = [schema], set[str]()
    while pending:
        branch = pending.pop()
        meter.count_node()
        if "$ref" in branch:
            name = branch["$ref"].rpartition("/")[2]
            if name not in followed:
                followed.add(name)
                pending.append(definitions.get(name, {}))
        elif "anyOf" in branch or "oneOf" in branch:
            pending.extend(branch.get("anyOf", branch.get("oneOf", ())))
        elif _admits_itself(branch, value) and _admits_items(branch, value, definitions, meter):
            return True
    return False


def _admits_itself(schema: dict[str, Any], value: Any) -> bool:
    """Whether *schema* admits *value*, disregarding its items and properties."""
    if "const" in schema or "enum" in schema:
        constants = schema.get("enum", [schema.get("const")])
        return any(json_equal(value, constant) for constant in constants)
    if "type" in schema and not _TYPE_CHECKS[schema["type"]](value):
        return False
    if isinstance(value, int | float) and not isinstance(value, bool):
        keywords = schema.keys() & _BOUND_CHECKS.keys()
        return all(_BOUND_CHECKS[keyword](value, schema[keyword]) for keyword in keywords)
    minimum, maximum = _LENGTH_KEYWORDS.get(type(value), ("", ""))
    return not minimum or schema.get(minimum, 0) <= len(value) <= schema.get(maximum, len(value))


def _admits_items(
    schema: dict[str, Any], value: Any, definitions: dict[str, dict[str, Any]], meter: Meter
) -> bool:
    """Whether *schema* admits the items or properties of *value*."""
    if isinstance(value, list):
        prefix, rest = schema.get("prefixItems", []), schema.get("items", {})
        pairs = [
            *zip(prefix, value, strict=False),
            *((rest, item) for item in value[len(prefix) :]),
        ]
    elif isinstance(value, dict):
        if any(name not in value for name in schema.get("required", ())):
            return False
        properties, rest = schema.get("properties", {}), schema.get("additionalProperties", {})
        pairs = [(properties.get(name, rest), item) for name, item in value.items()]
    else:
        return True
    return all(
        item_schema
        if isinstance(item_schema, bool)
        else _admits(item_schema, item, definitions, meter)
        for item_schema, item in pairs
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPE_CHECKS: Mapping[str, Callable[[Any], bool]] = MappingProxyType(
    {
        "array": lambda value: isinstance(value, list),
        "boolean": lambda value: isinstance(value, bool),
        "integer": lambda value: _is_number(value) and value == int(value),
        "null": lambda value: value is None,
        "number": _is_number,
        "object": lambda value: isinstance(value, dict),
        "string": lambda value: isinstance(value, str),
    }
)
_BOUND_CHECKS: Mapping[str, Callable[[Any, Any], bool]] = MappingProxyType(
    {
        "exclusiveMaximum": operator.lt,
        "exclusiveMinimum": operator.gt,
        "maximum": operator.le,
        "minimum": operator.ge,
    }
)
_LENGTH_KEYWORDS: Mapping[type, tuple[str, str]] = MappingProxyType(
    {
        str: ("minLength", "maxLength"),
        list: ("minItems", "maxItems"),
        dict: ("minProperties", "maxProperties"),
    }
)
