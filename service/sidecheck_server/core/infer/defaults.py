"""Defaults: what stands after the ``=`` of a field or a parameter, as JSON."""

import ast
from typing import TYPE_CHECKING, Any

from sidecheck_server.core.infer.complaints import Code, Complaint
from sidecheck_server.core.infer.fields import Info
from sidecheck_server.core.words import Severity

if TYPE_CHECKING:
    from sidecheck_server.core.infer.annotations import Types

__all__ = ["admits_null", "put_default"]


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


def admits_null(schema: dict[str, Any], definitions: dict[str, dict[str, Any]]) -> bool:
    """Whether *schema* admits null, as far as its type says; references are followed."""
    followed: set[str] = set()
    waiting = [schema]
    while waiting:
        each = waiting.pop()
        if "$ref" in each:
            name = each["$ref"].rpartition("/")[2]
            if name not in followed:
                followed.add(name)
                waiting.append(definitions.get(name, {}))
        elif "const" in each or "enum" in each:
            if None in each.get("enum", [each.get("const")]):
                return True
        elif "anyOf" in each or "oneOf" in each:
            waiting.extend(each.get("anyOf", each.get("oneOf", ())))
        elif each.get("type", "null") == "null":
            return True
    return False
