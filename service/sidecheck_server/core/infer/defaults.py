"""Defaults: what stands after the ``=`` of a field or a parameter, as JSON."""

import ast
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sidecheck_server.core.equality import json_equal
from sidecheck_server.core.infer.bounds import Meter
from sidecheck_server.core.infer.complaints import Code, Complaint
from sidecheck_server.core.infer.fields import Info
from sidecheck_server.core.types import Severity

if TYPE_CHECKING:
    from sidecheck_server.core.infer.annotations import Types

__all__ = ["admits", "put_default"]


def put_default(types: "Types", schema: dict[str, Any], info: Info) -> bool:
    """Add the default to *schema*, if it is one that JSON can tell.

    Return whether there is no default, so that the field is required.
    """
    if info.has_factory:
        return False
    if info.default is None:
        return True
    node, scope = info.default
    if isinstance(node, ast.Constant) and node.value is ...:
        return True
    try:
        schema["default"] = types.literals.read(node, scope)
    except Complaint as complaint:
        said = Complaint(
            Code.DEFAULT_NOT_JSON,
            f"the default is left out of the schema: {complaint.message}",
            node,
        )
        types.complaints.add(said, Severity.WARNING)
    return False


def admits(
    schema: dict[str, Any], value: Any, definitions: dict[str, dict[str, Any]], meter: Meter
) -> bool:
    """Whether *schema*, one that is inferred, admits *value*, as far as its types say.

    References are followed. Formats and patterns are not judged: no pattern runs here.

    Raises:
        core.budget.Exhausted: that takes more steps than a bound admits.
    """
    try:
        return _admits(schema, value, definitions, meter)
    except (AttributeError, LookupError, TypeError, ValueError):
        return True  # What ``json_schema_extra`` adds may be no schema, and is not judged.


def _admits(
    schema: dict[str, Any], value: Any, definitions: dict[str, dict[str, Any]], meter: Meter
) -> bool:
    waiting, followed = [schema], set[str]()
    while waiting:
        each = waiting.pop()
        meter.node()
        if "$ref" in each:
            name = each["$ref"].rpartition("/")[2]
            if name not in followed:
                followed.add(name)
                waiting.append(definitions.get(name, {}))
        elif "anyOf" in each or "oneOf" in each:
            waiting.extend(each.get("anyOf", each.get("oneOf", ())))
        elif _is_one(each, value) and _holds(each, value, definitions, meter):
            return True
    return False


def _is_one(schema: dict[str, Any], value: Any) -> bool:
    """Whether *value* itself is of the type of *schema*, one of its values, within its bounds."""
    if "const" in schema or "enum" in schema:
        return any(json_equal(value, each) for each in schema.get("enum", [schema.get("const")]))
    if "type" in schema and not _TYPES[schema["type"]](value):
        return False
    if isinstance(value, int | float) and not isinstance(value, bool):
        return all(_BOUNDS[name](value, schema[name]) for name in schema.keys() & _BOUNDS.keys())
    least, most = _LENGTHS.get(type(value), ("", ""))
    return not least or schema.get(least, 0) <= len(value) <= schema.get(most, len(value))


def _holds(
    schema: dict[str, Any], value: Any, definitions: dict[str, dict[str, Any]], meter: Meter
) -> bool:
    """Whether *schema* admits what *value* holds."""
    if isinstance(value, list):
        first, rest = schema.get("prefixItems", []), schema.get("items", {})
        pairs = [*zip(first, value, strict=False), *((rest, each) for each in value[len(first) :])]
    elif isinstance(value, dict):
        if any(name not in value for name in schema.get("required", ())):
            return False
        known, rest = schema.get("properties", {}), schema.get("additionalProperties", {})
        pairs = [(known.get(name, rest), each) for name, each in value.items()]
    else:
        return True
    return all(
        inner if isinstance(inner, bool) else _admits(inner, each, definitions, meter)
        for inner, each in pairs
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Mapping[str, Callable[[Any], bool]] = MappingProxyType(
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
_BOUNDS: Mapping[str, Callable[[Any, Any], bool]] = MappingProxyType(
    {
        "exclusiveMaximum": operator.lt,
        "exclusiveMinimum": operator.gt,
        "maximum": operator.le,
        "minimum": operator.ge,
    }
)
_LENGTHS: Mapping[type, tuple[str, str]] = MappingProxyType(
    {str: ("minLength", "maxLength"), list: ("minItems", "maxItems")}
)
