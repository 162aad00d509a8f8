"""Constraints: the bounds beside a type, and the keywords that pydantic writes for them."""

import ast
from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.infer.complaints import Code, Complaint
from sidecheck_server.core.infer.known import Kind

__all__ = ["CONSTRAINTS", "Constraint", "constrain"]

CONSTRAINTS = frozenset(
    {"ge", "gt", "le", "lt", "max_length", "min_length", "multiple_of", "pattern"}
)


@dataclass(frozen=True, slots=True)
class Constraint:
    """One bound, by pydantic's name."""

    name: str
    value: Any
    node: ast.expr


_NUMBER = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_STRING = {"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern"}
_ARRAY = {"min_length": "minItems", "max_length": "maxItems"}
_OBJECT = {"min_length": "minProperties", "max_length": "maxProperties"}
_KEYWORDS: dict[Kind, dict[str, str]] = {
    Kind.NUMBER: _NUMBER,
    Kind.INTEGER: _NUMBER,
    Kind.STRING: _STRING,
    Kind.ARRAY: _ARRAY,
    Kind.OBJECT: _OBJECT,
    Kind.URL: {"max_length": "maxLength"},
}
# What pydantic puts beside a type that does not have the bound: lengths are those of texts,
# and the others have their own names, which no validator heeds.
_BESIDE = {"min_length": "minLength", "max_length": "maxLength"}


def constrain(schema: dict[str, Any], kind: Kind, constraint: Constraint) -> None:
    """Write *constraint* into the *schema* of a type of that kind, as pydantic does.

    Raises:
        Complaint: its value is no literal, or the type cannot have it.
    """
    name, value, node = constraint.name, constraint.value, constraint.node
    if kind is Kind.TIME and name in _NUMBER:
        return
    if value is None:
        raise Complaint(Code.UNSUPPORTED_SYNTAX, f"{name} must be a literal: nothing is run", node)
    _check(name, value, kind, node)
    if kind is Kind.DECIMAL and name in _NUMBER:
        for branch in schema.get("anyOf", ())[:1]:
            branch[_NUMBER[name]] = value
        return
    keyword = _KEYWORDS.get(kind, {}).get(name) or _BESIDE.get(name, name)
    schema[keyword] = int(value) if kind is Kind.INTEGER and name in _NUMBER else value


def _check(name: str, value: Any, kind: Kind, node: ast.expr) -> None:
    if name == "pattern":
        right = isinstance(value, str) and kind is Kind.STRING
        wanted = "a text, beside a type that is text"
    elif name in _ARRAY:
        right = type(value) is int and value >= 0
        wanted = "an integer from 0"
    else:
        right = type(value) in (int, float)
        if kind is Kind.INTEGER:
            right = right and float(value).is_integer()
        wanted = "an integer, as the type is" if kind is Kind.INTEGER else "a number"
    if not right:
        raise Complaint(Code.UNSUPPORTED_TYPE, f"{name} must be {wanted}", node)
