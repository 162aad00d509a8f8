"""Defaults: what stands after the ``=`` of a field or a parameter, as JSON."""

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sidecheck_server.core.infer.bounds import Meter
from sidecheck_server.core.infer.complaints import Code, Complaint
from sidecheck_server.core.infer.fields import Info
from sidecheck_server.core.words import Severity

if TYPE_CHECKING:
    from sidecheck_server.core.infer.annotations import Types

__all__ = ["admits", "put_default"]

# By the types of JSON; the values are those of literals, so that no others occur.
_TYPES = {
    "array": (list,),
    "boolean": (bool,),
    "integer": (int,),
    "null": (type(None),),
    "number": (int, float),
    "object": (dict,),
    "string": (str,),
}
_BOUNDS: dict[str, Callable[[Any, Any], bool]] = {
    "exclusiveMaximum": operator.lt,
    "exclusiveMinimum": operator.gt,
    "maximum": operator.le,
    "minimum": operator.ge,
}
_LEAST = {"minLength", "minItems", "minProperties"}
_MOST = {"maxLength", "maxItems", "maxProperties"}


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
    """Whether *schema* admits *value*, a literal, as far as its types and its bounds say.

    References are followed; patterns, formats, multiples and members of objects are not looked at.

    Raises:
        Exhausted: the meter has counted too much.
    """
    followed: set[str] = set()
    waiting = [schema]
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
        elif _fits(each, value) and (
            not isinstance(value, list)
            or not isinstance(each.get("items"), dict)
            or all(admits(each["items"], one, definitions, meter) for one in value)
        ):
            return True
    return False


def _fits(schema: dict[str, Any], value: Any) -> bool:
    choices = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if choices is not None:
        return any(type(one) is type(value) and one == value for one in choices)
    wanted = _TYPES.get(schema.get("type", ""))
    if wanted is not None and type(value) not in wanted:
        return False
    if type(value) in (int, float):
        return all(
            within(value, schema[name]) for name, within in _BOUNDS.items() if name in schema
        )
    if isinstance(value, str | list | dict):
        least = max((schema[name] for name in _LEAST if name in schema), default=0)
        most = min((schema[name] for name in _MOST if name in schema), default=len(value))
        return bool(least <= len(value) <= most)
    return True
